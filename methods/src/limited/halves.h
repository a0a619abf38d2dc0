#pragma once

#include <memory>

#include "limited/messages.h"

namespace palpate::limited {

/// Publishes the triangles around where the hand will have taken the proxy.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// Moves the proxy among the triangles of the newest model. It waits where nothing is known: before the first model,
/// and outside the trusted box. Real-time: bounded by LimitedSettings::max_iterations.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::limited
