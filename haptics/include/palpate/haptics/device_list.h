#pragma once

#include <string_view>
#include <vector>

namespace palpate {

/// A kind of device that this build can open.
struct DeviceKind {
  std::string_view name;         ///< as scene files and the command line call it
  std::string_view description;  ///< one line
};

/// All kinds, in the order in which `palpate devices` prints them. Any thread; allocates.
std::vector<DeviceKind> list_device_kinds();

}  // namespace palpate
