#include "convex_axes.h"

#include <cmath>

namespace palpate {
namespace {

/// Corners of a face lie in its plane up to this share of the size: make_convex_hull().
constexpr double kFlat = 1e-7;
/// Edges less than this apart in direction are parallel [rad]; then a face does. What is lost is less than this share
/// of the size: as wide is the area in which the two could touch.
constexpr double kParallel = 1e-10;
/// Edges of b that are held against all of a at a time.
constexpr int kEdgeBlock = 64;

/// An edge and the outward normals of the faces on its left and right.
struct EdgeInSpace {
  Vec3 p, d;  ///< its first vertex; unit direction to the second
  Vec3 left, right;
  int number;
};

EdgeInSpace make_edge(const ConvexPolyhedron& p, int number) noexcept {
  const ConvexPolyhedron::Edge& e = p.edges[as_size(number)];
  const Vec3 &from = p.vertices[e.vertex[0]], &to = p.vertices[e.vertex[1]];
  // An edge without one of its faces is one of a sheet: more axes count as possible, none less.
  const Vec3& first = p.faces[as_size(e.face[e.face[0] >= 0 ? 0 : 1])].normal;
  EdgeInSpace out{from, (to - from).normalized(), first, -first, number};
  if (e.face[0] >= 0 && e.face[1] >= 0) out.right = p.faces[as_size(e.face[1])].normal;
  return out;
}

/// Whether along some direction between the normals of its faces all probes are farther out than `floor`.
///
/// Over these directions a probe is highest at an end, or, if it is out of both faces, at most by 1/cos of half the
/// angle between them higher than over the better one.
bool may_be_outermost(const ConvexPolyhedron& p, int edge, double floor, ConvexProbes& probes) noexcept {
  const ConvexPolyhedron::Edge& e = p.edges[as_size(edge)];
  if (e.face[0] < 0 || e.face[1] < 0) return true;
  const ConvexPolyhedron::Face& f = p.faces[as_size(e.face[0])];
  const ConvexPolyhedron::Face& g = p.faces[as_size(e.face[1])];
  const double cos2 = 0.5 * (1.0 + f.normal.dot(g.normal));
  return !probes.any([&](const Vec3& v) {
    const double h = std::max(f.normal.dot(v) - f.offset, g.normal.dot(v) - g.offset);
    return h <= 0.0 ? h < floor : floor > 0.0 && h * h < floor * floor * cos2;
  });
}

/// Whether `sign` · a.d × b.d points into b's side of a's edge and a's side of b's: then a lies above it and b below.
/// (a.d × b.d) · (a.left × a.d) = −b.d · a.left, and likewise for the other three.
bool are_outermost(const EdgeInSpace& a, const EdgeInSpace& b, double sign) noexcept {
  constexpr double kSlack = 1e-9;  // what passes for nothing is measured all the same
  return sign * b.d.dot(a.left) <= kSlack && sign * b.d.dot(a.right) >= -kSlack && sign * a.d.dot(b.left) <= kSlack &&
         sign * a.d.dot(b.right) >= -kSlack;
}

}  // namespace

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

ConvexSeparation best_face(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB, double floor,
                           double tie, ConvexProbes& probes) noexcept {
  ConvexSeparation best;
  best.separation = floor;
  bool found = false;
  const Mat3 R_AB = X_AB.rotation.toRotationMatrix();
  const auto measure = [&](std::size_t f) {
    const Vec3& n = a.faces[f].normal;
    const SupportPoint p = lowest(b, R_AB.transpose() * n);
    const double s = p.height + n.dot(X_AB.position) - a.faces[f].offset;
    probes.add(X_AB.position + R_AB * b.vertices[as_size(p.vertex)]);
    if (!(s > best.separation + (found ? tie : 0.0))) return;
    best = {s, -n, AxisKind::kFaceOfA, static_cast<int>(f), 0};
    found = true;
  };
  // The one that b's centre is farthest out of is a good one to begin with: most others are worse than it.
  const Vec3 centre = X_AB.position + R_AB * b.centre;
  std::size_t first = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < a.faces.size(); ++f) {
    const double h = a.faces[f].normal.dot(centre) - a.faces[f].offset;
    if (!(h > most + tie)) continue;
    most = h;
    first = f;
  }
  measure(first);
  for (std::size_t f = 0; f < a.faces.size(); ++f) {
    const double needed = best.separation + (found ? tie : 0.0) + a.faces[f].offset;
    if (f == first || probes.any([&](const Vec3& v) { return a.faces[f].normal.dot(v) <= needed; })) continue;
    measure(f);
  }
  return found ? best : ConvexSeparation{};
}

