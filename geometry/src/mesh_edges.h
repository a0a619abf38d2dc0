#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// One side of a triangle, ready to be sorted next to the other sides of the same edge.
struct HalfEdge {
  std::int32_t low, high;  ///< vertices, low < high
  std::int32_t triangle;
  std::int32_t side;  ///< from corner `side` to the next
  bool forward;       ///< runs from low to high
  friend bool operator<(const HalfEdge& a, const HalfEdge& b) noexcept {
    if (a.low != b.low) return a.low < b.low;
    if (a.high != b.high) return a.high < b.high;
    return a.triangle < b.triangle;
  }
};

/// All half-edges, sorted by edge. Indices must be in range and distinct within each triangle.
inline std::vector<HalfEdge> make_half_edges(const TriangleMesh& mesh) {
  std::vector<HalfEdge> halves;
  halves.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int side = 0; side < 3; ++side) {
      const std::int32_t i = mesh.triangles[t][side], j = mesh.triangles[t][(side + 1) % 3];
      halves.push_back({std::min(i, j), std::max(i, j), static_cast<std::int32_t>(t), side, i < j});
    }
  }
  std::sort(halves.begin(), halves.end());
  return halves;
}

/// Calls visit(first, last) for the half-edges of each edge.
template <typename Visit>
void for_each_edge(const std::vector<HalfEdge>& halves, Visit&& visit) {
  for (auto first = halves.begin(); first != halves.end();) {
    auto last = first;
    while (last != halves.end() && last->low == first->low && last->high == first->high) ++last;
    visit(first, last);
    first = last;
  }
}

/// Disjoint sets with path halving.
class UnionFind {
 public:
  explicit UnionFind(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t find(std::int32_t i) noexcept {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::int32_t i, std::int32_t j) noexcept {
    i = find(i);
    j = find(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::int32_t> parent_;
};

/// For each vertex the first vertex at exactly the same position (itself if there is none before it). Vertices that
/// are not finite equal only themselves.
std::vector<std::int32_t> find_first_at_position(const std::vector<Vec3>& vertices);

/// Marks triangles with the same three vertices, in any order, as an earlier one.
std::vector<bool> find_duplicate_triangles(const TriangleMesh& mesh);

}  // namespace palpate
