#pragma once

#include "palpate/methods/method.h"

// The setup that Otaduy & Gross 2007, section 6, compare against: a tool in each loop and "an additional virtual
// coupling between the haptic tool and the visual tool". Both couplings have the scene's stiffness and damping.
namespace palpate {

Method make_double_coupling(const MethodContext& context);
std::string refuse_double_coupling(const ToolInWorld& context);

}  // namespace palpate
