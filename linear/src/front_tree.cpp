#include "front_tree.h"

#include <algorithm>
#include <numeric>

#include "front_clusters.h"

namespace palpate {
namespace {

/// Depth-first postorder of the clusters, large updates first so that the stacks stay low.
std::vector<int> make_postorder(const Clusters& clusters) {
  std::vector<std::vector<int>> children(clusters.list.size());
  std::vector<int> order, stack;
  for (int c = static_cast<int>(clusters.list.size()) - 1; c >= 0; --c) {
    const Cluster& cluster = clusters.list[c];
    if (cluster.columns.empty()) continue;
    if (cluster.parent < 0) {
      stack.push_back(c);
    } else {
      children[cluster.parent].push_back(c);
    }
  }
  for (std::vector<int>& list : children) {
    std::stable_sort(list.begin(), list.end(),
                     [&](int a, int b) { return clusters.list[a].rows.size() < clusters.list[b].rows.size(); });
  }
  // Parents before children, last child first; reversed it is a postorder.
  while (!stack.empty()) {
    const int c = stack.back();
    stack.pop_back();
    order.push_back(c);
    stack.insert(stack.end(), children[c].rbegin(), children[c].rend());
  }
  std::reverse(order.begin(), order.end());
  return order;
}

class Builder {
 public:
  Builder(const BlockPattern& pattern, Clusters clusters) : pattern_(pattern), clusters_(std::move(clusters)) {}

  FrontTree build() {
    number();
    place_rows();
    link();
    stack_updates();
    place_blocks();
    return std::move(tree_);
  }

 private:
  /// Fronts in postorder, the final elimination order, slab and panel offsets.
  void number() {
    const int n = pattern_.blocks();
    tree_.place.resize(n);
    tree_.front_of.resize(n);
    position_.resize(n);
    std::vector<int> front_of_cluster(clusters_.list.size(), -1);
    postorder_ = make_postorder(clusters_);
    for (const int c : postorder_) {
      const int f = static_cast<int>(tree_.fronts.size());
      front_of_cluster[c] = f;
      Front front;
      front.shape = clusters_.shape(c);
      front.first = static_cast<int>(tree_.order.size());
      front.slab = tree_.slab_size;
      front.panel = tree_.panels_size;
      for (const int column : clusters_.list[c].columns) {
        const int block = clusters_.order[column];
        position_[block] = static_cast<int>(tree_.order.size());
        tree_.place[block] = front.slab + 3 * (position_[block] - front.first);
        tree_.front_of[block] = f;
        tree_.order.push_back(block);
      }
      tree_.slab_size += front.shape.padded_columns();
      tree_.panels_size += front.shape.panel_size();
      tree_.largest_strips = std::max(tree_.largest_strips, front.shape.pivot_strips() + front.shape.row_strips());
      tree_.operations += compute_operations(front.shape);
      tree_.predicted_cycles += predict_cycles(front.shape);
      tree_.fronts.push_back(front);
    }
    for (std::size_t f = 0; f < tree_.fronts.size(); ++f) {
      const int parent = clusters_.list[postorder_[f]].parent;
      tree_.fronts[f].parent = parent < 0 ? -1 : front_of_cluster[parent];
    }
  }

  /// Rows of each front by final position, their slab positions, and their places in the parent.
  void place_rows() {
    rows_.resize(tree_.fronts.size());
    for (std::size_t f = 0; f < tree_.fronts.size(); ++f) {
      Front& front = tree_.fronts[f];
      for (const int row : clusters_.list[postorder_[f]].rows) rows_[f].push_back(position_[clusters_.order[row]]);
      std::sort(rows_[f].begin(), rows_[f].end());
      front.rows_begin = static_cast<int>(tree_.row_slabs.size());
      for (const int row : rows_[f]) {
        for (int i = 0; i < 3; ++i) tree_.row_slabs.push_back(tree_.place[tree_.order[row]] + i);
      }
      tree_.row_slabs.resize(front.rows_begin + front.shape.strip_rows() * front.shape.row_strips(), tree_.slab_size);
    }
    for (std::size_t f = 0; f < tree_.fronts.size(); ++f) {
      Front& front = tree_.fronts[f];
      front.places_begin = static_cast<int>(tree_.row_places.size());
      for (const int row : rows_[f]) {
        tree_.row_places.push_back(find_place(front.parent, row));
        front.pivot_rows += row < tree_.fronts[front.parent].first + tree_.fronts[front.parent].shape.pivots;
      }
    }
  }

