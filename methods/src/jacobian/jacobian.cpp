#include "jacobian/jacobian.h"

#include "jacobian/halves.h"
#include "palpate/core/error.h"

namespace palpate {

Method make_jacobian(const MethodContext& context) {
  const JacobianSettings& s = context.settings.jacobian;
  if (s.max_contacts < 1 || s.max_contacts > JacobianSettings::kMost)
    fail_input("jacobian: max_contacts = {}; allowed: 1 to {}", s.max_contacts, JacobianSettings::kMost);
  if (!(s.filter_time >= 0.0 && s.filter_time <= 10.0))
    fail_input("jacobian: filter_time = {} s; allowed: 0 to 10", s.filter_time);
  if (!(s.blend >= 0.0 && s.blend <= 1.0)) fail_input("jacobian: blend = {}; allowed: 0 to 1", s.blend);
  if (!(s.tolerance > 0.0)) fail_input("jacobian: tolerance = {} m; allowed: above 0", s.tolerance);
  if (s.max_iterations < 1) fail_input("jacobian: max_iterations = {}; allowed: at least 1", s.max_iterations);
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
