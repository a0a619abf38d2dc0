#pragma once

#include "palpate/methods/method.h"

namespace palpate::direct {

/// What the last slow step gave.
struct Model {
  MessageHeader header;
  Wrench wrench;                ///< for the hand
  Pose tool;                    ///< after the step
  double residual = 0.0;        ///< of the contact solve [m]
  std::int32_t iterations = 0;  ///< of the contact solve
  std::int32_t contacts = 0;    ///< active
};

/// Where the hand is.
struct Feedback {
  MessageHeader header;
  DeviceState device;
};

}  // namespace palpate::direct
