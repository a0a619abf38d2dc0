#include "palpate/linear/block_ordering.h"

#include <metis.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>

namespace palpate {
namespace {

/// Neighbours of each block, itself left out, in compressed rows.
struct Graph {
  std::vector<idx_t> begin, neighbours;
};

Graph make_graph(const BlockPattern& pattern) {
  const int n = pattern.blocks();
  Graph graph;
  graph.begin.assign(as_size(n) + 1, 0);
  const auto for_each_edge = [&](auto&& visit) {
    for (int j = 0; j < n; ++j) {
      for (int at = pattern.column_begin(j) + 1; at < pattern.column_begin(j + 1); ++at) visit(pattern.row(at), j);
    }
  };
  for_each_edge([&](int i, int j) { ++graph.begin[i + 1], ++graph.begin[j + 1]; });
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  graph.neighbours.resize(graph.begin.back());
  std::vector<idx_t> next(graph.begin.begin(), graph.begin.end() - 1);
  for_each_edge([&](int i, int j) {
    graph.neighbours[next[i]++] = j;
    graph.neighbours[next[j]++] = i;
  });
  return graph;
}

}  // namespace

std::vector<int> make_nested_dissection(const BlockPattern& pattern, int seed) {
  idx_t n = pattern.blocks();
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Graph graph = make_graph(pattern);
  if (graph.neighbours.empty()) return order;

  std::vector<idx_t> permutation(n), inverse(n);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = seed;
  options[METIS_OPTION_NSEPS] = 3;
  static std::mutex metis_uses_rand;
  const std::lock_guard lock(metis_uses_rand);
  const int status = METIS_NodeND(&n, graph.begin.data(), graph.neighbours.data(), nullptr, options, permutation.data(),
                                  inverse.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) throw std::runtime_error("METIS_NodeND failed");
  order.assign(permutation.begin(), permutation.end());
  return order;
}

std::vector<int> make_minimum_degree(const BlockPattern& pattern) {
  const int n = pattern.blocks();
  const Graph graph = make_graph(pattern);
  using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 1.0);
    for (idx_t at = graph.begin[i]; at < graph.begin[i + 1]; ++at) entries.emplace_back(graph.neighbours[at], i, 1.0);
  }
  Sparse symmetric(n, n);
  symmetric.setFromTriplets(entries.begin(), entries.end());
  Eigen::AMDOrdering<int>::PermutationType permutation;
  Eigen::AMDOrdering<int>()(symmetric, permutation);
  return {permutation.indices().data(), permutation.indices().data() + n};
}

}  // namespace palpate
