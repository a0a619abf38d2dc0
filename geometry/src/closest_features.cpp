#include "palpate/geometry/closest_features.h"

#include <limits>

namespace palpate {

Vec3 closest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) noexcept {
  const Vec3 ab = b - a, bc = c - b, ca = a - c;
  const Vec3 ap = p - a, bp = p - b, cp = p - c;
  const Vec3 n = ca.cross(ab);
  const double wa = bc.cross(bp).dot(n), wb = ca.cross(cp).dot(n), wc = ab.cross(ap).dot(n);
  if (wa > 0.0 && wb > 0.0 && wc > 0.0) {
    const double scale = 1.0 / (wa + wb + wc);
    return Vec3(wa, wb, wc) * scale;
  }
  const double s = closest_on_segment(p, a, b), t = closest_on_segment(p, b, c), r = closest_on_segment(p, c, a);
  const double s2 = (ap - s * ab).squaredNorm(), t2 = (bp - t * bc).squaredNorm(), r2 = (cp - r * ca).squaredNorm();
  if (s2 <= t2 && s2 <= r2) return Vec3(1.0 - s, s, 0.0);
  if (t2 <= r2) return Vec3(0.0, 1.0 - t, t);
  return Vec3(r, 0.0, 1.0 - r);
}

SegmentPair closest_of_segments(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) noexcept {
  const Vec3 u = a1 - a0, v = b1 - b0, w = b0 - a0;
  const double uu = u.squaredNorm(), uv = u.dot(v), vv = v.squaredNorm(), uw = u.dot(w), vw = v.dot(w);
  const double determinant = uu * vv - uv * uv;
  SegmentPair best;
  if (determinant > 0.0) {
    best = {(uw * vv - vw * uv) / determinant, (uw * uv - vw * uu) / determinant};
    // Nearly parallel lines put the crossing anywhere; but inside both it is a minimum only rounding can worsen, and
    // then an end below is as near.
    if (best.s > 0.0 && best.s < 1.0 && best.t > 0.0 && best.t < 1.0 && determinant > 1e-12 * uu * vv) return best;
  }
  const SegmentPair ends[4] = {{0.0, closest_on_segment(a0, b0, b1)},
                               {1.0, closest_on_segment(a1, b0, b1)},
                               {closest_on_segment(b0, a0, a1), 0.0},
                               {closest_on_segment(b1, a0, a1), 1.0}};
  double best2 = std::numeric_limits<double>::infinity();
  for (const SegmentPair& end : ends) {
    const double d2 = (w + end.t * v - end.s * u).squaredNorm();
    if (d2 < best2) {
      best2 = d2;
      best = end;
    }
  }
  return best;
}

}  // namespace palpate
