#pragma once

#include <algorithm>
#include <cmath>

#include "palpate/core/simd.h"

// Dense arithmetic on strips, in double or single precision. A strip is as many rows of a matrix as three vectors hold
// (twelve doubles or twenty-four floats: four or eight 3-blocks), column after column: element (i, j) at kRows j + i.
// A tile is four columns of a strip. It keeps twelve accumulators, enough to hide the latency of two multiply-adds a
// cycle. Products use fused multiply-adds by name, since contraction is off for the project.
namespace palpate::tile {

template <typename T>
inline constexpr int kLanes = 32 / static_cast<int>(sizeof(T));
inline constexpr int kVectors = 3;
template <typename T>
inline constexpr int kRows = kVectors* kLanes<T>;
/// 3-blocks of a strip.
template <typename T>
inline constexpr int kBlocks = kRows<T> / 3;
inline constexpr int kColumns = 4;
/// Depth of a product that is done at once: that of two strips, 23 KB, stays in the L1 cache for all their tiles.
inline constexpr int kDepth = 120;

using simd::fill;
using simd::load;
using simd::store;

template <typename T>
using Vector = decltype(fill(T{}));

/// c − a · b with one rounding where the machine can.
template <typename V>
inline V subtract_multiple(V c, V a, V b) noexcept {
  return simd::nmadd(a, b, c);
}

/// y[k] += Σ lanes of s_k, for four vectors.
inline void add_sums(Vector<double> s0, Vector<double> s1, Vector<double> s2, Vector<double> s3, double* y) noexcept {
  const auto s01 = __builtin_shufflevector(s0, s1, 0, 4, 2, 6) + __builtin_shufflevector(s0, s1, 1, 5, 3, 7);
  const auto s23 = __builtin_shufflevector(s2, s3, 0, 4, 2, 6) + __builtin_shufflevector(s2, s3, 1, 5, 3, 7);
  store(y, load(y) + (__builtin_shufflevector(s01, s23, 0, 1, 4, 5) + __builtin_shufflevector(s01, s23, 2, 3, 6, 7)));
}
inline void add_sums(Vector<float> s0, Vector<float> s1, Vector<float> s2, Vector<float> s3, float* y) noexcept {
  // Each half of the register holds four sums of two lanes, then of four.
  const auto s01 = __builtin_shufflevector(s0, s1, 0, 8, 2, 10, 4, 12, 6, 14) +
                   __builtin_shufflevector(s0, s1, 1, 9, 3, 11, 5, 13, 7, 15);
  const auto s23 = __builtin_shufflevector(s2, s3, 0, 8, 2, 10, 4, 12, 6, 14) +
                   __builtin_shufflevector(s2, s3, 1, 9, 3, 11, 5, 13, 7, 15);
  const auto all = __builtin_shufflevector(s01, s23, 0, 1, 8, 9, 4, 5, 12, 13) +
                   __builtin_shufflevector(s01, s23, 2, 3, 10, 11, 6, 7, 14, 15);
  for (int k = 0; k < 4; ++k) y[k] += all[k] + all[k + 4];
}

/// The vectors of rows [first, last) of a tile that a kernel works on: all three, those from the diagonal down, or as
/// many as hold right-hand sides.
template <int kFirstVector, int kLastVector>
struct Vectors {
  static constexpr int kFirst = kFirstVector, kLast = kLastVector;
  static constexpr bool has(int v) noexcept { return v >= kFirst && v < kLast; }
};
using AllVectors = Vectors<0, kVectors>;

/// A column of a tile in registers. Named members, where an array would do: GCC 12 keeps arrays in memory too, because
/// it unrolls loops over them only after it has decided.
template <typename T, typename Range>
struct TileColumn {
  Vector<T> low, middle, high;

