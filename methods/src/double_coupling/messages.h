#pragma once

#include "palpate/methods/method.h"

namespace palpate::double_coupling {

/// Where the visual tool is: what the haptic tool is held by, besides the hand.
struct Model {
  MessageHeader header;
  Pose handle;                ///< of the visual tool, as the device would have it
  Twist velocity;             ///< of that handle
  std::int32_t contacts = 0;  ///< of the slow step
  std::int32_t valid = 0;     ///< 0: the world could not be stepped
};

/// Where the haptic tool is.
struct Feedback {
  MessageHeader header;
  DeviceState tool;  ///< the haptic tool's handle: what the visual tool is held by
};

}  // namespace palpate::double_coupling
