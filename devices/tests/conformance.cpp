#include "conformance.h"

#include "fake_protocol.h"
#include "palpate/core/clock.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::testing {

Touch::Touch(DriverBench& bench, double open_timeout) {
  DriverDeviceSettings settings;
  settings.retry_pause = 0.005;
  settings.open_timeout = open_timeout;
  std::unique_ptr<DriverDevice> driver = open_device(bench.name(), settings);
  driver_ = driver.get();
  DeviceMappingSettings mapping;  // ready at once: what waits for a free hand is tested elsewhere
  mapping.free_time = mapping.return_ramp = 0.0;
  mapping.free_force = 100.0;
  device_ = std::make_unique<MappedDevice>(std::move(driver), mapping, 1e-3);
  start_ns_ = next_ns_ = monotonic_ns();
}

DeviceState Touch::tick() {
  next_ns_ = std::max(next_ns_ + 1'000'000, monotonic_ns());
  sleep_until_ns(next_ns_);
  const std::int64_t now = monotonic_ns();
  if (ticked_at_ != 0) longest_gap_ = std::max(longest_gap_, now - ticked_at_);
  ticked_at_ = now;
  const DeviceState state = device_->read(1e-9 * static_cast<double>(now - start_ns_));
  if (!silent) device_->write(safe(wrench));
  return state;
}

DeviceState Touch::run(double seconds) {
  DeviceState state = tick();
  for (int i = ticks_in(seconds); i > 1; --i) state = tick();
  return state;
}

bool Touch::run_until(const std::function<bool(const DeviceState&)>& done, double seconds) {
  for (int i = ticks_in(seconds); i > 0; --i) {
    if (done(tick())) return true;
  }
  return false;
}

namespace {

using Wrong = std::vector<std::string>;

const Vec3 kDirections[] = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};

std::string text(const Vec3& v) {
  return fmt::format("({:.4g}, {:.4g}, {:.4g})", v.x(), v.y(), v.z());
}

/// Ticks that came later than this were kept waiting by the computer, and so was the driver [ns].
constexpr std::int64_t kStall = 15'000'000;
/// So often a check that the computer disturbed is made again.
constexpr int kAttempts = 20;

bool is_enough(const Touch& touch, const Wrong& wrong) {
  return touch.hasty && !wrong.empty();
}

void check_places(DriverBench& bench, Touch& touch, Wrong& wrong) {
  for (const Vec3& axis : kDirections) {
    if (is_enough(touch, wrong)) return;
    const Vec3 place = 0.03 * axis + Vec3(0.001, 0.002, 0.003);
    bench.hand.place({place, Quat::Identity()});
    Vec3 last;
    const auto there = [&](const DeviceState& s) {
      last = s.pose.position;
      return s.present && (s.pose.position - place).norm() < bench.traits().resolution;
    };
    if (!touch.run_until(there, 0.3)) wrong.push_back(fmt::format("is at {}, says {}", text(place), text(last)));
  }
}

void check_turns(DriverBench& bench, Touch& touch, Wrong& wrong) {
  for (const Vec3& axis : kDirections) {
    if (is_enough(touch, wrong)) return;
    const Vec3 turn = 0.4 * axis;
    bench.hand.place({Vec3::Zero(), rotation_from_vector(turn)});
    Vec3 last;
    const auto there = [&](const DeviceState& s) {
      last = rotation_vector(s.pose.rotation);
      return s.present && (last - turn).norm() < 2e-3;
    };
    if (!touch.run_until(there, 0.3)) wrong.push_back(fmt::format("is turned by {}, says {}", text(turn), text(last)));
  }
  bench.hand.place({});
}

/// A hand that moves steadily: velocity and the way it goes agree with the truth.
void check_speeds(DriverBench& bench, Touch& touch, Wrong& wrong) {
  for (const Vec3& axis : kDirections) {
    if (is_enough(touch, wrong)) return;
    const Vec3 speed = 0.1 * axis;
    DeviceState before, after;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      touch.run_until([](const DeviceState& s) { return s.present; }, 1.0);
      bench.hand.place({-0.015 * axis, Quat::Identity()}, {speed, Vec3::Zero()});
      touch.take_longest_gap();
      before = touch.run(0.1);
      after = touch.run(0.15);
      if (touch.take_longest_gap() < kStall) break;
    }
    const Vec3 way = (after.pose.position - before.pose.position) / (after.time - before.time);
    if (!((after.velocity.linear - speed).norm() <= 0.02))
      wrong.push_back(fmt::format("moves at {}, says {}", text(speed), text(after.velocity.linear)));
    if (!((way - speed).norm() <= 0.02)) wrong.push_back(fmt::format("moves at {}, goes {}", text(speed), text(way)));
  }
  bench.hand.place({});
  touch.run(0.1);
}

