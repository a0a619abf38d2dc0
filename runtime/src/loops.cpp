#include "loops.h"

#include <algorithm>
#include <limits>
#include <new>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {

void stamp(std::byte* message, double time, std::uint64_t sequence) noexcept {
  const MessageHeader header{time, sequence};
  std::memcpy(message, &header, sizeof header);
}

const MessageHeader& header_of(const std::byte* message) noexcept {
  return *std::launder(reinterpret_cast<const MessageHeader*>(message));
}

namespace {

constexpr PassivitySettings kObserveOnly{.max_damping = 0.0, .max_rotational_damping = 0.0};

SafetySettings limited_to(const DeviceInfo& device, SafetySettings settings) {
  settings.max_force = std::min(settings.max_force, device.max_force);
  settings.max_torque = std::min(settings.max_torque, device.max_torque);
  return settings;
}

}  // namespace

FastLoop::FastLoop(const RunSettings& settings, RunParts& parts)
    : method_(*parts.method.fast),
      device_(parts.device),
      has_slow_half_(parts.method.slow != nullptr),
      guard_(settings.input, settings.dt, settings.safety.fade_time),
      passivity_(settings.passivity.value_or(kObserveOnly)),
      safety_(limited_to(parts.device.info(), settings.safety), settings.dt),
      dt_(settings.dt),
      sequence_(parts.method.feedbacks_sent) {}

TickRow FastLoop::tick(double time, const std::byte* model, std::byte* feedback) noexcept {
  TickRow row;
  row.time = time;
  const DeviceState& state = guard_.take(device_.read(time), time);
  // Before the first model there is nothing to be stale; the method gives no force then.
  const bool modelled = has_slow_half_ && header_of(model).sequence > 0;
  row.model_age = modelled ? time - header_of(model).time : 0.0;

  TickResult result;
  Wrench calmed;
  std::uint32_t events = guard_.events_of_last_tick();
  if (guard_.ready()) {
    stamp(feedback, time, ++sequence_);
    result = method_.tick_bytes(state, model, feedback);
    calmed = passivity_.apply(result.wrench, state, dt_);
    events |= passivity_.events_of_last_tick();
  }
  const SafeWrench sent = safety_.apply(calmed, row.model_age, events);
  device_.write(sent);
  passivity_.hold(sent.wrench());
  last_ = sent.wrench();

  row.device = state.pose;
  row.device_velocity = state.velocity;
  row.buttons = state.buttons;
  row.grip = state.grip;
  row.grip_rate = state.grip_rate;
  row.tool = result.tool;
  row.finger_forces = result.finger_forces;
  row.wanted = result.wrench;
  row.sent = sent.wrench();
  row.residual = result.residual;
  row.iterations = result.iterations;
  row.contacts = result.contacts;
  row.energy = energy();
  row.events = safety_.events_of_last_tick();
  return row;
}

void FastLoop::fade_out(double time) noexcept {
  device_.read(time);
  device_.write(safety_.apply(last_, std::numeric_limits<double>::infinity()));
}

StepRow SlowLoop::step(double time, const std::byte* feedback, std::byte* model) {
  StepRow row;
  row.time = time;
  const std::int64_t start = monotonic_ns();
  stamp(model, time, ++sequence_);
  method_.step_bytes(feedback, model, row);
  row.step_time = 1e-9 * static_cast<double>(monotonic_ns() - start);
  return row;
}

void forget_times(StepRow& row) noexcept {
  row.step_time = kNotMeasured;
  row.stage_time.fill(kNotMeasured);
}

void describe_rates(Fields& f, RunSettings& s) {
  const RunSettings d;
  f.number({.name = "dt", .doc = "fast period", .unit = "s"}, s.dt, d.dt, {1e-5, 0.1});
  f.number({.name = "slow_period", .doc = "slow period ΔT, at least dt", .unit = "s"}, s.slow_period, d.slow_period,
           {1e-5, 10.0});
  f.number({.name = "latency",
            .doc = "from the start of a slow step to its model in the fast loop, in lockstep; default: slow_period",
            .unit = "s"},
           s.latency, s.slow_period, {0.0, 10.0});
  f.number(
      {.name = "extra_latency", .doc = "added to every model's way to the fast loop, in real time too", .unit = "s"},
      s.extra_latency, d.extra_latency, {0.0, 1.0});
  f.number({.name = "stall_from", .doc = "no slow step begins from here … (lockstep; shows the watchdog)", .unit = "s"},
           s.stall_from, d.stall_from, kNotNegative);
  f.number({.name = "stall_until", .doc = "… to here", .unit = "s"}, s.stall_until, d.stall_until, kNotNegative);
  f.require(s.slow_period >= s.dt, fmt::format("slow_period = {}: must be at least dt, {} s", s.slow_period, s.dt));
}

void validate(const RunSettings& settings) {
  RunSettings s = settings;
  check_fields("", [&](Fields& f) {
    describe_rates(f, s);
    f.number({.name = "seconds", .doc = "", .unit = "s"}, s.seconds, s.seconds, kRunSeconds);
  });
  validate(s.safety);
  validate(s.input);
  if (s.passivity) validate(*s.passivity);
}

}  // namespace palpate
