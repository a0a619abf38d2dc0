#pragma once

#include <memory>

#include "compliance/messages.h"

namespace palpate::compliance {

/// Sub-steps L1–L7: puts the tool into the world as the fast loop has it, and publishes all constraints of the step as
/// the fast loop meets them.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// Sub-steps H1–H6: a copy of the tool that meets the world through the model alone. Without a model it stays where it
/// is and gives no force.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::compliance
