#include "compliance/compliance.h"

#include "compliance/halves.h"
#include "live.h"
#include "palpate/core/error.h"
#include "palpate/methods/compliance_settings.h"

namespace palpate {

Method make_compliance(const MethodContext& context) {
  const auto& settings = context.settings.get<ComplianceSettings>("compliance");
  const bool wanted = settings.contacts == ComplianceSettings::Contacts::kLive;
  const std::string held = wanted ? live::refuse(context.where()) : std::string();
  if (wanted && held.empty()) {
    live::LiveSettings live;
    live.answer = live::Answer::kTick;
    live.lookahead = settings.lookahead * context.slow_period;
    live.blend = context.slow_period;
    live.aim_ahead = context.slow_period;
    live.solver = live::tick_solver(context, settings.tolerance, settings.max_iterations);
    live.solver.max_seconds = settings.max_seconds;
    live.by_constraints = settings.force == ComplianceSettings::Force::kConstraints;
    return live::make_method(context, live);
  }
  return {layout_of<compliance::Model>(),
          layout_of<compliance::Feedback>(),
          compliance::make_slow_half(context),
          compliance::make_fast_half(context),
          Sharing::kSlowStep,
          live::describe_held(held)};
}

std::string refuse_compliance(const ToolInWorld& c) {
  const ToolSettings& tool = c.tool;
  if (tool.is<HeldFingers>()) return kFingersAreNoBody;
  if (c.body() < 0) return kNothingMoves;
  if (const auto* chain = tool.as<HeldChain>(); chain && chain->beams + 1 > compliance::kMaxNodes)
    return fmt::format("the tool has {} beams; a tick has room for {}", chain->beams, compliance::kMaxNodes - 1);
  const int state = c.world.body(c.body())->state_size();
  if (tool.is<HeldSoft>() && state > compliance::kMaxToolState)
    return fmt::format("the soft tool has {} nodes; a tick has room for {}", state / 6, compliance::kMaxToolState / 6);
  return {};
}

}  // namespace palpate
