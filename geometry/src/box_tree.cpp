#include "palpate/geometry/box_tree.h"

#include <algorithm>
#include <numeric>

namespace palpate {

BoxTree::BoxTree(std::span<const BoundingBox> boxes) {
  if (boxes.empty()) return;
  nodes_.reserve(2 * boxes.size() - 1);
  std::vector<std::int32_t> primitives(boxes.size());
  std::iota(primitives.begin(), primitives.end(), 0);
  build(boxes, primitives);
  refit(boxes);
}

std::int32_t BoxTree::build(std::span<const BoundingBox> boxes, std::span<std::int32_t> primitives) {
  const auto at = static_cast<std::int32_t>(nodes_.size());
  nodes_.emplace_back();
  if (primitives.size() == 1) {
    nodes_.back().primitive = primitives[0];
    return at;
  }
  BoundingBox centres;
  for (const std::int32_t p : primitives) centres.add(boxes[as_size(p)].center());
  int axis = 0;
  centres.size().maxCoeff(&axis);
  const auto key = [&](std::int32_t p) { return boxes[as_size(p)].center()[axis]; };
  const std::size_t half = primitives.size() / 2;
  std::nth_element(primitives.begin(), primitives.begin() + static_cast<std::ptrdiff_t>(half), primitives.end(),
                   [&](std::int32_t p, std::int32_t q) { return std::pair(key(p), p) < std::pair(key(q), q); });
  build(boxes, primitives.first(half));
  nodes_[as_size(at)].right = build(boxes, primitives.subspan(half));
  return at;
}

void BoxTree::refit(std::span<const BoundingBox> boxes) noexcept {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& n = nodes_[i];
    if (n.primitive >= 0) {
      n.box = boxes[as_size(n.primitive)];
      continue;
    }
    const BoundingBox& left = nodes_[i + 1].box;
    const BoundingBox& right = nodes_[as_size(n.right)].box;
    n.box.lower = left.lower.cwiseMin(right.lower);
    n.box.upper = left.upper.cwiseMax(right.upper);
  }
}

}  // namespace palpate
