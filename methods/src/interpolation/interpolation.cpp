#include "interpolation/interpolation.h"

#include "interpolation/halves.h"
#include "interpolation/simulation.h"

namespace palpate {

Method make_interpolation(const MethodContext& context) {
  return {layout_of<interpolation::Model>(), layout_of<interpolation::Feedback>(),
          interpolation::make_slow_half(context), interpolation::make_fast_half(context), Sharing::kAlone};
}

std::string refuse_interpolation(const ToolInWorld& c) {
  return interpolation::refuse_simulation(c.world, c.tool);
}

}  // namespace palpate
