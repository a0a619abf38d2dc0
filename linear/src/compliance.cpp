#include <algorithm>
#include <limits>

#include "front_kernels.h"
#include "front_tree.h"
#include "palpate/linear/block_cholesky.h"
#include "tile_kernels.h"

namespace palpate {
namespace {

using tile::kColumns;
using tile::kRows;

/// A strip that is zero in a front.
constexpr int kNone = std::numeric_limits<int>::max();

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
  for (int f = 0; f < fronts(); ++f) {
    const std::span<const front::RightHandStrip> active = find_active(f, rows);
    if (active.empty()) continue;
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
  std::fill_n(first_columns_.begin(), static_cast<std::size_t>(strips) * tree_->fronts.size(), kNone);
  for (int i = 0; i < rows; ++i) {
    for (const BlockRows::Entry& entry : J.row(row_places_[i].row)) {
      mark_path(entry.block, i / kRows, strips);
      double* first = strip(i / kRows) + kRows * static_cast<std::size_t>(tree_->place[entry.block]) + i % kRows;
      for (int k = 0; k < 3; ++k) first[kRows * k] += entry.value[k];
    }
  }
}

/// Follows a block up the tree. Z enters the block's front in the block's column, and each parent in the column of the
/// child's first row.
void BlockCholesky::mark_path(int block, int s, int strips) noexcept {
  int f = tree_->front_of[block], column = tree_->place[block] - tree_->fronts[f].slab;
  while (f >= 0) {
    const Front& front = tree_->fronts[f];
    int& first = first_columns_[static_cast<std::size_t>(f) * strips + s];
    const bool known = first != kNone;
    first = std::min(first, column / kColumns * kColumns);
    if (known) return;
    std::fill_n(strip(s) + kRows * static_cast<std::size_t>(front.slab), kRows * front.shape.padded_columns(), 0.0);
    f = front.parent;
    if (f >= 0) column = 3 * tree_->row_places[front.places_begin];
  }
}

std::span<const front::RightHandStrip> BlockCholesky::find_active(int f, int rows) noexcept {
  const int strips = (rows + kRows - 1) / kRows;
  std::size_t count = 0;
  for (int s = 0; s < strips; ++s) {
    const int first = first_columns_[static_cast<std::size_t>(f) * strips + s];
    if (first != kNone) active_strips_[count++] = {strip(s), s, std::min(3, (rows - kRows * s + 3) / 4), first};
  }
  return {active_strips_.data(), count};
}

/// W += h ZᵀZ, rows back in the order of J.
void BlockCholesky::add_to(Eigen::Ref<Eigen::MatrixXd>& W, double h, int rows) const noexcept {
  for (int i = 0; i < rows; ++i) {
    const int p = row_places_[i].row, lane = i % kRows;
    double* column = W.col(p).data();
    for (int first = 0; first <= i; first += kRows) {
      const bool diagonal = first == i - lane;
      const double* product = products_.data() + product_offset(i / kRows, first / kRows);
      product += diagonal ? lane : kRows * lane;
      const int step = diagonal ? kRows : 1;
      for (int j = first; j < std::min(first + kRows, i + 1); ++j, product += step) {
        const int q = row_places_[j].row;
        const double w = h * *product;
        column[q] -= w;
        if (p != q) W(p, q) -= w;
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
