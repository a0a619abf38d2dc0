#include "palpate/haptics/input_guard.h"

#include <algorithm>
#include <cmath>

#include "checks.h"

namespace palpate {
namespace {

// Steps of encoders are no motion, however short the tick: 0.1 mm and 0.01 rad are above those of all common devices.
constexpr double kEncoderStep = 1e-4;       // [m]
constexpr double kEncoderTurn = 1e-2;       // [rad]
constexpr double kEncoderGrip = 1e-2;       // share of the whole way
constexpr double kQuaternionLength = 1e-3;  // drivers round to single precision; this is far above it
// Tick times are multiples of dt, and their differences are rounded.
constexpr double kRounding = 1e-9;  // [s]

bool is_broken(const DeviceState& s) noexcept {
  const bool finite = std::isfinite(s.time) && s.pose.position.allFinite() && s.pose.rotation.coeffs().allFinite() &&
                      s.velocity.linear.allFinite() && s.velocity.angular.allFinite() && std::isfinite(s.grip_rate);
  return !s.present || !finite || !(std::abs(s.pose.rotation.norm() - 1.0) < kQuaternionLength) ||
         !(s.grip > -kEncoderGrip && s.grip < 1.0 + kEncoderGrip);
}

}  // namespace

void describe(Fields& f, InputGuardSettings& s, const InputGuardSettings& d) {
  f.number({.name = "max_speed", .doc = "samples of a handle that moves faster are not taken", .unit = "m/s"},
           s.max_speed, d.max_speed, {0.0, 1000.0, true});
  f.number({.name = "max_turn_rate", .doc = "samples of a handle that turns faster are not taken", .unit = "rad/s"},
           s.max_turn_rate, d.max_turn_rate, {0.0, 1e4, true});
  f.number({.name = "max_grip_rate", .doc = "samples of a hand that closes faster are not taken", .unit = "1/s"},
           s.max_grip_rate, d.max_grip_rate, {0.0, 1e4, true});
  f.number(
      {.name = "hold_time", .doc = "the last good sample stands in for so long; then the force fades", .unit = "s"},
      s.hold_time, d.hold_time, {0.0, 1.0});
  f.number({.name = "settle_time", .doc = "after a fade, samples must agree for so long to be taken", .unit = "s"},
           s.settle_time, d.settle_time, {0.0, 60.0});
}

void validate(const InputGuardSettings& s) {
  check_member("input", s);
}

InputGuard::InputGuard(const InputGuardSettings& settings, double dt, double fade_time)
    : settings_(settings), dt_(dt), fade_time_(fade_time) {
  validate(settings);
  require_positive("tick period", dt, 1.0, "s");
}

const DeviceState& InputGuard::take(const DeviceState& sample, double now) noexcept {
  const bool lost = stage_ == Stage::kLost;
  const Known* good = ready() ? &good_ : nullptr;
  const Known* agreeing = agreeing_ ? &last_ : nullptr;
  const std::uint32_t fault = find_fault(sample, now, lost ? agreeing : good);
  events_ = fault;
  counters_.broken += fault == kSampleBroken;
  counters_.out_of_order += fault == kSampleOutOfOrder;
  counters_.too_far += fault == kSampleTooFar;
  if (lost)
    settle(sample, now, fault);
  else if (fault == 0)
    accept(sample, now);
  else if (sample.present)
    hold(now);
  else
    lose(now);
  if (stage_ == Stage::kLost || stage_ == Stage::kEmpty) events_ |= kInputLost;
  return good_.state;
}

/// The SafetyEvent bit of what is wrong with the sample, or 0; without `before` only what it says by itself counts.
std::uint32_t InputGuard::find_fault(const DeviceState& s, double now, const Known* before) const noexcept {
  if (is_broken(s)) return kSampleBroken;
  if (s.time > now + dt_ + kRounding || (before && s.time < before->state.time)) return kSampleOutOfOrder;
  const bool slow = s.velocity.linear.norm() <= settings_.max_speed &&
                    s.velocity.angular.norm() <= settings_.max_turn_rate &&
                    std::abs(s.grip_rate) <= settings_.max_grip_rate;
  return slow && (!before || is_reachable(s, now, *before)) ? 0u : kSampleTooFar;
}

bool InputGuard::is_reachable(const DeviceState& s, double now, const Known& before) const noexcept {
  // A device slower than the ticks says by its times that more has passed than since the tick in which the last sample
  // came; no device is slower than one that would be lost.
  const double by_its_times = std::min(s.time - before.state.time, settings_.hold_time);
  const double elapsed = std::max(now - before.tick, by_its_times) + kRounding;
  const DeviceState& b = before.state;
  const auto within = [&](double way, double rate, double step) { return way <= std::max(rate * elapsed, step); };
  return within((s.pose.position - b.pose.position).norm(), settings_.max_speed, kEncoderStep) &&
         within(rotation_vector(s.pose.rotation * b.pose.rotation.conjugate()).norm(), settings_.max_turn_rate,
                kEncoderTurn) &&
         within(std::abs(s.grip - b.grip), settings_.max_grip_rate, kEncoderGrip);
}

void InputGuard::accept(const DeviceState& sample, double now) noexcept {
  good_ = {sample, now};
  stage_ = Stage::kGood;
  agreeing_ = false;
}

void InputGuard::hold(double now) noexcept {
  if (stage_ == Stage::kEmpty) return;
  if (stage_ == Stage::kGood) {
    stage_ = Stage::kHeld;
    held_from_ = now;
  }
  if (now - held_from_ >= settings_.hold_time - kRounding) lose(now);
}

void InputGuard::lose(double now) noexcept {
  if (stage_ == Stage::kEmpty) return;
  stage_ = Stage::kLost;
  lost_from_ = now;
  ++counters_.losses;
  good_.state.velocity = {};
  good_.state.grip_rate = 0.0;
}

/// While lost: waits for samples that agree with each other.
void InputGuard::settle(const DeviceState& sample, double now, std::uint32_t fault) noexcept {
  // One that does not agree with those before it may be the first of those that do.
  if (fault != 0) agreeing_ = false;
  if (fault != 0 && find_fault(sample, now, nullptr) != 0) return;
  if (!agreeing_) agreeing_from_ = now;
  agreeing_ = true;
  last_ = {sample, now};
  const bool settled = now - agreeing_from_ >= settings_.settle_time - kRounding;
  if (fault == 0 && settled && now - lost_from_ >= fade_time_ - kRounding)
    accept(sample, now);
  else
    counters_.settling += fault == 0;
}

}  // namespace palpate
