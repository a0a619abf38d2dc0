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
  std::fill_n(active_.begin(), static_cast<std::size_t>(strips) * tree_->fronts.size(), std::uint8_t{0});
  load_strips(J, rows, strips);
  forward_strips(strips);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j <= i; ++j) {
      const double product =
          products_[product_offset(i / kRows, j / kRows) + static_cast<std::size_t>(kRows * (j % kRows) + i % kRows)];
      const int r = row_places_[i].row, q = row_places_[j].row;
      W(r, q) -= h * product;
      if (r != q) W(q, r) -= h * product;
    }
  }
  return true;
}

/// Lists the rows that are not empty, those that enter the elimination tree at about the same place side by side, so
/// that a strip of twelve is zero in as many fronts as can be. Returns how many, or −1 if they are too many.
int BlockCholesky::sort_rows(const BlockRows& J) noexcept {
  int count = 0;
  for (int r = 0; r < J.rows(); ++r) {
    int key = fronts();
    for (const BlockRows::Entry& entry : J.row(r)) key = std::min(key, tree_->front_of[entry.block]);
    if (key == fronts()) continue;
    if (count == settings_.max_rows) return -1;
    row_places_[count++] = {key, r};
  }
  std::sort(row_places_.begin(), row_places_.begin() + count, [](const RowPlace& a, const RowPlace& b) {
    return a.front != b.front ? a.front < b.front : a.row < b.row;
  });
  return count;
}

/// Jᵀ into the strips, cleared in the fronts on the way from its blocks to the root and nowhere else.
void BlockCholesky::load_strips(const BlockRows& J, int rows, int strips) noexcept {
  const auto stride = kRows * (static_cast<std::size_t>(tree_->slab_size) + 1);
  for (int i = 0; i < rows; ++i) {
    double* strip = strips_.data() + stride * (i / kRows);
    for (const BlockRows::Entry& entry : J.row(row_places_[i].row)) {
      for (int f = tree_->front_of[entry.block]; f >= 0; f = tree_->fronts[f].parent) {
        std::uint8_t& active = active_[static_cast<std::size_t>(f) * strips + i / kRows];
        if (active != 0) break;
        active = 1;
        const Front& front = tree_->fronts[f];
        std::fill_n(strip + kRows * static_cast<std::size_t>(front.slab), kRows * front.shape.padded_columns(), 0.0);
      }
      double* first = strip + kRows * static_cast<std::size_t>(tree_->place[entry.block]) + i % kRows;
      for (int k = 0; k < 3; ++k) first[kRows * k] += entry.value[k];
    }
  }
}

/// Solves front by front and adds −ZᵀZ to the products while the front is in the cache.
void BlockCholesky::forward_strips(int strips) noexcept {
  front::StripSet set{strips_.data(), kRows * (static_cast<std::size_t>(tree_->slab_size) + 1), active_strips_.data(),
                      0};
  for (int f = 0; f < fronts(); ++f) {
    set.count = 0;
    for (int s = 0; s < strips; ++s) {
      if (active_[static_cast<std::size_t>(f) * strips + s] != 0) active_strips_[set.count++] = s;
    }
    if (set.count == 0) continue;
    const Front& front = tree_->fronts[f];
    front::forward(*tree_, front, panels_.data() + front.panel, inverse_diagonal_.data() + front.slab, set);
    const std::size_t slab = kRows * static_cast<std::size_t>(front.slab);
    for (int i = 0; i < set.count; ++i) {
      const double* left = strips_.data() + set.stride * set.list[i] + slab;
      for (int j = 0; j <= i; ++j) {
        const double* right = strips_.data() + set.stride * set.list[j] + slab;
        double* product = products_.data() + product_offset(set.list[i], set.list[j]);
        for (int c = 0; c < kRows; c += kColumns) {
          tile::subtract_product(left, right + c, front.shape.columns(), product + kRows * c);
        }
      }
    }
  }
}

}  // namespace palpate
