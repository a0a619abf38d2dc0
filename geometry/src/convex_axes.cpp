#include "convex_axes.h"

#include <cmath>

namespace palpate {

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

ConvexSeparation BoxPair::best_face_of_a() const noexcept {
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

ConvexSeparation BoxPair::best_face_of_b() const noexcept {
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

ConvexSeparation BoxPair::best_edges() const noexcept {
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

}  // namespace palpate
