#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "convex_gjk.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/convex_shape.h"

namespace palpate {
namespace {

/// Above it not all pairs of edges and faces are tried.
constexpr std::size_t kMaxEdgePairs = 64, kMaxFaceTests = 20000;
/// An axis of the next kind must be better by this share of the smaller size.
constexpr double kPreference = 1e-3;
/// Points of a manifold nearer than this share of the size are one.
constexpr double kMerge = 0.05;
constexpr int kMaxCorners = 64;  ///< of a face, as clipped

enum class AxisKind : std::uint8_t { kFaceOfA, kFaceOfB, kEdges, kPoints };

/// A direction along which two solids are apart, or least deep.
struct ConvexSeparation {
  double separation = -std::numeric_limits<double>::infinity();
  Vec3 normal = Vec3::UnitY();  ///< from b to a, in a's frame
  AxisKind kind = AxisKind::kFaceOfA;
  int feature_a = 0, feature_b = 0;
};

struct SupportPoint {
  double height;
  int vertex;
};

SupportPoint lowest(const ConvexPolyhedron& p, const Vec3& direction) noexcept {
  SupportPoint best{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t i = 0; i < p.vertices.size(); ++i) {
    const double h = direction.dot(p.vertices[i]);
    if (h < best.height) best = {h, static_cast<int>(i)};
  }
  return best;
}

double separation_along(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB,
                        const Vec3& normal) noexcept {
  return lowest(a, normal).height + lowest(b, X_AB.rotation.conjugate() * -normal).height - normal.dot(X_AB.position);
}

/// The face of `a` that is farthest below `b`. `hint`: unless zero, only faces within 25° of it are tried.
ConvexSeparation best_face(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB,
                           const Vec3& hint) noexcept {
  ConvexSeparation best;
  const Mat3 R_BA = X_AB.rotation.conjugate().toRotationMatrix();
  for (std::size_t f = 0; f < a.faces.size(); ++f) {
    const Vec3& n = a.faces[f].normal;
    if (hint.squaredNorm() > 0.0 && n.dot(hint) < 0.9) continue;
    const double s = lowest(b, R_BA * n).height + n.dot(X_AB.position) - a.faces[f].offset;
    if (s > best.separation) best = {s, -n, AxisKind::kFaceOfA, static_cast<int>(f), 0};
  }
  return best;
}

/// The best of all cross products of edge directions.
ConvexSeparation best_edges(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB) noexcept {
  ConvexSeparation best;
  const Mat3 R_AB = X_AB.rotation.toRotationMatrix();
  for (std::size_t j = 0; j < b.edge_directions.size(); ++j) {
    const Vec3 e = R_AB * b.edge_directions[j];
    for (std::size_t i = 0; i < a.edge_directions.size(); ++i) {
      Vec3 n = a.edge_directions[i].cross(e);
      const double length = n.norm();
      if (length < 1e-4) continue;  // parallel: a face axis does
      n /= length;
      for (int side = 0; side < 2; ++side, n = -n) {
        const double s = separation_along(a, b, X_AB, n);
        if (s > best.separation) best = {s, n, AxisKind::kEdges, static_cast<int>(i), static_cast<int>(j)};
      }
    }
  }
  return best;
}

/// Two boxes along the 15 axes on which only they can be apart (Gottschalk, Lin & Manocha 1996, section 5).
class BoxPair {
 public:
  BoxPair(const ConvexPolyhedron::Box& a, const ConvexPolyhedron::Box& b, const Pose& X_AB) noexcept
      : half_a_(a.half), half_b_(b.half), a_(a.axes), b_(X_AB.rotation * b.axes) {
    from_a_to_b_ = X_AB.position + X_AB.rotation * b.centre - a.centre;
    c_ = a_.transpose() * b_;
    absolute_ = c_.cwiseAbs();
  }

