#include "world_tool.h"

#include "palpate/core/error.h"

namespace palpate {

WorldTool::WorldTool(const MethodContext& c) : tool_(*c.world.body(c.body())), grip_(c, tool_) {}

void WorldTool::aim(const DeviceState& device, double ahead) noexcept {
  tool_.set_grip(grip_.aim(device, ahead));
}

TickResult WorldTool::read(bool done, const StepReport& report) const noexcept {
  TickResult out;
  if (done) {
    const Wrench on_tool = tool_.compute_grip();
    out.wrench = {-on_tool.force, -on_tool.torque};
  }
  out.tool = grip_.device_pose(tool_);
  out.residual = report.residual;
  out.iterations = report.iterations;
  out.contacts = report.contacts;
  return out;
}

std::string refuse_world(const ToolInWorld& c) {
  if (c.tool.is<HeldFingers>()) return kFingersAreNoBody;
  if (c.body() < 0 && !(c.tool.is<HeldPoint>() && c.world.is_static())) return kNoBody;
  return {};
}

}  // namespace palpate
