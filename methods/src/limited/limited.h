#pragma once

#include "palpate/methods/method.h"

namespace palpate {

Method make_limited(const MethodContext& context);

}  // namespace palpate
