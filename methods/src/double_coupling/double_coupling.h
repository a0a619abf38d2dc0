#pragma once

#include "palpate/methods/method.h"

namespace palpate {

Method make_double_coupling(const MethodContext& context);
std::string refuse_double_coupling(const World& world, const ToolSettings& tool);

}  // namespace palpate
