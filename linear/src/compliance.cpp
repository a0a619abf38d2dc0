#include <algorithm>

#include "front_kernels.h"
#include "front_tree.h"
#include "palpate/linear/block_cholesky.h"
#include "tile_kernels.h"

namespace palpate {
namespace {

using tile::kColumns;
using tile::kRows;

std::size_t product_offset(int a, int b) noexcept {
  return kRows * kRows * (static_cast<std::size_t>(a) * (a + 1) / 2 + b);
}

}  // namespace

bool BlockCholesky::add_compliance(const BlockRows& J, double h, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  const int rows = sort_rows(J);
  if (rows < 0) return false;
  const int strips = (rows + kRows - 1) / kRows;
  std::fill_n(products_.begin(), product_offset(strips, 0), 0.0);
  load_strips(J, rows, strips);
  for (const int f : std::span(reached_.data(), static_cast<std::size_t>(reached_count_))) {
    const std::span<const front::RightHandStrip> active = find_active(f, strips);
    const Front& front = tree_->fronts[f];
    front::forward(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab, active);
    add_products(f, active);
  }
  add_to(W, h, rows);
  return true;
}

/// Lists the rows that are not empty, those that enter the elimination tree at about the same place side by side, so
/// that a strip of them is zero in as many fronts as can be. Returns how many, or −1 if they are too many.
int BlockCholesky::sort_rows(const BlockRows& J) noexcept {
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

double* BlockCholesky::strip(int s) noexcept {
  return strips_.data() + kRows * (static_cast<std::size_t>(tree_->slab_size) + 1) * s;
}

/// Jᵀ into the strips, cleared in the fronts on the way from its blocks to the root and nowhere else.
void BlockCholesky::load_strips(const BlockRows& J, int rows, int strips) noexcept {
  reached_count_ = 0;
  for (int i = 0; i < rows; ++i) {
    for (const BlockRows::Entry& entry : J.row(row_places_[i].row)) {
      mark_path(entry.block, i, strips);
      double* first = strip(i / kRows) + kRows * static_cast<std::size_t>(tree_->place[entry.block]) + i % kRows;
      for (int k = 0; k < 3; ++k) first[kRows * k] += entry.value[k];
    }
  }
  std::sort(reached_.begin(), reached_.begin() + reached_count_);
  for (int k = 0; k < reached_count_; ++k) is_reached_[reached_[k]] = 0;
}

/// Follows a block of right-hand side i up the tree. Z enters the block's front in the block's column, and each parent
/// in the column of the child's first row. Rows are sorted, so that those of a strip that reach a front are about the
/// first ones.
void BlockCholesky::mark_path(int block, int i, int strips) noexcept {
  const int s = i / kRows, vectors = i % kRows / 4 + 1;
  int f = tree_->front_of[block], column = tree_->place[block] - tree_->fronts[f].slab;
  while (f >= 0) {
    const Front& front = tree_->fronts[f];
    if (!is_reached_[f]) {
      is_reached_[f] = 1;
      reached_[reached_count_++] = f;
      std::fill_n(extents_.begin() + static_cast<std::ptrdiff_t>(f) * strips, strips,
                  Extent{front.shape.padded_columns(), 0});
    }
    Extent& extent = extents_[static_cast<std::size_t>(f) * strips + s];
    const int first = column / kColumns * kColumns;
    if (first < extent.first) {
      std::fill_n(strip(s) + kRows * static_cast<std::size_t>(front.slab + first), kRows * (extent.first - first), 0.0);
      extent.first = first;
    }
    if (extent.vectors >= vectors) return;
    extent.vectors = vectors;
    f = front.parent;
    if (f >= 0) column = 3 * tree_->row_places[front.places_begin];
  }
}

std::span<const front::RightHandStrip> BlockCholesky::find_active(int f, int strips) noexcept {
  std::size_t count = 0;
  for (int s = 0; s < strips; ++s) {
    const Extent& extent = extents_[static_cast<std::size_t>(f) * strips + s];
    if (extent.vectors > 0) active_strips_[count++] = {strip(s), s, extent.vectors, extent.first};
  }
  return {active_strips_.data(), count};
}

/// W += h ZᵀZ, rows back in the order of J. Tile by tile, both halves by columns of W.
void BlockCholesky::add_to(Eigen::Ref<Eigen::MatrixXd>& W, double h, int rows) const noexcept {
  const auto row = [&](int i) { return row_places_[i].row; };
  for (int right = 0; right < rows; right += kRows) {
    const int end = std::min(right + kRows, rows);
    for (int left = 0; left < right; left += kRows) {
      const double* product = products_.data() + product_offset(right / kRows, left / kRows);
      for (int i = right; i < end; ++i) {
        double* column = W.col(row(i)).data();
        for (int j = 0; j < kRows; ++j) column[row(left + j)] -= h * product[kRows * (i - right) + j];
      }
      for (int j = 0; j < kRows; ++j) {
        double* column = W.col(row(left + j)).data();
        for (int i = right; i < end; ++i) column[row(i)] -= h * product[kRows * (i - right) + j];
      }
    }
    // Of a tile on the diagonal the lower triangle is there.
    const double* product = products_.data() + product_offset(right / kRows, right / kRows);
    for (int i = right; i < end; ++i) {
      double* column = W.col(row(i)).data();
      for (int j = right; j < end; ++j) {
        column[row(j)] -= h * product[kRows * (std::min(i, j) - right) + std::max(i, j) - right];
      }
    }
  }
}

/// Adds −ZᵀZ over the columns of front f, tile by tile: strip j times (strip i)ᵀ for j < i, so that the last strip,
/// which may be short, is on the right and costs only the tiles it has.
void BlockCholesky::add_products(int f, std::span<const front::RightHandStrip> active) noexcept {
  const Front& front = tree_->fronts[f];
  const std::size_t slab = kRows * static_cast<std::size_t>(front.slab);
  for (int begin = 0; begin < front.shape.columns(); begin += tile::kDepth) {
    const int end = std::min(begin + tile::kDepth, front.shape.columns());
    for (std::size_t i = 0; i < active.size(); ++i) {
      const double* right = active[i].begin + slab;
      const int columns = 4 * active[i].vectors;
      for (std::size_t j = 0; j <= i; ++j) {
        const double* left = active[j].begin + slab;
        const int from = std::max({begin, active[i].first, active[j].first});
        if (from >= end) continue;
        double* product = products_.data() + product_offset(active[i].index, active[j].index);
        if (i == j) {
          tile::subtract_symmetric_product(left + kRows * from, end - from, columns, product);
          continue;
        }
        for (int c = 0; c < columns; c += kColumns) {
          tile::subtract_product(left + kRows * from, right + kRows * from + c, end - from, product + kRows * c);
        }
      }
    }
  }
}

}  // namespace palpate
