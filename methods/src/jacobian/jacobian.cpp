#include "jacobian/jacobian.h"

#include "jacobian/halves.h"

namespace palpate {

Method make_jacobian(const MethodContext& context) {
  const bool equality = context.settings.get<JacobianSettings>("jacobian").form == JacobianSettings::Form::kEquality;
  return {layout_of<jacobian::Model>(), layout_of<jacobian::Feedback>(), jacobian::make_slow_half(context),
          jacobian::make_fast_half(context), equality ? Sharing::kAlone : Sharing::kSlowStep};
}

std::string refuse_jacobian(const ToolInWorld& c) {
  if (c.tool.kind != ToolSettings::Kind::kPoint && c.tool.kind != ToolSettings::Kind::kRigid)
    return "the hand must hold a rigid tool or a point";
  if (c.body() < 0) return kNothingMoves;
  for (const Joint& j : c.world.joints()) {
    if (j.body_a == c.body() || j.body_b == c.body()) return "nothing may be tied to the tool";
  }
  return {};
}

}  // namespace palpate
