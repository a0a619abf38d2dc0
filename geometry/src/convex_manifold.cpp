#include <algorithm>
#include <cmath>
#include <limits>

#include "convex_axes.h"
#include "convex_clip.h"
#include "convex_gjk.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/convex_shape.h"

namespace palpate {
namespace {

/// Above it not all pairs of edges and faces are tried.
constexpr std::size_t kMaxEdgePairs = 64, kMaxFaceTests = 20000;
/// An axis of the next kind must be better by this share of the smaller size.
constexpr double kPreference = 1e-3;

/// The edge of `p` along `direction` that is lowest along `normal`.
int lowest_edge(const ConvexPolyhedron& p, const Vec3& direction, const Vec3& normal) noexcept {
  int best = 0;
  double height = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < p.edges.size(); ++e) {
    const Vec3& i = p.vertices[p.edges[e][0]];
    const Vec3& j = p.vertices[p.edges[e][1]];
    const Vec3 d = j - i;
    if (d.cross(direction).squaredNorm() > 1e-12 * d.squaredNorm()) continue;
    const double h = normal.dot(i + j);
    if (h < height) {
      height = h;
      best = static_cast<int>(e);
    }
  }
  return best;
}

Pose inverse(const Pose& x) noexcept {
  const Quat q = x.rotation.conjugate();
  return {-(q * x.position), q};
}

/// The manifold in a's frame.
class ManifoldMaker {
 public:
  ManifoldMaker(const ConvexShape& a, const ConvexShape& b, const Pose& X_AB, double max_gap, bool faces_only) noexcept
      : shape_a_(a),
        shape_b_(b),
        a_(a.polyhedron()),
        b_(b.polyhedron()),
        X_AB_(X_AB),
        max_gap_(max_gap),
        faces_only_(faces_only) {}

  bool compute(Manifold& out) noexcept {
    if (!find_axis()) return false;
    out.normal = axis_.normal;
    out.separation = axis_.separation;
    out.count = 0;
    switch (axis_.kind) {
      case AxisKind::kFaceOfA:
      case AxisKind::kFaceOfB:
        add_face_points(out);
        if (faces_only_) return out.count > 0;
        replace_by_nearest_points(out);
        break;
      case AxisKind::kEdges:
        add_edge_point(out);
        replace_by_nearest_points(out);
        break;
      case AxisKind::kPoints:
        add_nearest_points(out);
        break;
    }
    if (out.count == 0) add_support_point(out);
    return out.count > 0;
  }

 private:
  bool find_axis() noexcept {
    return a_.box.half.x() > 0.0 && b_.box.half.x() > 0.0 ? find_box_axis() : find_hull_axis();
  }

  bool find_box_axis() noexcept {
    const BoxPair pair(a_.box, b_.box, X_AB_);
    const double preference = kPreference * std::min(a_.size, b_.size);
    axis_ = pair.best_face_of_a();
    if (axis_.separation > max_gap_) return false;
    const ConvexSeparation other = pair.best_face_of_b();
    if (other.separation > axis_.separation + preference) axis_ = other;
    if (faces_only_) return other.separation <= max_gap_;
    const ConvexSeparation edges = pair.best_edges();
    if (edges.separation > axis_.separation + preference) axis_ = edges;
    return other.separation <= max_gap_ && edges.separation <= max_gap_;
  }

  bool find_hull_axis() noexcept {
    const bool many_edges = !faces_only_ && a_.edge_directions.size() * b_.edge_directions.size() > kMaxEdgePairs;
    const bool many_faces = a_.faces.size() * b_.vertices.size() + b_.faces.size() * a_.vertices.size() > kMaxFaceTests;
    if (many_edges) gjk_known_ = gjk_.compute(shape_a_, shape_b_, X_AB_);
    const Vec3 hint = many_faces && gjk_known_ ? gjk_.normal : Vec3::Zero();
    const double preference = kPreference * std::min(a_.size, b_.size);

    axis_ = best_face(a_, b_, X_AB_, -hint);
    if (axis_.separation > max_gap_) return false;
    const Pose X_BA = inverse(X_AB_);
    ConvexSeparation other = best_face(b_, a_, X_BA, X_AB_.rotation.conjugate() * hint);
    if (other.separation > max_gap_) return false;
    if (other.separation > axis_.separation + preference) {
      axis_ = {other.separation, -(X_AB_.rotation * other.normal), AxisKind::kFaceOfB, 0, other.feature_a};
    }
    if (faces_only_) return true;
    if (!many_edges) {
      other = best_edges(a_, b_, X_AB_);
    } else if (gjk_known_) {
      other = {separation_along(a_, b_, X_AB_, gjk_.normal), gjk_.normal, AxisKind::kPoints, 0, 0};
    }
    if (other.separation > axis_.separation + preference && other.kind != AxisKind::kFaceOfA) axis_ = other;
    return other.separation <= max_gap_ && axis_.separation <= max_gap_;
  }

