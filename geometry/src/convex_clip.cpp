#include "convex_clip.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "convex_axes.h"

namespace palpate {
namespace {

/// Points of a manifold nearer than this share of the size are one.
constexpr double kMerge = 0.05;
constexpr int kMaxClipped = static_cast<int>(std::tuple_size_v<ClipPolygon>);

/// How many corners of a face count, and where in `loop` the k-th is; after the last comes the first.
int corner_count(const ConvexPolyhedron::Face& f) noexcept {
  return std::min(f.count, kMaxCorners);
}
std::int32_t corner(const ConvexPolyhedron::Face& f, int k) noexcept {
  if (f.count <= kMaxCorners) return f.begin + (k < f.count ? k : 0);
  return f.begin + static_cast<std::int32_t>(static_cast<std::int64_t>(k % kMaxCorners) * f.count / kMaxCorners);
}

/// What of `in` lies below the plane n·x = offset (Sutherland & Hodgman 1974).
int clip(const ClipPolygon& in, int count, const Vec3& n, double offset, std::uint32_t plane_label,
         ClipPolygon& out) noexcept {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const ClipCorner& c = in[i];
    const ClipCorner& d = in[(i + 1) % count];
    const double hc = n.dot(c.p) - offset, hd = n.dot(d.p) - offset;
    if (hc <= 0.0 && kept < kMaxClipped) out[kept++] = c;
    if ((hc <= 0.0) == (hd <= 0.0) || kept >= kMaxClipped) continue;
    const double t = hc / (hc - hd);
    out[kept++] = {c.p + t * (d.p - c.p), mix_labels(c.edge, plane_label), hc <= 0.0 ? plane_label : c.edge};
  }
  return kept;
}

/// The most important of many points: the lowest, then those that lie farthest out.
int thin_out(ClipPolygon& polygon, int count, const Vec3& normal, double merge) noexcept {
  std::array<ClipCorner, Manifold::kMaxPoints> kept;
  int kept_count = 0;
  const auto keep = [&](const ClipCorner& c) {
    for (int k = 0; k < kept_count; ++k) {
      if ((kept[k].p - c.p).squaredNorm() >= merge * merge) continue;
      // The lowest counts, but one that is hardly lower does not change the name.
      const double lower = normal.dot(kept[k].p) - normal.dot(c.p);
      if (lower > 1e-3 * merge) kept[k].label = c.label;
      if (lower > 1e-9 * merge) kept[k].p = c.p;
      return;
    }
    if (kept_count < Manifold::kMaxPoints) kept[kept_count++] = c;
  };
  if (count > Manifold::kMaxPoints) {
    Vec3 u, w;
    make_tangents(normal, u, w);
    keep(*std::min_element(polygon.begin(), polygon.begin() + count, [&](const ClipCorner& a, const ClipCorner& b) {
      return normal.dot(a.p) < normal.dot(b.p);
    }));
    for (int k = 0; k < Manifold::kMaxPoints; ++k) {
      // Bit-reversed, so that the first four are square to each other.
      const double angle = std::numbers::pi / 4.0 * ((k & 1) * 4 + (k & 2) + (k >> 2));
      const Vec3 d = std::cos(angle) * u + std::sin(angle) * w;
      keep(*std::max_element(polygon.begin(), polygon.begin() + count,
                             [&](const ClipCorner& a, const ClipCorner& b) { return d.dot(a.p) < d.dot(b.p); }));
    }
  } else {
    for (int i = 0; i < count; ++i) keep(polygon[i]);
  }
  std::copy(kept.begin(), kept.begin() + kept_count, polygon.begin());
  return kept_count;
}

}  // namespace

int clip_faces(const ConvexPolyhedron& reference, const ClipView& view, const ConvexPolyhedron& other, const Pose& X_RO,
               double max_gap, ClipPolygon& points) noexcept {
  const ConvexPolyhedron::Face& f = reference.faces[as_size(view.face)];
  const Mat3 R_RO = X_RO.rotation.toRotationMatrix();
  const Vec3 up_O = R_RO.transpose() * view.up;
  // The face that looks most against it, of those at the lowest corner: it must be among the points.
  const int support = lowest(other, up_O).vertex;
  int incident = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < other.faces.size(); ++g) {
    const double along = up_O.dot(other.faces[g].normal);
    if (along >= least - 1e-9) continue;
    const auto begin = other.loop.begin() + other.faces[g].begin, end = begin + other.faces[g].count;
    if (std::find(begin, end, support) == end) continue;
    least = along;
    incident = static_cast<int>(g);
  }
  const ConvexPolyhedron::Face& g = other.faces[as_size(incident)];
  ClipPolygon buffer;
  int count = corner_count(g);
  for (int k = 0; k < count; ++k) {
    const std::int32_t at = corner(g, k);
    const auto v = static_cast<std::uint32_t>(other.loop[at]);
    points[k] = {X_RO.position + R_RO * other.vertices[v], v, 0x10000u + static_cast<std::uint32_t>(at)};
  }
  // Corners on the border, as of equal boxes one on the other, stay whole; by no more than rounding, since past a sharp
  // corner of the face a little across its edges is a long way.
  const double slack = 1e-13 * reference.size;
  for (int k = 0; k < corner_count(f) && count > 0; ++k) {
    const std::int32_t at = corner(f, k);
    const Vec3& p = reference.vertices[reference.loop[at]];
    const Vec3& q = reference.vertices[reference.loop[corner(f, k + 1)]];
    const Vec3 out = (q - p).cross(view.up);
    const double offset = out.dot(p) + slack * out.norm();
    count = clip(points, count, out, offset, 0x20000u + static_cast<std::uint32_t>(at), buffer);
    std::copy(buffer.begin(), buffer.begin() + count, points.begin());
  }
  int near = 0;
  const double max_height = max_gap * f.normal.dot(view.up);
  for (int i = 0; i < count; ++i) {
    if (f.normal.dot(points[i].p) - f.offset <= max_height) points[near++] = points[i];
  }
  return thin_out(points, near, f.normal, kMerge * std::min(reference.size, other.size));
}

}  // namespace palpate
