#pragma once

#include <vector>

#include "palpate/methods/method.h"
#include "tool_grip.h"

namespace palpate {

/// A tool that is held in the world itself: what `reference` has in every tick and `direct` in every slow step.
class WorldTool {
 public:
  explicit WorldTool(const MethodContext& context);

  /// Before a step: the coupling's other end is where the device will be after `ahead` [s].
  void aim(const DeviceState& device, double ahead = 0.0) noexcept;
  /// Instead of it: see there.
  void step_alone(double dt) noexcept { palpate::step_alone(tool_, dt, change_); }
  /// After it: what the hand feels. A world that could not be stepped pushes nobody: the safety stage takes the force
  /// down at its own rate.
  TickResult read(bool done, const StepReport& report) const noexcept;

 private:
  Body& tool_;
  ToolGrip grip_;
  std::vector<Vec3> change_;  ///< scratch
};

/// Why a method that steps the whole world cannot take this one; empty if it can.
std::string refuse_world(const ToolInWorld& context);

}  // namespace palpate
