#include "reference/reference.h"

#include "reference/halves.h"

namespace palpate {

Method make_reference(const MethodContext& context) {
  Method method{layout_of<reference::Model>(), layout_of<reference::Feedback>(), nullptr,
                reference::make_fast_half(context)};
  if (context.body() >= 0) method.sharing = Sharing::kTick;
  return method;
}

}  // namespace palpate
