#pragma once

#include "palpate/methods/method.h"
#include "tool_grip.h"

namespace palpate {

/// The world with the tool in it, stepped as a whole while the hand holds the tool: what `reference` does every tick
/// and `direct` every slow step. The tool's body is world.tool().
class WorldTool {
 public:
  explicit WorldTool(const MethodContext& context);

  /// One step of h [s] with the coupling's other end at the device.
  TickResult step(const DeviceState& device, double h, StepReport& report);

 private:
  World& world_;
  Body& tool_;
  ToolGrip grip_;
};

/// Why a method that steps the whole world cannot take this one; empty if it can.
std::string refuse_world(const World& world, const ToolSettings& tool);

}  // namespace palpate
