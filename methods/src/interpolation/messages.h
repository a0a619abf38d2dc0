#pragma once

#include <array>

#include "palpate/methods/interpolation_settings.h"
#include "palpate/methods/method.h"

namespace palpate::interpolation {

/// What a finger feels, in the world frame.
struct FingerLoad {
  Vec3 force = Vec3::Zero();      ///< [N]
  Vec3 torque = Vec3::Zero();     ///< about the finger's origin [N·m]
  Vec3 position = Vec3::Zero();   ///< of that origin, in the simulated state [m]
  Vec3 direction = Vec3::Zero();  ///< extrapolation: unit, of the force
  double stiffness = 0.0;         ///< and how fast it grows as the finger moves against it [N/m]
};

/// A simulated state, as much of it as the hand can feel.
struct Model {
  MessageHeader header;
  Pose hand;  ///< whose state it is
  std::array<FingerLoad, kMaxFingers> fingers;
  std::int32_t contacts;
  std::int32_t steps;  ///< of the integration
};

/// Where the hand is.
struct Feedback {
  MessageHeader header;
  DeviceState device;
};

}  // namespace palpate::interpolation
