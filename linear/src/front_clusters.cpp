#include "front_clusters.h"

#include <algorithm>
#include <numeric>

namespace palpate {
namespace {

/// One cluster a column: rows are the structure of that column of L.
Clusters make_columns(const BlockPattern& pattern, std::span<const int> order, int log_blocks) {
  const int n = pattern.blocks();
  Clusters clusters{{order.begin(), order.end()}, std::vector<Cluster>(n), log_blocks};
  std::vector<int> position(n), mark(n, -1);
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  for (int j = 0; j < n; ++j) {
    for (int at = pattern.column_begin(j) + 1; at < pattern.column_begin(j + 1); ++at) {
      const auto [column, row] = std::minmax(position[j], position[pattern.row(at)]);
      clusters.list[column].rows.push_back(row);
    }
  }
  std::vector<std::vector<int>> children(n);
  for (int k = 0; k < n; ++k) {
    Cluster& cluster = clusters.list[k];
    cluster.columns = {k};
    mark[k] = k;
    for (const int row : cluster.rows) mark[row] = k;
    for (const int child : children[k]) {
      for (const int row : clusters.list[child].rows) {
        if (mark[row] == k) continue;
        mark[row] = k;
        cluster.rows.push_back(row);
      }
    }
    if (cluster.rows.empty()) continue;
    cluster.parent = *std::min_element(cluster.rows.begin(), cluster.rows.end());
    children[cluster.parent].push_back(k);
  }
  return clusters;
}

class Merger {
 public:
  explicit Merger(Clusters& clusters) : clusters_(clusters), list_(clusters.list), children_(list_.size()) {
    for (std::size_t c = 0; c < list_.size(); ++c) {
      if (list_[c].parent >= 0) children_[list_[c].parent].push_back(static_cast<int>(c));
    }
  }

  /// Supernodes: a column joins its parent if both have the same structure.
  void merge_equal() {
    for (int p = 0; p < size(); ++p) {
      for (const int c : children_[p]) {
        if (list_[c].rows.size() != list_[p].rows.size() + list_[p].columns.size()) continue;
        merge(c, p);
        break;
      }
    }
  }

  /// Relaxed amalgamation: children join while the predicted time falls, the greatest gain first.
  void merge_cheap() {
    for (int p = 0; p < size(); ++p) {
      if (list_[p].columns.empty()) continue;
      for (;;) {
        double best = 0.0;
        int chosen = -1;
        for (const int c : children_[p]) {
          const double gain = compute_gain(c, p);
          if (gain > best) best = gain, chosen = c;
        }
        if (chosen < 0) break;
        merge(chosen, p);
      }
    }
  }

  /// Puts the columns of each cluster that a child does not couple to before those it does: right-hand sides that come
  /// from that child are zero there, and skip them. Where children disagree, the one that saves most comes first.
  void order_columns() {
    std::vector<int> below(list_.size(), 0), mark(list_.size(), -1);
    for (int p = 0; p < size(); ++p) {
      const auto n = static_cast<int>(list_[p].columns.size());
      below[p] += n;
      std::vector<std::pair<double, int>> savings;
      for (const int c : children_[p]) {
        below[p] += below[c];
        for (const int row : list_[c].rows) mark[row] = c;
        const auto coupled = [&](int column) { return mark[column] == c; };
        const auto kept = std::count_if(list_[p].columns.begin(), list_[p].columns.end(), coupled);
        savings.emplace_back(static_cast<double>(below[c]) * static_cast<double>(n * n - kept * kept), c);
      }
      std::sort(savings.begin(), savings.end());
      for (const auto& [saving, c] : savings) {
        for (const int row : list_[c].rows) mark[row] = c;
        std::stable_partition(list_[p].columns.begin(), list_[p].columns.end(),
                              [&](int column) { return mark[column] != c; });
      }
    }
  }

  /// After merging, a cluster's parent may have been merged away itself.
  void resolve_parents() {
    for (int p = 0; p < size(); ++p) {
      for (const int c : children_[p]) list_[c].parent = p;
    }
  }

 private:
  int size() const { return static_cast<int>(list_.size()); }
  double compute_gain(int c, int p) const {
    const FrontShape child = clusters_.shape(c), parent = clusters_.shape(p);
    const FrontShape merged{child.pivots + parent.pivots, parent.rows, clusters_.log_blocks};
    return predict_cycles(child) + predict_cycles(parent) - predict_cycles(merged);
  }
  void merge(int c, int p) {
    list_[p].columns.insert(list_[p].columns.begin(), list_[c].columns.begin(), list_[c].columns.end());
    std::vector<int>& siblings = children_[p];
    siblings.erase(std::find(siblings.begin(), siblings.end(), c));
    siblings.insert(siblings.end(), children_[c].begin(), children_[c].end());
    children_[c].clear();
    list_[c] = {};
  }

  const Clusters& clusters_;
  std::vector<Cluster>& list_;
  std::vector<std::vector<int>> children_;
};

// Measured on Zen 3: a tile costs six cycles a column of depth, and some to load, store and solve.
constexpr double kTile = 25, kDepth = 6, kSolve = 15;

}  // namespace

double predict_cycles(const FrontShape& shape) noexcept {
  // Each entry of the update is added once to the parent; each entry of the panel is cleared and written.
  constexpr double kFront = 400, kEntry = 0.9, kClear = 0.3;
  const double p = shape.pivot_strips(), r = shape.row_strips(), depth = shape.columns();
  const double tiles = shape.padded_columns() / 4.0, tiles_a_strip = static_cast<double>(shape.strip_rows()) / 4;
  const double pivots = tiles * p / 2 * (kTile + 2 * kSolve + depth / 3 * kDepth);
  const double rows = r * tiles * (kTile + kSolve + depth / 2 * kDepth);
  const double update = tiles_a_strip * r * (r + 1) / 2 * (kTile + depth * kDepth);
  const double m = 3.0 * shape.rows;
  return kFront + pivots + rows + update + kEntry * m * m / 2 + kClear * static_cast<double>(shape.panel_size());
}

double predict_strip_cycles(const FrontShape& shape, int first, double strips) noexcept {
  const double depth = shape.columns() - first;
  const double solve = depth / 4 * (kTile + kSolve + depth / 2 * kDepth);
  // So many tiles for each strip of rows below, and for each pair of strips of right-hand sides.
  const double tiles = static_cast<double>(shape.strip_rows()) / 4;
  return solve + tiles * (shape.row_strips() + strips / 2) * (kTile + depth * kDepth);
}

double compute_operations(const FrontShape& shape) noexcept {
  const double k = 3.0 * shape.pivots, m = 3.0 * shape.rows;
  return k * k * k / 3 + k * k * m + k * m * m;
}

FrontShape Clusters::shape(int c) const {
  return {static_cast<int>(list[c].columns.size()), static_cast<int>(list[c].rows.size()), log_blocks};
}

Clusters make_clusters(const BlockPattern& pattern, std::span<const int> order, int log_blocks) {
  Clusters clusters = make_columns(pattern, order, log_blocks);
  Merger merger(clusters);
  merger.merge_equal();
  merger.merge_cheap();
  merger.order_columns();
  merger.resolve_parents();
  return clusters;
}

}  // namespace palpate
