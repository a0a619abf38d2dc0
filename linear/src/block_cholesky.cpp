#include "palpate/linear/block_cholesky.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "front_clusters.h"
#include "front_kernels.h"
#include "front_tree.h"
#include "palpate/core/error.h"
#include "palpate/linear/block_ordering.h"
#include "tile_kernels.h"

namespace palpate {
namespace {

using tile::kLanes;
using tile::kRows;

void check(const CholeskySettings& settings) {
  if (settings.order_trials < 1 || settings.order_trials > 100) {
    fail_input("order_trials is {}, allowed 1 to 100", settings.order_trials);
  }
  if (settings.max_rows < 0 || settings.max_rows > 100000) {
    fail_input("max_rows is {}, allowed 0 to 100000", settings.max_rows);
  }
  if (settings.shift_retries < 0 || settings.shift_retries > 20) {
    fail_input("shift_retries is {}, allowed 0 to 20", settings.shift_retries);
  }
  if (!(settings.first_shift > 0.0) || settings.first_shift > 1.0) {
    fail_input("first_shift is {}, allowed above 0 and at most 1", settings.first_shift);
  }
}

/// Time of a factorisation and of a compliance of `rows` rows from anywhere in the body: a strip that starts at some
/// block visits the fronts from there to the root.
double predict_step_cycles(const FrontTree& tree, int rows, int log_blocks) {
  const double strips = static_cast<double>(rows) / (3 << log_blocks);
  std::vector<int> below(tree.fronts.size(), 0);  // blocks whose way leads through each front
  double compliance = 0.0;
  for (std::size_t f = 0; f < below.size(); ++f) {
    const Front& front = tree.fronts[f];
    compliance += front.shape.pivots * predict_strip_cycles(front.shape, front.shape.columns() / 2, strips);
    for (int c = front.children_begin; c < front.children_end; ++c) {
      const int child = tree.children[c], first = 3 * tree.row_places[tree.fronts[child].places_begin];
      compliance += below[child] * predict_strip_cycles(front.shape, first, strips);
      below[f] += below[child];
    }
    below[f] += front.shape.pivots;
  }
  compliance *= strips / static_cast<double>(tree.order.size());
  return tree.predicted_cycles + compliance;
}

FrontTree make_cheapest_tree(const BlockPattern& pattern, const CholeskySettings& settings, int log_blocks) {
  // Half the rows there is room for stand for those of a common step.
  const auto predict = [&](const FrontTree& tree) {
    return predict_step_cycles(tree, settings.max_rows / 2, log_blocks);
  };
  FrontTree best = make_front_tree(pattern, make_minimum_degree(pattern), log_blocks);
  double cycles = predict(best);
  const int affordable = std::max(8, 16000 / std::max(1, pattern.blocks()));
  for (int seed = 0; seed < std::min(settings.order_trials, affordable); ++seed) {
    FrontTree tree = make_front_tree(pattern, make_nested_dissection(pattern, seed), log_blocks);
    const double next = predict(tree);
    if (next >= cycles) continue;
    best = std::move(tree);
    cycles = next;
  }
  return best;
}

/// With the given order, or the cheapest.
FrontTree make_tree(const BlockPattern& pattern, const CholeskySettings& settings, std::span<const int> order,
                    int log_blocks) {
  return order.empty() ? make_cheapest_tree(pattern, settings, log_blocks)
                       : make_front_tree(pattern, order, log_blocks);
}

/// The tree of the other blocks, in the numbers of the whole pattern.
FrontTree make_tree_without(const BlockPattern& pattern, const CholeskySettings& settings,
                            std::span<const std::uint8_t> left_out, std::span<const int> order, int log_blocks) {
  std::vector<int> kept, number(left_out.size(), -1), order_of_kept;
  for (int i = 0; i < pattern.blocks(); ++i) {
    if (left_out[i]) continue;
    number[i] = static_cast<int>(kept.size());
    kept.push_back(i);
  }
  if (kept.empty()) fail_input("all {} blocks are left out of the factorisation", pattern.blocks());
  for (const int i : order) order_of_kept.push_back(number[i]);
  BlockGroups pairs;
  for (int j = 0; j < pattern.blocks(); ++j) {
    for (int at = pattern.column_begin(j) + 1; at < pattern.column_begin(j + 1); ++at) {
      const std::array pair{number[pattern.row(at)], number[j]};
      if (pair[0] >= 0 && pair[1] >= 0) pairs.add(pair);
    }
  }
  const BlockPattern rest(static_cast<int>(kept.size()), pairs);
  FrontTree tree = make_tree(rest, settings, order_of_kept, log_blocks);
  rename_blocks(tree, rest, kept, pattern);
  return tree;
}

}  // namespace

template <typename T>
BasicBlockCholesky<T>::BasicBlockCholesky(std::shared_ptr<const BlockPattern> pattern, const CholeskySettings& settings,
                                          std::span<const std::uint8_t> left_out, std::span<const int> order)
    : pattern_(std::move(pattern)), settings_(settings) {
  check(settings);
  constexpr int kLogBlocks = std::bit_width(static_cast<unsigned>(tile::kBlocks<T>)) - 1;
  tree_ = std::make_shared<const FrontTree>(left_out.empty()
                                                ? make_tree(*pattern_, settings, order, kLogBlocks)
                                                : make_tree_without(*pattern_, settings, left_out, order, kLogBlocks));
  const auto slab = kRows<T> * (as_size(tree_->slab_size) + 1);
  const auto strips = as_size(settings.max_rows + kRows<T> - 1) / kRows<T>;
  panels_.assign(tree_->panels_size, T(0));
  inverse_diagonal_.assign(tree_->slab_size, T(0));
  for (int parity = 0; parity < 2; ++parity) updates_[parity].assign(tree_->updates_size[parity], T(0));
  scratch_.slab.assign(slab, T(0));
  scratch_.gathered.assign(as_size(kRows<T> * kRows<T>) * tree_->largest_strips, T(0));
  strips_.assign(slab * strips, T(0));
  products_.assign(kRows<T> * kRows<T> * strips * (strips + 1) / 2, T(0));
  row_places_.assign(settings.max_rows, {});
  active_strips_.assign(strips, {});
  extents_.assign(strips * tree_->fronts.size(), {});
  reached_.assign(tree_->fronts.size(), 0);
  is_reached_.assign(tree_->fronts.size(), 0);
}

template <typename T>
int BasicBlockCholesky<T>::blocks() const noexcept {
  return pattern_->blocks();
}
template <typename T>
std::span<const int> BasicBlockCholesky<T>::order() const noexcept {
  return tree_->order;
}
template <typename T>
int BasicBlockCholesky<T>::fronts() const noexcept {
  return static_cast<int>(tree_->fronts.size());
}
template <typename T>
long BasicBlockCholesky<T>::stored_scalars() const noexcept {
  return static_cast<long>(tree_->panels_size);
}
template <typename T>
double BasicBlockCholesky<T>::floating_point_operations() const noexcept {
  return tree_->operations;
}

template <typename T>
bool BasicBlockCholesky<T>::factor(const BlockMatrix& a) noexcept {
  assert(&a.pattern() == pattern_.get());
  shift_ = 0.0;
  if (factor_shifted(a, shift_)) return true;
  double mean = 0.0;
  for (int i = 0; i < blocks(); ++i) mean += a.diagonal(i).trace() / (3.0 * blocks());
  if (!(mean > 0.0) || !std::isfinite(mean)) return false;
  shift_ = settings_.first_shift * mean;
  for (int retry = 0; retry < settings_.shift_retries; ++retry, shift_ *= 10.0) {
    if (factor_shifted(a, shift_)) return true;
  }
  shift_ = 0.0;
  return false;
}

template <typename T>
bool BasicBlockCholesky<T>::factor_shifted(const BlockMatrix& a, double shift) noexcept {
  failed_block_ = -1;
  next_front_ = 0;
  for (int f = 0; f < fronts(); ++f) {
    if (!factor_front(f, a, shift)) return false;
  }
  return true;
}

template <typename T>
typename BasicBlockCholesky<T>::Progress BasicBlockCholesky<T>::factor_some(const BlockMatrix& a,
                                                                            double operations) noexcept {
  assert(&a.pattern() == pattern_.get());
  failed_block_ = -1;
  shift_ = 0.0;
  while (next_front_ < fronts() && operations > 0.0) {
    operations -= compute_operations(tree_->fronts[next_front_].shape);
    if (factor_front(next_front_++, a, 0.0)) continue;
    next_front_ = 0;
    return Progress::kFailed;
  }
  if (next_front_ < fronts()) return Progress::kUnderWay;
  next_front_ = 0;
  return Progress::kDone;
}

template <typename T>
bool BasicBlockCholesky<T>::factor_front(int f, const BlockMatrix& a, double shift) noexcept {
  const Front& front = tree_->fronts[f];
  T* panel = panels_.data() + front.panel;
  assemble_front(f, a, shift);
  const int bad = front::factor_panel(front.shape, panel, inverse_diagonal_.data() + front.slab);
  if (bad >= 0) {
    failed_block_ = tree_->order[front.first + bad / 3];
    return false;
  }
  if (front.shape.rows == 0) return true;
  T* update = updates_[front.parity].data() + front.update;
  front::compute_update(front.shape, panel, update);
  for (int c = front.children_begin; c < front.children_end; ++c) {
    const Front& child = tree_->fronts[tree_->children[c]];
    front::add_to_update(*tree_, child, updates_[child.parity].data() + child.update, update);
  }
  return true;
}

/// Fills the panel with the front's blocks of A and its children's updates.
template <typename T>
void BasicBlockCholesky<T>::assemble_front(int f, const BlockMatrix& a, double shift) noexcept {
  const Front& front = tree_->fronts[f];
  const FrontShape& shape = front.shape;
  T* panel = panels_.data() + front.panel;
  std::fill(panel, panel + shape.panel_size(), T(0));
  for (int b = front.blocks_begin; b < front.blocks_end; ++b) {
    const BlockTarget& block = tree_->blocks[b];
    const double* value = a.block(block.index).data();
    T* target = panels_.data() + block.target;
    const int row = block.transposed ? 3 : 1, column = block.transposed ? 1 : 3;
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) target[kRows<T> * j + i] = static_cast<T>(value[row * i + column * j]);
    }
  }
  const auto diagonal = [&](int c) -> T& {
    return panel[shape.panel_offset(c / kRows<T>) + kRows<T> * as_size(c) + c % kRows<T>];
  };
  if (shift != 0.0) {
    for (int c = 0; c < shape.columns(); ++c) diagonal(c) += static_cast<T>(shift);
  }
  for (int c = shape.columns(); c < shape.padded_columns(); ++c) diagonal(c) = T(1);
  for (int c = front.children_begin; c < front.children_end; ++c) {
    const Front& child = tree_->fronts[tree_->children[c]];
    front::add_to_panel(*tree_, child, updates_[child.parity].data() + child.update, panel);
  }
}