  void add_face_points(Manifold& out) const noexcept {
    ClipPolygon points;
    if (axis_.kind == AxisKind::kFaceOfA) {
      const int count = clip_faces(a_, axis_.feature_a, b_, X_AB_, max_gap_, points);
      const ConvexPolyhedron::Face& f = a_.faces[static_cast<std::size_t>(axis_.feature_a)];
      for (int i = 0; i < count; ++i) {
        const Vec3& p = points[i].p;
        out.points[out.count++] = {p - (f.normal.dot(p) - f.offset) * f.normal, p, points[i].label};
      }
      return;
    }
    const int count = clip_faces(b_, axis_.feature_b, a_, inverse(X_AB_), max_gap_, points);
    const ConvexPolyhedron::Face& f = b_.faces[static_cast<std::size_t>(axis_.feature_b)];
    for (int i = 0; i < count; ++i) {
      const Vec3& p = points[i].p;
      const Vec3 q = p - (f.normal.dot(p) - f.offset) * f.normal;
      out.points[out.count++] = {X_AB_.position + X_AB_.rotation * p, X_AB_.position + X_AB_.rotation * q,
                                 mix_labels(points[i].label, 1u)};
    }
  }

  void add_edge_point(Manifold& out) const noexcept {
    const int i = lowest_edge(a_, a_.edge_directions[static_cast<std::size_t>(axis_.feature_a)], axis_.normal);
    const int j = lowest_edge(b_, b_.edge_directions[static_cast<std::size_t>(axis_.feature_b)],
                              X_AB_.rotation.conjugate() * -axis_.normal);
    const auto on_b = [&](int end) {
      return Vec3(X_AB_.position + X_AB_.rotation * b_.vertices[b_.edges[static_cast<std::size_t>(j)][end]]);
    };
    const Vec3& a0 = a_.vertices[a_.edges[static_cast<std::size_t>(i)][0]];
    const Vec3& a1 = a_.vertices[a_.edges[static_cast<std::size_t>(i)][1]];
    const Vec3 b0 = on_b(0), b1 = on_b(1);
    const SegmentPair c = closest_of_segments(a0, a1, b0, b1);
    out.points[out.count++] = {a0 + c.s * (a1 - a0), b0 + c.t * (b1 - b0),
                               mix_labels(0x30000u + static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j))};
  }

  /// Bodies apart whose nearest corner does not lie over the other's face, or whose nearest edges do not cross, are
  /// nearest elsewhere: corner to corner or to an edge.
  void replace_by_nearest_points(Manifold& out) noexcept {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < out.count; ++i) {
      const ManifoldPoint& p = out.points[static_cast<std::size_t>(i)];
      least = std::min(least, (p.on_a - p.on_b).norm());
    }
    const double slack = kPreference * std::min(a_.size, b_.size);
    if (axis_.separation <= 0.0 || least <= axis_.separation + slack) return;
    if (!gjk_known_ && !gjk_.compute(shape_a_, shape_b_, X_AB_)) return;
    if (separation_along(a_, b_, X_AB_, gjk_.normal) <= axis_.separation) return;
    out.count = 0;
    add_nearest_points(out);
  }

  /// Faces that do not overlap although the bodies do: the axis was not quite the best. The lowest corner stands for
  /// all.
  void add_support_point(Manifold& out) const noexcept {
    if (axis_.separation > 0.0) return;
    out.normal = axis_.normal;
    out.separation = axis_.separation;
    const int j = lowest(b_, X_AB_.rotation.conjugate() * -axis_.normal).vertex;
    const Vec3 p = X_AB_.position + X_AB_.rotation * b_.vertices[static_cast<std::size_t>(j)];
    out.points[out.count++] = {p + axis_.separation * axis_.normal, p, 0x50000u + static_cast<std::uint32_t>(j)};
  }

  void add_nearest_points(Manifold& out) const noexcept {
    const double gap = (gjk_.on_a - gjk_.on_b).dot(gjk_.normal);
    if (!(gap <= max_gap_)) return;
    out.normal = gjk_.normal;
    out.separation = gap;
    const int i = lowest(a_, gjk_.normal).vertex, j = lowest(b_, X_AB_.rotation.conjugate() * -gjk_.normal).vertex;
    out.points[out.count++] = {gjk_.on_a, gjk_.on_b,
                               mix_labels(0x40000u + static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j))};
  }

  const ConvexShape& shape_a_;
  const ConvexShape& shape_b_;
  const ConvexPolyhedron& a_;
  const ConvexPolyhedron& b_;
  const Pose X_AB_;
  const double max_gap_;
  const bool faces_only_;
  ConvexSeparation axis_;
  ConvexGjk gjk_;
  bool gjk_known_ = false;
};

bool make_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB, double max_gap,
                   bool faces_only, Manifold& out) noexcept {
  const Quat R_AW = X_WA.rotation.conjugate();
  const Pose X_AB{R_AW * (X_WB.position - X_WA.position), R_AW * X_WB.rotation};
  if (!X_AB.position.allFinite() || !X_AB.rotation.coeffs().allFinite()) return false;
  if (!ManifoldMaker(a, b, X_AB, max_gap, faces_only).compute(out)) return false;
  out.normal = X_WA.rotation * out.normal;
  for (int i = 0; i < out.count; ++i) {
    ManifoldPoint& p = out.points[i];
    p.on_a = X_WA.position + X_WA.rotation * p.on_a;
    p.on_b = X_WA.position + X_WA.rotation * p.on_b;
  }
  return true;
}

}  // namespace

bool compute_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB, double max_gap,
                      Manifold& out) noexcept {
  return make_manifold(a, X_WA, b, X_WB, max_gap, false, out);
}

bool compute_face_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB,
                           double max_gap, Manifold& out) noexcept {
  return make_manifold(a, X_WA, b, X_WB, max_gap, true, out);
}

}  // namespace palpate
