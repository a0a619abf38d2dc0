#include "reduced/reduced.h"

#include "palpate/core/error.h"
#include "reduced/halves.h"
#include "world_tool.h"

namespace palpate {

Method make_reduced(const MethodContext& context) {
  const reduced::Layout layout(context.world);
  auto slow = std::make_unique<reduced::SlowReduced>(context, layout);
  std::vector<double> memory(layout.model().size / sizeof(double) + 1, 0.0);
  auto& first = *new (memory.data()) reduced::Model{};
  if (!slow->make_first_model(first)) fail_input("method reduced: a soft body could not be factored at its start");
  auto fast = reduced::make_fast_half(context, layout, first, slow->reductions());
  return {layout.model(), layout.feedback(), std::move(slow), std::move(fast), Sharing::kAlone};
}

std::string refuse_reduced(const ToolInWorld& c) {
  if (c.tool.is<HeldFingers>()) return kFingersAreNoBody;
  if (c.body() < 0) return kNothingMoves;
  return {};
}

}  // namespace palpate
