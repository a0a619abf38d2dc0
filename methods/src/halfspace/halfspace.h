#pragma once

#include "palpate/methods/method.h"

// The standard contact model (SCM) that Knott & Kuhlen 2015, section 5, compare against: contacts as linear
// inequalities, of which only the closest is kept, because several of them lock the proxy in convex regions.
namespace palpate {

Method make_halfspace(const MethodContext& context);
std::string refuse_halfspace(const ToolInWorld& context);

}  // namespace palpate
