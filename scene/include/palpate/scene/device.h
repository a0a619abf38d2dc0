#pragma once

#include <string>
#include <string_view>

#include "palpate/devices/mapping.h"

namespace palpate {

class Fields;

/// What the offset of a device in a scene counts from.
enum class DeviceAnchor {
  kHand,    ///< the hand begins where the scene's own hand does, and so much beside it
  kOrigin,  ///< the device's origin is there
};

/// A real device in the hand of a tool, as data: which kind, and how it lies in the scene. Runs in real time use it in
/// place of the scene's own hand. Where it is found (an address, a library) is the computer's business and not in here:
/// a scene that somebody sent must not choose what is loaded.
struct SceneDevice {
  std::string name{};  ///< of a driver; empty: only how one would lie in the scene that is chosen elsewhere
  DeviceAnchor anchor = DeviceAnchor::kHand;
  DeviceMappingSettings mapping{};
  bool operator==(const SceneDevice&) const = default;
};

void describe(Fields& fields, SceneDevice& device);

/// Sets one of its keys, as scene files call it, from text: a number, a word, or three numbers with commas between
/// them. Throws InputError that names key, value and what is allowed, and begins with `place`.
void set_key(SceneDevice& device, std::string_view key, std::string_view value, const std::string& place);

}  // namespace palpate
