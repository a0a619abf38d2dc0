#include "direct/direct.h"

#include "direct/halves.h"

namespace palpate {

Method make_direct(const MethodContext& context) {
  return {layout_of<direct::Model>(), layout_of<direct::Feedback>(), direct::make_slow_half(context),
          direct::make_fast_half(context)};
}

}  // namespace palpate
