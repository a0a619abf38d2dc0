#pragma once

#include <memory>

#include "direct/messages.h"

namespace palpate::direct {

/// Moves the tool once a slow step, held by where the hand was last, and publishes the force on the hand. A point in a
/// world where nothing moves slides over the surfaces; any other tool is a body of the world and is stepped with it.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// Holds the force of the newest model, and none before the first. Real-time: a tick copies it.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::direct
