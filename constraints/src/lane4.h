#pragma once

#include <cstring>

namespace palpate {

/// Four doubles in a vector register; of three rows, the fourth lane is idle. The compiler's own vector type and not
/// Eigen's fixed array, which is put together in memory: reading back as one what was written in parts stalls.
using Lane4 = double __attribute__((vector_size(32)));
using Lane2 = double __attribute__((vector_size(16)));

inline Lane4 load4(const double* p) noexcept {
  Lane4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline Lane2 load2(const double* p) noexcept {
  Lane2 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store2(double* p, Lane2 v) noexcept {
  std::memcpy(p, &v, sizeof v);
}

inline void store4(double* p, Lane4 v) noexcept {
  std::memcpy(p, &v, sizeof v);
}

}  // namespace palpate
