#pragma once

#include <cstdint>

#include "palpate/core/math.h"

namespace palpate {

class Fields;
class SafetyStage;

/// A wrench that has passed the safety stage: the only kind a Device accepts, and only SafetyStage makes one.
class SafeWrench {
 public:
  const Vec3& force() const noexcept { return wrench_.force; }    ///< [N]
  const Vec3& torque() const noexcept { return wrench_.torque; }  ///< [N·m]
  const Wrench& wrench() const noexcept { return wrench_; }

 private:
  friend class SafetyStage;
  explicit SafeWrench(const Wrench& w) noexcept : wrench_(w) {}
  Wrench wrench_;
};

/// What was done to a wrench on its way to the hand, as bits of one word.
enum SafetyEvent : std::uint32_t {
  kNotFinite = 1u << 0,        ///< the wanted wrench had a NaN or an infinity; the last one is faded out instead
  kClamped = 1u << 1,          ///< force or torque was longer than allowed; shortened, direction kept
  kSlewLimited = 1u << 2,      ///< force or torque wanted to change faster than allowed
  kRamping = 1u << 3,          ///< coming in, at start or after a fade
  kStaleModel = 1u << 4,       ///< the contact model is too old; fading out
  kPassivityDamped = 1u << 5,  ///< the passivity controller added damping (it runs before this stage)
  // Of the input guard, which runs before the method: the device's sample was not taken, and the last good one stands.
  kSampleBroken = 1u << 6,      ///< not finite, or no value that it can have
  kSampleOutOfOrder = 1u << 7,  ///< older than the last one, or from after now
  kSampleTooFar = 1u << 8,      ///< further or faster than a hand can move
  kInputLost = 1u << 9,         ///< no sample was taken for too long; fading out
};

/// Limits on what may reach the hand. The runtime lowers the maxima to the device's own.
struct SafetySettings {
  /// Largest force [N]. 12 N is the omega class; nothing stronger is held by a hand at a desk.
  double max_force = 12.0;
  /// Largest torque [N·m]; 0 for a device that gives none.
  double max_torque = 0.4;
  /// Fastest change of force [N/s]. A 5000 N/m wall (the stiffest a device of the omega class shows) met at 0.5 m/s
  /// asks for 2500 N/s: honest contact stays below the limit, which otherwise would add lag and so cost stability.
  double max_force_rate = 3000.0;
  /// Fastest change of torque [N·m/s]: like the force, the whole range in 4 ms.
  double max_torque_rate = 100.0;
  /// From nothing to the full wrench at start and after a fade [s].
  double ramp_time = 0.5;
  /// Model age at which the fade begins [s]. A healthy model is one to two slow periods old, so this is above two
  /// periods of a 10 Hz slow loop; faster loops set less.
  double stale_after = 0.25;
  /// From the full wrench to nothing, once stale or not finite [s].
  double fade_time = 0.1;
  bool operator==(const SafetySettings&) const = default;
};

/// Every setting with its meaning, unit and range: what scene files and checks go by.
void describe(Fields& fields, SafetySettings& settings, const SafetySettings& standard = {});
/// Throws InputError naming the field, its value and the allowed range.
void validate(const SafetySettings& settings);

/// How often each thing happened, in ticks, and the largest wrench that was sent.
struct SafetyCounters {
  std::uint64_t ticks = 0;
  std::uint64_t not_finite = 0;
  std::uint64_t clamped = 0;
  std::uint64_t slew_limited = 0;
  std::uint64_t ramping = 0;
  std::uint64_t stale_model = 0;
  std::uint64_t passivity_damped = 0;
  std::uint64_t input_held = 0;  ///< the device's sample was not taken
  std::uint64_t input_lost = 0;  ///< … for so long that the force was faded
  double peak_force = 0.0;       ///< [N]
  double peak_torque = 0.0;      ///< [N·m]
};

/// The one gate between a computed wrench and the hand.
///
/// Whatever comes in, what goes out is finite, no longer than the maximum, and differs from the last by at most
/// rate · dt. Force and torque are treated alike, each by its own limits:
///  - not finite: the last wrench sent is held in direction and faded to zero over `fade_time`;
///  - stale model (older than `stale_after`, or of unknown age): faded over `fade_time`, and the magnitude never
///    grows from one tick to the next until the model is fresh;
///  - lost input (the input guard says kInputLost): the same, until it takes samples again;
///  - start, and return from a fade: by a ramp that begins at the magnitude last sent;
///  - too long: shortened, direction kept; too fast: the step towards the target is shortened. The result is a convex
///    combination of two wrenches within the limit, so the limit still holds.
///
/// Thread: the fast loop's alone. apply() is wait-free: no allocation, lock, loop or exception.
class SafetyStage {
 public:
  /// `dt`: tick period [s]. Throws InputError.
  SafetyStage(const SafetySettings& settings, double dt);

  /// `wanted` as the method (and passivity controller) gave it; `model_age` [s]; `earlier_events`: SafetyEvent bits
  /// raised before this stage, counted along.
  SafeWrench apply(const Wrench& wanted, double model_age, std::uint32_t earlier_events = 0) noexcept;

  const SafetyCounters& counters() const noexcept { return counters_; }
  std::uint32_t events_of_last_tick() const noexcept { return events_; }
  const SafetySettings& settings() const noexcept { return settings_; }

 private:
  /// Force or torque on its way through. The gate is smoothstep(progress): 0 shut, 1 open.
  struct Channel {
    double max = 0.0;
    double max_step = 0.0;  ///< rate · dt
    Vec3 sent = Vec3::Zero();
    double progress = 0.0;
    bool fading = false;
    double onset_magnitude = 0.0;  ///< |sent| when the fade began
    double onset_gate = 0.0;
  };
  Vec3 fade(Channel& channel, const Vec3& towards) noexcept;
  Vec3 pass(Channel& channel, const Vec3& wanted) noexcept;
  void send(Channel& channel, const Vec3& target) noexcept;
  void count() noexcept;

  SafetySettings settings_;
  double ramp_step_;  ///< progress a tick while coming in
  double fade_step_;  ///< progress a tick while going out
  Channel force_;
  Channel torque_;
  std::uint32_t events_ = 0;
  SafetyCounters counters_;
};

}  // namespace palpate
