#pragma once

#include "palpate/methods/method.h"

namespace palpate {

Method make_direct(const MethodContext& context);

}  // namespace palpate
