#pragma once

#include <memory>

#include "halfspace/messages.h"

namespace palpate::halfspace {

/// Publishes the nearest contact to the proxy as one plane and, where its body moves, how that answers in a tick.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// Settles the proxy on the newest plane; free before the first model. Real-time: a tick is one contact.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::halfspace
