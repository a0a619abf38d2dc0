#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "palpate/haptics/simulated.h"

namespace palpate {

/// Mistakes that a double can be told to make, one at a time: a test that does not notice them proves nothing.
enum class Flaw {
  kNone,
  kMirroredX,        ///< right is left
  kSwappedYZ,        ///< up is towards the user
  kMillimetres,      ///< lengths are a thousand times too large
  kMirroredTurn,     ///< turns are the wrong way round
  kMirroredSpeed,    ///< the velocity has the wrong sign
  kMirroredForce,    ///< forces push where they should pull
  kSwappedForceXY,   ///< a force to the right pushes up
  kHalfForce,        ///< forces are half of what they should be
  kSwappedButtons,   ///< the first button is the second
  kStrongerThanTold  ///< forces beyond the device's limit are given
};

/// Something that goes wrong on the way between a device and its driver, once.
enum class Fault {
  kDrop,        ///< the connection ends
  kDelay,       ///< an answer comes late
  kMute,        ///< an answer does not come
  kGarbage,     ///< an answer means nothing
  kOutOfRange,  ///< an answer is well-formed, and its numbers are absurd
  kDuplicate,   ///< an answer comes twice
};
inline constexpr int kFaultKinds = 6;

/// A safety stage that changes nothing: for those who play a device's motors, not a hand's guard.
SafetySettings transparent_safety();

/// What is physically there: a handle on a desk, a hand that holds it, and motors that push. In words instead of axes:
/// x is to the right, y up, z towards the user; each double turns that into its own axes by itself.
struct HandleTruth {
  Pose pose;
  Twist velocity;
  std::uint32_t buttons = 0;
  double grip = 0.0;  ///< 0 open, 1 closed
};

/// The hand behind a double. It is either put somewhere by a test, and then moves at a constant velocity whatever the
/// motors do, or it is a simulated one with a path and a mass, which the motors move.
///
/// Any thread; it locks, which no double minds.
class DoubleHand {
 public:
  explicit DoubleHand(Flaw flaw = Flaw::kNone);
  /// A simulated hand. `device`'s max_force is what the motors can do.
  DoubleHand(const SimulatedDeviceSettings& device, std::unique_ptr<HandPath> path);
  ~DoubleHand();

  /// Puts the handle there, with that velocity from now on.
  void place(const Pose& pose, const Twist& velocity = {});
  void press(std::uint32_t buttons);
  void close(double grip);

  /// How the handle is now, with the flaw.
  HandleTruth now();
  /// The motors push: `wrench` on the handle, until `hold` seconds have passed without another. The flaw applies.
  void push(const Wrench& wrench, double hold);
  /// The motors are off.
  void let_go();

  /// What the motors do now.
  Wrench felt();
  /// The largest force since the last call [N].
  double take_peak();
  /// How often the motors were told a new force: not zero, and not the one that they have.
  std::uint64_t pushes() const;

 private:
  struct Simulation;
  Wrench with_flaw(Wrench wrench) const noexcept;

  const Flaw flaw_;
  mutable std::mutex mutex_;
  HandleTruth truth_;
  std::int64_t placed_at_ = 0;
  Wrench pushed_;
  std::int64_t pushed_until_ = 0;
  double peak_ = 0.0;
  std::uint64_t pushes_ = 0;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace palpate
