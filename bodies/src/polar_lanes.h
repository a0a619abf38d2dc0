#pragma once

#include "lanes.h"

namespace palpate::lanes {

/// The rotations nearest to four matrices, as compute_rotation() defines them.
///
/// Scaled Newton iteration R ← ½ (γR + R⁻ᵀ/γ), γ² = ‖R⁻ᵀ‖/‖R‖ (Higham 1986, "Computing the polar decomposition", with
/// the Frobenius norm, γ = 1 once the change is small); four or five iterations for strains up to a half. Lanes with
/// det F ≤ 10⁻⁴ ‖F‖³ (flattened or inverted, where the iteration is slow or finds a reflection) go through Horn's
/// method one by one.
Matrix compute_rotations(const Matrix& F) noexcept;

}  // namespace palpate::lanes
