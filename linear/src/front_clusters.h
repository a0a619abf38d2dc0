#pragma once

#include <span>
#include <vector>

#include "front_tree.h"

namespace palpate {

/// Columns that are eliminated together as one dense front. Numbers are positions in Clusters::order.
struct Cluster {
  std::vector<int> columns;
  std::vector<int> rows;  ///< blocks below them that they couple to
  int parent = -1;        ///< cluster, −1 for a root
};

struct Clusters {
  std::vector<int> order;     ///< as given
  std::vector<Cluster> list;  ///< children before parents; without columns: merged away
  int log_blocks = 2;         ///< of the strips of their fronts

  FrontShape shape(int c) const;
};

/// The elimination tree (Liu 1990, "The role of elimination trees in sparse factorization"), its columns merged with
/// their parents first where that adds no fill, then wherever predict_cycles() falls. Columns of a cluster may be
/// eliminated in any order: those that a large child does not couple to come first.
Clusters make_clusters(const BlockPattern& pattern, std::span<const int> order, int log_blocks);

/// Time that a front takes in factor() on a machine with two multiply-adds of 32-byte vectors a cycle [cycles]; a
/// model good enough to compare tree shapes with.
double predict_cycles(const FrontShape& shape) noexcept;

/// Time that a front takes in add_compliance() for a strip of right-hand sides that enters at column `first` together
/// with `strips` others [cycles].
double predict_strip_cycles(const FrontShape& shape, int first, double strips) noexcept;

/// Multiplications and additions of a front, padding not counted.
double compute_operations(const FrontShape& shape) noexcept;

}  // namespace palpate
