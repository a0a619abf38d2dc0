#include <algorithm>

#include "front_kernels.h"
#include "front_tree.h"
#include "palpate/linear/block_cholesky.h"
#include "tile_kernels.h"

namespace palpate {
namespace {

using tile::kColumns;
using tile::kLanes;
using tile::kRows;

template <typename T>
std::size_t product_offset(int a, int b) noexcept {
  return kRows<T> * kRows<T> * (as_size(a) * (a + 1) / 2 + b);
}

}  // namespace

template <typename T>
bool BasicBlockCholesky<T>::add_compliance(const BlockRows& J, double h, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  const int rows = sort_rows(J);
  if (rows < 0) return false;
  row_count_ = rows;
  const int strips = (rows + kRows<T> - 1) / kRows<T>;
  std::fill_n(products_.begin(), product_offset<T>(strips, 0), T(0));
  load_strips(J, rows, strips);
  for (const int f : reached()) {
    const std::span<const front::RightHandStrip<T>> active = find_active(f, strips);
    const Front& front = tree_->fronts[f];
    front::forward(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab, active);
    add_products(f, active);
  }
  add_to(W, h, rows);
  return true;
}

/// Lists the rows that are not empty, those that enter the elimination tree at about the same place side by side, so
/// that a strip of them is zero in as many fronts as can be. Returns how many, or −1 if they are too many.
template <typename T>
int BasicBlockCholesky<T>::sort_rows(const BlockRows& J) noexcept {
  int count = 0;
  for (int r = 0; r < J.rows(); ++r) {
    int front = fronts();
    for (const BlockRows::Entry& entry : J.row(r)) front = std::min(front, tree_->front_of[entry.block]);
    if (front == fronts()) continue;
    if (count == settings_.max_rows) return -1;
    row_places_[count++] = {front, r};
  }
  std::sort(row_places_.begin(), row_places_.begin() + count, [](const RowPlace& a, const RowPlace& b) {
    return a.front != b.front ? a.front < b.front : a.row < b.row;
  });
  return count;
}

template <typename T>
std::size_t BasicBlockCholesky<T>::strip_offset(int s) const noexcept {
  return kRows<T> * (as_size(tree_->slab_size) + 1) * as_size(s);
}

/// Jᵀ into the strips, cleared in the fronts on the way from its blocks to the root and nowhere else.
template <typename T>
void BasicBlockCholesky<T>::load_strips(const BlockRows& J, int rows, int strips) noexcept {
  reached_count_ = 0;
  for (int i = 0; i < rows; ++i) {
    for (const BlockRows::Entry& entry : J.row(row_places_[i].row)) {
      mark_path(entry.block, i, strips);
      T* first = strip(i / kRows<T>) + kRows<T> * as_size(tree_->place[entry.block]) + i % kRows<T>;
      for (int k = 0; k < 3; ++k) first[kRows<T> * k] += static_cast<T>(entry.value[k]);
    }
  }
  std::sort(reached_.begin(), reached_.begin() + reached_count_);
  for (const int f : reached()) is_reached_[f] = 0;
}

/// Follows a block of right-hand side i up the tree. Z enters the block's front in the block's column, and each parent
/// in the column of the child's first row. Rows are sorted, so that those of a strip that reach a front are about the
/// first ones.
template <typename T>
void BasicBlockCholesky<T>::mark_path(int block, int i, int strips) noexcept {
  const int s = i / kRows<T>, vectors = i % kRows<T> / kLanes<T> + 1;
  int f = tree_->front_of[block], column = tree_->place[block] - tree_->fronts[f].slab;
  while (f >= 0) {
    const Front& front = tree_->fronts[f];
    if (!is_reached_[f]) {
      is_reached_[f] = 1;
      reached_[as_size(reached_count_++)] = f;
      std::fill_n(extents_.begin() + static_cast<std::ptrdiff_t>(f) * strips, strips,
                  Extent{front.shape.padded_columns(), 0});
    }
    Extent& extent = extents_[as_size(f) * strips + s];
    const int first = column / kColumns * kColumns;
    if (first < extent.first) {
      std::fill_n(strip(s) + kRows<T> * as_size(front.slab + first), kRows<T> * (extent.first - first), T(0));
      extent.first = first;
    }
    if (extent.vectors >= vectors) return;
    extent.vectors = vectors;
    f = front.parent;
    if (f >= 0) column = 3 * tree_->row_places[front.places_begin];
  }
}

template <typename T>
std::span<const front::RightHandStrip<T>> BasicBlockCholesky<T>::find_active(int f, int strips) noexcept {
  std::size_t count = 0;
  for (int s = 0; s < strips; ++s) {
    const Extent& extent = extents_[as_size(f) * strips + s];
    if (extent.vectors > 0) active_strips_[count++] = {strip(s), s, extent.vectors, extent.first};
  }
  return {active_strips_.data(), count};
}

/// W += h ZᵀZ, rows back in the order of J. Tile by tile, both halves by columns of W.
template <typename T>
void BasicBlockCholesky<T>::add_to(Eigen::Ref<Eigen::MatrixXd>& W, double h, int rows) const noexcept {
  const auto row = [&](int i) { return row_places_[i].row; };
  for (int right = 0; right < rows; right += kRows<T>) {
    const int end = std::min(right + kRows<T>, rows);
    for (int left = 0; left < right; left += kRows<T>) {
      const T* product = products_.data() + product_offset<T>(right / kRows<T>, left / kRows<T>);
      for (int i = right; i < end; ++i) {
        double* column = W.col(row(i)).data();
        for (int j = 0; j < kRows<T>; ++j) column[row(left + j)] -= h * product[kRows<T> * (i - right) + j];
      }
      for (int j = 0; j < kRows<T>; ++j) {
        double* column = W.col(row(left + j)).data();
        for (int i = right; i < end; ++i) column[row(i)] -= h * product[kRows<T> * (i - right) + j];
      }
    }
    // Of a tile on the diagonal the lower triangle is there.
    const T* product = products_.data() + product_offset<T>(right / kRows<T>, right / kRows<T>);
    for (int i = right; i < end; ++i) {
      double* column = W.col(row(i)).data();
      for (int j = right; j < end; ++j) {
        column[row(j)] -= h * product[kRows<T> * (std::min(i, j) - right) + std::max(i, j) - right];
      }
    }
  }
}

/// Adds −ZᵀZ over the columns of front f, tile by tile: strip j times (strip i)ᵀ for j < i, so that the last strip,
/// which may be short, is on the right and costs only the tiles it has.
template <typename T>
void BasicBlockCholesky<T>::add_products(int f, std::span<const front::RightHandStrip<T>> active) noexcept {
  const Front& front = tree_->fronts[f];
  const std::size_t slab = kRows<T> * as_size(front.slab);
  for (int begin = 0; begin < front.shape.columns(); begin += tile::kDepth) {
    const int end = std::min(begin + tile::kDepth, front.shape.columns());
    for (std::size_t i = 0; i < active.size(); ++i) {
      const T* right = active[i].begin + slab;
      const int columns = kLanes<T> * active[i].vectors;
      for (std::size_t j = 0; j <= i; ++j) {
        const T* left = active[j].begin + slab;
        const int from = std::max({begin, active[i].first, active[j].first});
        if (from >= end) continue;
        T* product = products_.data() + product_offset<T>(active[i].index, active[j].index);
        if (i == j) {
          tile::subtract_symmetric_product(left + kRows<T> * from, end - from, columns, product);
          continue;
        }
        for (int c = 0; c < columns; c += kColumns) {
          tile::subtract_product(left + kRows<T> * from, right + kRows<T> * from + c, end - from,
                                 product + kRows<T> * c);
        }
      }
    }
  }
}

/// Row i of Zᵀ, by the order of the strips, to one lane of a cleared strip: what of it is not zero.
template <typename T>
void BasicBlockCholesky<T>::load_solved_row(int i, int lane, T* slab) const noexcept {
  const int strips = (row_count_ + kRows<T> - 1) / kRows<T>, s = i / kRows<T>, own_lane = i % kRows<T>;
  const T* from = strips_.data() + strip_offset(s);
  for (const int f : reached()) {
    const Extent& extent = extents_[as_size(f) * strips + s];
    if (own_lane / kLanes<T> >= extent.vectors) continue;
    const Front& front = tree_->fronts[f];
    for (int c = front.slab + extent.first; c < front.slab + front.shape.padded_columns(); ++c)
      slab[kRows<T> * as_size(c) + lane] = from[kRows<T> * as_size(c) + own_lane];
  }
}

template <typename T>
void BasicBlockCholesky<T>::solve_rows_of_compliance(std::span<const int> rows, Eigen::Ref<Eigen::MatrixXd> x,
                                                     Scratch& scratch) const noexcept {
  T* slab = scratch.slab.data();
  for (std::size_t first = 0; first < rows.size(); first += kRows<T>) {
    const auto columns = static_cast<int>(std::min<std::size_t>(kRows<T>, rows.size() - first));
    std::fill(scratch.slab.begin(), scratch.slab.end(), T(0));
    for (int lane = 0; lane < columns; ++lane) {
      const auto end = row_places_.begin() + row_count_;
      const auto at = std::find_if(row_places_.begin(), end,
                                   [&](const RowPlace& place) { return place.row == rows[first + as_size(lane)]; });
      if (at != end) load_solved_row(static_cast<int>(at - row_places_.begin()), lane, slab);
    }
    solve_backward(columns, scratch);
    front::store_strip(*tree_, slab, columns, x.col(static_cast<Eigen::Index>(first)).data(), x.outerStride());
  }
}

template void BasicBlockCholesky<double>::solve_rows_of_compliance(std::span<const int>, Eigen::Ref<Eigen::MatrixXd>,
                                                                   Scratch&) const noexcept;
template void BasicBlockCholesky<float>::solve_rows_of_compliance(std::span<const int>, Eigen::Ref<Eigen::MatrixXd>,
                                                                  Scratch&) const noexcept;
template bool BasicBlockCholesky<double>::add_compliance(const BlockRows&, double,
                                                         Eigen::Ref<Eigen::MatrixXd>) noexcept;
template bool BasicBlockCholesky<float>::add_compliance(const BlockRows&, double, Eigen::Ref<Eigen::MatrixXd>) noexcept;

}  // namespace palpate
