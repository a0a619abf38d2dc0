#pragma once

#include <cstdint>

#include "palpate/core/math.h"
#include "palpate/haptics/device.h"

namespace palpate {

class Fields;

/// How the passivity controller acts. `max_damping` and `max_rotational_damping` of 0 leave only the observer.
struct PassivitySettings {
  /// Energy the engine may give before the controller acts [J]. Worlds that move by themselves (a falling cube in the
  /// palm) do work on the hand honestly; give them some.
  double allowance = 0.0;
  /// Most energy taken from the hand that is remembered as credit [J]. Sliding with friction takes energy without
  /// bound, and a wall that turned unstable afterwards could spend it all before anyone acted. What a spring stores
  /// must be covered, or its honest release is damped: 0.1 J is 12 N on 720 N/m.
  double credit_limit = 0.1;
  /// Most given energy that is remembered as debt [J]: after one honest push by the world, the hand must not wade
  /// through syrup for the rest of the session.
  double debt_limit = 0.1;
  /// Most damping the controller adds [N·s/m]. It acts on a sampled, estimated velocity, which itself goes unstable
  /// near (effective mass)/dt; 20 N·s/m is a fifth of that for 100 g at 1 kHz.
  double max_damping = 20.0;
  /// Most rotational damping the controller adds [N·m·s/rad].
  double max_rotational_damping = 0.005;
  bool operator==(const PassivitySettings&) const = default;
};

void describe(Fields& fields, PassivitySettings& settings, const PassivitySettings& standard = {});
void validate(const PassivitySettings& settings);

/// Counts the energy that the wrench on the handle gives to the hand [J]; positive: the engine is active.
///
/// E += f · (x_now − x_before) + τ · rotation_vector(q_now q_before⁻¹), with the wrench that was held between the two
/// readings. For a zero-order-held force this sum is the work done, not an approximation of it (the torque part: for
/// a fixed axis within the tick). A device that outputs one tick late is observed as if it did not.
///
/// Thread: the fast loop's alone; wait-free. Not finite increments are left out.
class EnergyObserver {
 public:
  /// Each tick, first: where the handle is now. Returns the increment [J].
  double observe(const Pose& pose) noexcept;
  /// Each tick, last: what was sent and is held from now on.
  void hold(const Wrench& sent) noexcept { held_ = sent; }

  double energy() const noexcept { return energy_; }  ///< since the start [J]
  double peak() const noexcept { return peak_; }      ///< largest energy() so far, 0 at least [J]

 private:
  Wrench held_;
  Pose last_;
  bool started_ = false;
  double energy_ = 0.0;
  double peak_ = 0.0;
};

/// Time-domain passivity control of impedance type (Hannaford & Ryu 2002, the series controller).
///
/// When the observed energy is above the allowance, adds −α v to the wrench, with α such that the excess is gone after
/// this tick if the velocity stays. Departures from the paper:
///  - the observer is exact for the past tick (position increments under the wrench really sent) instead of f·v·T of
///  the
///    present one: it acts one tick later, but neither noise in v nor the safety stage makes it drift;
///  - α ≤ max_damping: at low speed the paper's α = excess/(v² T) grows without bound, and chatters;
///  - observed energy stays within [−credit_limit, debt_limit], see PassivitySettings;
///  - translation and rotation share one account and are damped by the same share of their largest damping.
///
/// Per tick: apply(), then SafetyStage::apply(…, events_of_last_tick()), Device::write(), then hold().
/// Thread: the fast loop's alone; wait-free.
class PassivityController {
 public:
  explicit PassivityController(const PassivitySettings& settings);

  /// `dt`: time until the next tick [s].
  Wrench apply(const Wrench& wanted, const DeviceState& state, double dt) noexcept;
  /// What the safety stage made of it.
  void hold(const Wrench& sent) noexcept { observer_.hold(sent); }

  /// kPassivityDamped or 0 (see SafetyEvent).
  std::uint32_t events_of_last_tick() const noexcept { return events_; }
  const EnergyObserver& observer() const noexcept { return observer_; }
  /// The account that the controller acts on, within its limits [J].
  double account() const noexcept { return account_; }

 private:
  PassivitySettings settings_;
  EnergyObserver observer_;
  double account_ = 0.0;
  std::uint32_t events_ = 0;
};

}  // namespace palpate
