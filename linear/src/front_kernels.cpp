#include "front_kernels.h"

#include <algorithm>

#include "tile_kernels.h"

namespace palpate::front {
namespace {

using tile::kColumns;
using tile::kRows;

/// Strips of columns that are worked on at once: 10 · 12 columns of two strips take 23 KB, which stay in the L1 cache.
constexpr int kBlockStrips = 10;
constexpr int kBlock = kBlockStrips * kRows;

/// Strip s −= (its columns [from, from + kBlock)) · (those of pivot strip t)ᵀ, in the columns of pivot strip t.
void subtract_block(const FrontShape& shape, double* strip, const double* pivot_strip, int t, int from) noexcept {
  const int end = std::min(kRows * (t + 1), shape.padded_columns());
  for (int c = kRows * t; c < end; c += kColumns) {
    tile::subtract_product(strip + kRows * from, pivot_strip + kRows * from + (c - kRows * t), kBlock,
                           strip + kRows * c);
  }
}

/// tile::finish for the diagonal tile itself; clears what lies above the diagonal. Returns the number of good pivots.
int finish_diagonal_tile(double* strip, double* inverse, int from, int c) noexcept {
  const int lane = c % kRows;
  double* tile = strip + kRows * c;
  tile::subtract_product(strip + kRows * from, strip + kRows * from + lane, c - from, tile);
  double triangle[kColumns * kRows];
  for (int j = 0; j < kColumns; ++j) {
    for (int i = j; i < kColumns; ++i) triangle[kRows * j + i] = tile[kRows * j + lane + i];
  }
  const int good = tile::factor_diagonal(triangle, inverse + c);
  if (good < kColumns) return good;
  tile::solve_tile(tile, triangle, inverse + c);
  for (int j = 0; j < kColumns; ++j) {
    std::fill(tile + kRows * j, tile + kRows * j + lane + j, 0.0);
    for (int i = j; i < kColumns; ++i) tile[kRows * j + lane + i] = triangle[kRows * j + i];
  }
  return kColumns;
}

/// Factors strips [first, last) of pivots against each other. Returns −1 or the column of a bad pivot.
int factor_diagonal_block(const FrontShape& shape, double* panel, double* inverse, int first, int last) noexcept {
  const int from = kRows * first;
  for (int s = first; s < last; ++s) {
    double* strip = panel + shape.panel_offset(s);
    for (int c = from; c < kRows * s; c += kColumns) {
      tile::finish(panel + shape.panel_offset(c / kRows), inverse, strip, from, c);
    }
    const int end = std::min(kRows * (s + 1), shape.padded_columns());
    for (int c = kRows * s; c < end; c += kColumns) {
      const int good = finish_diagonal_tile(strip, inverse, from, c);
      if (good < kColumns) return c + good;
    }
  }
  return -1;
}

/// The place of each of a strip's four row blocks in the parent, as pointers to their first column.
struct StripTargets {
  double* row[4];
  int count;
};

/// Adds the blocks (4 s + i, j) of a child's strip to target columns 36 · place(j), for j in [from, to).
template <typename Place>
inline void add_strip(const double* strip, int s, int from, int to, const StripTargets& targets,
                      Place&& place) noexcept {
  for (int j = from; j < to; ++j) {
    const double* source = strip + 36 * static_cast<std::size_t>(j);
    const std::size_t column = 36 * static_cast<std::size_t>(place(j));
    for (int i = std::max(0, j - 4 * s); i < targets.count; ++i) {
      double* target = targets.row[i] + column;
      const double* block = source + 3 * i;
      for (int k = 0; k < 3; ++k) {
        for (int l = 0; l < 3; ++l) target[kRows * k + l] += block[kRows * k + l];
      }
    }
  }
}

}  // namespace

int factor_panel(const FrontShape& shape, double* panel, double* inverse) noexcept {
  const int pivot_strips = shape.pivot_strips(), strips = pivot_strips + shape.row_strips();
  for (int first = 0; first < pivot_strips; first += kBlockStrips) {
    const int last = std::min(first + kBlockStrips, pivot_strips);
    for (int before = 0; before < first; before += kBlockStrips) {
      for (int t = first; t < last; ++t) {
        const double* pivot_strip = panel + shape.panel_offset(t);
        for (int s = t; s < strips; ++s) {
          subtract_block(shape, panel + shape.panel_offset(s), pivot_strip, t, kRows * before);
        }
      }
    }
    const int bad = factor_diagonal_block(shape, panel, inverse, first, last);
    if (bad >= 0) return bad;
    const int from = kRows * first, end = std::min(kRows * last, shape.padded_columns());
    for (int s = last; s < strips; ++s) {
      double* strip = panel + shape.panel_offset(s);
      for (int c = from; c < end; c += kColumns) {
        tile::finish(panel + shape.panel_offset(c / kRows), inverse, strip, from, c);
      }
    }
  }
  return -1;
}

void compute_update(const FrontShape& shape, const double* panel, double* update) noexcept {
  const int strips = shape.row_strips(), width = kRows * shape.padded_columns();
  const double* rows = panel + shape.panel_offset(shape.pivot_strips());
  for (int from = 0; from < shape.columns(); from += kBlock) {
    const int depth = std::min(kBlock, shape.columns() - from);
    for (int t = 0; t < strips; ++t) {
      const double* right = rows + static_cast<std::size_t>(t) * width + kRows * from;
      const int end = std::min(kRows, 3 * shape.rows - kRows * t);
      for (int s = t; s < strips; ++s) {
        const double* left = rows + static_cast<std::size_t>(s) * width + kRows * from;
        double* tile = update + FrontShape::update_offset(s) + kRows * kRows * static_cast<std::size_t>(t);
        for (int c = 0; c < end; c += kColumns) {
          if (from == 0) {
            tile::subtract_product<true>(left, right + c, depth, tile + kRows * c);
          } else {
            tile::subtract_product(left, right + c, depth, tile + kRows * c);
          }
        }
      }
    }
  }
}

void add_to_panel(const FrontTree& tree, const Front& child, const double* update, double* parent_panel) noexcept {
  const FrontShape& shape = tree.fronts[child.parent].shape;
  const int* places = tree.row_places.data() + child.places_begin;
  for (int s = 0; s < child.shape.row_strips(); ++s) {
    StripTargets targets{{}, std::min(4, child.shape.rows - 4 * s)};
    for (int i = 0; i < targets.count; ++i) {
      const int place = places[4 * s + i];
      targets.row[i] = parent_panel + shape.panel_offset(place / 4) + 3 * (place % 4);
    }
    add_strip(update + FrontShape::update_offset(s), s, 0, std::min(4 * s + targets.count, child.pivot_rows), targets,
              [&](int j) { return places[j]; });
  }
}

void add_to_update(const FrontTree& tree, const Front& child, const double* update, double* parent_update) noexcept {
  const int pivots = 4 * tree.fronts[child.parent].shape.pivot_strips();
  const int* places = tree.row_places.data() + child.places_begin;
  for (int s = child.pivot_rows / 4; s < child.shape.row_strips(); ++s) {
    StripTargets targets{{}, std::min(4, child.shape.rows - 4 * s)};
    for (int i = 0; i < targets.count; ++i) {
      const int place = std::max(places[4 * s + i] - pivots, 0);
      targets.row[i] = parent_update + FrontShape::update_offset(place / 4) + 3 * (place % 4);
    }
    add_strip(update + FrontShape::update_offset(s), s, child.pivot_rows, 4 * s + targets.count, targets,
              [&](int j) { return places[j] - pivots; });
  }
}

}  // namespace palpate::front
