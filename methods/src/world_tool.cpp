#include "world_tool.h"

#include "palpate/core/error.h"

namespace palpate {

WorldTool::WorldTool(const MethodContext& c)
    : world_(c.world), tool_(*c.world.bodies()[static_cast<std::size_t>(c.world.tool())].body), grip_(c, tool_) {}

TickResult WorldTool::step(const DeviceState& device, double h, StepReport& report) {
  tool_.set_grip(grip_.aim(device));
  TickResult out;
  // A world that cannot be stepped pushes nobody: the safety stage takes the force down at its own rate.
  if (world_.step(h, report)) {
    const Wrench on_tool = tool_.compute_grip();
    out.wrench = {-on_tool.force, -on_tool.torque};
  } else {
    report.converged = false;
  }
  out.tool = grip_.device_pose(tool_);
  out.residual = report.residual;
  out.iterations = report.iterations;
  out.contacts = report.contacts;
  return out;
}

std::string refuse_world(const World& world, const ToolSettings& tool) {
  if (tool.kind == ToolSettings::Kind::kFingers) return "fingers are no body of the world";
  if (tool.kind != ToolSettings::Kind::kPoint && world.tool() < 0) return "the world has no tool in it";
  return {};
}

}  // namespace palpate
