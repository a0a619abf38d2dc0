#include "convex_gjk.h"

#include <algorithm>

#include "convex_axes.h"
#include "convex_clip.h"
#include "palpate/geometry/closest_features.h"

namespace palpate {
namespace {

/// Up to four differences of a vertex of a and one of b.
struct Simplex {
  struct Corner {
    Vec3 difference, on_a, on_b;
    int vertex_a = 0, vertex_b = 0;
    double weight = 0.0;
  };
  std::array<Corner, 4> corners;
  int count = 0;

  Vec3 nearest() const noexcept {
    Vec3 v = Vec3::Zero();
    for (int i = 0; i < count; ++i) v += corners[i].weight * corners[i].difference;
    return v;
  }

  /// Weights of the point nearest to the origin; corners without weight are dropped. The origin is not inside: four
  /// corners come down to one of the three triangles at the newest, since the fourth was the nearest before.
  void reduce() noexcept {
    if (count == 1) corners[0].weight = 1.0;
    if (count == 2) {
      corners[1].weight = closest_on_segment(Vec3::Zero(), corners[0].difference, corners[1].difference);
      corners[0].weight = 1.0 - corners[1].weight;
    }
    if (count >= 3) {
      double least = std::numeric_limits<double>::infinity();
      weigh_triangle({0, 1, count - 1}, least);
      if (count == 4) weigh_triangle({0, 2, 3}, least);
      if (count == 4) weigh_triangle({1, 2, 3}, least);
    }
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      if (corners[i].weight > 0.0) corners[kept++] = corners[i];
    }
    count = kept;
  }

 private:
  /// Takes the weights of the triangle's nearest point if it is nearer than `least` [m²].
  void weigh_triangle(const std::array<int, 3>& t, double& least) noexcept {
    const Vec3 &p = corners[t[0]].difference, &q = corners[t[1]].difference, &r = corners[t[2]].difference;
    const Vec3 w = closest_on_triangle(Vec3::Zero(), p, q, r);
    const double distance2 = (w[0] * p + w[1] * q + w[2] * r).squaredNorm();
    if (!(distance2 < least)) return;
    least = distance2;
    for (int i = 0; i < count; ++i) corners[i].weight = 0.0;
    for (int k = 0; k < 3; ++k) corners[t[k]].weight = w[k];
  }
};

/// The same for the same set of vertices.
std::uint32_t feature_of(const Simplex& s) noexcept {
  std::uint32_t vertices_a = 0, vertices_b = 0;
  for (int i = 0; i < s.count; ++i) {
    bool new_a = true, new_b = true;
    for (int k = 0; k < i; ++k) {
      new_a = new_a && s.corners[k].vertex_a != s.corners[i].vertex_a;
      new_b = new_b && s.corners[k].vertex_b != s.corners[i].vertex_b;
    }
    if (new_a) vertices_a += mix_labels(0x40000u, static_cast<std::uint32_t>(s.corners[i].vertex_a));
    if (new_b) vertices_b += mix_labels(0x40001u, static_cast<std::uint32_t>(s.corners[i].vertex_b));
  }
  return mix_labels(vertices_a, vertices_b);
}

}  // namespace

void ConvexGjk::compute(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB,
                        const Vec3& first) noexcept {
  const Mat3 R_AB = X_AB.rotation.toRotationMatrix();
  const double enough = 1e-14 * std::max(a.size, b.size);
  Simplex simplex, best;
  double least = std::numeric_limits<double>::infinity();
  normal = first;
  for (int i = 0; i < kMaxIterations; ++i) {
    const int on = lowest(a, normal).vertex, under = lowest(b, -(R_AB.transpose() * normal)).vertex;
    const Vec3& p = a.vertices[as_size(on)];
    const Vec3 q = X_AB.position + R_AB * b.vertices[as_size(under)];
    separation = normal.dot(p - q);
    if (separation >= least - enough) break;
    simplex.corners[simplex.count++] = {p - q, p, q, on, under, 0.0};
    simplex.reduce();
    const Vec3 v = simplex.nearest();
    const double length = v.norm();
    if (!(length < least)) break;  // no nearer: the rest is rounding
    least = length;
    best = simplex;
    if (!(length > 0.0)) break;
    normal = v / length;
  }
  distance = least;
  on_a.setZero();
  on_b.setZero();
  for (int k = 0; k < best.count; ++k) {
    on_a += best.corners[k].weight * best.corners[k].on_a;
    on_b += best.corners[k].weight * best.corners[k].on_b;
  }
  feature = feature_of(best);
}

}  // namespace palpate
