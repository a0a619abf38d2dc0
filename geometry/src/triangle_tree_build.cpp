#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "float_bounds.h"
#include "palpate/core/error.h"
#include "palpate/core/simd.h"
#include "palpate/geometry/triangle_tree.h"

namespace palpate {
namespace {

using simd::Float4;
using simd::max_of;
using simd::min_of;

/// A box for the surface-area heuristic; float will do, as only the tree's quality depends on it.
struct Box {
  Float4 lower = Float4{} + std::numeric_limits<float>::infinity();
  Float4 upper = Float4{} - std::numeric_limits<float>::infinity();
  void add(const Box& b) noexcept {
    lower = min_of(lower, b.lower);
    upper = max_of(upper, b.upper);
  }
  float half_area() const noexcept {
    const Float4 s = upper - lower;
    return s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
  }
};

struct Item {
  Box box;
  std::int32_t triangle;
  Float4 twice_center() const noexcept { return box.lower + box.upper; }
};

struct Range {
  int begin, end;
  Box box;
  int count() const noexcept { return end - begin; }
};

struct Split {
  float cost = std::numeric_limits<float>::infinity();
  int axis = -1;
  float threshold = 0.0f;  ///< of twice the centre
};

constexpr int kBins = 16;
/// From this depth on halves are by count. Eight children by seven halvings hold an eighth each (rounded up), so 2^31
/// triangles need at most 11 levels more, and no path has over 28 nodes.
constexpr int kHeuristicDepth = 16;

Box bounds_of(const std::vector<Item>& items, int begin, int end) noexcept {
  Box box;
  for (int i = begin; i < end; ++i) box.add(items[i].box);
  return box;
}

}  // namespace

class TriangleTree::Builder {
 public:
  explicit Builder(TriangleTree& tree) : tree_(tree) {
    const TriangleMesh& mesh = tree.mesh_;
    const Vec3 o = compute_bounding_box(mesh.vertices).center();
    items_.resize(mesh.triangles.size());
    for (std::size_t t = 0; t < items_.size(); ++t) {
      items_[t].triangle = static_cast<std::int32_t>(t);
      for (const std::int32_t i : mesh.triangles[t]) {
        const Eigen::Vector3f p = (mesh.vertices[i] - o).cast<float>();
        const Float4 q{p.x(), p.y(), p.z(), 0.0f};
        items_[t].box.add({q, q});
      }
    }
    const int n = static_cast<int>(items_.size());
    tree.blocks_.reserve(items_.size() / 2 + 1);
    build_node({0, n, bounds_of(items_, 0, n)}, 0);
  }

 private:
  /// Appends the node over `range`, and what is below it. Recursion is bounded by kMaxDepth.
  std::int32_t build_node(const Range& range, int depth) {
    std::array<Range, kWidth> part;
    part[0] = range;
    int parts = 1;
    while (parts < kWidth) {
      const int widest = choose_part(part, parts, depth);
      if (widest < 0) break;
      part[parts] = split(part[widest], depth);
      ++parts;
    }
    const auto index = static_cast<std::int32_t>(tree_.nodes_.size());
    tree_.nodes_.emplace_back();
    tree_.child_count_.push_back(static_cast<std::uint8_t>(parts));
    std::array<std::int32_t, kWidth> child{};
    for (int i = 0; i < parts; ++i) {
      child[i] = part[i].count() <= kLanes ? ~make_block(part[i]) : build_node(part[i], depth + 1);
    }
    Node& node = tree_.nodes_[index];
    for (int i = 0; i < kWidth; ++i) {
      node.child[i] = child[i];
      for (int axis = 0; axis < 3; ++axis) {
        node.bounds[2 * axis][i] = std::numeric_limits<float>::infinity();
        node.bounds[2 * axis + 1][i] = -std::numeric_limits<float>::infinity();
      }
    }
    return index;
  }

  /// The part to split next: the likeliest to be met, or deep down the fullest; −1 if all fit into blocks.
  int choose_part(const std::array<Range, kWidth>& part, int parts, int depth) const noexcept {
    int best = -1;
    float best_weight = -1.0f;
    for (int i = 0; i < parts; ++i) {
      if (part[i].count() <= kLanes) continue;
      const float weight = depth < kHeuristicDepth ? part[i].box.half_area() : static_cast<float>(part[i].count());
      if (weight > best_weight) {
        best = i;
        best_weight = weight;
      }
    }
    return best;
  }

