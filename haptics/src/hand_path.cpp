#include "palpate/haptics/hand_path.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "checks.h"
#include "time_law.h"

namespace palpate {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

class SinePath final : public HandPath {
 public:
  explicit SinePath(const SinePathSettings& s) : s_(s), law_(s.ramp_time, s.duration > 0.0 ? s.duration : kInfinity) {}

  double duration() const noexcept override { return s_.start_time + law_.total(); }

  HandSample at(double t) const noexcept override {
    const double after = t > s_.start_time ? t - s_.start_time : 0.0;
    const bool moving = t >= s_.start_time && after < law_.total();
    TimeLaw::Reading drift = law_.at(after);
    TimeLaw::Reading envelope = drift;
    if (s_.ramp_time == 0.0) {  // no envelope: the sine stands still where it is cut off
      drift.rate = moving ? 1.0 : 0.0;
      envelope.rate = 1.0;
    }
    const double angle = kTwoPi * s_.frequency * std::min(after, law_.total()) + s_.phase;
    const double wave = envelope.rate * std::sin(angle);
    const double wave_rate =
        moving ? envelope.rate_change * std::sin(angle) + envelope.rate * kTwoPi * s_.frequency * std::cos(angle) : 0.0;
    HandSample h;
    h.pose.position = s_.start + drift.time * s_.velocity + wave * s_.amplitude;
    h.velocity.linear = drift.rate * s_.velocity + wave_rate * s_.amplitude;
    h.pose.rotation = rotation_from_vector(wave * s_.rotation_amplitude) * s_.rotation;
    h.velocity.angular = wave_rate * s_.rotation_amplitude;
    return h;
  }

 private:
  SinePathSettings s_;
  TimeLaw law_;
};

class PressAndSlidePath final : public HandPath {
 public:
  explicit PressAndSlidePath(const PressAndSlidePathSettings& s)
      : s_(s), stroke_(stroke_ramp(s), s.slide_distance / s.slide_speed + stroke_ramp(s)) {
    slides_at_ = s.approach_time + s.hold_time;
    retracts_at_ = slides_at_ + s.strokes * stroke_.total() + s.hold_time;
  }

  double duration() const noexcept override { return retracts_at_ + s_.retract_time; }

  HandSample at(double t) const noexcept override {
    double down = 1.0;
    double down_rate = 0.0;
    if (!(t > 0.0)) {
      down = 0.0;
    } else if (t < s_.approach_time) {
      down = min_jerk(t / s_.approach_time);
      down_rate = min_jerk_rate(t / s_.approach_time) / s_.approach_time;
    } else if (t > retracts_at_) {
      const double u = std::min(1.0, (t - retracts_at_) / s_.retract_time);
      down = 1.0 - min_jerk(u);
      down_rate = -min_jerk_rate(u) / s_.retract_time;
    }
    const auto [aside, aside_rate] = slide(t - slides_at_);
    HandSample h;
    h.pose.position = s_.start + down * s_.depth * s_.direction + aside * s_.slide_direction;
    h.pose.rotation = s_.rotation;
    h.velocity.linear = down_rate * s_.depth * s_.direction + aside_rate * s_.slide_direction;
    return h;
  }

 private:
  /// A short stroke never reaches the full speed with the full ramp: ramp faster.
  static double stroke_ramp(const PressAndSlidePathSettings& s) noexcept {
    return std::min(s.slide_ramp, s.slide_distance / s.slide_speed);
  }

  /// Way aside [m] and its rate [m/s].
  std::pair<double, double> slide(double t) const noexcept {
    if (!(t > 0.0) || s_.strokes == 0) return {0.0, 0.0};
    const double stroke = std::min(std::floor(t / stroke_.total()), s_.strokes - 1.0);
    const TimeLaw::Reading r = stroke_.at(t - stroke * stroke_.total());
    const bool back = std::fmod(stroke, 2.0) == 1.0;
    const double way = r.time * s_.slide_speed;
    return {back ? s_.slide_distance - way : way, back ? -r.rate * s_.slide_speed : r.rate * s_.slide_speed};
  }

  PressAndSlidePathSettings s_;
  TimeLaw stroke_;
  double slides_at_;
  double retracts_at_;
};

class TapPath final : public HandPath {
 public:
  explicit TapPath(const TapPathSettings& s) : s_(s) {}

  double duration() const noexcept override { return s_.count > 0 ? s_.count * s_.period : kInfinity; }

  HandSample at(double t) const noexcept override {
    HandSample h;
    h.pose.position = s_.start;
    h.pose.rotation = s_.rotation;
    if (!(t > 0.0) || t >= duration()) return h;
    const double u = t / s_.period - std::floor(t / s_.period);
    const double bell = u * (1.0 - u);
    h.pose.position += s_.depth * 64.0 * bell * bell * bell * s_.direction;
    h.velocity.linear = s_.depth * 192.0 * bell * bell * (1.0 - 2.0 * u) / s_.period * s_.direction;
    return h;
  }

