#pragma once

#include "palpate/scene/builtin.h"

namespace palpate {

/// Written by cmake/palpate_scenes.cmake.
std::span<const BuiltinScene> builtin_list() noexcept;

}  // namespace palpate