  /// Splits `range` in place and returns the other part.
  Range split(Range& range, int depth) {
    const auto first = items_.begin() + range.begin, last = items_.begin() + range.end;
    Box centers;
    for (auto i = first; i != last; ++i) centers.add({i->twice_center(), i->twice_center()});
    Split best;
    if (depth < kHeuristicDepth) {
      for (int axis = 0; axis < 3; ++axis) find_split(range, centers, axis, best);
    }
    auto middle = first + range.count() / 2;
    if (best.axis >= 0) {
      middle = std::partition(first, last, [&](const Item& i) { return i.twice_center()[best.axis] < best.threshold; });
    }
    if (best.axis < 0 || middle == first || middle == last) {
      const Float4 size = centers.upper - centers.lower;
      const int axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
      middle = first + range.count() / 2;
      std::nth_element(first, middle, last, [&](const Item& a, const Item& b) {
        const float x = a.twice_center()[axis], y = b.twice_center()[axis];
        return x < y || (x == y && a.triangle < b.triangle);
      });
    }
    const int at = static_cast<int>(middle - items_.begin());
    const Range other{at, range.end, bounds_of(items_, at, range.end)};
    range = {range.begin, at, bounds_of(items_, range.begin, at)};
    return other;
  }

  /// Binned surface-area heuristic (Wald 2007) with the cost of a leaf counted in blocks.
  void find_split(const Range& range, const Box& centers, int axis, Split& best) const noexcept {
    const float low = centers.lower[axis], extent = centers.upper[axis] - low;
    const float scale = kBins / extent;
    if (!(extent > 0.0f) || !std::isfinite(scale)) return;
    std::array<Box, kBins> box;
    std::array<int, kBins> count{};
    for (int i = range.begin; i < range.end; ++i) {
      const int bin = std::min(kBins - 1, static_cast<int>((items_[i].twice_center()[axis] - low) * scale));
      box[bin].add(items_[i].box);
      ++count[bin];
    }
    const auto cost = [](const Box& b, int n) { return b.half_area() * static_cast<float>((n + kLanes - 1) / kLanes); };
    std::array<float, kBins> cost_above{};
    Box sum;
    int n = 0;
    for (int i = kBins - 1; i > 0; --i) {
      sum.add(box[i]);
      n += count[i];
      cost_above[i] = n > 0 ? cost(sum, n) : 0.0f;
    }
    sum = {};
    n = 0;
    for (int i = 1; i < kBins; ++i) {
      sum.add(box[i - 1]);
      n += count[i - 1];
      if (n == 0 || n == range.count()) continue;
      const float total = cost(sum, n) + cost_above[i];
      if (total < best.cost) best = {total, axis, low + static_cast<float>(i) / scale};
    }
  }

  std::int32_t make_block(const Range& range) {
    Block block;
    for (auto& corner : block.corner) {
      for (auto& axis : corner) std::fill_n(axis, kLanes, std::numeric_limits<double>::quiet_NaN());
    }
    std::fill_n(block.triangle, kLanes, -1);
    for (int i = 0; i < range.count(); ++i) block.triangle[i] = items_[range.begin + i].triangle;
    tree_.blocks_.push_back(block);
    return static_cast<std::int32_t>(tree_.blocks_.size()) - 1;
  }

  TriangleTree& tree_;
  std::vector<Item> items_;
};

namespace {

void require_sound(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) fail_input("mesh: no triangles; a tree needs at least one");
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  if (mesh.triangles.size() > kMost / 3 || mesh.vertices.size() > kMost) {
    fail_input("mesh: {} triangles, {} vertices; allowed are up to {} and {}", mesh.triangles.size(),
               mesh.vertices.size(), kMost / 3, kMost);
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const std::int32_t i : mesh.triangles[t]) {
      if (i < 0 || as_size(i) >= mesh.vertices.size()) {
        fail_input("mesh: triangle {} names vertex {}; allowed are 0 to {}", t, i,
                   static_cast<long>(mesh.vertices.size()) - 1);
      }
    }
  }
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3& p = mesh.vertices[i];
    if (!p.allFinite()) fail_input("mesh: vertex {} is ({}, {}, {}); it must be finite", i, p.x(), p.y(), p.z());
  }
}

}  // namespace

TriangleTree::TriangleTree(TriangleMesh mesh) : mesh_(std::move(mesh)) {
  require_sound(mesh_);
  Builder build(*this);
  fill_adjacency();
  block_of_.resize(mesh_.triangles.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (const std::int32_t t : blocks_[b].triangle) {
      if (t >= 0) block_of_[t] = static_cast<std::int32_t>(b);
    }
  }
  is_stale_.assign(blocks_.size() + nodes_.size(), 0);
  update_boxes();
}

