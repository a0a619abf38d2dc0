#pragma once

#include "palpate/methods/method.h"

namespace palpate {

/// A point mass on a virtual coupling, stepped by backward Euler: the tool of every method whose hand holds a point.
///
///   A Δv = f + h K v,  f = k (x_d − x) + b (v_d − v),  A = m/h + b + h k    (docs/design.md, with K = −k, B = −b)
///
/// A is a multiple of the identity, so a contact problem for the point is one of distances (settle_on_planes).
/// Real-time.
class PointTool {
 public:
  /// `settings`: of a HeldPoint. `h`: the period at which this tool is stepped [s].
  PointTool(const ToolSettings& settings, double h, const Vec3& start)
      : m_(std::get<HeldPoint>(settings.kind).mass),
        k_(settings.coupling.stiffness),
        b_(settings.coupling.damping),
        h_(h),
        x_(start) {}

  const Vec3& position() const noexcept { return x_; }
  const Vec3& velocity() const noexcept { return v_; }
  /// h A⁻¹: how far a force moves the tool in one step, in every direction [m/N].
  double compliance() const noexcept { return h_ / (m_ / h_ + b_ + h_ * k_); }

  /// Where the tool would go in one step without contact [m].
  Vec3 compute_free_motion(const DeviceState& device) const noexcept {
    const Vec3 f = compute_spring_force(k_, device.pose.position - x_, b_, device.velocity.linear - v_);
    const Vec3 dv = (f - h_ * k_ * v_) / (m_ / h_ + b_ + h_ * k_);
    return x_ + h_ * (v_ + dv);
  }

  /// Ends the step at `x`.
  void move_to(const Vec3& x) noexcept {
    v_ = (x - x_) / h_;
    x_ = x;
  }

  /// Puts the tool at `x` without giving it speed: what it touches has moved, not the tool.
  void carry_to(const Vec3& x) noexcept { x_ = x; }
  /// Holds the tool where it is.
  void stop() noexcept { v_.setZero(); }

  /// The coupling's force on the hand, at the tool's new state [N].
  Vec3 force_on_hand(const DeviceState& device) const noexcept {
    return compute_spring_force(k_, x_ - device.pose.position, b_, v_ - device.velocity.linear);
  }

 private:
  double m_, k_, b_, h_;
  Vec3 x_;
  Vec3 v_ = Vec3::Zero();
};

/// How deep inside a body a run may start: the tool then begins at the nearest point outside [m].
inline constexpr double kMaxStartDepth = 1.0;

}  // namespace palpate
