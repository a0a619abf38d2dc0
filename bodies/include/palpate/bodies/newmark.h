#pragma once

#include <vector>

#include "palpate/bodies/fem_body.h"

namespace palpate {

/// Explicit Newmark integration (β = 0, γ = ½) of a finite-element body with mass-proportional damping D = αM
/// (docs/design.md, "The step"; Zhuang & Canny 2000):
///   u⁺ = u + u̇Δt + ½üΔt²;   (M + ½ΔtD) ü⁺ = F − R(u⁺) − D(u̇ + ½üΔt);   u̇⁺ = u̇ + ½(ü + ü⁺)Δt
/// Second order, keeps momentum exactly and energy to second order, stable for Δt < 2/ω of the fastest mode whatever
/// the damping. Without damping it is the Verlet scheme.
///
/// The three equations are three calls, so that a collision can change the accelerations between the second and the
/// third: a node is to have velocity u̇* after the step, so its ü⁺ = 2 (u̇* − u̇)/Δt − ü.
///
/// Beside positions and velocities the scheme's state is ü; restoring a body's state calls for restart(). Thread: the
/// body's. Allocates at construction only.
class ExplicitNewmark {
 public:
  /// `body` must outlive this. Throws InputError if it has stiffness-proportional damping, which would need a solve.
  explicit ExplicitNewmark(FemBody& body);

  /// Accelerations from the forces at the current state.
  void restart() noexcept;

  /// u⁺.
  void predict(double dt) noexcept;
  /// ü⁺ from the forces at u⁺; zero at prescribed nodes.
  void compute_accelerations(double dt) noexcept;
  std::span<Vec3> accelerations() noexcept { return next_; }  ///< ü⁺, to be changed by collisions [m/s²]
  /// u̇⁺.
  void correct(double dt) noexcept;

  /// All three.
  void step(double dt) noexcept;

 private:
  FemBody& body_;
  std::vector<Vec3> accelerations_, next_, scratch_;
};

}  // namespace palpate
