#include "loops.h"

#include <algorithm>
#include <cmath>
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

std::vector<SlowHalf*> slow_halves(const RunParts& parts) {
  std::vector<SlowHalf*> out;
  for (const ToolParts& tool : parts.tools) out.push_back(tool.method.slow.get());
  return out;
}

}  // namespace

ToolLoop::ToolLoop(double dt, const ToolParts& parts)
    : method_(parts.method.fast.get()),
      device_(parts.device),
      has_slow_half_(parts.method.slow != nullptr),
      waits_(parts.waits),
      guard_(parts.guards.input, dt, parts.guards.safety.fade_time),
      passivity_(parts.guards.passivity.value_or(kObserveOnly)),
      safety_(limited_to(parts.device.info(), parts.guards.safety), dt),
      dt_(dt) {}

ToolLoop::ToolLoop(const ToolLoop& before, FastHalf& method) noexcept : ToolLoop(before) {
  method_ = &method;
  sequence_ = 0;
}

void ToolLoop::begin_tick(double time) noexcept {
  state_ = guard_.take(device_.read(time), time);
  if (guard_.ready()) method_->begin_tick(state_);
}

TickRow ToolLoop::finish_tick(double time, const std::byte* model, std::byte* feedback) noexcept {
  TickRow row;
  row.time = time;
  // Before the first model there is nothing to be stale; the method gives no force then.
  const bool modelled = has_slow_half_ && header_of(model).sequence > 0;
  row.model_age = modelled ? time - header_of(model).time : 0.0;

  TickResult result;
  Wrench calmed;
  std::uint32_t events = guard_.events_of_last_tick();
  if (guard_.ready()) {
    stamp(feedback, time, ++sequence_);
    result = method_->tick_bytes(state_, model, feedback);
    calmed = passivity_.apply(result.wrench, state_, dt_);
    events |= passivity_.events_of_last_tick();
  }
  const SafeWrench sent = safety_.apply(calmed, row.model_age, events);
  device_.write(sent);
  passivity_.hold(sent.wrench());
  last_ = sent.wrench();

  row.device = state_.pose;
  row.device_velocity = state_.velocity;
  row.buttons = state_.buttons;
  row.grip = state_.grip;
  row.grip_rate = state_.grip_rate;
  row.tool = result.tool;
  row.finger_forces = result.finger_forces;
  row.wanted = result.wrench;
  row.sent = sent.wrench();
  row.residual = result.residual;
  row.iterations = result.iterations;
  row.contacts = result.contacts;
  row.energy = energy();
  energy_max_ = std::max(energy_max_, row.energy);
  row.events = safety_.events_of_last_tick();
  return row;
}

void ToolLoop::fade_out(double time) noexcept {
  device_.read(time);
  device_.write(safety_.apply(last_, std::numeric_limits<double>::infinity()));
}

