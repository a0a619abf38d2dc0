#pragma once

#include <cmath>
#include <cstring>

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

using Double4 = double __attribute__((vector_size(32)));

inline Double4 load(const double* p) noexcept {
  Double4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(double* p, Double4 v) noexcept {
  std::memcpy(p, &v, sizeof v);
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

/// Which of a tile's three vectors of rows to compute: those from kFirst on. In a tile on the diagonal the ones above
/// are not needed.
///
/// column[j][i] −= Σ_{k < depth} a[12 k + i] · b[kStep k + kLane j], or column = −Σ if kOverwrite.
template <int kStep, int kLane, bool kOverwrite = false, int kFirst = 0>
inline void subtract_product(const double* a, const double* b, int depth, double* const (&column)[kColumns]) noexcept {
  Double4 sum[kColumns][kVectors];
  for (int j = 0; j < kColumns; ++j) {
    for (int v = kFirst; v < kVectors; ++v) sum[j][v] = kOverwrite ? fill(0.0) : load(column[j] + 4 * v);
  }
  for (int k = 0; k < depth; ++k, a += kRows, b += kStep) {
    Double4 left[kVectors];
    for (int v = kFirst; v < kVectors; ++v) left[v] = load(a + 4 * v);
    for (int j = 0; j < kColumns; ++j) {
      const Double4 right = fill(b[kLane * j]);
      for (int v = kFirst; v < kVectors; ++v) sum[j][v] = subtract_multiple(sum[j][v], left[v], right);
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int v = kFirst; v < kVectors; ++v) store(column[j] + 4 * v, sum[j][v]);
  }
}

/// The same for a tile that lies in one piece.
template <bool kOverwrite = false, int kFirst = 0>
inline void subtract_product(const double* a, const double* b, int depth, double* tile) noexcept {
  double* const column[kColumns] = {tile, tile + kRows, tile + 2 * kRows, tile + 3 * kRows};
  subtract_product<kRows, 1, kOverwrite, kFirst>(a, b, depth, column);
}

/// X Tᵀ = C in place for a tile C: T the lower triangle at `t` (element (i, j) at 12 j + i) with 1/T_jj in `inverse`.
inline void solve_tile(double* tile, const double* t, const double* inverse) noexcept {
  for (int v = 0; v < kVectors; ++v) {
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
inline void finish(const double* pivot_strip, const double* inverse, double* strip, int from, int c) noexcept {
  const double* pivot_rows = pivot_strip + c % kRows;
  subtract_product(strip + kRows * from, pivot_rows + kRows * from, c - from, strip + kRows * c);
  solve_tile(strip + kRows * c, pivot_rows + kRows * c, inverse + c);
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
