#include <algorithm>

#include "front_kernels.h"
#include "tile_kernels.h"

namespace palpate::front {
namespace {

using tile::kColumns;
using tile::kLanes;
using tile::kRows;
using tile::Vector;

template <typename T>
bool is_zero(const T* first, int count) noexcept {
  return std::all_of(first, first + count, [](T x) { return x == T(0); });
}

/// y −= (a strip of L) · x over `depth` columns.
template <typename T>
inline void subtract_columns(const T* strip, const T* x, int depth, T* y) noexcept {
  Vector<T> even[3] = {tile::load(y), tile::load(y + kLanes<T>), tile::load(y + 2 * kLanes<T>)};
  Vector<T> odd[3] = {};
  int k = 0;
  for (; k + 1 < depth; k += 2, strip += 2 * kRows<T>) {
    for (int v = 0; v < 3; ++v) {
      even[v] = tile::subtract_multiple(even[v], tile::load(strip + kLanes<T> * v), tile::fill(x[k]));
      odd[v] = tile::subtract_multiple(odd[v], tile::load(strip + kRows<T> + kLanes<T> * v), tile::fill(x[k + 1]));
    }
  }
  for (int v = 0; v < 3; ++v) {
    if (k < depth) even[v] = tile::subtract_multiple(even[v], tile::load(strip + kLanes<T> * v), tile::fill(x[k]));
    tile::store(y + kLanes<T> * v, even[v] + odd[v]);
  }
}

/// y −= (a strip of L, `columns` of it, a multiple of four)ᵀ · x. In the order of memory: single right-hand sides wait
/// for it.
template <typename T>
inline void subtract_rows(const T* strip, const T* x, int columns, T* y) noexcept {
  constexpr int n = kLanes<T>;
  const Vector<T> low = tile::load(x), middle = tile::load(x + n), high = tile::load(x + 2 * n);
  const auto multiply = [&](const T* column) {
    const Vector<T> sum = tile::subtract_multiple(tile::fill(T(0)), tile::load(column), low);
    return tile::subtract_multiple(tile::subtract_multiple(sum, tile::load(column + n), middle),
                                   tile::load(column + 2 * n), high);
  };
  for (int c = 0; c < columns; c += kColumns, strip += kColumns * kRows<T>) {
    tile::add_sums(multiply(strip), multiply(strip + kRows<T>), multiply(strip + 2 * kRows<T>),
                   multiply(strip + 3 * kRows<T>), y + c);
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
template <typename T>
void finish_forward(const FrontShape& shape, const T* panel, const T* inverse, int t, std::size_t own,
                    std::span<const RightHandStrip<T>> strips) noexcept {
  const T* pivot_strip = panel + shape.panel_offset(t);
  const int begin = kRows<T> * t, end = std::min(kRows<T> * (t + 1), shape.padded_columns());
  for (int to = begin % tile::kDepth; to <= begin; to += tile::kDepth) {
    for (const RightHandStrip<T>& strip : strips) {
      const int from = std::max(strip.first, to - tile::kDepth);
      if (from >= to) continue;
      T* x = strip.begin + own;
      with_vectors(strip.vectors, [&](auto range) {
        for (int c = begin; c < end; c += kColumns) {
          tile::subtract_product<decltype(range)>(x + kRows<T> * from, pivot_strip + kRows<T> * from + (c - begin),
                                                  to - from, x + kRows<T> * c);
        }
      });
    }
  }
  for (int c = begin; c < end; c += kColumns) {
    for (const RightHandStrip<T>& strip : strips) {
      if (strip.first > c) continue;
      with_vectors(strip.vectors, [&](auto range) {
        tile::finish<decltype(range)>(pivot_strip, inverse, strip.begin + own, std::max(strip.first, begin), c);
      });
    }
  }
}

/// Y −= X L₂₁ᵀ in the columns of one strip of L₂₁, which are at `slabs`.
template <typename Range, typename T>
inline void subtract_below(const T* x, const T* rows, int depth, std::span<const int> slabs, T* begin) noexcept {
  for (int from = 0; from < depth; from += tile::kDepth) {
    for (std::size_t c = 0; c < slabs.size(); c += kColumns) {
      T* column[kColumns];
      for (int j = 0; j < kColumns; ++j) column[j] = begin + kRows<T> * as_size(slabs[c + j]);
      tile::subtract_product<kRows<T>, 1, Range>(x + kRows<T> * from, rows + kRows<T> * from + c,
                                                 std::min(tile::kDepth, depth - from), column);
    }
  }
}

/// Columns c … c + 3 of a strip of right-hand sides, all later columns of the front and the rows below it known.
template <typename Range, typename T>
void finish_backward(const FrontShape& shape, const T* panel, const T* inverse, T* strip, int c,
                     const T* rows) noexcept {
  const int pivot_strips = shape.pivot_strips();
  T* column[kColumns];
  for (int j = 0; j < kColumns; ++j) column[j] = strip + kRows<T> * (c + j);
  for (int t = 0; t < shape.row_strips(); ++t) {
    const T* block = panel + shape.panel_offset(pivot_strips + t) + kRows<T> * c;
    tile::subtract_product<1, kRows<T>, Range>(rows + kRows<T> * kRows<T> * as_size(t), block, kRows<T>, column);
  }
  for (int s = c / kRows<T>; s < pivot_strips; ++s) {
    const int first = std::max(kRows<T> * s, c + kColumns);
    const int depth = std::min(kRows<T> * (s + 1), shape.padded_columns()) - first;
    const T* block = panel + shape.panel_offset(s) + kRows<T> * c + (first - kRows<T> * s);
    tile::subtract_product<1, kRows<T>, Range>(strip + kRows<T> * first, block, depth, column);
  }
  const T* diagonal = panel + shape.panel_offset(c / kRows<T>) + kRows<T> * c + c % kRows<T>;
  tile::solve_tile_transposed<Range>(strip + kRows<T> * c, diagonal, inverse + c);
}

}  // namespace

template <typename T>
void forward(const FrontTree& tree, const Front& front, const T* panel, const T* inverse,
             std::span<const RightHandStrip<T>> strips) noexcept {
  // All strips against one strip of L, then the next: L passes through the cache once.
  const FrontShape& shape = front.shape;
  const std::size_t own = kRows<T> * as_size(front.slab);
  for (int t = 0; t < shape.pivot_strips(); ++t) finish_forward(shape, panel, inverse, t, own, strips);
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  for (int t = 0; t < shape.row_strips(); ++t) {
    const T* rows = panel + shape.panel_offset(shape.pivot_strips() + t);
    const int columns = (std::min(kRows<T>, 3 * shape.rows - kRows<T> * t) + 3) / 4 * 4;
    const std::span<const int> targets(slabs + kRows<T> * t, as_size(columns));
    for (const RightHandStrip<T>& strip : strips) {
      with_vectors(strip.vectors, [&](auto range) {
        const int first = strip.first;
        subtract_below<decltype(range)>(strip.begin + own + kRows<T> * first, rows + kRows<T> * first,
                                        shape.columns() - first, targets, strip.begin);
      });
    }
  }
}

template <typename T>
void backward(const FrontTree& tree, const Front& front, const T* panel, const T* inverse,
              const RightHandStrip<T>& strip, T* rows) noexcept {
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  for (int r = 0; r < kRows<T> * front.shape.row_strips(); ++r) {
    const T* column = strip.begin + kRows<T> * as_size(slabs[r]);
    std::copy(column, column + kLanes<T> * strip.vectors, rows + kRows<T> * as_size(r));
  }
  T* own = strip.begin + kRows<T> * as_size(front.slab);
  with_vectors(strip.vectors, [&](auto range) {
    for (int c = front.shape.padded_columns() - kColumns; c >= 0; c -= kColumns)
      finish_backward<decltype(range)>(front.shape, panel, inverse, own, c, rows);
  });
}

template <typename T>
void clear_padding(const FrontTree& tree, T* slab) noexcept {
  for (const Front& front : tree.fronts) {
    const auto first = as_size(front.slab + front.shape.columns());
    const auto end = as_size(front.slab + front.shape.padded_columns());
    std::fill(slab + kRows<T> * first, slab + kRows<T> * end, T(0));
  }
  std::fill_n(slab + kRows<T> * as_size(tree.slab_size), kRows<T>, T(0));
}

template <typename T>
void store_strip(const FrontTree& tree, const T* slab, int columns, double* x, std::ptrdiff_t stride) noexcept {
  for (std::size_t i = 0; i < tree.place.size(); ++i) {
    const int place = tree.place[i];
    for (std::size_t k = 0; k < 3; ++k) {
      const T* from = slab + kRows<T> * (as_size(std::max(place, 0)) + k);
      double* to = x + 3 * i + k;
      for (int c = 0; c < columns; ++c) to[c * stride] = place < 0 ? 0.0 : static_cast<double>(from[c]);
    }
  }
}

template <typename T>
void forward_one(const FrontTree& tree, const Front& front, const T* panel, const T* inverse, T* slab,
                 T* local) noexcept {
  const FrontShape& shape = front.shape;
  T* own = slab + front.slab;
  const int columns = shape.padded_columns(), pivot_strips = shape.pivot_strips();
  if (is_zero(own, columns)) return;
  std::copy(own, own + columns, local);
  std::fill(local + columns, local + kRows<T> * (pivot_strips + shape.row_strips()), T(0));
  for (int s = 0; s < pivot_strips; ++s) {
    const T* strip = panel + shape.panel_offset(s);
    T* y = local + kRows<T> * s;
    subtract_columns(strip, local, kRows<T> * s, y);
    for (int c = kRows<T> * s; c < std::min(kRows<T> * (s + 1), columns); ++c) {
      const T x = local[c] * inverse[c];
      for (int i = 0; i < kRows<T>; ++i) y[i] -= strip[kRows<T> * c + i] * x;
      local[c] = x;
    }
  }
  std::copy(local, local + columns, own);
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  for (int t = 0; t < shape.row_strips(); ++t) {
    T* y = local + kRows<T> * (pivot_strips + t);
    subtract_columns(panel + shape.panel_offset(pivot_strips + t), local, shape.columns(), y);
    for (int i = 0; i < kRows<T>; ++i) slab[slabs[kRows<T> * t + i]] += y[i];
  }
}

template <typename T>
void backward_one(const FrontTree& tree, const Front& front, const T* panel, const T* inverse, T* slab,
                  T* local) noexcept {
  const FrontShape& shape = front.shape;
  T* own = slab + front.slab;
  const int columns = shape.padded_columns(), pivot_strips = shape.pivot_strips();
  const int* slabs = tree.row_slabs.data() + front.rows_begin;
  std::copy(own, own + columns, local);
  std::fill(local + columns, local + kRows<T> * pivot_strips, T(0));
  for (int r = 0; r < kRows<T> * shape.row_strips(); ++r) local[kRows<T> * pivot_strips + r] = slab[slabs[r]];
  for (int s = pivot_strips + shape.row_strips() - 1; s >= pivot_strips; --s) {
    subtract_rows(panel + shape.panel_offset(s), local + kRows<T> * s, columns, local);
  }
  for (int s = pivot_strips - 1; s >= 0; --s) {
    const T* strip = panel + shape.panel_offset(s);
    T* x = local + kRows<T> * s;
    for (int j = std::min(kRows<T> * (s + 1), columns) - 1; j >= kRows<T> * s; --j) {
      T sum = local[j];
      for (int i = j + 1; i < kRows<T> * (s + 1); ++i) sum -= strip[kRows<T> * j + i - kRows<T> * s] * local[i];
      local[j] = sum * inverse[j];
    }
    subtract_rows(strip, x, kRows<T> * s, local);
  }
  std::copy(local, local + columns, own);
}

template void forward(const FrontTree&, const Front&, const double*, const double*,
                      std::span<const RightHandStrip<double>>) noexcept;
template void forward(const FrontTree&, const Front&, const float*, const float*,
                      std::span<const RightHandStrip<float>>) noexcept;
template void backward(const FrontTree&, const Front&, const double*, const double*, const RightHandStrip<double>&,
                       double*) noexcept;
template void backward(const FrontTree&, const Front&, const float*, const float*, const RightHandStrip<float>&,
                       float*) noexcept;
template void clear_padding(const FrontTree&, double*) noexcept;
template void clear_padding(const FrontTree&, float*) noexcept;
template void store_strip(const FrontTree&, const double*, int, double*, std::ptrdiff_t) noexcept;
template void store_strip(const FrontTree&, const float*, int, double*, std::ptrdiff_t) noexcept;
template void forward_one(const FrontTree&, const Front&, const double*, const double*, double*, double*) noexcept;
template void forward_one(const FrontTree&, const Front&, const float*, const float*, float*, float*) noexcept;
template void backward_one(const FrontTree&, const Front&, const double*, const double*, double*, double*) noexcept;
template void backward_one(const FrontTree&, const Front&, const float*, const float*, float*, float*) noexcept;

}  // namespace palpate::front
