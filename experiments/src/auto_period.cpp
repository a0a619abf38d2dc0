#include "palpate/experiments/auto_period.h"

#include <algorithm>
#include <cmath>

#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"

namespace palpate {
namespace {

/// Of the trial before the run: steps soon cost what they cost, and the run itself goes on measuring.
constexpr double kTrial = 1.0;  // contact [s]

/// Puts tools where their hands are. A hand that feels nothing has a tool that is there, to what the coupling makes of
/// kLightTouch; the world's own is as old as its last step, or ahead of the hand by as much. The world is as at the
/// start.
void place_tools(World& world, std::span<const TickRow> last) {
  for (std::size_t i = 0; i < last.size() && i < world.tools().size(); ++i) {
    Body* body = world.body(world.tools()[i]);
    const Pose& hand = last[i].device;
    const Twist& velocity = last[i].device_velocity;
    if (auto* rigid = dynamic_cast<RigidBody*>(body)) {
      const Pose handle = rigid->handle_pose(), &centre = rigid->centre_pose();
      const Quat turn = hand.rotation * handle.rotation.conjugate();
      const Vec3 arm = turn * (centre.position - handle.position);
      std::array<double, 13> state{};
      Eigen::Map<Vec3>(state.data()) = hand.position + arm;
      Eigen::Map<Eigen::Vector4d>(state.data() + 3) = (turn * centre.rotation).normalized().coeffs();
      Eigen::Map<Vec3>(state.data() + 7) = velocity.linear + velocity.angular.cross(arm);
      Eigen::Map<Vec3>(state.data() + 10) = velocity.angular;
      rigid->restore_state(state);
    } else if (auto* point = dynamic_cast<Particle*>(body)) {
      std::array<double, 6> state{};
      Eigen::Map<Vec3>(state.data()) = hand.position;
      Eigen::Map<Vec3>(state.data() + 3) = velocity.linear;
      point->restore_state(state);
    }
  }
}

using ToolStates = std::vector<std::vector<double>>;

ToolStates save_tools(const World& world) {
  ToolStates out;
  for (const int tool : world.tools()) {
    out.emplace_back(tool < 0 ? 0 : as_size(world.body(tool)->state_size()));
    if (tool >= 0) world.body(tool)->save_state(out.back());
  }
  return out;
}

void restore_tools(World& world, const ToolStates& states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!states[i].empty()) world.body(world.tools()[i])->restore_state(states[i]);
  }
}

}  // namespace

double find_rung(double step_time, double dt) noexcept {
  const double needed = holding_period(step_time, dt);
  for (const double rate : kAutoRates) {
    if (1.0 / rate >= needed * (1.0 - 1e-9)) return 1.0 / rate;
  }
  return 1.0 / kAutoRates.back();
}

bool settle_period(Scene& scene, const AdviceOptions& options) {
  if (!scene.run.auto_period) return false;
  AdviceOptions trial = options;
  trial.contact_seconds = kTrial;
  const std::vector<HeldTool> before = scene.tools;
  set_slow_period(scene, find_rung(kLoad * measure_period(scene, trial), scene.run.dt));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double given = before[i].guards.safety.stale_after;
    scene.tools[i].guards.safety.stale_after = std::max(given, 6.0 * scene.run.slow_period);
  }
  return true;
}

PeriodKeeper::PeriodKeeper(double period, double dt, double longest) noexcept
    : period_(period), dt_(dt), longest_(std::max(period, longest)), wanted_(period) {}

void PeriodKeeper::add(double step_time) noexcept {
  times_.add(static_cast<std::int64_t>(1e9 * step_time));
  elapsed_ += std::max(period_, step_time);
  if (times_.count() < kLeastSteps || elapsed_ < kWindow) return;
  const double p99 = 1e-9 * times_.compute_percentile_ns(0.99);
  times_ = {};
  elapsed_ = 0.0;
  const double asked = std::min(find_rung(p99, dt_), longest_);
  if (asked >= period_ * (1.0 - 1e-9)) {
    wanted_ = p99 > kLoad * period_ ? asked : period_;
    slowest_ = 0.0;
    calm_ = 0;
    return;
  }
  slowest_ = std::max(slowest_, asked);
  wanted_ = ++calm_ >= kCalmWindows ? slowest_ : period_;
}

PeriodWatch::PeriodWatch(const Scene& scene, LoopWatch* next, const std::atomic<bool>* stop)
    : dt_(scene.run.dt),
      longest_(std::ranges::min(scene.tools, {}, [](const HeldTool& t) { return t.guards.safety.stale_after; })
                   .guards.safety.stale_after /
               3.0),
      keeper_(scene.run.slow_period, dt_, longest_),
      next_(next),
      outer_(stop) {}

void PeriodWatch::go_on(double period) noexcept {
  keeper_ = PeriodKeeper(period, dt_, longest_);
  other_.store(false, std::memory_order_relaxed);
  resume();
}

void PeriodWatch::resume() noexcept {
  free_ticks_ = 0;
  change_.store(false, std::memory_order_relaxed);
  stop_.store(false, std::memory_order_relaxed);
}

void PeriodWatch::before_tick() noexcept {
  if (next_) next_->before_tick();
}

void PeriodWatch::after_tick(std::span<const TickRow> rows) noexcept {
  if (next_) next_->after_tick(rows);
  tools_ = rows.size();
  std::copy(rows.begin(), rows.end(), last_.begin());
  const bool busy =
      std::any_of(rows.begin(), rows.end(), [](const TickRow& row) { return row.sent.force.norm() > kLightTouch; });
  free_ticks_ = busy ? 0 : std::min(free_ticks_ + 1, 1 << 20);
  const bool outer = outer_ && outer_->load(std::memory_order_relaxed);
  const bool now = !outer && other_.load(std::memory_order_relaxed) && free_ticks_ * dt_ >= kFreeTime;
  if (now) change_.store(true, std::memory_order_relaxed);
  if (now || outer) stop_.store(true, std::memory_order_relaxed);
}

void PeriodWatch::before_step() {
  if (next_) next_->before_step();
}

void PeriodWatch::after_step(const StepRow& row, std::span<const ToolMessages> tools) {
  if (next_) next_->after_step(row, tools);
  // Once a change is under way what is wanted stays: the caller's thread reads it after the run.
  if (change_.load(std::memory_order_relaxed)) return;
  keeper_.add(row.step_time);
  other_.store(keeper_.wanted() != keeper_.period(), std::memory_order_relaxed);
}

std::vector<Method> renew_methods(const Scene& scene, const std::string& name, World& world,
                                  std::span<const TickRow> last, RunMemory& memory) {
  std::vector<DeviceState> states;
  for (const TickRow& row : last)
    states.push_back({.pose = row.device,
                      .velocity = row.device_velocity,
                      .buttons = row.buttons,
                      .grip = row.grip,
                      .grip_rate = row.grip_rate});
  WorldState state;
  world.save_state(state);
  // Methods begin with bodies as they were at the start, and with tools where they are: fast halves take both over.
  world.reset();
  place_tools(world, last);
  const ToolStates tools = save_tools(world);
  try {
    std::vector<Method> out = make_methods_at(scene, name, world, states);
    world.restore_state(state);
    restore_tools(world, tools);
    memory.forget_methods();
    return out;
  } catch (...) {
    world.restore_state(state);
    throw;
  }
}

}  // namespace palpate
