#include "palpate/haptics/safety.h"

#include <algorithm>
#include <cmath>

#include "checks.h"

namespace palpate {
namespace {

double smoothstep(double s) noexcept {
  return s * s * (3.0 - 2.0 * s);
}

/// The s in [0, 1] with smoothstep(s) = g.
double inverse_smoothstep(double g) noexcept {
  return 0.5 - std::sin(std::asin(1.0 - 2.0 * std::clamp(g, 0.0, 1.0)) / 3.0);
}

/// `v` shortened to `limit`, direction kept; `hit` is set when it was longer. Scaled first, so that the length of a
/// huge finite vector does not overflow.
Vec3 shortened(const Vec3& v, double limit, bool& hit) noexcept {
  const double largest = v.cwiseAbs().maxCoeff();
  if (!(largest > 0.0)) return v;
  const Vec3 scaled = v / largest;
  const double norm = scaled.norm();
  if (largest * norm <= limit) return v;
  hit = true;
  // A few roundings down, so that the result is not above the limit by one of them.
  constexpr double kDown = 1.0 - 1e-15;
  return scaled * (kDown * limit / norm);
}

}  // namespace

void describe(Fields& f, SafetySettings& s, const SafetySettings& d) {
  f.number({.name = "max_force", .doc = "largest force sent; the device's own limit if that is lower", .unit = "N"},
           s.max_force, d.max_force, {0.0, 1000.0, true});
  f.number({.name = "max_torque", .doc = "largest torque sent; 0: none", .unit = "N·m"}, s.max_torque, d.max_torque,
           {0.0, 100.0});
  f.number({.name = "max_force_rate", .doc = "fastest change of force", .unit = "N/s"}, s.max_force_rate,
           d.max_force_rate, {0.0, 1e7, true});
  f.number({.name = "max_torque_rate", .doc = "fastest change of torque", .unit = "N·m/s"}, s.max_torque_rate,
           d.max_torque_rate, {0.0, 1e6, true});
  f.number({.name = "ramp_time", .doc = "force comes in over this time at start", .unit = "s"}, s.ramp_time,
           d.ramp_time, {0.0, 60.0});
  f.number({.name = "stale_after",
            .doc = "model age at which the force begins to fade; default: latency + 2 slow_period",
            .unit = "s"},
           s.stale_after, d.stale_after, {0.0, 60.0, true});
  f.number({.name = "fade_time", .doc = "force fades over this time", .unit = "s"}, s.fade_time, d.fade_time,
           {0.0, 60.0});
}

void validate(const SafetySettings& s) {
  check_member("safety", s);
}

SafetyStage::SafetyStage(const SafetySettings& settings, double dt) : settings_(settings) {
  validate(settings);
  require_positive("tick period", dt, 1.0, "s");
  ramp_step_ = settings.ramp_time > dt ? dt / settings.ramp_time : 1.0;
  fade_step_ = settings.fade_time > dt ? dt / settings.fade_time : 1.0;
  force_.max = settings.max_force;
  force_.max_step = settings.max_force_rate * dt;
  torque_.max = settings.max_torque;
  torque_.max_step = settings.max_torque_rate * dt;
}

SafeWrench SafetyStage::apply(const Wrench& wanted, double model_age, std::uint32_t earlier_events) noexcept {
  events_ = earlier_events;
  const bool finite = is_finite(wanted);
  const bool fresh = model_age <= settings_.stale_after;  // false for NaN
  if (!finite) events_ |= kNotFinite;
  if (!fresh) events_ |= kStaleModel;
  const bool lost = (earlier_events & kInputLost) != 0;

  Vec3 force;
  Vec3 torque;
  if (finite && fresh && !lost) {
    force = pass(force_, wanted.force);
    torque = pass(torque_, wanted.torque);
  } else {
    // The force of a stale model, or of a hand that is lost, may still be followed downwards (the hand lets go); a
    // broken one has no direction.
    force = fade(force_, finite ? wanted.force : force_.sent);
    torque = fade(torque_, finite ? wanted.torque : torque_.sent);
  }
  send(force_, force);
  send(torque_, torque);
  count();
  return SafeWrench({force_.sent, torque_.sent});
}

Vec3 SafetyStage::fade(Channel& c, const Vec3& towards) noexcept {
  const double previous = c.sent.norm();
  if (!c.fading) {
    c.fading = true;
    c.onset_magnitude = previous;
    c.onset_gate = smoothstep(c.progress);
  }
  c.progress = std::max(0.0, c.progress - fade_step_);
  const double share = c.onset_gate > 0.0 ? smoothstep(c.progress) / c.onset_gate : 0.0;
  bool hit = false;
  return shortened(towards, std::min(previous, share * c.onset_magnitude), hit);
}

Vec3 SafetyStage::pass(Channel& c, const Vec3& wanted) noexcept {
  bool clamped = false;
  const Vec3 target = shortened(wanted, c.max, clamped);
  // A device that can give no torque at all is not asked for too much of it.
  if (clamped && c.max > 0.0) events_ |= kClamped;
  if (c.fading) {
    c.fading = false;
    // The wanted wrench may have grown while it was not followed: reopen only as far as gives the magnitude last sent.
    const double magnitude = target.norm();
    if (magnitude > 0.0) c.progress = std::min(c.progress, inverse_smoothstep(c.sent.norm() / magnitude));
  }
  c.progress = std::min(1.0, c.progress + ramp_step_);
  if (c.progress < 1.0) events_ |= kRamping;
  return smoothstep(c.progress) * target;
}

void SafetyStage::send(Channel& c, const Vec3& target) noexcept {
  bool limited = false;
  const Vec3 step = shortened(target - c.sent, c.max_step, limited);
  if (limited) events_ |= kSlewLimited;
  c.sent = limited ? Vec3(c.sent + step) : target;
  // Cannot happen while the code above is right; a hand is worth the branch.
  if (!c.sent.allFinite()) c.sent.setZero();
}

void SafetyStage::count() noexcept {
  ++counters_.ticks;
  counters_.not_finite += (events_ & kNotFinite) != 0;
  counters_.clamped += (events_ & kClamped) != 0;
  counters_.slew_limited += (events_ & kSlewLimited) != 0;
  counters_.ramping += (events_ & kRamping) != 0;
  counters_.stale_model += (events_ & kStaleModel) != 0;
  counters_.passivity_damped += (events_ & kPassivityDamped) != 0;
  counters_.input_held += (events_ & (kSampleBroken | kSampleOutOfOrder | kSampleTooFar | kInputLost)) != 0;
  counters_.input_lost += (events_ & kInputLost) != 0;
  counters_.peak_force = std::max(counters_.peak_force, force_.sent.norm());
  counters_.peak_torque = std::max(counters_.peak_torque, torque_.sent.norm());
}

}  // namespace palpate
