#include "limited/limited.h"

#include "limited/halves.h"

namespace palpate {

Method make_limited(const MethodContext& context) {
  return {layout_of<limited::LimitedPatch>(), layout_of<PointFeedback>(), limited::make_slow_half(context),
          limited::make_fast_half(context)};
}

}  // namespace palpate
