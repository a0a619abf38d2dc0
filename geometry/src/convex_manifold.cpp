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

/// Axes whose separations differ by less than this share of the smaller size are as good as each other.
constexpr double kTie = 1e-10;
/// Points nearer than this share of the larger size are in touch: their difference is no direction, and an axis that is
/// one is worse by no more than that.
constexpr double kTouch = 3e-9;
/// A face whose separation is worse than the best by no more than this share of the smaller size, and that looks along
/// the best axis up to this cosine, gives the points.
constexpr double kPreference = 1e-3, kAligned = 0.99;

/// The edge of a box along its axis `i` that is lowest along `normal`.
int lowest_box_edge(const ConvexPolyhedron& p, int i, const Vec3& normal) noexcept {
  int best = 0;
  double height = std::numeric_limits<double>::infinity();
  const Vec3 direction = p.box.axes.col(i);
  for (std::size_t e = 0; e < p.edges.size(); ++e) {
    const Vec3& from = p.vertices[p.edges[e].vertex[0]];
    const Vec3& to = p.vertices[p.edges[e].vertex[1]];
    const Vec3 d = to - from;
    if (d.cross(direction).squaredNorm() > 1e-12 * d.squaredNorm()) continue;
    const double h = normal.dot(from + to);
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
  ManifoldMaker(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB, double max_gap) noexcept
      : a_(a),
        b_(b),
        X_AB_(X_AB),
        max_gap_(max_gap),
        tie_(kTie * std::min(a.size, b.size)),
        preference_(kPreference * std::min(a.size, b.size)),
        boxes_(a.box.half.x() > 0.0 && b.box.half.x() > 0.0) {}

  bool compute_by_faces(Manifold& out) noexcept {
    if (!(boxes_ ? find_box_axis(false) : find_hull_axis(false))) return false;
    axis_ = preferred_face();
    start(out);
    add_face_points(axis_, out);
    return out.count > 0;
  }

  bool compute(Manifold& out) noexcept {
    if (!(boxes_ ? find_box_axis(true) : find_hull_axis(true))) return false;
    add_points(out);
    // Apart, and along the axis no two points lie on each other: then it is no more than a bound of the distance.
    if (axis_.separation > -tie_ && nearest_ > axis_.separation + tie_) {
      if (find_nearest_points()) {
        if (axis_.separation > max_gap_) return false;
        add_points(out);
      }
      if (nearest_ > axis_.separation + tie_) add_point(gjk_point(), out);
    }
    return true;
  }

 private:
  void take_if_better(const ConvexSeparation& other) noexcept {
    if (other.separation > axis_.separation + tie_) axis_ = other;
  }

  bool find_box_axis(bool edges_too) noexcept {
    const BoxPair pair(a_.box, b_.box, X_AB_, tie_);
    axis_ = face_a_ = pair.best_face_of_a();
    if (axis_.separation > max_gap_) return false;
    take_if_better(face_b_ = pair.best_face_of_b());
    if (edges_too) take_if_better(pair.best_edges());
    return axis_.separation <= max_gap_;
  }

  /// Of both faces, one that is worse by more than the preference may stay unknown. Of solids that are apart the edges
  /// are not needed: nearest points tell the same.
  bool find_hull_axis(bool edges_too) noexcept {
    if (a_.faces.size() <= b_.faces.size()) {
      find_faces_of_a();
      if (face_a_.separation > max_gap_) return false;
      find_faces_of_b();
    } else {
      find_faces_of_b();
      if (face_b_.separation > max_gap_) return false;
      find_faces_of_a();
    }
    axis_ = face_a_;
    take_if_better(face_b_);
    if (edges_too && axis_.separation <= 0.0) find_hull_edges();
    return axis_.separation <= max_gap_;
  }
  void find_faces_of_a() noexcept {
    face_a_ = best_face(a_, b_, X_AB_, face_b_.separation - preference_, tie_, probes_of_b_);
  }
  void find_faces_of_b() noexcept {
    face_b_ = best_face(b_, a_, inverse(X_AB_), face_a_.separation - preference_, tie_, probes_of_a_);
    face_b_ = {face_b_.separation, -(X_AB_.rotation * face_b_.normal), AxisKind::kFaceOfB, 0, face_b_.feature_a};
  }

  void find_hull_edges() noexcept {
    take_if_better(best_edges(a_, b_, X_AB_, axis_.separation + tie_, tie_, probes_of_b_, probes_of_a_));
  }

  /// Solids that are apart and nearest corner to corner or to an edge; of hulls also edge to edge. False if the axis is
  /// the best all the same, or if they are in touch.
  bool find_nearest_points() noexcept {
    const double before = axis_.separation, size = std::max(a_.size, b_.size);
    gjk_.compute(a_, b_, X_AB_, axis_.normal);
    if (gjk_.distance <= std::max(before + tie_, kTouch * size)) return false;
    // Corners are where they are up to rounding, and so is the direction between them, over their distance. If it is
    // worse than that edges have a better one, which is not the difference of two points.
    const double rounding = 64.0 * std::numeric_limits<double>::epsilon() * size * size / gjk_.distance;
    if (gjk_.separation < gjk_.distance - tie_ && !boxes_) find_hull_edges();
    if (gjk_.distance > axis_.separation + tie_ && gjk_.separation > gjk_.distance - tie_ - rounding) {
      axis_ = {gjk_.distance, gjk_.normal, AxisKind::kPoints, 0, 0};
    }
    return axis_.separation > before;
  }

  /// a's face, unless b's is better by the preference.
  const ConvexSeparation& preferred_face() const noexcept {
    return face_b_.separation > face_a_.separation + preference_ ? face_b_ : face_a_;
  }

  void start(Manifold& out) noexcept {
    out.normal = axis_.normal;
    out.separation = axis_.separation;
    out.count = 0;
    nearest_ = std::numeric_limits<double>::infinity();
  }

  /// Points along the axis: of the preferred face if it is as good as the axis, and the pair that is nearest along it.
  void add_points(Manifold& out) noexcept {
    start(out);
    const ConvexSeparation& face = preferred_face();
    if (face.separation >= axis_.separation - preference_ && face.normal.dot(axis_.normal) > kAligned) {
      add_face_points(face, out);
    } else if (axis_.kind == AxisKind::kFaceOfA || axis_.kind == AxisKind::kFaceOfB) {
      add_face_points(axis_, out);
    }
    const double enough = axis_.separation + tie_;
    if (nearest_ <= enough) return;
    if (axis_.kind == AxisKind::kPoints) return add_point(gjk_point(), out);
    if (axis_.kind == AxisKind::kEdges) {
      const ManifoldPoint p = edge_point();
      if (axis_.normal.dot(p.on_a - p.on_b) <= enough) return add_point(p, out);
    }
    if (axis_.separation <= -tie_) add_point(deepest_point(), out);
  }

  void add_point(const ManifoldPoint& p, Manifold& out) noexcept {
    nearest_ = std::min(nearest_, (p.on_a - p.on_b).norm());
    if (out.count == Manifold::kMaxPoints) --out.count;
    out.points[as_size(out.count++)] = p;
  }

  /// Where the other's face lies over this one along the axis, both as points.
  void add_face_points(const ConvexSeparation& face, Manifold& out) noexcept {
    ClipPolygon points;
    if (face.kind == AxisKind::kFaceOfA) {
      const ClipView view{face.feature_a, -axis_.normal};
      const int count = clip_faces(a_, view, b_, X_AB_, max_gap_, points);
      for (int i = 0; i < count; ++i) {
        const Vec3& p = points[i].p;
        out.points[out.count++] = {foot(a_, view, p), p, points[i].label};
      }
      return;
    }
    const ClipView view{face.feature_b, X_AB_.rotation.conjugate() * axis_.normal};
    const int count = clip_faces(b_, view, a_, inverse(X_AB_), max_gap_, points);
    const Mat3 R_AB = X_AB_.rotation.toRotationMatrix();
    for (int i = 0; i < count; ++i) {
      const Vec3& p = points[i].p;
      out.points[out.count++] = {X_AB_.position + R_AB * p, X_AB_.position + R_AB * foot(b_, view, p),
                                 mix_labels(points[i].label, 1u)};
    }
  }

  /// The point of the face under p along the view.
  Vec3 foot(const ConvexPolyhedron& reference, const ClipView& view, const Vec3& p) noexcept {
    const ConvexPolyhedron::Face& f = reference.faces[as_size(view.face)];
    const double gap = (f.normal.dot(p) - f.offset) / f.normal.dot(view.up);
    nearest_ = std::min(nearest_, gap);
    return p - gap * view.up;
  }

  ManifoldPoint gjk_point() const noexcept { return {gjk_.on_a, gjk_.on_b, gjk_.feature}; }

  ManifoldPoint edge_point() const noexcept {
    int i = axis_.feature_a, j = axis_.feature_b;
    if (boxes_) {
      i = lowest_box_edge(a_, i, axis_.normal);
      j = lowest_box_edge(b_, j, X_AB_.rotation.conjugate() * -axis_.normal);
    }
    const auto on_b = [&](int end) {
      return Vec3(X_AB_.position + X_AB_.rotation * b_.vertices[b_.edges[as_size(j)].vertex[end]]);
    };
    const Vec3& a0 = a_.vertices[a_.edges[as_size(i)].vertex[0]];
    const Vec3& a1 = a_.vertices[a_.edges[as_size(i)].vertex[1]];
    const Vec3 b0 = on_b(0), b1 = on_b(1);
    const SegmentPair c = closest_of_segments(a0, a1, b0, b1);
    return {a0 + c.s * (a1 - a0), b0 + c.t * (b1 - b0),
            mix_labels(0x30000u + static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j))};
  }

  /// The pair that parts last when b is moved out along the axis: then the nearest two once it is out.
  ManifoldPoint deepest_point() const noexcept {
    const Vec3 way = (axis_.separation - preference_) * axis_.normal;
    ConvexGjk out;
    out.compute(a_, b_, {X_AB_.position + way, X_AB_.rotation}, axis_.normal);
    return {out.on_a, out.on_b - way, out.feature};
  }

  const ConvexPolyhedron& a_;
  const ConvexPolyhedron& b_;
  const Pose X_AB_;
  const double max_gap_, tie_, preference_;
  const bool boxes_;
  ConvexSeparation axis_, face_a_, face_b_;
  ConvexProbes probes_of_a_, probes_of_b_;
  ConvexGjk gjk_;
  double nearest_ = 0.0;  ///< distance of the nearest pair of points so far [m]; negative: they overlap
};

bool make_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB, double max_gap,
                   bool faces_only, Manifold& out) noexcept {
  const Quat R_AW = X_WA.rotation.conjugate();
  const Pose X_AB{R_AW * (X_WB.position - X_WA.position), R_AW * X_WB.rotation};
  if (!X_AB.position.allFinite() || !X_AB.rotation.coeffs().allFinite()) return false;
  ManifoldMaker maker(a.polyhedron(), b.polyhedron(), X_AB, max_gap);
  if (!(faces_only ? maker.compute_by_faces(out) : maker.compute(out))) return false;
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
