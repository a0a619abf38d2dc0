#pragma once

#include <cstdint>

#include "palpate/core/math.h"
#include "palpate/haptics/device.h"

namespace palpate {

class Fields;

/// What a sample of the device must be to be taken.
struct InputGuardSettings {
  /// Fastest the handle may move [m/s]. Reaching peaks at 3 to 4 m/s, and a hand that holds a device at a desk stays
  /// below; what is under the limit passes, so it is no higher: at 1 kHz it lets jumps of 5 mm through.
  double max_speed = 5.0;
  /// Fastest the handle may turn [rad/s]. A forearm turns at up to 30 rad/s, fingers twirl a stylus somewhat faster.
  double max_turn_rate = 50.0;
  /// Fastest a hand may close or open [1/s]: whole in 20 ms. Fingers that tap as fast as they can need twice that.
  double max_grip_rate = 50.0;
  /// For so long the last good sample stands in for those that are not taken [s]; then the force fades. 20 ms is one
  /// slow period at 50 Hz: a force held that long feels no worse than a held model, and the hand has not yet reacted.
  double hold_time = 0.02;
  /// After a fade, samples must agree with each other for so long before they are taken again [s]. Twenty in a row
  /// at 1 kHz are no accident, and a person does not notice the wait before the ramp.
  double settle_time = 0.02;
  bool operator==(const InputGuardSettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, InputGuardSettings& settings, const InputGuardSettings& standard = {});
/// Throws InputError naming the field, its value and the allowed range.
void validate(const InputGuardSettings& settings);

/// How many samples were not taken, by reason, and what followed.
struct InputCounters {
  std::uint64_t broken = 0;        ///< a value was not finite, or outside what it can be (a quaternion, a grip)
  std::uint64_t out_of_order = 0;  ///< older than the last one, or from after now
  std::uint64_t too_far = 0;       ///< further, or faster, than a hand can move
  std::uint64_t settling = 0;      ///< sound, but after a loss and before enough had agreed
  std::uint64_t losses = 0;        ///< how often `hold_time` was over and the force began to fade

  std::uint64_t rejected() const noexcept { return broken + out_of_order + too_far + settling; }
};

/// The one gate between what a device says and everything that goes by it: methods see only what passed here.
///
/// A sample is *sound* if all its numbers are finite and its quaternion has length one; it is not older than the last
/// one and not from after now; and no hand would have had to move, turn or close faster than the limits to get there
/// from the last one in the time between, or says that it does. A sound sample passes unchanged, to the bit. Instead
/// of any other the last good one stands, for two stages:
///  - *held*, for `hold_time`: as it was, with its velocity, so that the damper's force does not jump. The first
///    sound sample ends it;
///  - *lost*, after that: at rest, and the safety stage fades the force (kInputLost). Samples are now compared with
///    those before them and no longer with the last good one, so that a device that comes back elsewhere, or with
///    another clock, is not refused for ever. When they have been sound for `settle_time` without a break, and the
///    fade has had its time, they are taken, and the safety stage lets the force in by its ramp.
/// A sample of a device that is not present counts as broken, and there is nothing to hold: it is lost at once.
/// Every rejected sample raises the SafetyEvent bit of its reason in its tick and is counted.
///
/// Thread: the fast loop's alone. take() is wait-free: no allocation, lock, loop or exception.
class InputGuard {
 public:
  /// `dt`: tick period [s]; `fade_time`: what the safety stage needs to take the force out of the hand [s].
  /// Throws InputError.
  InputGuard(const InputGuardSettings& settings, double dt, double fade_time);

  /// The state that the tick at `now` [s] goes by; `now` never decreases. At the origin until ready().
  const DeviceState& take(const DeviceState& sample, double now) noexcept;

  /// A sample has been taken; before that there is nothing to go by.
  bool ready() const noexcept { return stage_ != Stage::kEmpty; }
  /// SafetyEvent bits of the last take().
  std::uint32_t events_of_last_tick() const noexcept { return events_; }
  const InputCounters& counters() const noexcept { return counters_; }

 private:
  enum class Stage { kEmpty, kGood, kHeld, kLost };
  /// A sample and the tick in which it came.
  struct Known {
    DeviceState state;
    double tick = 0.0;  ///< [s]
  };

  std::uint32_t find_fault(const DeviceState& sample, double now, const Known* before) const noexcept;
  bool is_reachable(const DeviceState& sample, double now, const Known& before) const noexcept;
  void accept(const DeviceState& sample, double now) noexcept;
  void hold(double now) noexcept;
  void lose(double now) noexcept;
  void settle(const DeviceState& sample, double now, std::uint32_t fault) noexcept;

  InputGuardSettings settings_;
  double dt_;
  double fade_time_;
  Stage stage_ = Stage::kEmpty;
  Known good_;                  ///< what take() gives
  double held_from_ = 0.0;      ///< tick of the first sample that was not taken, while held [s]
  double lost_from_ = 0.0;      ///< tick of the loss, while lost [s]
  Known last_;                  ///< the newest sound sample, while lost and `agreeing_`
  double agreeing_from_ = 0.0;  ///< [s]
  bool agreeing_ = false;
  std::uint32_t events_ = 0;
  InputCounters counters_;
};

}  // namespace palpate
