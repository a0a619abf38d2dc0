#include "front_kernels.h"

#include <algorithm>

#include "tile_kernels.h"

namespace palpate::front {
namespace {

using tile::kBlocks;
using tile::kColumns;
using tile::kRows;

/// Columns that are worked on at once.
constexpr int kBlock = tile::kDepth;
template <typename T>
constexpr int kBlockStrips = kBlock / kRows<T>;
static_assert(kBlock % kRows<double> == 0 && kBlock % kRows<float> == 0);

/// Strip s −= (its columns [from, from + kBlock)) · (those of pivot strip t)ᵀ, in the columns of pivot strip t.
template <typename T>
void subtract_block(const FrontShape& shape, T* strip, const T* pivot_strip, int t, int from) noexcept {
  const int end = std::min(kRows<T> * (t + 1), shape.padded_columns());
  for (int c = kRows<T> * t; c < end; c += kColumns) {
    tile::subtract_product(strip + kRows<T> * from, pivot_strip + kRows<T> * from + (c - kRows<T> * t), kBlock,
                           strip + kRows<T> * c);
  }
}

/// tile::finish for the diagonal tile itself; clears what lies above the diagonal. Returns the number of good pivots.
template <typename T>
int finish_diagonal_tile(T* strip, T* inverse, int from, int c) noexcept {
  const int lane = c % kRows<T>;
  T* tile = strip + kRows<T> * c;
  tile::subtract_product(strip + kRows<T> * from, strip + kRows<T> * from + lane, c - from, tile);
  T triangle[kColumns * kRows<T>];
  for (int j = 0; j < kColumns; ++j) {
    for (int i = j; i < kColumns; ++i) triangle[kRows<T> * j + i] = tile[kRows<T> * j + lane + i];
  }
  const int good = tile::factor_diagonal(triangle, inverse + c);
  if (good < kColumns) return good;
  tile::solve_tile(tile, triangle, inverse + c);
  for (int j = 0; j < kColumns; ++j) {
    std::fill(tile + kRows<T> * j, tile + kRows<T> * j + lane + j, T(0));
    for (int i = j; i < kColumns; ++i) tile[kRows<T> * j + lane + i] = triangle[kRows<T> * j + i];
  }
  return kColumns;
}

/// Factors strips [first, last) of pivots against each other. Returns −1 or the column of a bad pivot.
template <typename T>
int factor_diagonal_block(const FrontShape& shape, T* panel, T* inverse, int first, int last) noexcept {
  const int from = kRows<T> * first;
  for (int s = first; s < last; ++s) {
    T* strip = panel + shape.panel_offset(s);
    for (int c = from; c < kRows<T> * s; c += kColumns) {
      tile::finish(panel + shape.panel_offset(c / kRows<T>), inverse, strip, from, c);
    }
    const int end = std::min(kRows<T> * (s + 1), shape.padded_columns());
    for (int c = kRows<T> * s; c < end; c += kColumns) {
      const int good = finish_diagonal_tile(strip, inverse, from, c);
      if (good < kColumns) return c + good;
    }
  }
  return -1;
}

/// update −= (columns of `rows`) · (the same)ᵀ, or update = −… if kOverwrite.
template <bool kOverwrite, typename T>
void subtract_update(const FrontShape& shape, const T* rows, int depth, T* update) noexcept {
  const int strips = shape.row_strips();
  const auto width = as_size(kRows<T> * shape.padded_columns());
  for (int t = 0; t < strips; ++t) {
    const T* right = rows + t * width;
    const int columns = std::min(kRows<T>, 3 * shape.rows - kRows<T> * t);
    T* diagonal = update + shape.update_offset(t) + kRows<T> * kRows<T> * as_size(t);
    tile::subtract_symmetric_product<kOverwrite>(right, depth, columns, diagonal);
    for (int s = t + 1; s < strips; ++s) {
      T* tile = update + shape.update_offset(s) + kRows<T> * kRows<T> * as_size(t);
      for (int c = 0; c < columns; c += kColumns) {
        tile::subtract_product<tile::AllVectors, kOverwrite>(rows + s * width, right + c, depth, tile + kRows<T> * c);
      }
    }
  }
}

/// The place of each of a strip's row blocks in the parent, as pointers to their first column.
template <typename T>
struct StripTargets {
  T* row[kBlocks<T>];
  int count;
};

/// Adds the blocks (kBlocks s + i, j) of a child's strip to the target columns of block place(j), for j in [from, to).
template <typename T, typename Place>
inline void add_strip(const T* strip, int s, int from, int to, const StripTargets<T>& targets, Place&& place) noexcept {
  constexpr std::size_t kBlockColumn = 3 * kRows<T>;
  for (int j = from; j < to; ++j) {
    const T* source = strip + kBlockColumn * j;
    const std::size_t column = kBlockColumn * place(j);
    for (int i = std::max(0, j - kBlocks<T> * s); i < targets.count; ++i) {
      T* target = targets.row[i] + column;
      const T* block = source + 3 * i;
      for (int k = 0; k < 3; ++k) {
        for (int l = 0; l < 3; ++l) target[kRows<T> * k + l] += block[kRows<T> * k + l];
      }
    }
  }
}

}  // namespace

template <typename T>
int factor_panel(const FrontShape& shape, T* panel, T* inverse) noexcept {
  const int pivot_strips = shape.pivot_strips(), strips = pivot_strips + shape.row_strips();
  for (int first = 0; first < pivot_strips; first += kBlockStrips<T>) {
    const int last = std::min(first + kBlockStrips<T>, pivot_strips);
    for (int before = 0; before < first; before += kBlockStrips<T>) {
      for (int t = first; t < last; ++t) {
        const T* pivot_strip = panel + shape.panel_offset(t);
        for (int s = t; s < strips; ++s) {
          subtract_block(shape, panel + shape.panel_offset(s), pivot_strip, t, kRows<T> * before);
        }
      }
    }
    const int bad = factor_diagonal_block(shape, panel, inverse, first, last);
    if (bad >= 0) return bad;
    const int from = kRows<T> * first, end = std::min(kRows<T> * last, shape.padded_columns());
    for (int s = last; s < strips; ++s) {
      T* strip = panel + shape.panel_offset(s);
      for (int c = from; c < end; c += kColumns) {
        tile::finish(panel + shape.panel_offset(c / kRows<T>), inverse, strip, from, c);
      }
    }
  }
  return -1;
}

template <typename T>
void compute_update(const FrontShape& shape, const T* panel, T* update) noexcept {
  const T* rows = panel + shape.panel_offset(shape.pivot_strips());
  subtract_update<true>(shape, rows, std::min(kBlock, shape.columns()), update);
  for (int from = kBlock; from < shape.columns(); from += kBlock) {
    subtract_update<false>(shape, rows + kRows<T> * from, std::min(kBlock, shape.columns() - from), update);
  }
}

template <typename T>
void add_to_panel(const FrontTree& tree, const Front& child, const T* update, T* parent_panel) noexcept {
  const FrontShape& shape = tree.fronts[child.parent].shape;
  const int* places = tree.row_places.data() + child.places_begin;
  for (int s = 0; s < child.shape.row_strips(); ++s) {
    const int first = kBlocks<T> * s;
    StripTargets<T> targets{{}, std::min(kBlocks<T>, child.shape.rows - first)};
    for (int i = 0; i < targets.count; ++i) {
      const int place = places[first + i];
      targets.row[i] = parent_panel + shape.panel_offset(place / kBlocks<T>) + 3 * (place % kBlocks<T>);
    }
    add_strip(update + child.shape.update_offset(s), s, 0, std::min(first + targets.count, child.pivot_rows), targets,
              [&](int j) { return places[j]; });
  }
}

template <typename T>
void add_to_update(const FrontTree& tree, const Front& child, const T* update, T* parent_update) noexcept {
  const FrontShape& shape = tree.fronts[child.parent].shape;
  const int pivots = kBlocks<T> * shape.pivot_strips();
  const int* places = tree.row_places.data() + child.places_begin;
  for (int s = child.pivot_rows / kBlocks<T>; s < child.shape.row_strips(); ++s) {
    const int first = kBlocks<T> * s;
    StripTargets<T> targets{{}, std::min(kBlocks<T>, child.shape.rows - first)};
    for (int i = 0; i < targets.count; ++i) {
      const int place = std::max(places[first + i] - pivots, 0);
      targets.row[i] = parent_update + shape.update_offset(place / kBlocks<T>) + 3 * (place % kBlocks<T>);
    }
    add_strip(update + child.shape.update_offset(s), s, child.pivot_rows, first + targets.count, targets,
              [&](int j) { return places[j] - pivots; });
  }
}

template int factor_panel(const FrontShape&, double*, double*) noexcept;
template int factor_panel(const FrontShape&, float*, float*) noexcept;
template void compute_update(const FrontShape&, const double*, double*) noexcept;
template void compute_update(const FrontShape&, const float*, float*) noexcept;
template void add_to_panel(const FrontTree&, const Front&, const double*, double*) noexcept;
template void add_to_panel(const FrontTree&, const Front&, const float*, float*) noexcept;
template void add_to_update(const FrontTree&, const Front&, const double*, double*) noexcept;
template void add_to_update(const FrontTree&, const Front&, const float*, float*) noexcept;

}  // namespace palpate::front
