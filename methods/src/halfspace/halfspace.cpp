#include "halfspace/halfspace.h"

#include "halfspace/halves.h"

namespace palpate {

Method make_halfspace(const MethodContext& context) {
  return {layout_of<halfspace::Model>(), layout_of<PointFeedback>(), halfspace::make_slow_half(context),
          halfspace::make_fast_half(context)};
}

}  // namespace palpate