void TriangleTree::fill_adjacency() {
  vertex_begin_.assign(mesh_.vertices.size() + 1, 0);
  for (const auto& triangle : mesh_.triangles) {
    for (const std::int32_t i : triangle) ++vertex_begin_[i + 1];
  }
  for (std::size_t i = 1; i < vertex_begin_.size(); ++i) vertex_begin_[i] += vertex_begin_[i - 1];
  vertex_triangle_.resize(3 * mesh_.triangles.size());
  std::vector<std::int32_t> next(vertex_begin_.begin(), vertex_begin_.end() - 1);
  for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
    for (const std::int32_t i : mesh_.triangles[t]) vertex_triangle_[next[i]++] = static_cast<std::int32_t>(t);
  }
}

bool TriangleTree::refit(std::span<const Vec3> vertices) noexcept {
  if (vertices.size() != mesh_.vertices.size()) return false;
  std::copy(vertices.begin(), vertices.end(), mesh_.vertices.begin());
  update_boxes();
  return true;
}

bool TriangleTree::refit(std::span<const Vec3> vertices, std::span<const std::int32_t> moved) noexcept {
  if (vertices.size() != mesh_.vertices.size()) return false;
  for (const std::int32_t v : moved) {
    mesh_.vertices[v] = vertices[v];
    for (std::int32_t at = vertex_begin_[v]; at < vertex_begin_[v + 1]; ++at)
      is_stale_[block_of_[vertex_triangle_[at]]] = 1;
  }
  // Boxes stay relative to the centre of the last whole refit, which may be any point.
  const std::size_t blocks = blocks_.size();
  for (int n = static_cast<int>(nodes_.size()) - 1; n >= 0; --n) {
    for (int i = 0; i < child_count_[n]; ++i) {
      const std::int32_t child = nodes_[n].child[i];
      std::uint8_t& stale = is_stale_[child < 0 ? as_size(~child) : blocks + as_size(child)];
      if (stale == 0) continue;
      stale = 0;
      update_child(n, i);
      is_stale_[blocks + as_size(n)] = 1;
    }
  }
  is_stale_[blocks] = 0;
  return true;
}

struct TriangleTree::BlockBox {
  float lower[3], upper[3];
};

/// Copies the corners of the block's triangles and returns their box.
TriangleTree::BlockBox TriangleTree::fill_block(Block& block) noexcept {
  BoundingBox box;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (block.triangle[lane] < 0) continue;
    const auto& triangle = mesh_.triangles[block.triangle[lane]];
    for (int corner = 0; corner < 3; ++corner) {
      const Vec3& p = mesh_.vertices[triangle[corner]];
      for (int axis = 0; axis < 3; ++axis) block.corner[corner][axis][lane] = p[axis];
      box.add(p);
    }
  }
  BlockBox rounded{};
  for (int axis = 0; axis < 3; ++axis) {
    rounded.lower[axis] = float_below(box.lower[axis] - origin_[axis]);
    rounded.upper[axis] = float_above(box.upper[axis] - origin_[axis]);
  }
  return rounded;
}

/// The box of a child, from its triangles or from its own children's boxes.
void TriangleTree::update_child(std::int32_t n, int i) noexcept {
  Node& node = nodes_[n];
  const std::int32_t child = node.child[i];
  if (child < 0) {
    const BlockBox box = fill_block(blocks_[~child]);
    for (int axis = 0; axis < 3; ++axis) {
      node.bounds[2 * axis][i] = box.lower[axis];
      node.bounds[2 * axis + 1][i] = box.upper[axis];
    }
    return;
  }
  // Empty slots are inverted and do not count.
  for (int axis = 0; axis < 3; ++axis) {
    const auto& lower = nodes_[child].bounds[2 * axis];
    const auto& upper = nodes_[child].bounds[2 * axis + 1];
    node.bounds[2 * axis][i] = *std::min_element(lower, lower + kWidth);
    node.bounds[2 * axis + 1][i] = *std::max_element(upper, upper + kWidth);
  }
}

/// Fills blocks and boxes from the vertices, children before parents.
void TriangleTree::update_boxes() noexcept {
  origin_ = compute_bounding_box(mesh_.vertices).center();
  for (int n = static_cast<int>(nodes_.size()) - 1; n >= 0; --n) {
    for (int i = 0; i < child_count_[n]; ++i) update_child(n, i);
  }
}

}  // namespace palpate
