#include "world_tool.h"

#include "palpate/core/error.h"

namespace palpate {

WorldTool::WorldTool(const MethodContext& c)
    : tool_(*c.world.body(c.body())), grip_(c, tool_), change_(as_size(tool_.block_count()), Vec3::Zero()) {}

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
  // A point among static surfaces need be no body, but a ball must.
  const bool alone = c.tool.is<HeldPoint>() && c.tool.radius() == 0.0 && c.world.is_static();
  if (c.body() < 0 && !alone) return kNoBody;
  return {};
}

}  // namespace palpate
