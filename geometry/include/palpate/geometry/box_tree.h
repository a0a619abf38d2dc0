#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// A tree of boxes over any primitives that move: where boxes of two trees, or of one, overlap.
///
/// Binary, split once at set-up by the median of the centres along the longest axis; refit() then takes it to new boxes
/// in linear time. Queries are const, allocate nothing and report in a fixed order. Boxes must be finite.
class BoxTree {
 public:
  BoxTree() = default;
  /// `boxes` as they are at the start: one for each primitive.
  explicit BoxTree(std::span<const BoundingBox> boxes);

  /// As many boxes as at set-up. Allocates nothing.
  void refit(std::span<const BoundingBox> boxes) noexcept;
  bool is_empty() const noexcept { return nodes_.empty(); }

  /// Calls visit(a, b) for all pairs of primitives whose boxes overlap.
  template <typename Visit>
  static void visit_pairs(const BoxTree& a, const BoxTree& b, Visit&& visit) {
    if (!a.is_empty() && !b.is_empty()) visit_nodes(a, 0, b, 0, visit);
  }
  /// Likewise for pairs a < b of this tree's own.
  template <typename Visit>
  void visit_own_pairs(Visit&& visit) const {
    if (!is_empty()) visit_own_nodes(0, visit);
  }

 private:
  struct Node {
    BoundingBox box;
    std::int32_t right = -1;      ///< the left child follows its parent
    std::int32_t primitive = -1;  ///< of a leaf
  };
  std::int32_t build(std::span<const BoundingBox> boxes, std::span<std::int32_t> primitives);
  static bool overlap(const BoundingBox& a, const BoundingBox& b) noexcept {
    // Without a branch for each axis: which of them parts two boxes cannot be foreseen.
    bool out = true;
    for (int k = 0; k < 3; ++k) out &= (a.lower[k] <= b.upper[k]) & (b.lower[k] <= a.upper[k]);
    return out;
  }

  // Recursion no deeper than the two trees together: balanced by construction.
  template <typename Visit>
  static void visit_nodes(const BoxTree& a, std::int32_t i, const BoxTree& b, std::int32_t j, Visit&& visit) {
    const Node& m = a.nodes_[as_size(i)];
    const Node& n = b.nodes_[as_size(j)];
    if (!overlap(m.box, n.box)) return;
    if (m.primitive >= 0 && n.primitive >= 0) return visit(m.primitive, n.primitive);
    const bool split_a = n.primitive >= 0 || (m.primitive < 0 && m.box.size().sum() >= n.box.size().sum());
    if (split_a) {
      visit_nodes(a, i + 1, b, j, visit);
      visit_nodes(a, m.right, b, j, visit);
    } else {
      visit_nodes(a, i, b, j + 1, visit);
      visit_nodes(a, i, b, n.right, visit);
    }
  }
  template <typename Visit>
  void visit_own_nodes(std::int32_t i, Visit&& visit) const {
    const Node& n = nodes_[as_size(i)];
    if (n.primitive >= 0) return;
    visit_own_nodes(i + 1, visit);
    visit_own_nodes(n.right, visit);
    visit_nodes(*this, i + 1, *this, n.right, [&](std::int32_t p, std::int32_t q) {
      if (p < q) {
        visit(p, q);
      } else {
        visit(q, p);
      }
    });
  }

  std::vector<Node> nodes_;
};

}  // namespace palpate
