#pragma once

#include "palpate/core/math.h"

namespace palpate {

/// A spring and damper that hold a body's handle at a moving target: the body's end of a virtual coupling.
///
///   F = k (x_d − x) + b (v_d − v),   τ = k_r rotation_vector(q_d q⁻¹) + b_r (ω_d − ω)
///
/// x, v, q, ω of the handle. The body integrates it implicitly, with K₊ = (k, k_r) and −B = (b, b_r) on the handle's
/// six velocities. Left out of K₊ are the change of the lever arm under the force and that of the rotation vector with
/// the angle, which would make A(h) unsymmetric; both vanish as the handle comes to its target. A rigid body takes them
/// in where `exact` is set.
struct Grip {
  double stiffness = 0.0;             ///< k [N/m]
  double damping = 0.0;               ///< b [N·s/m]
  double rotational_stiffness = 0.0;  ///< k_r [N·m/rad]
  double rotational_damping = 0.0;    ///< b_r [N·m·s/rad]
  Pose target;                        ///< x_d, q_d
  Twist target_velocity;              ///< v_d, ω_d
  bool exact = false;                 ///< a rigid body's A(h) has the whole derivative: compute_grip_jacobian()
};

/// Force and torque of the grip on the handle.
inline Wrench compute_grip_wrench(const Grip& grip, const Pose& handle, const Twist& velocity) noexcept {
  return {compute_spring_force(grip.stiffness, grip.target.position - handle.position, grip.damping,
                               grip.target_velocity.linear - velocity.linear),
          compute_spring_force(grip.rotational_stiffness,
                               rotation_vector(grip.target.rotation * handle.rotation.conjugate()),
                               grip.rotational_damping, grip.target_velocity.angular - velocity.angular)};
}

/// How the grip's force and torque on a rigid body, torque about its centre of mass, change with the body's motion.
struct GripJacobian {
  Mat6 K;  ///< by displacement of the centre and turn θ of the body [N/m, N, N·m/rad]
  Mat6 B;  ///< by v and ω [N·s/m, N·s, N·m·s/rad]
};

/// The exact derivative. With r from the centre of mass to the handle, φ the rotation vector to the target:
///   ∂F/∂x = −k 1        ∂F/∂θ = (k 1 + b [ω]×) [r]×       ∂F/∂v = −b 1     ∂F/∂ω = b [r]×
///   ∂T/∂· = [r]× ∂F/∂· + ([F]× [r]× − k_r J_r⁻¹(φ)) for θ,  − b_r 1 for ω
/// J_r⁻¹(φ) = 1 + ½[φ]× + (1/φ² − (1 + cos φ)/(2 φ sin φ)) [φ]×². Off the centre the two halves couple (r ≠ 0): that is
/// the 6×6 system which Otaduy & Gross 2007, section 4.1, mention and leave out.
GripJacobian compute_grip_jacobian(const Grip& grip, const Pose& handle, const Twist& velocity, const Vec3& r) noexcept;

}  // namespace palpate