void check_buttons(DriverBench& bench, Touch& touch, Wrong& wrong) {
  for (int i = 0; i < bench.traits().buttons && !is_enough(touch, wrong); ++i) {
    bench.hand.press(1u << i);
    if (!touch.run_until([&](const DeviceState& s) { return s.buttons == 1u << i; }, 0.3))
      wrong.push_back(fmt::format("button {} is not seen", i));
  }
  bench.hand.press(0);
  if (!touch.run_until([&](const DeviceState& s) { return s.buttons == 0; }, 0.3))
    wrong.push_back("a button stays down");
  if (!bench.traits().grips) return;
  bench.hand.close(0.75);
  if (!touch.run_until([&](const DeviceState& s) { return std::abs(s.grip - 0.75) < 0.01; }, 0.3))
    wrong.push_back("the grip is not seen");
  bench.hand.close(0.0);
}

void check_wrenches(DriverBench& bench, Touch& touch, Wrong& wrong) {
  for (const Vec3& axis : kDirections) {
    if (is_enough(touch, wrong)) return;
    for (const double size : {1.0, -1.5}) {
      if (is_enough(touch, wrong)) return;
      touch.wrench = {size * axis, Vec3::Zero()};
      if (bench.traits().twists) touch.wrench.torque = 0.05 * size * axis;
      Wrench felt;
      const auto arrived = [&](const DeviceState&) {
        felt = bench.hand.felt();
        return (felt.force - touch.wrench.force).norm() <= bench.traits().force_share * std::abs(size) &&
               (felt.torque - touch.wrench.torque).norm() <= 1e-3;
      };
      if (!touch.run_until(arrived, 0.5))
        wrong.push_back(fmt::format("force {} and torque {} arrive as {} and {}", text(touch.wrench.force),
                                    text(touch.wrench.torque), text(felt.force), text(felt.torque)));
    }
  }
  touch.wrench = {};
  touch.run(0.01);
}

void check_limits(DriverBench& bench, Touch& touch, Wrong& wrong) {
  bench.hand.take_peak();
  double peak = 0.0;
  const double most = touch.driver().info().max_force;
  touch.wrench.force = Vec3(80.0, -60.0, 10.0);
  const auto is_strong = [&](const DeviceState&) {
    peak = std::max(peak, bench.hand.take_peak());
    return peak >= 0.9 * most;
  };
  touch.run_until(is_strong, 0.1);
  touch.run(0.05);  // and does it stay there?
  touch.wrench = {};
  touch.run(0.02);
  peak = std::max(peak, bench.hand.take_peak());
  if (!(most > 0.0 && most < 100.0)) wrong.push_back(fmt::format("the largest force is said to be {} N", most));
  if (peak > most * (1.0 + 1e-4)) wrong.push_back(fmt::format("{} N reach the hand, {} are allowed", peak, most));
  if (peak < 0.9 * most) wrong.push_back(fmt::format("of {} N only {} reach the hand", most, peak));
}

/// Against a thread of 1 kHz beside it: what the computer withholds from both does not count.
void check_rate(DriverBench& bench, Touch& touch, Wrong& wrong) {
  const std::uint64_t before = touch.driver().samples();
  touch.run(0.3);
  const double rate = static_cast<double>(touch.driver().samples() - before) / 0.3;
  if (rate < bench.traits().least_rate)
    wrong.push_back(fmt::format("{:.0f} samples a second, should be {:.0f}", rate, bench.traits().least_rate));
}

