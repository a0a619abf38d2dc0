#include "jacobian/jacobian.h"

#include "jacobian/halves.h"
#include "live.h"

namespace palpate {

Method make_jacobian(const MethodContext& context) {
  const auto& settings = context.settings.get<JacobianSettings>("jacobian");
  const bool equality = settings.form == JacobianSettings::Form::kEquality;
  const bool live = !equality && settings.track && settings.contacts == JacobianSettings::Contacts::kLive;
  const std::string held = live ? live::refuse(context.where()) : std::string();
  if (live && held.empty()) {
    live::LiveSettings own;
    own.answer = settings.answer == JacobianSettings::Answer::kSlow ? live::Answer::kStep : live::Answer::kTick;
    own.blend = settings.blend * context.slow_period;
    own.aim_ahead = context.slow_period - context.dt;
    own.solver = live::tick_solver(context, settings.tolerance, settings.max_iterations);
    return live::make_method(context, own);
  }
  return {layout_of<jacobian::Model>(),
          layout_of<jacobian::Feedback>(),
          jacobian::make_slow_half(context),
          jacobian::make_fast_half(context),
          equality ? Sharing::kAlone : Sharing::kSlowStep,
          live::describe_held(held)};
}

std::string refuse_jacobian(const ToolInWorld& c) {
  if (!c.tool.is<HeldPoint>() && !c.tool.is<HeldRigid>()) return "the hand must hold a rigid tool or a point";
  if (c.body() < 0) return kNothingMoves;
  for (const Joint& j : c.world.joints()) {
    if (j.body_a == c.body() || j.body_b == c.body()) return "nothing may be tied to the tool";
  }
  return {};
}

}  // namespace palpate
