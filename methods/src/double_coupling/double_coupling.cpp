#include "double_coupling/double_coupling.h"

#include "double_coupling/halves.h"

namespace palpate {

Method make_double_coupling(const MethodContext& context) {
  return {layout_of<double_coupling::Model>(), layout_of<double_coupling::Feedback>(),
          double_coupling::make_slow_half(context), double_coupling::make_fast_half(context)};
}

std::string refuse_double_coupling(const ToolInWorld& c) {
  if (!c.tool.is<HeldPoint>() && !c.tool.is<HeldRigid>()) return "the hand must hold a rigid tool or a point";
  if (c.body() < 0) return kNothingMoves;
  return {};
}

}  // namespace palpate