ConvexSeparation best_edges(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB, double floor,
                            double tie, ConvexProbes& of_b, ConvexProbes& of_a) noexcept {
  ConvexSeparation best;
  const Mat3 R_AB = X_AB.rotation.toRotationMatrix();
  const auto try_axis = [&](const EdgeInSpace& e, const EdgeInSpace& d, double sign) {
    Vec3 n = sign * e.d.cross(d.d);
    const double length = n.norm();
    if (length < kParallel) return;
    n /= length;
    if (!(n.dot(e.p - d.p) > floor)) return;
    const double s = separation_along(a, b, X_AB, n);
    if (!(s > floor)) return;
    best = {s, n, AxisKind::kEdges, e.number, d.number};
    floor = s + tie;
  };
  const int count_a = static_cast<int>(a.edges.size()), count_b = static_cast<int>(b.edges.size());
  for (int j = 0; j < count_b;) {
    std::array<EdgeInSpace, kEdgeBlock> block;
    int count = 0;
    for (; j < count_b && count < kEdgeBlock; ++j) {
      if (!may_be_outermost(b, j, floor - kFlat * b.size, of_a)) continue;
      EdgeInSpace& e = block[as_size(count++)] = make_edge(b, j);
      e = {X_AB.position + R_AB * e.p, R_AB * e.d, R_AB * e.left, R_AB * e.right, j};
    }
    for (int i = 0; i < count_a && count > 0; ++i) {
      if (!may_be_outermost(a, i, floor - kFlat * a.size, of_b)) continue;
      const EdgeInSpace e = make_edge(a, i);
      for (int k = 0; k < count; ++k) {
        const EdgeInSpace& d = block[as_size(k)];
        for (const double sign : {1.0, -1.0}) {
          if (are_outermost(e, d, sign)) try_axis(e, d, sign);
        }
      }
    }
  }
  return best;
}

ConvexSeparation BoxPair::best_face_of_a() const noexcept {
  ConvexSeparation best;
  const Vec3 reach = half_a_ + absolute_ * half_b_;
  for (int i = 0; i < 3; ++i) {
    const double d = a_.col(i).dot(from_a_to_b_), s = std::abs(d) - reach[i];
    if (s > best.separation + tie_) {
      best = {s, d > 0.0 ? Vec3(-a_.col(i)) : Vec3(a_.col(i)), AxisKind::kFaceOfA, 2 * i + (d > 0.0 ? 1 : 0), 0};
    }
  }
  return best;
}

ConvexSeparation BoxPair::best_face_of_b() const noexcept {
  ConvexSeparation best;
  const Vec3 reach = half_b_ + absolute_.transpose() * half_a_;
  for (int j = 0; j < 3; ++j) {
    const double d = b_.col(j).dot(from_a_to_b_), s = std::abs(d) - reach[j];
    if (s > best.separation + tie_) {
      best = {s, d > 0.0 ? Vec3(-b_.col(j)) : Vec3(b_.col(j)), AxisKind::kFaceOfB, 0, 2 * j + (d > 0.0 ? 0 : 1)};
    }
  }
  return best;
}

ConvexSeparation BoxPair::best_edges() const noexcept {
  ConvexSeparation best;
  int best_i = -1, best_j = 0;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      // The length of n = a_i × b_j, whose parts along a are these two; 1 − c_ij² would lose its digits.
      const double sine2 = c_(i1, j) * c_(i1, j) + c_(i2, j) * c_(i2, j);
      if (sine2 < kParallel * kParallel) continue;
      double s;
      if (sine2 < 1e-6) {
        // Both |n·x| and the reach are small, and their difference over the sine is all rounding.
        s = separation_along(a_.col(i).cross(b_.col(j)).normalized());
      } else {
        // n·a_k is, but for the sign, an element of c, and so is n·b_k.
        const double reach = half_a_[i1] * absolute_(i2, j) + half_a_[i2] * absolute_(i1, j) +
                             half_b_[j1] * absolute_(i, j2) + half_b_[j2] * absolute_(i, j1);
        const double d = a_.col(i).cross(b_.col(j)).dot(from_a_to_b_);
        s = (std::abs(d) - reach) / std::sqrt(sine2);
      }
      if (s <= best.separation + tie_) continue;
      best.separation = s;
      best_i = i;
      best_j = j;
    }
  }
  if (best_i < 0) return best;
  const Vec3 n = a_.col(best_i).cross(b_.col(best_j)).normalized();
  return {best.separation, n.dot(from_a_to_b_) > 0.0 ? Vec3(-n) : n, AxisKind::kEdges, best_i, best_j};
}

}  // namespace palpate
