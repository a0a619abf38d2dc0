#pragma once

#include <array>

#include "palpate/methods/accelerance_settings.h"
#include "palpate/methods/method.h"

namespace palpate::accelerance {

inline constexpr int kMaxNeighbours = AcceleranceSettings::kMostNeighbours;
inline constexpr int kMaxContacts = 160;

/// What is remembered of a contact between a pointer and a body, from tick to tick and from model to model.
struct PointerMemory {
  std::int32_t pointer = -1;  ///< which of the tool's pointers
  std::int32_t body = -1;     ///< which body of World::bodies()
  /// Which part of the pair touches, as models number them: the contact of a new model goes on with what is remembered
  /// of the one with the same number.
  std::uint32_t feature = 0;
  bool touches = false;  ///< the contact bore a force in the last tick
  bool fresh = false;    ///< before this contact the pointer had none with the body
  /// How much of the overlap gives no force yet [m]. A body that came upon the pointer in a slow step already overlaps
  /// it when the fast loop first sees the contact. Its force then grows as the relief shrinks, so that the body is
  /// eased out and not thrown.
  double relief = 0.0;
  Vec3 anchor = Vec3::Zero();   ///< the point of the body that friction holds the pointer to, in the body's frame [m]
  Vec3 stretch = Vec3::Zero();  ///< from the anchor to the pointer, along the surface, in the world frame [m]
  Vec3 force = Vec3::Zero();    ///< of the body on the pointer, in the world frame [N]
};

/// What the fast loop of `accelerance` and `impulse` tells the slow loop in every tick: where the hand is, and what has
/// become of the bodies that the fast loop moves. For the methods themselves, and for programs that watch them
/// (LoopWatch in runtime/run.h).
struct Feedback {
  /// A body that the fast loop moves.
  struct Body {
    std::int32_t body = -1;        ///< which of World::bodies()
    Pose pose;                     ///< of its centre of mass after this tick, world frame
    Vec6 velocity = Vec6::Zero();  ///< of its centre of mass and angular, after this tick, world frame [m/s, rad/s]
    /// Of the hand's forces since the fast loop took up its model: impulse, and angular impulse about the centre of
    /// mass, world frame [N·s, N·m·s].
    Vec6 impulse = Vec6::Zero();
  };
  MessageHeader header;
  DeviceState device;
  std::uint64_t taken;    ///< sequence number of the model in use
  std::int32_t bodies;    ///< how many of `body` count
  std::int32_t contacts;  ///< how many of `contact` count: those that touched
  std::array<Body, kMaxNeighbours> body;
  std::array<PointerMemory, kMaxContacts> contact;
};

}  // namespace palpate::accelerance