std::vector<std::string> list_notes(const RunParts& parts) {
  std::vector<std::string> out;
  for (const ToolParts& tool : parts.tools) {
    if (tool.method.note.empty()) continue;
    std::string note = fmt::format("{}: {}", tool.method.name, tool.method.note);
    if (std::find(out.begin(), out.end(), note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

std::vector<ToolLoop> make_tool_loops(const RunSettings& settings, const RunParts& parts) {
  std::vector<ToolLoop> out;
  if (const LoopMemory* before = find_memory(parts)) {
    if (!before->other_methods) return before->fast;
    for (std::size_t i = 0; i < before->fast.size(); ++i)
      out.emplace_back(before->fast[i], *parts.tools[i].method.fast);
    return out;
  }
  for (const ToolParts& tool : parts.tools) out.emplace_back(settings.dt, tool);
  return out;
}

MessageBytes copy_messages(std::span<const std::byte* const> messages, const RunParts& parts,
                           MessageLayout Method::*layout) {
  MessageBytes out;
  for (std::size_t i = 0; i < messages.size(); ++i)
    out.emplace_back(messages[i], messages[i] + (parts.tools[i].method.*layout).size);
  return out;
}

void restore_messages(const MessageBytes& bytes, std::span<std::byte* const> messages) {
  for (std::size_t i = 0; i < bytes.size(); ++i) std::copy(bytes[i].begin(), bytes[i].end(), messages[i]);
}

const LoopMemory* find_memory(const RunParts& parts) noexcept {
  return parts.memory ? parts.memory->loops.get() : nullptr;
}

SlowLoop::SlowLoop(const RunSettings& settings, const RunParts& parts)
    : halves_(slow_halves(parts)),
      watch_(parts.watch),
      step_(parts.tools.front().method.world, settings.dt, settings.slow_period, halves_),
      sequences_(parts.tools.size(), 0),
      messages_(parts.tools.size()) {
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    needed_ = needed_ || halves_[i];
    layouts_.push_back({parts.tools[i].method.feedback, parts.tools[i].method.model});
  }
  if (const LoopMemory* before = find_memory(parts)) sequences_ = before->models_sent;
}

StepRow SlowLoop::step(double time, std::span<const std::byte* const> feedbacks, std::span<std::byte* const> models) {
  StepRow row;
  row.time = time;
  if (watch_) watch_->before_step();
  const std::int64_t start = monotonic_ns();
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    if (halves_[i]) stamp(models[i], time, ++sequences_[i]);
  }
  step_.run(feedbacks, models, row);
  row.step_time = 1e-9 * static_cast<double>(monotonic_ns() - start);
  if (watch_) {
    for (std::size_t i = 0; i < halves_.size(); ++i) {
      if (halves_[i]) messages_[i] = {halves_[i], {layouts_[i].feedback, feedbacks[i]}, {layouts_[i].model, models[i]}};
    }
    watch_->after_step(row, messages_);
  }
  return row;
}

void remember(const RunParts& parts, const RunSettings& settings, LoopMemory memory) {
  if (!parts.memory) return;
  parts.memory->time = static_cast<double>(memory.next_tick) * settings.dt;
  parts.memory->loops = std::make_shared<LoopMemory>(std::move(memory));
}

void RunMemory::forget_methods() {
  if (!loops) return;
  loops = std::make_shared<LoopMemory>(*loops);
  loops->other_methods = true;
  loops->models_sent.assign(loops->models_sent.size(), 0);
  loops->models.clear();
  loops->feedbacks.clear();
  loops->under_way.clear();
}

std::int64_t first_step_after(std::int64_t tick, const RunSettings& settings) noexcept {
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(tick + 1) * settings.dt / settings.slow_period - 1e-9));
}

void forget_times(StepRow& row) noexcept {
  row.step_time = kNotMeasured;
  row.stage_time.fill(kNotMeasured);
}

void describe_rates(Fields& f, RunSettings& s) {
  const RunSettings d;
  f.number({.name = "dt", .doc = "fast period", .unit = "s"}, s.dt, d.dt, {1e-5, 0.1});
  f.number_or_auto({.name = "slow_period",
                    .doc = "slow period ΔT, at least dt; \"auto\": as short as the machine holds in real time, and in "
                           "virtual time the default",
                    .unit = "s"},
                   s.slow_period, s.auto_period, d.slow_period, {1e-5, 10.0});
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
}

void validate(const HandGuards& guards) {
  validate(guards.safety);
  validate(guards.input);
  if (guards.passivity) validate(*guards.passivity);
}

void check_parts(const RunSettings& settings, const RunParts& parts) {
  validate(settings);
  if (parts.tools.empty() || parts.tools.size() > kMaxTools)
    fail_input("a run of {} tools; allowed: 1 to {}", parts.tools.size(), kMaxTools);
  if (const LoopMemory* before = find_memory(parts); before && before->fast.size() != parts.tools.size())
    fail_input("a run of {} tools cannot go on from one of {}", parts.tools.size(), before->fast.size());
  std::vector<const Method*> methods;
  for (const ToolParts& tool : parts.tools) {
    validate(tool.guards);
    const Method& m = tool.method;
    if ((m.dt > 0.0 && m.dt != settings.dt) || (m.slow_period > 0.0 && m.slow_period != settings.slow_period))
      fail_input("method {} was made for periods of {} s and {} s, and the run has {} s and {} s", m.name, m.dt,
                 m.slow_period, settings.dt, settings.slow_period);
    if (m.world != parts.tools.front().method.world)
      fail_input("methods {} and {} are not in the same world", m.name, parts.tools.front().method.name);
    methods.push_back(&m);
  }
  check_sharing(methods);
}

}  // namespace palpate
