#include "halfspace/halfspace.h"

#include "halfspace/halves.h"
#include "point_world.h"

namespace palpate {

Method make_halfspace(const MethodContext& context) {
  return {layout_of<halfspace::Model>(), layout_of<PointFeedback>(), halfspace::make_slow_half(context),
          halfspace::make_fast_half(context)};
}

std::string refuse_halfspace(const ToolInWorld& context) {
  if (context.tool.radius() > 0.0) return "the point must have no radius";
  return PointWorld::refuse(context);
}

}  // namespace palpate
