#pragma once

#include <memory>

#include "interpolation/messages.h"

namespace palpate::interpolation {

/// Moves the soft bodies by a law of its own (Simulation), not by the world's step, and publishes what each finger
/// felt.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// Shows what lies between the state that is shown and the newest one. No force before the first model. Real-time: a
/// tick is a sum over the fingers.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::interpolation