  ConvexSeparation best_face_of_a() const noexcept {
    ConvexSeparation best;
    const Vec3 reach = half_a_ + absolute_ * half_b_;
    for (int i = 0; i < 3; ++i) {
      const double d = a_.col(i).dot(from_a_to_b_), s = std::abs(d) - reach[i];
      if (s > best.separation) {
        best = {s, d > 0.0 ? Vec3(-a_.col(i)) : Vec3(a_.col(i)), AxisKind::kFaceOfA, 2 * i + (d > 0.0 ? 1 : 0), 0};
      }
    }
    return best;
  }

  ConvexSeparation best_face_of_b() const noexcept {
    ConvexSeparation best;
    const Vec3 reach = half_b_ + absolute_.transpose() * half_a_;
    for (int j = 0; j < 3; ++j) {
      const double d = b_.col(j).dot(from_a_to_b_), s = std::abs(d) - reach[j];
      if (s > best.separation) {
        best = {s, d > 0.0 ? Vec3(-b_.col(j)) : Vec3(b_.col(j)), AxisKind::kFaceOfB, 0, 2 * j + (d > 0.0 ? 0 : 1)};
      }
    }
    return best;
  }

  ConvexSeparation best_edges() const noexcept {
    ConvexSeparation best;
    int best_i = -1, best_j = 0;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) {
        const double sine2 = 1.0 - c_(i, j) * c_(i, j);
        if (sine2 < 1e-6) continue;  // parallel: a face axis does
        // With n = a_i × b_j: n·a_k is, but for the sign, an element of c, and so is n·b_k.
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        const double reach = half_a_[i1] * absolute_(i2, j) + half_a_[i2] * absolute_(i1, j) +
                             half_b_[j1] * absolute_(i, j2) + half_b_[j2] * absolute_(i, j1);
        const double d = a_.col(i).cross(b_.col(j)).dot(from_a_to_b_);
        const double s = (std::abs(d) - reach) / std::sqrt(sine2);
        if (s <= best.separation) continue;
        best.separation = s;
        best_i = i;
        best_j = j;
      }
    }
    if (best_i < 0) return best;
    const Vec3 n = a_.col(best_i).cross(b_.col(best_j)).normalized();
    return {best.separation, n.dot(from_a_to_b_) > 0.0 ? Vec3(-n) : n, AxisKind::kEdges, best_i, best_j};
  }

 private:
  Vec3 half_a_, half_b_, from_a_to_b_;
  Mat3 a_, b_, c_, absolute_;
};

/// A corner of a face while it is clipped; `edge` labels the edge that leaves it.
struct ClipCorner {
  Vec3 p;
  std::uint32_t label, edge;
};
using ClipPolygon = std::array<ClipCorner, kMaxCorners>;

std::uint32_t mix_labels(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t h = a * 0x9e3779b1u + b * 0x85ebca77u + 0x165667b1u;
  h ^= h >> 15;
  return h * 0x2c1b3c6du;
}

