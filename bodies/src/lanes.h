#pragma once

#include <cstddef>
#include <cstdint>

#include "palpate/core/simd.h"

// Four elements at a time: every quantity of an element kernel is a vector of four doubles, one lane to an element.
namespace palpate::lanes {

constexpr int kLanes = 4;
using simd::any;
using simd::Double4;
using simd::fill;
using simd::load;
using simd::madd;
using simd::Mask4;
using simd::nmadd;
using simd::store;

struct Vector {
  Double4 v[3];
};
struct Matrix {
  Double4 m[3][3];  ///< [row][column]
};

inline Vector operator-(const Vector& a, const Vector& b) noexcept {
  return {{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2]}};
}
inline Vector operator+(const Vector& a, const Vector& b) noexcept {
  return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2]}};
}
inline Vector operator*(Double4 s, const Vector& a) noexcept {
  return {{s * a.v[0], s * a.v[1], s * a.v[2]}};
}
inline Double4 dot(const Vector& a, const Vector& b) noexcept {
  return madd(a.v[2], b.v[2], madd(a.v[1], b.v[1], a.v[0] * b.v[0]));
}
inline Vector operator*(const Matrix& A, const Vector& b) noexcept {
  Vector r;
  for (int i = 0; i < 3; ++i) r.v[i] = madd(A.m[i][2], b.v[2], madd(A.m[i][1], b.v[1], A.m[i][0] * b.v[0]));
  return r;
}
/// A += a bᵀ.
inline void add_outer(Matrix& A, const Vector& a, const Vector& b) noexcept {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) A.m[i][j] = madd(a.v[i], b.v[j], A.m[i][j]);
  }
}
/// A Bᵀ.
inline Matrix times_transposed(const Matrix& A, const Matrix& B) noexcept {
  Matrix r;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      r.m[i][j] = madd(A.m[i][2], B.m[j][2], madd(A.m[i][1], B.m[j][1], A.m[i][0] * B.m[j][0]));
    }
  }
  return r;
}
inline Double4 trace(const Matrix& A) noexcept {
  return A.m[0][0] + A.m[1][1] + A.m[2][2];
}

/// Four points or vectors, one from each index; `base` is an array of triples.
inline Vector gather(const double* base, const std::int32_t* index) noexcept {
  const double* p[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) p[lane] = base + 3 * static_cast<std::ptrdiff_t>(index[lane]);
  Vector r;
  for (int axis = 0; axis < 3; ++axis) r.v[axis] = Double4{p[0][axis], p[1][axis], p[2][axis], p[3][axis]};
  return r;
}

/// Adds each lane to the triple that its index names, one after the other: equal indices are fine.
inline void scatter_add(const Vector& a, double* base, const std::int32_t* index) noexcept {
  for (int lane = 0; lane < kLanes; ++lane) {
    double* p = base + 3 * static_cast<std::ptrdiff_t>(index[lane]);
    for (int axis = 0; axis < 3; ++axis) p[axis] += a.v[axis][lane];
  }
}

/// Turns rows a, b, c, d of a 4 × 4 array into its columns.
inline void transpose(Double4& a, Double4& b, Double4& c, Double4& d) noexcept {
  const Double4 ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Double4 cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

/// As gather() and scatter_add(), of quadruples whose fourth is of no account: faster, for it moves them whole.
inline Vector gather_padded(const double* base, const std::int32_t* index) noexcept {
  Double4 p[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) p[lane] = load(base + 4 * static_cast<std::ptrdiff_t>(index[lane]));
  transpose(p[0], p[1], p[2], p[3]);
  return {{p[0], p[1], p[2]}};
}
inline void scatter_add_padded(const Vector& a, double* base, const std::int32_t* index) noexcept {
  Double4 p[kLanes] = {a.v[0], a.v[1], a.v[2], fill(0.0)};
  transpose(p[0], p[1], p[2], p[3]);
  for (int lane = 0; lane < kLanes; ++lane) {
    double* to = base + 4 * static_cast<std::ptrdiff_t>(index[lane]);
    store(to, load(to) + p[lane]);
  }
}

/// Adds each lane's 3 × 3 matrix, row by row, to the block of nine that its slot names, one after the other.
inline void scatter_add(const Matrix& A, double* blocks, const std::int32_t* slot) noexcept {
  Double4 low[4] = {A.m[0][0], A.m[0][1], A.m[0][2], A.m[1][0]};
  Double4 high[4] = {A.m[1][1], A.m[1][2], A.m[2][0], A.m[2][1]};
  transpose(low[0], low[1], low[2], low[3]);
  transpose(high[0], high[1], high[2], high[3]);
  for (int lane = 0; lane < kLanes; ++lane) {
    double* p = blocks + 9 * static_cast<std::ptrdiff_t>(slot[lane]);
    store(p, load(p) + low[lane]);
    store(p + 4, load(p + 4) + high[lane]);
    p[8] += A.m[2][2][lane];
  }
}

}  // namespace palpate::lanes
