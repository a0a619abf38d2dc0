#pragma once

#include "lanes.h"

namespace palpate::lanes {

/// Von Mises stress √(3/2) |dev σ| = √6 μ |dev ε| of four elements. Pressure has no part in it, so it is the same
/// whether dilatation is averaged over patches or not.
inline Double4 compute_von_mises(const Matrix& strain, Double4 mu) noexcept {
  Double4 square = fill(0.0);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Double4 e = 0.5 * (strain.m[i][j] + strain.m[j][i]);
      square += e * e;
    }
  }
  const Double4 third = trace(strain) * trace(strain) / 3.0;
  const Double4 deviator = square - third;
  return fill(std::sqrt(6.0)) * mu * simd::square_root(deviator > 0.0 ? deviator : fill(0.0));
}

}  // namespace palpate::lanes
