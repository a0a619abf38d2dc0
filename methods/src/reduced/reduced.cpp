#include "reduced/reduced.h"

#include "palpate/core/error.h"
#include "reduced/halves.h"
#include "world_tool.h"

namespace palpate {

namespace {

using TwinOfAll = std::shared_ptr<reduced::Twin>;  // as methods find it in SharedTick

Method make_follower(const MethodContext& context, TwinOfAll twin) {
  return {{},
          {},
          std::make_unique<reduced::SlowFollower>(),
          reduced::make_fast_half(context, std::move(twin), reduced::Part::kFollows),
          Sharing::kTwin};
}

}  // namespace

Method make_reduced(const MethodContext& context) {
  if (context.shared) {
    if (const auto* twin = std::any_cast<TwinOfAll>(&context.shared->twin)) return make_follower(context, *twin);
  }
  const reduced::Layout layout(context.world);
  auto slow = std::make_unique<reduced::SlowReduced>(context, layout);
  std::vector<double> memory(layout.model().size / sizeof(double) + 1, 0.0);
  auto& first = *new (memory.data()) reduced::Model{};
  if (!slow->make_first_model(first)) fail_input("method reduced: a soft body could not be factored at its start");
  auto twin = std::make_shared<reduced::Twin>(context, layout, first, slow->reductions());
  if (context.shared) context.shared->twin = twin;
  return {layout.model(), layout.feedback(), std::move(slow),
          reduced::make_fast_half(context, std::move(twin), reduced::Part::kLeads), Sharing::kTwin};
}

std::string refuse_reduced(const ToolInWorld& c) {
  if (c.tool.is<HeldFingers>()) return kFingersAreNoBody;
  if (c.body() < 0) return kNothingMoves;
  return {};
}

}  // namespace palpate
