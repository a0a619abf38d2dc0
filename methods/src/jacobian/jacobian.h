#pragma once

#include "palpate/methods/method.h"

// Otaduy & Gross 2007, "Transparent rendering of tool contact with compliant environments".
namespace palpate {

Method make_jacobian(const MethodContext& context);
std::string refuse_jacobian(const ToolInWorld& context);

}  // namespace palpate
