#pragma once

#include <array>

#include "palpate/methods/accelerance_settings.h"
#include "palpate/methods/method.h"

namespace palpate::accelerance {

/// Force and torque about a body's centre of mass, or velocity of it and angular velocity; world frame.
using Vec6 = Eigen::Matrix<double, 6, 1>;

inline constexpr int kMaxNeighbours = AcceleranceSettings::kMostNeighbours;
inline constexpr int kMaxContacts = 160;

/// What a contact of a pointer remembers from tick to tick, and from model to model.
struct PointerMemory {
  std::int32_t pointer = -1;
  std::int32_t body = -1;  ///< of the world
  std::uint32_t feature = 0;
  bool touches = false;
  bool fresh = false;  ///< the pointer had no contact with the body before
  /// Of the overlap, not felt yet: a body that came upon the pointer at the slow rate is let out, not shot [m].
  double relief = 0.0;
  Vec3 anchor = Vec3::Zero();   ///< where friction holds the pointer, in the body's frame [m]
  Vec3 stretch = Vec3::Zero();  ///< how far the pointer is from there along the surface, world frame [m]
  Vec3 force = Vec3::Zero();    ///< on the pointer [N]
};

/// What the fast loop of `accelerance` and `impulse` tells: among it, where it has the bodies that it moves.
struct Feedback {
  struct Body {
    std::int32_t body = -1;
    Pose pose;  ///< of its centre of mass, after this tick
    Vec6 velocity = Vec6::Zero();
    Vec6 impulse = Vec6::Zero();  ///< of the hand since the model began [N·s, N·m·s]
  };
  MessageHeader header;
  DeviceState device;
  std::uint64_t taken;  ///< sequence of the model in use
  std::int32_t bodies;
  std::int32_t contacts;  ///< that touched
  std::array<Body, kMaxNeighbours> body;
  std::array<PointerMemory, kMaxContacts> contact;
};

}  // namespace palpate::accelerance
