#pragma once

#include "palpate/methods/method.h"

namespace palpate::compliance {

/// How the hand holds the tool: the coupling, and the turn between device and handle as it was at the start.
class HandGrip {
 public:
  HandGrip(const MethodContext& c, const Body& tool)
      : alignment_(c.start.pose.rotation.conjugate() * tool.handle_pose().rotation) {
    grip_.stiffness = c.tool.coupling.stiffness;
    grip_.damping = c.tool.coupling.damping;
    grip_.rotational_stiffness = c.tool.coupling.rotational_stiffness;
    grip_.rotational_damping = c.tool.coupling.rotational_damping;
  }

  /// The coupling's other end goes to where the device will be in `ahead` [s].
  void hold(Body& tool, const DeviceState& device, double ahead) noexcept {
    grip_.target.position = device.pose.position + ahead * device.velocity.linear;
    grip_.target.rotation = rotation_from_vector(ahead * device.velocity.angular) * device.pose.rotation * alignment_;
    grip_.target_velocity = device.velocity;
    tool.set_grip(grip_);
  }

  /// The handle as the device sees it.
  Pose device_pose(const Body& tool) const noexcept {
    const Pose handle = tool.handle_pose();
    return {handle.position, handle.rotation * alignment_.conjugate()};
  }

 private:
  Grip grip_;
  Quat alignment_;
};

}  // namespace palpate::compliance
