#include "compliance/compliance.h"

#include "compliance/fast_half.h"
#include "compliance/slow_half.h"
#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {

Method make_compliance(const MethodContext& context) {
  using namespace compliance;
  check_settings("compliance", context.settings.compliance);
  return {layout_of<Model>(), layout_of<Feedback>(), std::make_unique<ComplianceSlow>(context),
          std::make_unique<ComplianceFast>(context)};
}

std::string refuse_compliance(const World& world, const ToolSettings& tool) {
  if (world.tool() < 0) return "a point among static surfaces is not a body of the world";
  if (tool.kind == ToolSettings::Kind::kChain && tool.beams + 1 > compliance::kMaxNodes)
    return fmt::format("the tool has {} beams; a tick has room for {}", tool.beams, compliance::kMaxNodes - 1);
  const int state = world.bodies()[compliance::as_size(world.tool())].body->state_size();
  if (tool.kind == ToolSettings::Kind::kSoft && state > compliance::kMaxToolState)
    return fmt::format("the soft tool has {} nodes; a tick has room for {}", state / 6, compliance::kMaxToolState / 6);
  return {};
}

}  // namespace palpate
