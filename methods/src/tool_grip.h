#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/methods/method.h"

namespace palpate {

/// Puts a fast half's own tool where the world's is, and as fast: it may be made while a hand moves.
inline void take_motion(const MethodContext& c, Body& tool) {
  const Body& from = *c.world.body(c.body());
  std::vector<double> state(as_size(from.state_size()));
  from.save_state(state);
  tool.restore_state(state);
}

/// A tool goes on by `dt` [s] alone, led by its grip and touching nothing; it stays where that cannot be done.
/// `change` is scratch, one for each of its blocks. Real-time.
inline void step_alone(Body& tool, double dt, std::span<Vec3> change) noexcept {
  if (!tool.linearise({&dt, 1})) return;
  tool.compute_free_motion(0, change);
  if (std::all_of(change.begin(), change.end(), [](const Vec3& v) { return v.allFinite(); })) tool.advance(dt, change);
}

/// The virtual coupling as a body takes it. The device's orientation and the handle's differ by what they differed by
/// at the start. Real-time.
class ToolGrip {
 public:
  ToolGrip(const MethodContext& c, const Body& tool) noexcept
      : alignment_(c.start.pose.rotation.conjugate() * tool.handle_pose().rotation) {
    grip_.stiffness = c.tool.coupling.stiffness;
    grip_.damping = c.tool.coupling.damping;
    grip_.rotational_stiffness = c.tool.coupling.rotational_stiffness;
    grip_.rotational_damping = c.tool.coupling.rotational_damping;
  }

  /// The coupling's other end where the device will be after `ahead` [s] at its velocity.
  const Grip& aim(const DeviceState& device, double ahead = 0.0) noexcept {
    grip_.target.position = device.pose.position + ahead * device.velocity.linear;
    grip_.target.rotation =
        (rotation_from_vector(ahead * device.velocity.angular) * device.pose.rotation * alignment_).normalized();
    grip_.target_velocity = device.velocity;
    return grip_;
  }

  Grip& grip() noexcept { return grip_; }
  /// The tool's pose as the device would have it.
  Pose device_pose(const Body& tool) const noexcept {
    const Pose handle = tool.handle_pose();
    return {handle.position, handle.rotation * alignment_.conjugate()};
  }

 private:
  Grip grip_;
  Quat alignment_;
};

}  // namespace palpate
