#include "palpate/devices/first_touch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/haptics/input_guard.h"
#include "palpate/haptics/passivity.h"

namespace palpate {
namespace {

constexpr double kTouchDt = 1e-3;      // [s]
constexpr double kTouchDamping = 0.5;  // [N·s/m] of the floor
constexpr double kTouchFade = 0.1;     // [s]

/// The fast loop of a first touch. The time goes on from stage to stage, as the device asks.
class TouchLoop {
 public:
  TouchLoop(Device& device, const std::atomic<bool>& stop)
      : device_(device), stop_(stop), guard_({}, kTouchDt, kTouchFade), next_ns_(monotonic_ns()) {}

  /// `floor`: height [m]; `stiffness` 0: none.
  FirstTouchStage run(std::string name, double seconds, double floor, double stiffness, double max_force) {
    FirstTouchStage stage;
    stage.name = std::move(name);
    stage.reached_min.setConstant(std::numeric_limits<double>::infinity());
    stage.reached_max = -stage.reached_min;
    SafetySettings limits;
    limits.max_force = std::min(max_force, device_.info().max_force);
    limits.max_torque = 0.0;
    SafetyStage safety(limits, kTouchDt);
    PassivityController passivity({});
    Wrench last;
    for (double left = seconds; left > 0.0 && !stop_; left -= kTouchDt) {
      const DeviceState& state = wait_and_read(stage);
      Wrench wanted;
      const double gap = state.pose.position.y() - floor;
      if (guard_.ready() && stiffness > 0.0 && gap < 0.0)
        wanted.force.y() = std::max(0.0, -stiffness * gap - kTouchDamping * state.velocity.linear.y());
      stage.touching += wanted.force.y() > 0.0;
      const Wrench calmed = passivity.apply(wanted, state, kTouchDt);
      const std::uint32_t events = guard_.events_of_last_tick() | passivity.events_of_last_tick();
      const SafeWrench sent = safety.apply(calmed, 0.0, events);
      device_.write(sent);
      passivity.hold(sent.wrench());
      last = sent.wrench();
    }
    stage.peak_force = safety.counters().peak_force;
    stage.energy = passivity.observer().energy();
    for (double left = 2.0 * kTouchFade; left > 0.0; left -= kTouchDt) {
      FirstTouchStage unused;
      wait_and_read(unused);
      device_.write(safety.apply(last, std::numeric_limits<double>::infinity()));
    }
    return stage;
  }

  const DeviceState& state() const noexcept { return state_; }

 private:
  const DeviceState& wait_and_read(FirstTouchStage& stage) {
    next_ns_ = std::max(next_ns_ + static_cast<std::int64_t>(1e9 * kTouchDt), monotonic_ns() - 5'000'000);
    sleep_until_ns(next_ns_);
    stage.delays.add(std::max<std::int64_t>(monotonic_ns() - next_ns_, 0));
    ++stage.ticks;
    time_ += kTouchDt;
    state_ = guard_.take(device_.read(time_), time_);
    if (guard_.events_of_last_tick() != 0) {
      ++stage.lost_ticks;
    } else {
      stage.reached_min = stage.reached_min.cwiseMin(state_.pose.position);
      stage.reached_max = stage.reached_max.cwiseMax(state_.pose.position);
    }
    return state_;
  }

  Device& device_;
  const std::atomic<bool>& stop_;
  InputGuard guard_;
  DeviceState state_;
  double time_ = 0.0;
  std::int64_t next_ns_;
};

}  // namespace

std::vector<FirstTouchStage> run_first_touch(Device& device, const FirstTouchSettings& s,
                                             const std::function<void(const std::string&)>& say,
                                             const std::atomic<bool>& stop) {
  std::vector<FirstTouchStage> stages;
  TouchLoop loop(device, stop);
  say("Hold the handle lightly and move it about: there is no force yet.");
  stages.push_back(loop.run("free", s.free_seconds, 0.0, 0.0, s.weak_force));
  const double floor = loop.state().pose.position.y() - s.depth;
  if (!stop) {
    say(fmt::format("A weak floor is {:.0f} mm below your hand, {:.0f} N/m. Press on it gently.", 1e3 * s.depth,
                    s.weak_stiffness));
    stages.push_back(loop.run("weak floor", s.floor_seconds, floor, s.weak_stiffness, s.weak_force));
  }
  const double firm = std::min(s.firm_stiffness, 0.5 * device.info().max_stiffness);
  if (!stop) {
    say(fmt::format("The same floor, firmer: {:.0f} N/m, up to {:.1f} N. It should be still when you hold still.", firm,
                    std::min(s.firm_force, device.info().max_force)));
    stages.push_back(loop.run("firm floor", s.floor_seconds, floor, firm, s.firm_force));
  }
  return stages;
}

}  // namespace palpate
