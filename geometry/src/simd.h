#pragma once

#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

// Short vectors by the compiler's own extension (GCC, Clang): the same source for AVX2, SSE2 and other machines.
// Without AVX GCC warns (-Wpsabi) that passing them differs with it; they never leave one source file, so no two can
// disagree.
namespace palpate::simd {

using Float8 = float __attribute__((vector_size(32)));
using Double4 = double __attribute__((vector_size(32)));
using Mask8 = decltype(Float8{} < Float8{});
using Mask4 = decltype(Double4{} < Double4{});

inline Float8 fill8(float x) noexcept {
  return Float8{x, x, x, x, x, x, x, x};
}
inline Double4 fill4(double x) noexcept {
  return Double4{x, x, x, x};
}

inline Float8 load8(const float* p) noexcept {
  Float8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline Double4 load4(const double* p) noexcept {
  Double4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// If one operand is not a number, both give `b`: box tests rely on it.
inline Float8 max8(Float8 a, Float8 b) noexcept {
  return a > b ? a : b;
}
inline Float8 min8(Float8 a, Float8 b) noexcept {
  return a < b ? a : b;
}
inline Double4 max4(Double4 a, Double4 b) noexcept {
  return a > b ? a : b;
}
inline Double4 min4(Double4 a, Double4 b) noexcept {
  return a < b ? a : b;
}

/// Bit i is set where lane i of a comparison holds.
inline unsigned bits(Mask8 m) noexcept {
#if defined(__AVX__)
  __m256 v;
  std::memcpy(&v, &m, sizeof v);
  return static_cast<unsigned>(_mm256_movemask_ps(v));
#else
  unsigned r = 0;
  for (int i = 0; i < 8; ++i) r |= static_cast<unsigned>(m[i] & 1) << i;
  return r;
#endif
}
inline unsigned bits(Mask4 m) noexcept {
#if defined(__AVX__)
  __m256d v;
  std::memcpy(&v, &m, sizeof v);
  return static_cast<unsigned>(_mm256_movemask_pd(v));
#else
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= static_cast<unsigned>(m[i] & 1) << i;
  return r;
#endif
}

struct Double4x3 {
  Double4 x, y, z;
};
inline Double4x3 operator-(const Double4x3& a, const Double4x3& b) noexcept {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Double4x3 operator*(Double4 s, const Double4x3& a) noexcept {
  return {s * a.x, s * a.y, s * a.z};
}
inline Double4 dot(const Double4x3& a, const Double4x3& b) noexcept {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Double4x3 cross(const Double4x3& a, const Double4x3& b) noexcept {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace palpate::simd
