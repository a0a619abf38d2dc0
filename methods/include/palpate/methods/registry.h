#pragma once

#include <span>
#include <string>
#include <string_view>

#include "palpate/methods/method.h"

namespace palpate {

/// A method as users choose it.
struct MethodInfo {
  std::string_view name;
  std::string_view description;  ///< one line
  Method (*make)(const MethodContext&);
  /// Why it cannot work on that world with that tool, in plain words; empty if it can.
  std::string (*refuse)(const World&, const ToolSettings&);
};

/// All methods, the truth first.
std::span<const MethodInfo> registered_methods() noexcept;

/// Throws InputError that lists the known names and suggests the nearest.
const MethodInfo& find_method(std::string_view name);

}  // namespace palpate
