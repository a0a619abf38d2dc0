#pragma once

#include "palpate/methods/method.h"

namespace palpate {

Method make_reduced(const MethodContext& context);
std::string refuse_reduced(const ToolInWorld& context);

}  // namespace palpate