 private:
  TapPathSettings s_;
};

class CirclePath final : public HandPath {
 public:
  explicit CirclePath(const CirclePathSettings& s)
      : s_(s), law_(s.lead_in, s.turns > 0.0 ? s.turns / s.frequency + s.lead_in : kInfinity) {
    make_tangents(s_.axis, e1_, e2_);
  }

  double duration() const noexcept override { return law_.total(); }

  HandSample at(double t) const noexcept override {
    const TimeLaw::Reading r = law_.at(t);
    const double angle = kTwoPi * s_.frequency * r.time;
    const double speed = kTwoPi * s_.frequency * r.rate * s_.radius;
    HandSample h;
    h.pose.position = s_.centre + s_.radius * (std::cos(angle) * e1_ + std::sin(angle) * e2_);
    h.pose.rotation = s_.rotation;
    h.velocity.linear = speed * (std::cos(angle) * e2_ - std::sin(angle) * e1_);
    return h;
  }

 private:
  CirclePathSettings s_;
  TimeLaw law_;
  Vec3 e1_;
  Vec3 e2_;
};

}  // namespace

std::unique_ptr<HandPath> make_path(const SinePathSettings& settings) {
  SinePathSettings s = settings;
  require_finite("sine.start", s.start);
  require_finite("sine.velocity", s.velocity);
  require_finite("sine.amplitude", s.amplitude);
  require_finite("sine.rotation_amplitude", s.rotation_amplitude);
  require_in("sine.frequency", s.frequency, s.kFrequency, "Hz");
  require_in("sine.phase", s.phase, s.kPhase, "rad");
  require_in("sine.start_time", s.start_time, s.kTime, "s");
  require_in("sine.duration", s.duration, s.kTime, "s");
  require_in("sine.ramp_time", s.ramp_time, s.duration > 0.0 ? Range{0.0, 0.5 * s.duration} : s.kRamp, "s");
  s.rotation = require_rotation("sine.rotation", s.rotation);
  return std::make_unique<SinePath>(s);
}

std::unique_ptr<HandPath> make_path(const PressAndSlidePathSettings& settings) {
  PressAndSlidePathSettings s = settings;
  require_finite("press_and_slide.start", s.start);
  require_in("press_and_slide.depth", s.depth, s.kDepth, "m");
  require_in("press_and_slide.approach_time", s.approach_time, s.kMoveTime, "s");
  require_in("press_and_slide.hold_time", s.hold_time, s.kHoldTime, "s");
  require_in("press_and_slide.slide_distance", s.slide_distance, s.kDistance, "m");
  require_in("press_and_slide.slide_speed", s.slide_speed, s.kSpeed, "m/s");
  require_in("press_and_slide.slide_ramp", s.slide_ramp, s.kRamp, "s");
  require_in("press_and_slide.strokes", s.strokes, s.kStrokes, "");
  require_in("press_and_slide.retract_time", s.retract_time, s.kMoveTime, "s");
  s.rotation = require_rotation("press_and_slide.rotation", s.rotation);
  s.direction = require_direction("press_and_slide.direction", s.direction);
  const Vec3 aside = require_direction("press_and_slide.slide_direction", s.slide_direction);
  const Vec3 perpendicular = aside - aside.dot(s.direction) * s.direction;
  if (perpendicular.norm() < 0.01) {
    fail_input("press_and_slide.slide_direction = ({}, {}, {}): must not be along the pressing direction", aside.x(),
               aside.y(), aside.z());
  }
  s.slide_direction = perpendicular.normalized();
  return std::make_unique<PressAndSlidePath>(s);
}

std::unique_ptr<HandPath> make_path(const TapPathSettings& settings) {
  TapPathSettings s = settings;
  require_finite("tap.start", s.start);
  require_in("tap.depth", s.depth, s.kDepth, "m");
  require_in("tap.period", s.period, s.kPeriod, "s");
  require_in("tap.count", s.count, s.kCount, "");
  s.rotation = require_rotation("tap.rotation", s.rotation);
  s.direction = require_direction("tap.direction", s.direction);
  return std::make_unique<TapPath>(s);
}

std::unique_ptr<HandPath> make_path(const CirclePathSettings& settings) {
  CirclePathSettings s = settings;
  require_finite("circle.centre", s.centre);
  require_in("circle.radius", s.radius, s.kRadius, "m");
  require_in("circle.frequency", s.frequency, s.kFrequency, "Hz");
  require_in("circle.turns", s.turns, s.kTurns, "");
  require_in("circle.lead_in", s.lead_in, s.turns > 0.0 ? Range{0.0, s.turns / s.frequency} : s.kLeadIn, "s");
  s.rotation = require_rotation("circle.rotation", s.rotation);
  s.axis = require_direction("circle.axis", s.axis);
  return std::make_unique<CirclePath>(s);
}

}  // namespace palpate
