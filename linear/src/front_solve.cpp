#include <algorithm>

#include "front_kernels.h"
#include "tile_kernels.h"

namespace palpate::front {
namespace {

using tile::Double4;
using tile::kColumns;
using tile::kRows;

bool is_zero(const double* first, int count) noexcept {
  return std::all_of(first, first + count, [](double x) { return x == 0.0; });
}

/// y −= (twelve rows of L) · x over `depth` columns.
inline void subtract_columns(const double* strip, const double* x, int depth, double* y) noexcept {
  Double4 even[3] = {tile::load(y), tile::load(y + 4), tile::load(y + 8)};
  Double4 odd[3] = {};
  int k = 0;
  for (; k + 1 < depth; k += 2, strip += 2 * kRows) {
    for (int v = 0; v < 3; ++v) {
      even[v] = tile::subtract_multiple(even[v], tile::load(strip + 4 * v), tile::fill(x[k]));
      odd[v] = tile::subtract_multiple(odd[v], tile::load(strip + kRows + 4 * v), tile::fill(x[k + 1]));
    }
  }
  for (int v = 0; v < 3; ++v) {
    if (k < depth) even[v] = tile::subtract_multiple(even[v], tile::load(strip + 4 * v), tile::fill(x[k]));
    tile::store(y + 4 * v, even[v] + odd[v]);
  }
}

/// y −= (twelve rows of L, `columns` of them, a multiple of four)ᵀ · x. In the order of memory: single right-hand sides
/// wait for it.
inline void subtract_rows(const double* strip, const double* x, int columns, double* y) noexcept {
  const Double4 low = tile::load(x), middle = tile::load(x + 4), high = tile::load(x + 8);
  const auto multiply = [&](const double* column) {
    const Double4 sum = tile::subtract_multiple(tile::fill(0.0), tile::load(column), low);
    return tile::subtract_multiple(tile::subtract_multiple(sum, tile::load(column + 4), middle), tile::load(column + 8),
                                   high);
  };
  for (int c = 0; c < columns; c += kColumns, strip += kColumns * kRows) {
    const Double4 s0 = multiply(strip), s1 = multiply(strip + kRows);
    const Double4 s2 = multiply(strip + 2 * kRows), s3 = multiply(strip + 3 * kRows);
    const Double4 s01 = __builtin_shufflevector(s0, s1, 0, 4, 2, 6) + __builtin_shufflevector(s0, s1, 1, 5, 3, 7);
    const Double4 s23 = __builtin_shufflevector(s2, s3, 0, 4, 2, 6) + __builtin_shufflevector(s2, s3, 1, 5, 3, 7);
    tile::store(y + c, tile::load(y + c) + (__builtin_shufflevector(s01, s23, 0, 1, 4, 5) +
                                            __builtin_shufflevector(s01, s23, 2, 3, 6, 7)));
  }
}

/// Calls f with the range of vectors of a strip.
template <typename Function>
inline void with_vectors(int vectors, Function&& f) noexcept {
  if (vectors == 3) {
    f(tile::Vectors<0, 3>{});
  } else if (vectors == 2) {
    f(tile::Vectors<0, 2>{});
  } else {
    f(tile::Vectors<0, 1>{});
  }
}

/// The columns of pivot strip t in all strips, the front's earlier ones known. Strips are the inner loops: a piece of L
/// stays in the L1 cache for all of them, and while one waits for its tile to be solved another has work.
void finish_forward(const FrontShape& shape, const double* panel, const double* inverse, int t, std::size_t own,
                    std::span<const RightHandStrip> strips) noexcept {
  const double* pivot_strip = panel + shape.panel_offset(t);
  const int begin = kRows * t, end = std::min(kRows * (t + 1), shape.padded_columns());
  for (int to = begin % tile::kDepth; to <= begin; to += tile::kDepth) {
    for (const RightHandStrip& strip : strips) {
      const int from = std::max(strip.first, to - tile::kDepth);
      if (from >= to) continue;
      double* x = strip.begin + own;
      with_vectors(strip.vectors, [&](auto range) {
        for (int c = begin; c < end; c += kColumns) {
          tile::subtract_product<decltype(range)>(x + kRows * from, pivot_strip + kRows * from + (c - begin), to - from,
                                                  x + kRows * c);
        }
      });
    }
  }
  for (int c = begin; c < end; c += kColumns) {
    for (const RightHandStrip& strip : strips) {
      if (strip.first > c) continue;
      with_vectors(strip.vectors, [&](auto range) {
        tile::finish<decltype(range)>(pivot_strip, inverse, strip.begin + own, std::max(strip.first, begin), c);
      });
    }
  }
}

/// Y −= X L₂₁ᵀ in the columns of one strip of L₂₁, which are at `slabs`.
template <typename Range>
inline void subtract_below(const double* x, const double* rows, int depth, std::span<const int> slabs,
                           double* begin) noexcept {
  for (int from = 0; from < depth; from += tile::kDepth) {
    for (std::size_t c = 0; c < slabs.size(); c += kColumns) {
      double* column[kColumns];
      for (int j = 0; j < kColumns; ++j) column[j] = begin + kRows * static_cast<std::size_t>(slabs[c + j]);
      tile::subtract_product<kRows, 1, Range>(x + kRows * from, rows + kRows * from + c,
                                              std::min(tile::kDepth, depth - from), column);
    }
  }
}

/// Columns c … c + 3 of a strip of right-hand sides, all later columns of the front and the rows below it known.
void finish_backward(const FrontShape& shape, const double* panel, const double* inverse, double* strip, int c,
                     const double* rows) noexcept {
  const int pivot_strips = shape.pivot_strips();
  double* column[kColumns];
  for (int j = 0; j < kColumns; ++j) column[j] = strip + kRows * (c + j);
  for (int t = 0; t < shape.row_strips(); ++t) {
    const double* block = panel + shape.panel_offset(pivot_strips + t) + kRows * c;
    tile::subtract_product<1, kRows>(rows + kRows * kRows * static_cast<std::size_t>(t), block, kRows, column);
  }
  for (int s = c / kRows; s < pivot_strips; ++s) {
    const int first = std::max(kRows * s, c + kColumns);
    const int depth = std::min(kRows * (s + 1), shape.padded_columns()) - first;
    const double* block = panel + shape.panel_offset(s) + kRows * c + (first - kRows * s);
    tile::subtract_product<1, kRows>(strip + kRows * first, block, depth, column);
  }
  const double* diagonal = panel + shape.panel_offset(c / kRows) + kRows * c + c % kRows;
  tile::solve_tile_transposed(strip + kRows * c, diagonal, inverse + c);
}

}  // namespace

void forward(const FrontTree& tree, const Front& front, const double* panel, const double* inverse,
             std::span<const RightHandStrip> strips) noexcept {
  // All strips against one strip of L, then the next: L passes through the cache once.
  const FrontShape& shape = front.shape;
  const std::size_t own = kRows * static_cast<std::size_t>(front.slab);
  for (int t = 0; t < shape.pivot_strips(); ++t) finish_forward(shape, panel, inverse, t, own, strips);
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  for (int t = 0; t < shape.row_strips(); ++t) {
    const double* rows = panel + shape.panel_offset(shape.pivot_strips() + t);
    const int columns = (std::min(kRows, 3 * shape.rows - kRows * t) + 3) / 4 * 4;
    const std::span<const int> targets(slabs + kRows * t, static_cast<std::size_t>(columns));
    for (const RightHandStrip& strip : strips) {
      with_vectors(strip.vectors, [&](auto range) {
        const int first = strip.first;
        subtract_below<decltype(range)>(strip.begin + own + kRows * first, rows + kRows * first,
                                        shape.columns() - first, targets, strip.begin);
      });
    }
  }
}

void backward(const FrontTree& tree, const Front& front, const double* panel, const double* inverse, double* strip,
              double* rows) noexcept {
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  for (int r = 0; r < kRows * front.shape.row_strips(); ++r) {
    const double* column = strip + kRows * static_cast<std::size_t>(slabs[r]);
    std::copy(column, column + kRows, rows + kRows * static_cast<std::size_t>(r));
  }
  double* own = strip + kRows * static_cast<std::size_t>(front.slab);
  for (int c = front.shape.padded_columns() - kColumns; c >= 0; c -= kColumns) {
    finish_backward(front.shape, panel, inverse, own, c, rows);
  }
}

void forward_one(const FrontTree& tree, const Front& front, const double* panel, const double* inverse, double* slab,
                 double* local) noexcept {
  const FrontShape& shape = front.shape;
  double* own = slab + front.slab;
  const int columns = shape.padded_columns(), pivot_strips = shape.pivot_strips();
  if (is_zero(own, columns)) return;
  std::copy(own, own + columns, local);
  std::fill(local + columns, local + kRows * (pivot_strips + shape.row_strips()), 0.0);
  for (int s = 0; s < pivot_strips; ++s) {
    const double* strip = panel + shape.panel_offset(s);
    double* y = local + kRows * s;
    subtract_columns(strip, local, kRows * s, y);
    for (int c = kRows * s; c < std::min(kRows * (s + 1), columns); ++c) {
      const double x = local[c] * inverse[c];
      for (int i = 0; i < kRows; ++i) y[i] -= strip[kRows * c + i] * x;
      local[c] = x;
    }
  }
  std::copy(local, local + columns, own);
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  for (int t = 0; t < shape.row_strips(); ++t) {
    double* y = local + kRows * (pivot_strips + t);
    subtract_columns(panel + shape.panel_offset(pivot_strips + t), local, shape.columns(), y);
    for (int i = 0; i < kRows; ++i) slab[slabs[kRows * t + i]] += y[i];
  }
}

void backward_one(const FrontTree& tree, const Front& front, const double* panel, const double* inverse, double* slab,
                  double* local) noexcept {
  const FrontShape& shape = front.shape;
  double* own = slab + front.slab;
  const int columns = shape.padded_columns(), pivot_strips = shape.pivot_strips();
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  std::copy(own, own + columns, local);
  std::fill(local + columns, local + kRows * pivot_strips, 0.0);
  for (int r = 0; r < kRows * shape.row_strips(); ++r) local[kRows * pivot_strips + r] = slab[slabs[r]];
  for (int s = pivot_strips + shape.row_strips() - 1; s >= pivot_strips; --s) {
    subtract_rows(panel + shape.panel_offset(s), local + kRows * s, columns, local);
  }
  for (int s = pivot_strips - 1; s >= 0; --s) {
    const double* strip = panel + shape.panel_offset(s);
    double* x = local + kRows * s;
    for (int j = std::min(kRows * (s + 1), columns) - 1; j >= kRows * s; --j) {
      double sum = local[j];
      for (int i = j + 1; i < kRows * (s + 1); ++i) sum -= strip[kRows * j + i - kRows * s] * local[i];
      local[j] = sum * inverse[j];
    }
    subtract_rows(strip, x, kRows * s, local);
  }
  std::copy(local, local + columns, own);
}

}  // namespace palpate::front
