#pragma once

#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// How often a closed surface wraps around a point: 0 outside, 1 inside, 0 in a cavity, 2 where parts overlap.
///
/// Counts, with their sign, the triangles above the point. Whether an edge passes left or right of the vertical through
/// the point is decided once for both its triangles, so rounding cannot open a closed surface: far outside the count is
/// 0 whatever the triangles are like (flat, needles, passing through each other). The sign of a nearest triangle's
/// normal, which TriangleTree::signed_distance() goes by, has no such promise where a surface passes through itself.
class WindingNumber {
 public:
  /// `mesh` must stay; triangles that share an edge must share its vertices.
  explicit WindingNumber(const TriangleMesh& mesh);
  int compute(const Vec3& p) const noexcept;

 private:
  int count_above(std::int32_t triangle, const Vec3& p) const noexcept;
  std::array<int, 2> locate(const Vec3& p) const noexcept;

  const TriangleMesh& mesh_;
  BoundingBox box_;
  int bins_ = 1;                              ///< along x and along y
  std::vector<std::int32_t> first_, binned_;  ///< triangles of bin b: binned_[first_[b] … first_[b + 1])
};

}  // namespace palpate
