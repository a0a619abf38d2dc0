#pragma once

#include <array>

#include "palpate/methods/method.h"

namespace palpate::compliance {

inline constexpr int kMaxConstraints = 96;
inline constexpr int kMaxNodes = 51;  ///< of the tool: 50 beams
inline constexpr int kMaxToolState = 13 * kMaxNodes;
inline constexpr int kMaxTieRows = 24;

/// How far a contact has slipped, so that the slow loop's friction goes on from where the fast loop's is.
struct Slip {
  std::uint64_t id = 0;      ///< Contact::id
  Vec3 slip = Vec3::Zero();  ///< since the contact began, world frame [m]
};

/// What the fast half of `compliance` tells the slow one: the tool as the last tick left it. Experiments look at it
/// too, because the world's own tool is only the slow loop's proxy.
struct Feedback {
  MessageHeader header;
  DeviceState device;                      ///< of the same tick
  std::int32_t slips = 0;                  ///< how many of `slip` count
  std::int32_t tie_rows = 0;               ///< how many of `tie_impulse` count
  std::array<double, kMaxToolState> tool;  ///< Body::save_state() of the tool
  std::array<Slip, kMaxConstraints> slip;
  /// Σ λ dt of the rows of the tool's joints since the first tick, in their order and as many as fit [N·s]: the
  /// difference of two feedbacks over the time between them is the mean force. Where the number of a joint's
  /// rows changes it tells nothing.
  std::array<double, kMaxTieRows> tie_impulse;
};

}  // namespace palpate::compliance
