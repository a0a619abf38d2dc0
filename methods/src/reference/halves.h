#pragma once

#include <memory>

#include "reference/messages.h"

namespace palpate::reference {

/// There is no slow half: this one does everything in every tick. A point in a world where nothing moves slides over
/// the surfaces; with any other tool the whole world is stepped, once for all tools in it.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

}  // namespace palpate::reference