/// What of `in` lies below the plane n·x = offset (Sutherland & Hodgman 1974).
int clip(const ClipPolygon& in, int count, const Vec3& n, double offset, std::uint32_t plane_label,
         ClipPolygon& out) noexcept {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    const ClipCorner& c = in[i];
    const ClipCorner& d = in[(i + 1) % count];
    const double hc = n.dot(c.p) - offset, hd = n.dot(d.p) - offset;
    if (hc <= 0.0 && kept < kMaxCorners) out[kept++] = c;
    if ((hc <= 0.0) == (hd <= 0.0) || kept >= kMaxCorners) continue;
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
      if (normal.dot(c.p) < normal.dot(kept[k].p) - 1e-3 * merge) kept[k] = c;
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

/// Clips the face of `other` that looks most against `reference`'s face; all in the reference's frame, X_RO the other's
/// pose in it. Writes points on the other solid nearer than `max_gap` and returns how many.
int clip_faces(const ConvexPolyhedron& reference, int face, const ConvexPolyhedron& other, const Pose& X_RO,
               double max_gap, ClipPolygon& points) noexcept {
  const ConvexPolyhedron::Face& f = reference.faces[static_cast<std::size_t>(face)];
  const Vec3 n_O = X_RO.rotation.conjugate() * f.normal;
  // The face that looks most against it, of those at the lowest corner: it must be among the points.
  const int support = lowest(other, n_O).vertex;
  int incident = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < other.faces.size(); ++g) {
    const double along = n_O.dot(other.faces[g].normal);
    if (along >= least - 1e-9) continue;
    const auto begin = other.loop.begin() + other.faces[g].begin, end = begin + other.faces[g].count;
    if (std::find(begin, end, support) == end) continue;
    least = along;
    incident = static_cast<int>(g);
  }
  const ConvexPolyhedron::Face& g = other.faces[static_cast<std::size_t>(incident)];
  ClipPolygon buffer;
  int count = std::min(g.count, kMaxCorners);
  for (int k = 0; k < count; ++k) {
    const auto v = static_cast<std::uint32_t>(other.loop[g.begin + k]);
    points[k] = {X_RO.position + X_RO.rotation * other.vertices[v], v,
                 0x10000u + static_cast<std::uint32_t>(g.begin + k)};
  }
  // Corners on the border, as of equal boxes one on the other, stay whole.
  const double slack = 1e-9 * reference.size;
  for (int k = 0; k < f.count && count > 0; ++k) {
    const Vec3& p = reference.vertices[reference.loop[f.begin + k]];
    const Vec3& q = reference.vertices[reference.loop[f.begin + (k + 1) % f.count]];
    const Vec3 out = (q - p).cross(f.normal).normalized();
    count = clip(points, count, out, out.dot(p) + slack, 0x20000u + static_cast<std::uint32_t>(f.begin + k), buffer);
    std::copy(buffer.begin(), buffer.begin() + count, points.begin());
  }
  int near = 0;
  for (int i = 0; i < count; ++i) {
    if (f.normal.dot(points[i].p) - f.offset <= max_gap) points[near++] = points[i];
  }
  return thin_out(points, near, f.normal, kMerge * std::min(reference.size, other.size));
}

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
  ManifoldMaker(const ConvexShape& a, const ConvexShape& b, const Pose& X_AB, double max_gap) noexcept
      : shape_a_(a), shape_b_(b), a_(a.polyhedron()), b_(b.polyhedron()), X_AB_(X_AB), max_gap_(max_gap) {}

  bool compute(Manifold& out) noexcept {
    if (!find_axis()) return false;
    out.normal = axis_.normal;
    out.separation = axis_.separation;
    out.count = 0;
    switch (axis_.kind) {
      case AxisKind::kFaceOfA:
      case AxisKind::kFaceOfB:
        add_face_points(out);
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
    const ConvexSeparation edges = pair.best_edges();
    if (edges.separation > axis_.separation + preference) axis_ = edges;
    return other.separation <= max_gap_ && edges.separation <= max_gap_;
  }

  bool find_hull_axis() noexcept {
    const bool many_edges = a_.edge_directions.size() * b_.edge_directions.size() > kMaxEdgePairs;
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
  ConvexSeparation axis_;
  ConvexGjk gjk_;
  bool gjk_known_ = false;
};

}  // namespace

bool compute_manifold(const ConvexShape& a, const Pose& X_WA, const ConvexShape& b, const Pose& X_WB, double max_gap,
                      Manifold& out) noexcept {
  const Quat R_AW = X_WA.rotation.conjugate();
  const Pose X_AB{R_AW * (X_WB.position - X_WA.position), R_AW * X_WB.rotation};
  if (!X_AB.position.allFinite() || !X_AB.rotation.coeffs().allFinite()) return false;
  if (!ManifoldMaker(a, b, X_AB, max_gap).compute(out)) return false;
  out.normal = X_WA.rotation * out.normal;
  for (int i = 0; i < out.count; ++i) {
    ManifoldPoint& p = out.points[i];
    p.on_a = X_WA.position + X_WA.rotation * p.on_a;
    p.on_b = X_WA.position + X_WA.rotation * p.on_b;
  }
  return true;
}

}  // namespace palpate
