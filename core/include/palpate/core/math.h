#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "palpate/core/index.h"

namespace palpate {

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Quat = Eigen::Quaterniond;
using Vec6 = Eigen::Matrix<double, 6, 1>;  ///< linear part, then angular: velocity or force of a frame
using Mat6 = Eigen::Matrix<double, 6, 6>;

/// Where a frame is: X_WT is the pose of T seen from W, so p_W = rotation * p_T + position.
struct Pose {
  Vec3 position = Vec3::Zero();      ///< [m]
  Quat rotation = Quat::Identity();  ///< unit quaternion
};

/// Velocity of a frame, both parts expressed in the world frame.
struct Twist {
  Vec3 linear = Vec3::Zero();   ///< of the frame's origin [m/s]
  Vec3 angular = Vec3::Zero();  ///< [rad/s]
};

/// Force and torque about the frame's origin, expressed in the world frame.
struct Wrench {
  Vec3 force = Vec3::Zero();   ///< [N]
  Vec3 torque = Vec3::Zero();  ///< [N·m]
};

inline bool is_finite(const Wrench& w) noexcept {
  return w.force.allFinite() && w.torque.allFinite();
}

/// The force of a spring and damper, k Δx + b Δv [N]; of a rotational one its torque [N·m].
///   k  stiffness [N/m]    Δx  stretch [m]    b  damping [N·s/m]    Δv  its rate [m/s]    (or N·m/rad, rad, …)
/// Every virtual coupling goes by it; the caller's differences give the sign.
inline Vec3 compute_spring_force(double stiffness, const Vec3& stretch, double damping, const Vec3& rate) noexcept {
  return stiffness * stretch + damping * rate;
}

/// The rotation vector (axis times angle, |angle| ≤ π) of a unit quaternion; smooth through zero.
Vec3 rotation_vector(const Quat& q) noexcept;

/// The unit quaternion that turns by the rotation vector `r` [rad]; smooth through zero.
Quat rotation_from_vector(const Vec3& r) noexcept;

/// [r]×, with [r]× x = r × x.
inline Mat3 skew(const Vec3& r) noexcept {
  Mat3 m;
  m << 0.0, -r.z(), r.y(), r.z(), 0.0, -r.x(), -r.y(), r.x(), 0.0;
  return m;
}

/// Two unit vectors that complete unit `n` to a right-handed orthonormal frame (n, t1, t2).
/// Continuous except at n = −z (Duff et al. 2017, "Building an orthonormal basis, revisited").
void make_tangents(const Vec3& n, Vec3& t1, Vec3& t2) noexcept;

}  // namespace palpate
