#pragma once

#include "palpate/core/math.h"

namespace palpate {

/// A spring and damper that hold a body's handle at a moving target: the body's end of a virtual coupling.
///
///   F = k (x_d − x) + b (v_d − v),   τ = k_r rotation_vector(q_d q⁻¹) + b_r (ω_d − ω)
///
/// x, v, q, ω of the handle. The body integrates it implicitly, with K₊ = (k, k_r) and −B = (b, b_r) on the handle's
/// six velocities. Left out of K₊ are the change of the lever arm under the force and that of the rotation vector with
/// the angle, which would make A(h) unsymmetric; both vanish as the handle comes to its target.
struct Grip {
  double stiffness = 0.0;             ///< k [N/m]
  double damping = 0.0;               ///< b [N·s/m]
  double rotational_stiffness = 0.0;  ///< k_r [N·m/rad]
  double rotational_damping = 0.0;    ///< b_r [N·m·s/rad]
  Pose target;                        ///< x_d, q_d
  Twist target_velocity;              ///< v_d, ω_d
};

/// Force and torque of the grip on the handle.
inline Wrench compute_grip_wrench(const Grip& grip, const Pose& handle, const Twist& velocity) noexcept {
  return {grip.stiffness * (grip.target.position - handle.position) +
              grip.damping * (grip.target_velocity.linear - velocity.linear),
          grip.rotational_stiffness * rotation_vector(grip.target.rotation * handle.rotation.conjugate()) +
              grip.rotational_damping * (grip.target_velocity.angular - velocity.angular)};
}

}  // namespace palpate
