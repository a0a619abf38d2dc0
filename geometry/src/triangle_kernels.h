#pragma once

#include <utility>

#include "palpate/core/math.h"
#include "palpate/core/simd.h"

// Four triangles at a time against one point or one segment.
namespace palpate::simd {

/// Four points or vectors.
struct Double4x3 {
  Double4 x, y, z;
};
inline Double4x3 operator-(const Double4x3& a, const Double4x3& b) noexcept {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Double4x3 operator*(Double4 s, const Double4x3& a) noexcept {
  return {s * a.x, s * a.y, s * a.z};
}
inline Double4 dot(const Double4x3& a, const Double4x3& b) noexcept {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Double4x3 cross(const Double4x3& a, const Double4x3& b) noexcept {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Nearest points of four triangles to one point: squared distance and weights of the corners.
struct ClosestPoint4 {
  Double4 distance2, u, v, w;
};

/// Nearest of the three edges' nearest points, or the foot on the face if it falls inside and is nearer still. Unlike
/// a decision by regions (Ericson 2005, 5.1.5) this needs no case for degenerate triangles: each candidate is a point
/// of the triangle however it was rounded, and a face without area (0/0) is never nearer.
inline ClosestPoint4 closest_points(const double (&corner)[3][3][4], const Vec3& p) noexcept {
  const Double4 zero = fill(0.0), one = fill(1.0);
  const Double4x3 q{fill(p.x()), fill(p.y()), fill(p.z())};
  const Double4x3 a{load(corner[0][0]), load(corner[0][1]), load(corner[0][2])};
  const Double4x3 b{load(corner[1][0]), load(corner[1][1]), load(corner[1][2])};
  const Double4x3 c{load(corner[2][0]), load(corner[2][1]), load(corner[2][2])};
  const Double4x3 ab = b - a, bc = c - b, ca = a - c;
  const Double4x3 aq = q - a, bq = q - b, cq = q - c;
  // The clamp's order makes 0/0, an edge without length, into 0.
  const auto foot = [&](const Double4x3& from, const Double4x3& edge) {
    return min_of(max_of(dot(from, edge) / dot(edge, edge), zero), one);
  };
  const auto length2 = [](const Double4x3& d) { return dot(d, d); };

  const Double4 s = foot(aq, ab);
  ClosestPoint4 best{length2(aq - s * ab), one - s, s, zero};
  const auto take = [&](Mask4 nearer, const ClosestPoint4& other) {
    best = {nearer ? other.distance2 : best.distance2, nearer ? other.u : best.u, nearer ? other.v : best.v,
            nearer ? other.w : best.w};
  };
  const Double4 t = foot(bq, bc);
  const Double4 t2 = length2(bq - t * bc);
  take(t2 < best.distance2, {t2, zero, one - t, t});
  const Double4 r = foot(cq, ca);
  const Double4 r2 = length2(cq - r * ca);
  take(r2 < best.distance2, {r2, r, zero, one - r});

  const Double4x3 n = cross(ca, ab);
  const Double4 wa = dot(cross(bc, bq), n), wb = dot(cross(ca, cq), n), wc = dot(cross(ab, aq), n);
  const Double4 scale = one / (wa + wb + wc);
  const Double4 v = wb * scale, w = wc * scale;
  const Double4 f2 = length2((aq - v * ab) - (zero - w) * ca);
  take((wa > zero) & (wb > zero) & (wc > zero) & (f2 < best.distance2), {f2, wa * scale, v, w});
  return best;
}

/// A segment made ready for the watertight test: axis kz is that of its largest component, and the shear takes its
/// direction to +z with length 1 (Woop, Benthin & Wald 2013, section 3.1).
struct ShearedSegment {
  ShearedSegment(const Vec3& a, const Vec3& d) noexcept {
    d.cwiseAbs().maxCoeff(&kz);
    kx = (kz + 1) % 3;
    ky = (kx + 1) % 3;
    ox = a[kx];
    oy = a[ky];
    oz = a[kz];
    sx = d[kx] / d[kz];
    sy = d[ky] / d[kz];
    sz = 1.0 / d[kz];
  }
  int kx, ky, kz;
  double ox, oy, oz, sx, sy, sz;
};

struct SegmentHit4 {
  Mask4 hit;
  Double4 t;
};

/// Where one segment meets four triangles, for t in [0, t_max]. The three weights have one sign, so t is a mean of the
/// corners' heights and never worse rounded than they are.
inline SegmentHit4 segment_hits(const double (&corner)[3][3][4], const ShearedSegment& s, double t_max) noexcept {
  const Double4 zero = fill(0.0);
  Double4 x[3], y[3], z[3];
  for (int i = 0; i < 3; ++i) {
    const Double4 h = load(corner[i][s.kz]) - s.oz;
    x[i] = (load(corner[i][s.kx]) - s.ox) - s.sx * h;
    y[i] = (load(corner[i][s.ky]) - s.oy) - s.sy * h;
    z[i] = s.sz * h;
  }
  // Swapping an edge's ends negates its function exactly, so both triangles at an edge agree on the side.
  const Double4 u = x[2] * y[1] - y[2] * x[1];
  const Double4 v = x[0] * y[2] - y[0] * x[2];
  const Double4 w = x[1] * y[0] - y[1] * x[0];
  const Mask4 inside = ((u >= zero) & (v >= zero) & (w >= zero)) | ((u <= zero) & (v <= zero) & (w <= zero));
  const Double4 determinant = u + v + w;
  const Double4 t = (u * z[0] + v * z[1] + w * z[2]) / determinant;
  return {inside & (determinant != zero) & (t >= zero) & (t <= t_max), t};
}

}  // namespace palpate::simd
