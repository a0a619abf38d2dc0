#pragma once

#include "palpate/core/math.h"

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
  /// directions without compliance get a little (1e-12 of the normal's), so W() differs from what is given here.
  void set(const Mat3& W, double friction) noexcept;

  /// False: no force moves this contact along its normal. solve() may not be called.
  bool movable() const noexcept { return normal_inverse_ > 0.0; }

  /// W as the solution takes it. Iterations that form b = δ' − W() λ have the exact problem's solution at rest.
  const Mat3& W() const noexcept { return W_; }

  /// λ for b, of the round cone. Starts the root find at the last one's root.
  Vec3 solve_cone(const Vec3& b) noexcept;

  /// λ after one pass over the rows from `lambda`, of the pyramid |λ_t1|, |λ_t2| ≤ μ λ_n: normal, then each tangent.
  Vec3 sweep_pyramid(const Vec3& b, const Vec3& lambda) const noexcept;

 private:
  Vec3 slip(double q0, double q1, double n0) noexcept;
  /// From principal axes.
  Vec3 turned(double n, double t0, double t1) const noexcept {
    return {n, cosine_ * t0 - sine_ * t1, sine_ * t0 + cosine_ * t1};
  }

  Mat3 W_ = Mat3::Zero();
  double friction_ = 0.0;
  double normal_inverse_ = 0.0;
  double k0_ = 0.0, k1_ = 0.0;
  double e0_ = 0.0, e1_ = 0.0;
  double inverse_e0_ = 0.0, inverse_e1_ = 0.0;
  double cosine_ = 1.0, sine_ = 0.0;  ///< from t1 to the first principal axis
  double alpha_ = 0.0;                ///< of the last slip [m/N]
};

}  // namespace palpate
