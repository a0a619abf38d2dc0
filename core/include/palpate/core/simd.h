#pragma once

#include <cmath>

#if defined(__AVX__)
#include <immintrin.h>
#endif

// Short vectors by the compiler's own extension (GCC, Clang): the same source for AVX2, SSE2 and other machines.
//
// Kernels of all layers use these types, and build what they need of their own (points, tiles, lanes of elements) on
// them. Every function here is a few instructions, has no state and may run in any thread. Values never leave one
// source file, so that no two can disagree on how they are passed, which differs with and without AVX.
namespace palpate::simd {

using Float4 = float __attribute__((vector_size(16)));
using Float8 = float __attribute__((vector_size(32)));
using Double2 = double __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
using Mask8 = decltype(Float8{} < Float8{});    ///< of a comparison: all bits of a lane or none
using Mask4 = decltype(Double4{} < Double4{});  ///< likewise

// How vectors lie in memory: aligned as their numbers are. Copying by memcpy instead makes GCC 12 pass values through
// the stack.
using Float8InMemory = float __attribute__((vector_size(32), aligned(4), may_alias));
using Double2InMemory = double __attribute__((vector_size(16), aligned(8), may_alias));
using Double4InMemory = double __attribute__((vector_size(32), aligned(8), may_alias));

/// As many numbers as a register of 32 bytes holds: four doubles or eight floats, from any address of a number.
inline Double4 load(const double* p) noexcept {
  return *reinterpret_cast<const Double4InMemory*>(p);
}
inline Float8 load(const float* p) noexcept {
  return *reinterpret_cast<const Float8InMemory*>(p);
}
/// Two doubles.
inline Double2 load2(const double* p) noexcept {
  return *reinterpret_cast<const Double2InMemory*>(p);
}
/// Writes all lanes, to any address of a number.
inline void store(double* p, Double4 v) noexcept {
  *reinterpret_cast<Double4InMemory*>(p) = v;
}
inline void store(float* p, Float8 v) noexcept {
  *reinterpret_cast<Float8InMemory*>(p) = v;
}
inline void store(double* p, Double2 v) noexcept {
  *reinterpret_cast<Double2InMemory*>(p) = v;
}

/// The same number in all lanes.
inline Double4 fill(double x) noexcept {
  return Double4{x, x, x, x};
}
inline Float8 fill(float x) noexcept {
  return Float8{x, x, x, x, x, x, x, x};
}

/// The larger and the smaller of each lane. If one operand is not a number, both give `b`: box tests rely on it.
template <typename V>
inline V max_of(V a, V b) noexcept {
  return a > b ? a : b;
}
template <typename V>
inline V min_of(V a, V b) noexcept {
  return a < b ? a : b;
}

inline Double4 square_root(Double4 a) noexcept {
  Double4 r;
  for (int i = 0; i < 4; ++i) r[i] = std::sqrt(a[i]);
  return r;
}

/// a b + c, rounded once where the machine can: the build contracts nothing by itself.
inline Double4 madd(Double4 a, Double4 b, Double4 c) noexcept {
#if defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}
/// c − a b, likewise.
inline Double4 nmadd(Double4 a, Double4 b, Double4 c) noexcept {
#if defined(__FMA__)
  return _mm256_fnmadd_pd(a, b, c);
#else
  return c - a * b;
#endif
}
inline Float8 nmadd(Float8 a, Float8 b, Float8 c) noexcept {
#if defined(__FMA__)
  return _mm256_fnmadd_ps(a, b, c);
#else
  return c - a * b;
#endif
}

/// Bit i is set where lane i of a comparison holds.
inline unsigned bits(Mask8 m) noexcept {
#if defined(__AVX__)
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(m)));
#else
  unsigned r = 0;
  for (int i = 0; i < 8; ++i) r |= static_cast<unsigned>(m[i] & 1) << i;
  return r;
#endif
}
inline unsigned bits(Mask4 m) noexcept {
#if defined(__AVX__)
  return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(m)));
#else
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= static_cast<unsigned>(m[i] & 1) << i;
  return r;
#endif
}
/// Whether a comparison holds in any lane.
inline bool any(Mask4 m) noexcept {
  return bits(m) != 0;
}

}  // namespace palpate::simd
