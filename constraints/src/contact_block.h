#pragma once

#include "palpate/core/math.h"
#include "palpate/core/simd.h"

namespace palpate {

/// One contact by itself: b and W given, finds λ and δ' = b + W λ with
///
///   0 ≤ δ'_n ⊥ λ_n ≥ 0,   |λ_t| ≤ μ λ_n,   λ_t = −μ λ_n δ'_t/|δ'_t| where it slips
///
/// exactly for the round cone. Slip is δ'_t = −α λ_t with a multiplier α > 0; eliminating λ_n leaves, in the principal
/// axes of the tangential Schur complement Ŵ = W_tt − W_tn W_nt / W_nn = diag(e),
///
///   λ_t,i(α) = −q_i / (e_i + α),    λ_n(α) = −b_n/W_nn − k·λ_t(α),    k = W_tn/W_nn,  q = b_t − k b_n,
///
/// and one equation |λ_t(α)| = μ λ_n(α). Its sides' difference is positive at α = 0 (or the contact sticks) and
/// negative as α → ∞ (λ_t → 0, λ_n → −b_n/W_nn > 0), so a root exists whatever μ and W, and a bracket is explicit.
/// Solved for the ratio μ λ_n/|λ_t| = 1, which is linear in α where W is isotropic (as Moré and Sorensen (1983) solve
/// the trust region's), by Newton with bisection. Wait-free, bounded.
class ContactBlock {
 public:
  /// `W` with the rows' compliance on its diagonal, symmetric, positive semidefinite; order n, t1, t2. Tangential
  /// directions without compliance get a little (1e-12 of the normal's), so what is solved differs from what is given
  /// here; but as solve_cone() starts from λ and its δ', which are exact, it rests where the exact problem's answer is.
  void set(const Mat3& W, double friction) noexcept;

  /// False: no force moves this contact along its normal. It may not be solved.
  bool movable() const noexcept { return normal_inverse_ > 0.0; }

  /// Own compliance of each row.
  simd::Double4 diagonal() const noexcept { return diagonal_; }

  /// The λ that answers to this δ' of the present λ, of the round cone. Starts the root find at the last one's root.
  simd::Double4 solve_cone(simd::Double4 lambda, simd::Double4 delta) noexcept {
    const simd::Double4 stick = lambda - (inverse_[0] * delta[0] + inverse_[1] * delta[1] + inverse_[2] * delta[2]);
    const simd::Double4 own = W_[0] * lambda;  // W is symmetric: its first row
    if (!(delta[0] - (own[0] + own[1] + own[2]) < 0.0)) return simd::Double4{};
    const double radius = friction_ * stick[0];
    if (stick[0] >= 0.0 && stick[1] * stick[1] + stick[2] * stick[2] <= radius * radius) return stick;
    return slip(delta - (W_[0] * lambda[0] + W_[1] * lambda[1] + W_[2] * lambda[2]));
  }

  /// The λ after one pass over the rows, of the pyramid |λ_t1|, |λ_t2| ≤ μ λ_n: normal, then each tangent.
  simd::Double4 sweep_pyramid(simd::Double4 lambda, simd::Double4 delta) const noexcept;

 private:
  simd::Double4 slip(simd::Double4 b) noexcept;

  // What every visit reads, then what only slip does.
  simd::Double4 inverse_[3];  ///< columns of W⁻¹
  simd::Double4 diagonal_;    ///< of W
  simd::Double4 W_[3];        ///< columns
  double friction_ = 0.0;
  double normal_inverse_ = 0.0;
  double k0_ = 0.0, k1_ = 0.0;
  double e0_ = 0.0, e1_ = 0.0;
  double cosine_ = 1.0, sine_ = 0.0;  ///< from t1 to the first principal axis
  double alpha_ = 0.0;                ///< of the last slip [m/N]
};

}  // namespace palpate
