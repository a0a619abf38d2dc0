#pragma once

#include <string>

#include "palpate/methods/method.h"

namespace palpate {

/// Zhuang & Canny 2000: soft bodies in large deformation, integrated explicitly; the hand feels what lies between two
/// simulated states, late by a slow step. See interpolation/simulation.h.
Method make_interpolation(const MethodContext& context);
std::string refuse_interpolation(const ToolInWorld& context);

}  // namespace palpate
