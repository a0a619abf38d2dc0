#pragma once

#include "palpate/methods/method.h"

namespace palpate {

Method make_reference(const MethodContext& context);

}  // namespace palpate
