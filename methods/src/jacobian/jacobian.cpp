#include "jacobian/jacobian.h"

#include "jacobian/halves.h"
#include "palpate/core/fields.h"

namespace palpate {

Method make_jacobian(const MethodContext& context) {
  check_settings("jacobian", context.settings.jacobian);
  return {layout_of<jacobian::Model>(), layout_of<jacobian::Feedback>(), jacobian::make_slow_half(context),
          jacobian::make_fast_half(context)};
}

std::string refuse_jacobian(const World& world, const ToolSettings& tool) {
  if (tool.kind != ToolSettings::Kind::kPoint && tool.kind != ToolSettings::Kind::kRigid)
    return "the hand must hold a rigid tool or a point";
  if (world.tool() < 0) return "the world has no tool in it";
  for (const Joint& j : world.joints()) {
    if (j.body_a == world.tool() || j.body_b == world.tool()) return "nothing may be tied to the tool";
  }
  return {};
}

}  // namespace palpate
