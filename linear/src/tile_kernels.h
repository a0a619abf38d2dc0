#pragma once

#include <cmath>

#if defined(__FMA__)
#include <immintrin.h>
#endif

// Dense arithmetic on strips. A strip is twelve rows of a matrix, column after column: element (i, j) at 12 j + i.
// A tile is four columns of a strip. Twelve rows are three vectors and four 3-blocks; a tile keeps twelve accumulators,
// enough to hide the latency of two multiply-adds a cycle. Products use fused multiply-adds by name, since contraction
// is off for the project.
namespace palpate::tile {

inline constexpr int kRows = 12;
inline constexpr int kColumns = 4;
inline constexpr int kVectors = kRows / 4;
/// Depth of a product that is done at once: that of two strips, 23 KB, stays in the L1 cache for all their tiles.
inline constexpr int kDepth = 10 * kRows;

using Double4 = double __attribute__((vector_size(32)));

/// The same in memory. Copying by memcpy instead makes GCC 12 pass every sum of a tile through the stack.
using Double4InMemory = double __attribute__((vector_size(32), aligned(8), may_alias));

inline Double4 load(const double* p) noexcept {
  return *reinterpret_cast<const Double4InMemory*>(p);
}
inline void store(double* p, Double4 v) noexcept {
  *reinterpret_cast<Double4InMemory*>(p) = v;
}
inline Double4 fill(double x) noexcept {
  return Double4{x, x, x, x};
}

/// c − a · b with one rounding where the machine can.
inline Double4 subtract_multiple(Double4 c, Double4 a, Double4 b) noexcept {
#if defined(__FMA__)
  return _mm256_fnmadd_pd(a, b, c);
#else
  return c - a * b;
#endif
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
template <typename Range>
struct TileColumn {
  Double4 low, middle, high;

  void set_zero() noexcept { low = middle = high = fill(0.0); }
  void read(const double* p) noexcept {
    if constexpr (Range::has(0)) low = load(p);
    if constexpr (Range::has(1)) middle = load(p + 4);
    if constexpr (Range::has(2)) high = load(p + 8);
  }
  void write(double* p) const noexcept {
    if constexpr (Range::has(0)) store(p, low);
    if constexpr (Range::has(1)) store(p + 4, middle);
    if constexpr (Range::has(2)) store(p + 8, high);
  }
  void add(const TileColumn& other) noexcept {
    if constexpr (Range::has(0)) low += other.low;
    if constexpr (Range::has(1)) middle += other.middle;
    if constexpr (Range::has(2)) high += other.high;
  }
  void subtract(const TileColumn& left, double right) noexcept {
    const Double4 factor = fill(right);
    if constexpr (Range::has(0)) low = subtract_multiple(low, left.low, factor);
    if constexpr (Range::has(1)) middle = subtract_multiple(middle, left.middle, factor);
    if constexpr (Range::has(2)) high = subtract_multiple(high, left.high, factor);
  }
};

/// column[j][i] −= Σ_{k < depth} a[12 k + i] · b[kStep k + kLane j], or column = −Σ if kOverwrite.
template <int kStep, int kLane, typename Range = AllVectors, bool kOverwrite = false>
[[gnu::always_inline]] inline void subtract_product(const double* a, const double* b, int depth,
                                                    double* const (&column)[kColumns]) noexcept {
  TileColumn<Range> sum0, sum1, sum2, sum3, left;
  if constexpr (kOverwrite) {
    sum0.set_zero(), sum1.set_zero(), sum2.set_zero(), sum3.set_zero();
  } else {
    sum0.read(column[0]), sum1.read(column[1]), sum2.read(column[2]), sum3.read(column[3]);
  }
  int k = 0;
  if constexpr (Range::kLast - Range::kFirst == 1) {
    // Four sums would wait for each other: odd k get their own.
    TileColumn<Range> odd0, odd1, odd2, odd3;
    odd0.set_zero(), odd1.set_zero(), odd2.set_zero(), odd3.set_zero();
    for (; k + 1 < depth; k += 2, a += 2 * kRows, b += 2 * kStep) {
      left.read(a);
      sum0.subtract(left, b[0]), sum1.subtract(left, b[kLane]);
      sum2.subtract(left, b[2 * kLane]), sum3.subtract(left, b[3 * kLane]);
      left.read(a + kRows);
      odd0.subtract(left, b[kStep]), odd1.subtract(left, b[kStep + kLane]);
      odd2.subtract(left, b[kStep + 2 * kLane]), odd3.subtract(left, b[kStep + 3 * kLane]);
    }
    sum0.add(odd0), sum1.add(odd1), sum2.add(odd2), sum3.add(odd3);
  }
  for (; k < depth; ++k, a += kRows, b += kStep) {
    left.read(a);
    sum0.subtract(left, b[0]), sum1.subtract(left, b[kLane]);
    sum2.subtract(left, b[2 * kLane]), sum3.subtract(left, b[3 * kLane]);
  }
  sum0.write(column[0]), sum1.write(column[1]), sum2.write(column[2]), sum3.write(column[3]);
}

/// The same for a tile that lies in one piece.
template <typename Range = AllVectors, bool kOverwrite = false>
inline void subtract_product(const double* a, const double* b, int depth, double* tile) noexcept {
  double* const column[kColumns] = {tile, tile + kRows, tile + 2 * kRows, tile + 3 * kRows};
  subtract_product<kRows, 1, Range, kOverwrite>(a, b, depth, column);
}

/// The twelve columns of a tile on the diagonal, of which `columns` are needed, without the vectors above it.
template <bool kOverwrite = false>
inline void subtract_symmetric_product(const double* a, int depth, int columns, double* tile) noexcept {
  subtract_product<AllVectors, kOverwrite>(a, a, depth, tile);
  if (columns > 4) subtract_product<Vectors<1, 3>, kOverwrite>(a, a + 4, depth, tile + 4 * kRows);
  if (columns > 8) subtract_product<Vectors<2, 3>, kOverwrite>(a, a + 8, depth, tile + 8 * kRows);
}

/// X Tᵀ = C in place for a tile C: T the lower triangle at `t` (element (i, j) at 12 j + i) with 1/T_jj in `inverse`.
template <typename Range = AllVectors>
inline void solve_tile(double* tile, const double* t, const double* inverse) noexcept {
  for (int v = Range::kFirst; v < Range::kLast; ++v) {
    double* c = tile + 4 * v;
    const Double4 x0 = load(c) * inverse[0];
    const Double4 c1 = subtract_multiple(load(c + 12), x0, fill(t[1]));
    const Double4 x1 = c1 * inverse[1];
    const Double4 c2 = subtract_multiple(load(c + 24), x0, fill(t[2]));
    const Double4 x2 = subtract_multiple(c2, x1, fill(t[14])) * inverse[2];
    const Double4 c3 = subtract_multiple(load(c + 36), x0, fill(t[3]));
    const Double4 d3 = subtract_multiple(c3, x1, fill(t[15]));
    const Double4 x3 = subtract_multiple(d3, x2, fill(t[27])) * inverse[3];
    store(c, x0);
    store(c + 12, x1);
    store(c + 24, x2);
    store(c + 36, x3);
  }
}

/// Finishes columns c … c + 3 of a strip of L, or of right-hand sides, below the diagonal: subtracts the columns
/// [from, c), earlier ones being done, and solves with the diagonal tile. `pivot_strip` is the strip of L that holds
/// row c.
template <typename Range = AllVectors>
inline void finish(const double* pivot_strip, const double* inverse, double* strip, int from, int c) noexcept {
  const double* pivot_rows = pivot_strip + c % kRows;
  subtract_product<Range>(strip + kRows * from, pivot_rows + kRows * from, c - from, strip + kRows * c);
  solve_tile<Range>(strip + kRows * c, pivot_rows + kRows * c, inverse + c);
}

/// Cholesky factor of the 4×4 matrix at `t` (element (i, j) at 12 j + i, lower triangle), inverse diagonal to
/// `inverse`. Returns the number of good pivots: 4 if it is positive definite.
inline int factor_diagonal(double* t, double* inverse) noexcept {
  for (int j = 0; j < kColumns; ++j) {
    for (int k = 0; k < j; ++k) {
      for (int i = j; i < kColumns; ++i) t[12 * j + i] -= t[12 * k + i] * t[12 * k + j];
    }
    const double pivot = t[12 * j + j];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return j;
    const double root = std::sqrt(pivot);
    t[12 * j + j] = root;
    inverse[j] = 1.0 / root;
    for (int i = j + 1; i < kColumns; ++i) t[12 * j + i] *= inverse[j];
  }
  return kColumns;
}

/// X T = C in place, else as solve_tile().
inline void solve_tile_transposed(double* tile, const double* t, const double* inverse) noexcept {
  for (int v = 0; v < kVectors; ++v) {
    double* c = tile + 4 * v;
    const Double4 x3 = load(c + 36) * inverse[3];
    const Double4 x2 = subtract_multiple(load(c + 24), x3, fill(t[27])) * inverse[2];
    const Double4 c1 = subtract_multiple(load(c + 12), x3, fill(t[15]));
    const Double4 x1 = subtract_multiple(c1, x2, fill(t[14])) * inverse[1];
    const Double4 c0 = subtract_multiple(load(c), x3, fill(t[3]));
    const Double4 d0 = subtract_multiple(c0, x2, fill(t[2]));
    const Double4 x0 = subtract_multiple(d0, x1, fill(t[1])) * inverse[0];
    store(c, x0);
    store(c + 12, x1);
    store(c + 24, x2);
    store(c + 36, x3);
  }
}

}  // namespace palpate::tile
