#pragma once

#include "palpate/methods/method.h"

namespace palpate {

Method make_halfspace(const MethodContext& context);

}  // namespace palpate