  /// Where the block at elimination position `at` stands among pivots and rows of front f.
  int find_place(int f, int at) const {
    const Front& front = tree_.fronts[f];
    if (at < front.first + front.shape.pivots) return at - front.first;
    const auto found = std::lower_bound(rows_[f].begin(), rows_[f].end(), at);
    return front.shape.blocks() * front.shape.pivot_strips() + static_cast<int>(found - rows_[f].begin());
  }

  void link() {
    std::vector<std::vector<int>> children(tree_.fronts.size());
    for (std::size_t f = 0; f < tree_.fronts.size(); ++f) {
      if (tree_.fronts[f].parent >= 0) children[tree_.fronts[f].parent].push_back(static_cast<int>(f));
    }
    for (std::size_t f = 0; f < tree_.fronts.size(); ++f) {
      tree_.fronts[f].children_begin = static_cast<int>(tree_.children.size());
      tree_.children.insert(tree_.children.end(), children[f].begin(), children[f].end());
      tree_.fronts[f].children_end = static_cast<int>(tree_.children.size());
    }
  }

  /// In a postorder, updates of even depth are pushed and popped in turn, and so are those of odd depth: a front's own
  /// update goes to one stack while its children's are read from the other, and none has to be moved.
  void stack_updates() {
    std::size_t top[2] = {0, 0};
    for (std::size_t f = tree_.fronts.size(); f-- > 0;) {
      Front& front = tree_.fronts[f];
      front.parity = front.parent < 0 ? 0 : 1 - tree_.fronts[front.parent].parity;
    }
    for (Front& front : tree_.fronts) {
      front.update = top[front.parity];
      top[front.parity] += front.shape.update_size();
      tree_.updates_size[front.parity] = std::max(tree_.updates_size[front.parity], top[front.parity]);
      if (front.children_begin < front.children_end) {
        top[1 - front.parity] = tree_.fronts[tree_.children[front.children_begin]].update;
      }
    }
  }

  void place_blocks() {
    std::vector<std::vector<BlockTarget>> targets(tree_.fronts.size());
    for (int j = 0; j < pattern_.blocks(); ++j) {
      for (int at = pattern_.column_begin(j); at < pattern_.column_begin(j + 1); ++at) {
        const auto [column, row] = std::minmax(position_[j], position_[pattern_.row(at)]);
        const int f = tree_.front_of[tree_.order[column]];
        const Front& front = tree_.fronts[f];
        const int place = find_place(f, row);
        const std::size_t target = front.panel + front.shape.panel_offset(front.shape.strip_of(place)) +
                                   3 * front.shape.strip_rows() * (column - front.first) + front.shape.row_of(place);
        targets[f].push_back({target, at, column != position_[j]});
      }
    }
    for (std::size_t f = 0; f < tree_.fronts.size(); ++f) {
      tree_.fronts[f].blocks_begin = static_cast<int>(tree_.blocks.size());
      tree_.blocks.insert(tree_.blocks.end(), targets[f].begin(), targets[f].end());
      tree_.fronts[f].blocks_end = static_cast<int>(tree_.blocks.size());
    }
  }

  const BlockPattern& pattern_;
  Clusters clusters_;
  FrontTree tree_;
  std::vector<int> postorder_;          ///< cluster of each front
  std::vector<int> position_;           ///< of each block in the final order
  std::vector<std::vector<int>> rows_;  ///< of each front, by position
};

}  // namespace

FrontTree make_front_tree(const BlockPattern& pattern, std::span<const int> order, int log_blocks) {
  return Builder(pattern, make_clusters(pattern, order, log_blocks)).build();
}

void rename_blocks(FrontTree& tree, const BlockPattern& part, std::span<const int> blocks, const BlockPattern& whole) {
  std::vector<int> index(as_size(part.stored()));
  std::vector<int> place(as_size(whole.blocks()), -1), front_of = place;
  for (int j = 0; j < part.blocks(); ++j) {
    for (int at = part.column_begin(j); at < part.column_begin(j + 1); ++at)
      index[at] = whole.find(blocks[part.row(at)], blocks[j]);
    place[blocks[j]] = tree.place[j];
    front_of[blocks[j]] = tree.front_of[j];
  }
  for (BlockTarget& block : tree.blocks) block.index = index[block.index];
  for (int& block : tree.order) block = blocks[block];
  tree.place = std::move(place);
  tree.front_of = std::move(front_of);
}

}  // namespace palpate
