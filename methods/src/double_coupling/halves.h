#pragma once

#include <memory>

#include "double_coupling/messages.h"
#include "palpate/methods/baseline_settings.h"
#include "tool_grip.h"

namespace palpate::double_coupling {

/// The visual tool: the body in the world, held by the haptic tool at the end of the second coupling.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// The haptic tool: a copy of the tool between the hand and the newest pose of the visual tool. Until the first model,
/// and where the world could not be stepped, the hand alone holds it.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

/// The second coupling, between the two tools.
inline ToolGrip make_second_grip(const MethodContext& c, const Body& tool) {
  const auto& settings = c.settings.get<DoubleCouplingSettings>("double_coupling");
  ToolGrip out(c, tool);
  out.grip().stiffness *= settings.stiffness;
  out.grip().rotational_stiffness *= settings.stiffness;
  out.grip().damping *= settings.damping;
  out.grip().rotational_damping *= settings.damping;
  return out;
}

/// Velocity of a tool's handle; of a point and of a rigid body held at its frame's origin.
inline Twist handle_velocity(const Body& tool) noexcept {
  const auto v = tool.velocities();
  if (v.size() < 2) return {v[0], Vec3::Zero()};
  return {v[0] + v[1].cross(tool.handle_pose().position - tool.compute_point({})), v[1]};
}

}  // namespace palpate::double_coupling
