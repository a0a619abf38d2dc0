#include "palpate/bodies/grip.h"

#include <cmath>

namespace palpate {
namespace {

/// J_r⁻¹(φ): how the rotation vector of R exp(ε) changes with ε.
Mat3 compute_inverse_right_jacobian(const Vec3& phi) noexcept {
  const double angle = phi.norm();
  const Mat3 S = skew(phi);
  // The series below 1e-2 is exact to 1e-12; at a half turn the factor is 1/π² and the second term vanishes.
  const double c = angle < 1e-2 ? 1.0 / 12.0 + angle * angle / 720.0
                                : 1.0 / (angle * angle) - 1.0 / (2.0 * angle * std::tan(0.5 * angle));
  return Mat3::Identity() + 0.5 * S + c * S * S;
}

}  // namespace

GripJacobian compute_grip_jacobian(const Grip& grip, const Pose& handle, const Twist& velocity,
                                   const Vec3& r) noexcept {
  const Wrench wrench = compute_grip_wrench(grip, handle, velocity);
  const Mat3 R = skew(r);
  const Mat3 one = Mat3::Identity();
  const Vec3 phi = rotation_vector(grip.target.rotation * handle.rotation.conjugate());
  GripJacobian out;
  out.K.topLeftCorner<3, 3>() = -grip.stiffness * one;
  out.K.topRightCorner<3, 3>() = (grip.stiffness * one + grip.damping * skew(velocity.angular)) * R;
  out.B.topLeftCorner<3, 3>() = -grip.damping * one;
  out.B.topRightCorner<3, 3>() = grip.damping * R;
  out.K.bottomRows<3>() = R * out.K.topRows<3>();
  out.B.bottomRows<3>() = R * out.B.topRows<3>();
  out.K.bottomRightCorner<3, 3>() +=
      skew(wrench.force) * R - grip.rotational_stiffness * compute_inverse_right_jacobian(phi);
  out.B.bottomRightCorner<3, 3>() -= grip.rotational_damping * one;
  return out;
}

}  // namespace palpate
