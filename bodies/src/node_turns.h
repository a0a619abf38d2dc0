#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "palpate/core/index.h"
#include "palpate/core/math.h"

namespace palpate {

/// The rotations of elements, and from those how far each node's surroundings have turned.
///
/// Of the elements around a node at most kMost are asked, so that a node takes as long as any other. Thread: its
/// owner's; nothing allocates or throws after it is made.
class NodeTurns {
 public:
  NodeTurns(int nodes, int elements) : begin_(as_size(nodes) + 1, 0), turns_(9 * as_size(elements), 0.0F) {}

  /// Names the nodes of the elements: `visit(take)` calls take(element, node) for every pair, and is called twice.
  template <typename Visit>
  void connect(const Visit& visit) {
    std::vector<int> count(begin_.size() - 1, 0);
    visit([&](int, int node) { count[as_size(node)] = std::min(count[as_size(node)] + 1, kMost); });
    for (std::size_t i = 0; i < count.size(); ++i) begin_[i + 1] = begin_[i] + count[i];
    element_.resize(as_size(begin_.back()));
    std::fill(count.begin(), count.end(), 0);
    visit([&](int element, int node) {
      int& k = count[as_size(node)];
      if (k < begin_[as_size(node) + 1] - begin_[as_size(node)])
        element_[as_size(begin_[as_size(node)] + k++)] = static_cast<std::int32_t>(element);
    });
  }

  /// R of an element, by `entry(row, column)`.
  template <typename Entry>
  void set(int element, const Entry& entry) noexcept {
    float* at = &turns_[9 * as_size(element)];
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) *at++ = static_cast<float>(entry(i, j));
    }
  }

  /// Of the nodes from `first` to before `end`, which out[0] and the following get: the rotation nearest to the mean of
  /// those around.
  void compute(int first, int end, std::span<Mat3> out) const noexcept;

 private:
  static constexpr int kMost = 6;
  Mat3 compute_mean(int node) const noexcept;
  std::vector<int> begin_;             ///< of each node in element_
  std::vector<std::int32_t> element_;  ///< around the nodes
  std::vector<float> turns_;           ///< of the elements, by columns
};

}  // namespace palpate