template <typename T>
void BasicBlockCholesky<T>::solve(Eigen::Ref<Eigen::MatrixXd> x, Scratch& scratch) const noexcept {
  // Single ones wait for memory, so that two cost about as much as a strip of one vector.
  constexpr Eigen::Index kFewest = 2;
  for (Eigen::Index first = 0; first < x.cols();) {
    const Eigen::Index count = std::min<Eigen::Index>(kRows<T>, x.cols() - first);
    if (count < kFewest) {
      solve_one(x.col(first).data(), scratch);
      first += 1;
    } else {
      solve_strip(x.col(first).data(), static_cast<int>(count), x.outerStride(), scratch);
      first += count;
    }
  }
}

template <typename T>
void BasicBlockCholesky<T>::solve_one(double* x, Scratch& scratch) const noexcept {
  T* slab = scratch.slab.data();
  std::fill_n(slab, tree_->slab_size + 1, T(0));
  for (const int i : tree_->order) {
    for (int k = 0; k < 3; ++k) slab[tree_->place[i] + k] = static_cast<T>(x[3 * i + k]);
  }
  for (const Front& front : tree_->fronts) {
    front::forward_one(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab, slab,
                       scratch.gathered.data());
  }
  for (int f = fronts() - 1; f >= 0; --f) {
    const Front& front = tree_->fronts[f];
    front::backward_one(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab, slab,
                        scratch.gathered.data());
  }
  for (int i = 0; i < blocks(); ++i) {
    const int place = tree_->place[i];
    for (int k = 0; k < 3; ++k) x[3 * i + k] = place < 0 ? 0.0 : slab[place + k];
  }
}

