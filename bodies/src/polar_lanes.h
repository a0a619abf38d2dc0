#pragma once

#include "lanes.h"

namespace palpate::lanes {

/// The rotations nearest to four matrices, or to eight: two fours at once hide each other's latency.
/// compute_rotation() says what is nearest.
///
/// Scaled Newton iteration R ← ½ (γR + R⁻ᵀ/γ), γ² = ‖R⁻ᵀ‖/‖R‖ (Higham 1986, "Computing the polar decomposition", with
/// the Frobenius norm, γ = 1 near the end); four or five iterations for strains up to a half. Lanes with
/// det F ≤ 10⁻⁴ ‖F‖³ (flattened or inverted, where the iteration is slow or finds a reflection) go through Horn's
/// method one by one.
template <int kCount>
void compute_rotations(const Matrix (&F)[kCount], Matrix (&R)[kCount]) noexcept;
extern template void compute_rotations<1>(const Matrix (&F)[1], Matrix (&R)[1]) noexcept;
extern template void compute_rotations<2>(const Matrix (&F)[2], Matrix (&R)[2]) noexcept;

inline Matrix compute_rotations(const Matrix& F) noexcept {
  const Matrix one[1] = {F};
  Matrix R[1];
  compute_rotations(one, R);
  return R[0];
}

}  // namespace palpate::lanes