void check_loss(DriverBench& bench, Touch& touch, Wrong& wrong) {
  const bool pushes = bench.traits().pushes;
  touch.wrench.force = Vec3(2.0, 0.0, 0.0);
  touch.run(0.1);
  bench.unplug();
  if (!touch.run_until([](const DeviceState& s) { return !s.present; }, bench.traits().loss_time))
    wrong.push_back("a lost device is not noticed");
  if (pushes && bench.hand.felt().force.norm() != 0.0) wrong.push_back("a lost device still pushes");
  touch.run(0.05);
  // The fast loop falls silent: what it asked for before the loss must not come back with the device.
  touch.silent = true;
  bench.hand.take_peak();
  bench.plug();
  if (!touch.run_until([](const DeviceState& s) { return s.present; }, 3.0)) wrong.push_back("does not come back");
  touch.run(0.03);
  if (pushes && bench.hand.take_peak() != 0.0) wrong.push_back("an old force came back with the device");
  touch.silent = false;
  if (pushes && !touch.run_until([&](const DeviceState&) { return bench.hand.felt().force.norm() > 0.5; }, 1.0))
    wrong.push_back("no force after the return");
  touch.wrench = {};
  touch.run(0.02);
}

}  // namespace

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> find_nonconformities(DriverBench& bench, HowFar how_far) {
  Wrong wrong;
  bench.hand.place({});
  Touch touch(bench, how_far == HowFar::kAll ? 3.0 : 1.0);
  touch.hasty = how_far == HowFar::kUntilWrong;
  touch.run(0.05);
  const DeviceTraits traits = bench.traits();
  const auto check = [&](bool applies, void (*part)(DriverBench&, Touch&, Wrong&)) {
    if (applies && !is_enough(touch, wrong)) part(bench, touch, wrong);
  };
  check(!traits.is_rate, check_places);
  check(traits.turns && !traits.is_rate, check_turns);
  check(true, check_speeds);
  check(true, check_buttons);
  check(traits.pushes, check_wrenches);
  check(traits.pushes, check_limits);
  check(RealtimeGuard::available(), check_rate);  // a sanitizer is no measure of speed
  check(true, check_loss);
  return wrong;
}

FaultResult run_faults(DriverBench& bench, int count, unsigned seed) {
  std::mt19937 random(seed);
  FaultResult result;
  bench.hand.place({});
  Touch touch(bench);
  touch.wrench.force = Vec3(1.0, 1.0, 0.0);
  touch.run(0.02);
  bench.hand.take_peak();
  const double most = touch.driver().info().max_force * (1.0 + 1e-4);
  std::int64_t lost_since = 0;
  std::uint64_t felt_before = bench.hand.pushes();
  const auto tick = [&] {
    touch.wrench.force = Vec3(std::uniform_real_distribution(-60.0, 60.0)(random), 1.0, 0.0);
    const bool present = touch.tick().present;
    if (present) lost_since = 0;
    if (!present && lost_since == 0) lost_since = monotonic_ns();  // and a zero was given in this tick
    // Once the loss is known no force is handed to the transport, without any respite. What the hand is given later was
    // handed over before: it has not been given more forces than that.
    if (lost_since != 0 && touch.driver().handed_at() > lost_since && result.wrong.size() < 5)
      result.wrong.push_back(
          fmt::format("fault {}: sends a force, though it is lost: {}", result.faults, name_of(touch.driver().loss())));
    const std::uint64_t felt = bench.hand.pushes();
    const std::uint64_t handed = touch.driver().handed();
    if (felt > handed && result.wrong.size() < 5)
      result.wrong.push_back(fmt::format("fault {}: {} forces felt, {} sent", result.faults, felt, handed));
    if (lost_since == 0) felt_before = felt;
    result.under_way += felt - felt_before;
    felt_before = felt;
  };
  // Mostly what is over quickly: a thousand long silences would take a minute, and teach no more.
  std::discrete_distribution<int> kind{10, 12, 2, 10, 10, 8};
  for (; result.faults < count; ++result.faults) {
    const auto fault = static_cast<Fault>(kind(random));
    const bool long_delay = random() % 40 == 0;
    bench.inject(fault, std::uniform_real_distribution(0.0, long_delay ? 0.08 : 0.004)(random));
    for (int i = 0; i < 200 && bench.faults_done() <= static_cast<std::uint64_t>(result.faults); ++i) tick();
    for (int i = static_cast<int>(random() % 3); i > 0; --i) tick();
  }
  if (bench.faults_done() < static_cast<std::uint64_t>(count)) result.wrong.push_back("not all faults happened");
  if (!touch.run_until([](const DeviceState& s) { return s.present; }, 3.0))
    result.wrong.push_back("does not come back");
  touch.wrench.force = Vec3(1.0, 0.0, 0.0);
  if (bench.traits().pushes &&
      !touch.run_until([&](const DeviceState&) { return (bench.hand.felt().force - touch.wrench.force).norm() < 0.02; },
                       3.0))
    result.wrong.push_back("no force after the last fault");
  result.peak_force = bench.hand.take_peak();
  if (bench.traits().pushes && result.peak_force > most)
    result.wrong.push_back(fmt::format("{} N reached the hand, {} are allowed", result.peak_force, most));
  result.connections = touch.driver().connections();
  return result;
}

}  // namespace palpate::testing