/// X ← X L⁻¹ in the strip of the scratch.
template <typename T>
void BasicBlockCholesky<T>::solve_backward(int columns, Scratch& scratch) const noexcept {
  const Strip strip{scratch.slab.data(), 0, (columns + kLanes<T> - 1) / kLanes<T>, 0};
  for (int f = fronts() - 1; f >= 0; --f) {
    const Front& front = tree_->fronts[f];
    front::backward(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab, strip,
                    scratch.gathered.data());
  }
}

template <typename T>
void BasicBlockCholesky<T>::solve_strip(double* x, int columns, Eigen::Index stride, Scratch& scratch) const noexcept {
  T* slab = scratch.slab.data();
  front::clear_padding(*tree_, slab);
  for (const int i : tree_->order) {
    for (int k = 0; k < 3; ++k) {
      T* to = slab + kRows<T> * as_size(tree_->place[i] + k);
      for (int c = 0; c < columns; ++c) to[c] = static_cast<T>(x[c * stride + 3 * i + k]);
      std::fill(to + columns, to + kRows<T>, T(0));
    }
  }
  const Strip strip{slab, 0, (columns + kLanes<T> - 1) / kLanes<T>, 0};
  for (const Front& front : tree_->fronts) {
    front::forward(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab,
                   std::span<const Strip>(&strip, 1));
  }
  solve_backward(columns, scratch);
  front::store_strip(*tree_, slab, columns, x, stride);
}

template <typename T>
void BasicBlockCholesky<T>::solve_rows(const BlockRows& J, const Eigen::Ref<const Eigen::VectorXd>& lambda,
                                       Eigen::Ref<Eigen::VectorXd> x) noexcept {
  x.setZero();
  J.add_transposed_product(1.0, lambda, x);
  solve_one(x.data(), scratch_);
}

template class BasicBlockCholesky<double>;
template class BasicBlockCholesky<float>;

}  // namespace palpate
