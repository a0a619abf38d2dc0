#pragma once

#include <span>
#include <string>

#include "palpate/record/recording.h"

namespace palpate {

/// What is wrong with `name` after the tools `before`, for a message; empty if it is good.
std::string find_name_problem(std::span<const RecordedTool> before, const std::string& name);

}  // namespace palpate