  void set_zero() noexcept { low = middle = high = fill(T(0)); }
  void read(const T* p) noexcept {
    if constexpr (Range::has(0)) low = load(p);
    if constexpr (Range::has(1)) middle = load(p + kLanes<T>);
    if constexpr (Range::has(2)) high = load(p + 2 * kLanes<T>);
  }
  void write(T* p) const noexcept {
    if constexpr (Range::has(0)) store(p, low);
    if constexpr (Range::has(1)) store(p + kLanes<T>, middle);
    if constexpr (Range::has(2)) store(p + 2 * kLanes<T>, high);
  }
  void add(const TileColumn& other) noexcept {
    if constexpr (Range::has(0)) low += other.low;
    if constexpr (Range::has(1)) middle += other.middle;
    if constexpr (Range::has(2)) high += other.high;
  }
  void subtract(const TileColumn& left, T right) noexcept {
    const Vector<T> factor = fill(right);
    if constexpr (Range::has(0)) low = subtract_multiple(low, left.low, factor);
    if constexpr (Range::has(1)) middle = subtract_multiple(middle, left.middle, factor);
    if constexpr (Range::has(2)) high = subtract_multiple(high, left.high, factor);
  }
};

/// column[j][i] −= Σ_{k < depth} a[kRows k + i] · b[kStep k + kLane j], or column = −Σ if kOverwrite.
template <int kStep, int kLane, typename Range = AllVectors, bool kOverwrite = false, typename T>
[[gnu::always_inline]] inline void subtract_product(const T* a, const T* b, int depth,
                                                    T* const (&column)[kColumns]) noexcept {
  TileColumn<T, Range> sum0, sum1, sum2, sum3, left;
  if constexpr (kOverwrite) {
    sum0.set_zero(), sum1.set_zero(), sum2.set_zero(), sum3.set_zero();
  } else {
    sum0.read(column[0]), sum1.read(column[1]), sum2.read(column[2]), sum3.read(column[3]);
  }
  int k = 0;
  if constexpr (Range::kLast - Range::kFirst == 1) {
    // Four sums would wait for each other: odd k get their own.
    TileColumn<T, Range> odd0, odd1, odd2, odd3;
    odd0.set_zero(), odd1.set_zero(), odd2.set_zero(), odd3.set_zero();
    for (; k + 1 < depth; k += 2, a += 2 * kRows<T>, b += 2 * kStep) {
      left.read(a);
      sum0.subtract(left, b[0]), sum1.subtract(left, b[kLane]);
      sum2.subtract(left, b[2 * kLane]), sum3.subtract(left, b[3 * kLane]);
      left.read(a + kRows<T>);
      odd0.subtract(left, b[kStep]), odd1.subtract(left, b[kStep + kLane]);
      odd2.subtract(left, b[kStep + 2 * kLane]), odd3.subtract(left, b[kStep + 3 * kLane]);
    }
    sum0.add(odd0), sum1.add(odd1), sum2.add(odd2), sum3.add(odd3);
  }
  for (; k < depth; ++k, a += kRows<T>, b += kStep) {
    left.read(a);
    sum0.subtract(left, b[0]), sum1.subtract(left, b[kLane]);
    sum2.subtract(left, b[2 * kLane]), sum3.subtract(left, b[3 * kLane]);
  }
  sum0.write(column[0]), sum1.write(column[1]), sum2.write(column[2]), sum3.write(column[3]);
}

/// The same for a tile that lies in one piece.
template <typename Range = AllVectors, bool kOverwrite = false, typename T>
inline void subtract_product(const T* a, const T* b, int depth, T* tile) noexcept {
  T* const column[kColumns] = {tile, tile + kRows<T>, tile + 2 * kRows<T>, tile + 3 * kRows<T>};
  subtract_product<kRows<T>, 1, Range, kOverwrite>(a, b, depth, column);
}

/// The kRows columns of a square on the diagonal, of which `columns` are needed, without the vectors above it.
template <bool kOverwrite = false, typename T>
inline void subtract_symmetric_product(const T* a, int depth, int columns, T* square) noexcept {
  const auto subtract = [&]<int kVector>() {
    for (int c = kVector * kLanes<T>; c < std::min((kVector + 1) * kLanes<T>, columns); c += kColumns)
      subtract_product<Vectors<kVector, kVectors>, kOverwrite>(a, a + c, depth, square + kRows<T> * c);
  };
  subtract.template operator()<0>();
  subtract.template operator()<1>();
  subtract.template operator()<2>();
}

/// X Tᵀ = C in place for a tile C: T the lower triangle at `t` (element (i, j) at kRows j + i), 1/T_jj in `inverse`.
template <typename Range = AllVectors, typename T>
inline void solve_tile(T* tile, const T* t, const T* inverse) noexcept {
  constexpr int n = kRows<T>;
  for (int v = Range::kFirst; v < Range::kLast; ++v) {
    T* c = tile + kLanes<T> * v;
    const Vector<T> x0 = load(c) * inverse[0];
    const Vector<T> c1 = subtract_multiple(load(c + n), x0, fill(t[1]));
    const Vector<T> x1 = c1 * inverse[1];
    const Vector<T> c2 = subtract_multiple(load(c + 2 * n), x0, fill(t[2]));
    const Vector<T> x2 = subtract_multiple(c2, x1, fill(t[n + 2])) * inverse[2];
    const Vector<T> c3 = subtract_multiple(load(c + 3 * n), x0, fill(t[3]));
    const Vector<T> d3 = subtract_multiple(c3, x1, fill(t[n + 3]));
    const Vector<T> x3 = subtract_multiple(d3, x2, fill(t[2 * n + 3])) * inverse[3];
    store(c, x0);
    store(c + n, x1);
    store(c + 2 * n, x2);
    store(c + 3 * n, x3);
  }
}

/// Finishes columns c … c + 3 of a strip of L, or of right-hand sides, below the diagonal: subtracts the columns
/// [from, c), earlier ones being done, and solves with the diagonal tile. `pivot_strip` is the strip of L that holds
/// row c.
template <typename Range = AllVectors, typename T>
inline void finish(const T* pivot_strip, const T* inverse, T* strip, int from, int c) noexcept {
  const T* pivot_rows = pivot_strip + c % kRows<T>;
  subtract_product<Range>(strip + kRows<T> * from, pivot_rows + kRows<T> * from, c - from, strip + kRows<T> * c);
  solve_tile<Range>(strip + kRows<T> * c, pivot_rows + kRows<T> * c, inverse + c);
}

/// Cholesky factor of the 4×4 matrix at `t` (element (i, j) at kRows j + i, lower triangle), inverse diagonal to
/// `inverse`. Returns the number of good pivots: 4 if it is positive definite.
template <typename T>
inline int factor_diagonal(T* t, T* inverse) noexcept {
  constexpr int n = kRows<T>;
  for (int j = 0; j < kColumns; ++j) {
    for (int k = 0; k < j; ++k) {
      for (int i = j; i < kColumns; ++i) t[n * j + i] -= t[n * k + i] * t[n * k + j];
    }
    const T pivot = t[n * j + j];
    if (!(pivot > T(0)) || !std::isfinite(pivot)) return j;
    const T root = std::sqrt(pivot);
    t[n * j + j] = root;
    inverse[j] = T(1) / root;
    for (int i = j + 1; i < kColumns; ++i) t[n * j + i] *= inverse[j];
  }
  return kColumns;
}

/// X T = C in place, else as solve_tile().
template <typename Range = AllVectors, typename T>
inline void solve_tile_transposed(T* tile, const T* t, const T* inverse) noexcept {
  constexpr int n = kRows<T>;
  for (int v = Range::kFirst; v < Range::kLast; ++v) {
    T* c = tile + kLanes<T> * v;
    const Vector<T> x3 = load(c + 3 * n) * inverse[3];
    const Vector<T> x2 = subtract_multiple(load(c + 2 * n), x3, fill(t[2 * n + 3])) * inverse[2];
    const Vector<T> c1 = subtract_multiple(load(c + n), x3, fill(t[n + 3]));
    const Vector<T> x1 = subtract_multiple(c1, x2, fill(t[n + 2])) * inverse[1];
    const Vector<T> c0 = subtract_multiple(load(c), x3, fill(t[3]));
    const Vector<T> d0 = subtract_multiple(c0, x2, fill(t[2]));
    const Vector<T> x0 = subtract_multiple(d0, x1, fill(t[1])) * inverse[0];
    store(c, x0);
    store(c + n, x1);
    store(c + 2 * n, x2);
    store(c + 3 * n, x3);
  }
}

}  // namespace palpate::tile
