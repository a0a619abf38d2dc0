#pragma once

#include "palpate/methods/method.h"

// Susa, Sato & Hasegawa 2011, "Multi-rate multi-range dynamic simulation for haptic interaction": their method 2, and
// the impulse communication that it is compared with, method 3.
namespace palpate {

Method make_accelerance(const MethodContext& context);
Method make_impulse(const MethodContext& context);
std::string refuse_accelerance(const ToolInWorld& context);

}  // namespace palpate
