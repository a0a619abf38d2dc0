#pragma once

#include <memory>

#include "accelerance/messages.h"

namespace palpate::accelerance {

/// What the two loops tell each other.
enum class Exchange : std::uint8_t {
  kStates,  ///< `accelerance`: the fast loop moves the neighbours, the slow loop takes their poses and velocities over
  kImpulses,  ///< `impulse`: the slow loop moves everything and is told the hand's impulse of the last period
};

/// The global simulation, the neighbours of the pointers, and how they answer.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context, Exchange exchange);

/// Rendering and the local simulation.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::accelerance
