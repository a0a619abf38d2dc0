#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "palpate/core/clock.h"
#include "palpate/haptics/tick_source.h"
#include "palpate/testing/by_the_clock.h"
#include "touch_rig.h"
#ifdef PALPATE_HD_DOUBLE
#include "palpate/devices/driver.h"
#include "palpate/devices/mapping.h"
#include "palpate/doubles/vendor_double.h"
#endif

// The realtime runtime with a fast loop that somebody else's thread calls.
namespace palpate::driven_test {
namespace {

using namespace testing;

/// A vendor's thread: calls every `period` while it is `awake`.
class FakeSource {
 public:
  explicit FakeSource(double period = 1e-3) : period_(static_cast<std::int64_t>(1e9 * period)) {
    thread_ = std::thread([this] { run(); });
  }
  ~FakeSource() {
    over_ = true;
    thread_.join();
  }
  TickSource source;
  std::atomic<bool> awake{true};
  std::thread::id id() const { return thread_.get_id(); }

 private:
  void run() {
    for (std::int64_t next = monotonic_ns(); !over_; sleep_until_ns(next)) {
      if (awake) source.run_tick();
      next = std::max(next + period_, monotonic_ns());
    }
  }
  const std::int64_t period_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// The pressing hand; knows in which thread it was asked, and whether two asked at once.
class WatchedHand final : public Device {
 public:
  const DeviceInfo& info() const noexcept override { return hand_->info(); }
  DeviceState read(double time) noexcept override {
    if (inside_.exchange(true)) twice = true;
    backwards = backwards || time < last_;
    last_ = time;
    ++(std::this_thread::get_id() == source ? by_source : by_others);
    return hand_->read(time);
  }
  void write(const SafeWrench& wrench) noexcept override {
    hand_->write(wrench);
    inside_ = false;
  }
  /// The method has been made, for which it was read once.
  void begin() {
    inside_ = false;
    by_others = 0;
  }
  std::thread::id source{};
  std::atomic<int> by_source{0}, by_others{0};
  std::atomic<bool> twice{false}, backwards{false};

 private:
  std::unique_ptr<Device> hand_ = make_pressing_hand(2);
  std::atomic<bool> inside_{false};
  double last_ = 0.0;
};

/// Halfspace on the floor.
struct Rig {
  World world = make_floor_world(0.0);
  Method method;
  Rows rows;
  explicit Rig(Device& device, double seconds) : method(make(device)), run(settings_for(seconds)) {}
  Method make(Device& device) {
    const RunSettings s = settings_for(1.0);
    return make_method(find_method("halfspace"),
                       {world, ToolSettings{}, s.dt, s.slow_period, device.read(0.0), {}, 0, {}});
  }
  RunSummary go(Device& device, TickSource* ticks, const RunControl& control = {}) {
    RealtimeSettings realtime{.priority = 0, .lock_memory = false, .pin = false};
    realtime.ticks = ticks;
    return run_realtime(run, realtime, RunParts(method, device, &rows, at_once()), control);
  }
  RunSettings run;
};

TEST(DrivenRun, TicksInTheSourcesThreadAndGivesTheForceOfAnUndrivenOne) {
  bool sound = true;  // never asked by two at once, nor of a time before the last
  expect_by_the_clock([&] {
    WatchedHand hand;
    FakeSource vendor;
    hand.source = vendor.id();
    Rig rig(hand, 0.8);
    hand.begin();
    const RunSummary s = rig.go(hand, &vendor.source);
    sound = sound && !hand.twice && !hand.backwards;
    EXPECT_EQ(s.ticks, rig.rows.ticks.size());
    EXPECT_GT(s.driven_ticks, s.ticks * 8 / 10);
    EXPECT_GE(static_cast<std::uint64_t>(hand.by_source), s.driven_ticks);
    // At rest, 5 mm deep, the force is the coupling's: it does not matter who ticks.
    const auto at_rest = [](const Rows& rows) {
      double most = 0.0;
      for (const TickRow& row : rows.ticks) most = std::max(most, row.sent.force.y());
      return most;
    };
    WatchedHand other;
    Rig undriven(other, 0.8);
    undriven.go(other, nullptr);
    EXPECT_GT(at_rest(undriven.rows), 1.0);
    EXPECT_NEAR(at_rest(rig.rows), at_rest(undriven.rows), 0.02 * at_rest(undriven.rows));
  });
  EXPECT_TRUE(sound) << "in any run";
}

TEST(DrivenRun, OwnThreadTicksWhileTheSourceIsSilentAndGivesTheLoopBack) {
  bool sound = true;  // never asked by two at once, nor of a time before the last
  expect_by_the_clock([&] {
    WatchedHand hand;
    FakeSource vendor;
    hand.source = vendor.id();
    Rig rig(hand, 0.6);
    hand.begin();
    // Silent from 0.2 to 0.4 s, by the loop's own clock.
    RunControl control;
    control.progress = [&](double t) { vendor.awake = t < 0.2 || t > 0.4; };
    const RunSummary s = rig.go(hand, &vendor.source, control);
    sound = sound && !hand.twice && !hand.backwards;
    std::array<int, 3> ticks{};  // before, while and after it is silent
    for (const TickRow& row : rig.rows.ticks) ++ticks[row.time < 0.2 ? 0 : row.time < 0.4 ? 1 : 2];
    for (const int n : ticks) EXPECT_GT(n, 100);
    EXPECT_GT(s.driven_ticks, 200u);
    EXPECT_LT(s.driven_ticks + 100, s.ticks);
  });
  EXPECT_TRUE(sound) << "in any run";
}

TEST(DrivenRun, SourceThatCallsTooOftenDoesNotHastenTheLoop) {
  expect_by_the_clock([] {
    WatchedHand hand;
    FakeSource vendor(0.25e-3);
    hand.source = vendor.id();
    Rig rig(hand, 0.3);
    const RunSummary s = rig.go(hand, &vendor.source);
    EXPECT_LT(s.ticks, 300u * 10 / 7);
    EXPECT_GT(s.driven_ticks, 150u);
  });
}

TEST(DrivenRun, SourceThatNeverCallsIsNoHindrance) {
  expect_by_the_clock([] {
    WatchedHand hand;
    TickSource nobody;
    Rig rig(hand, 0.3);
    const RunSummary s = rig.go(hand, &nobody);
    EXPECT_EQ(s.driven_ticks, 0u);
    EXPECT_GT(s.ticks, 200u);
  });
}

// Where the devices are built along: not in the program that ./test runs under the thread sanitizer, which has this
// layer alone. `scripts/check sanitize` has all.
#ifdef PALPATE_HD_DOUBLE

/// Down into the floor from 0.5 to 1.2 s, and again from 1.7 s on.
std::unique_ptr<HandPath> two_presses() {
  KeyframePathSettings path;
  path.times = {0.0, 0.5, 0.7, 1.1, 1.2, 1.7, 1.9};
  for (const double y : {0.02, 0.02, -0.008, -0.008, 0.02, 0.02, -0.008}) path.positions.push_back(Vec3(0, y, 0));
  return make_path(std::move(path));
}

TEST(DrivenRun, OpenHapticsSchedulerDrivesTheLoopAndItsSilenceTakesTheForceAway) {
  expect_by_the_clock([] {
    DoubleHand behind(simulated_device_preset("touch"), two_presses());
    VendorDouble vendor(behind, PALPATE_HD_DOUBLE);
    std::unique_ptr<DriverDevice> driver = open_device(std::string("open-haptics:") + PALPATE_HD_DOUBLE);
    TickSource* ticks = driver->tick_source();
    ASSERT_NE(ticks, nullptr);
    DeviceMappingSettings mapping;
    mapping.free_time = 0.05;
    mapping.return_ramp = 0.02;
    MappedDevice device(std::move(driver), mapping, 1e-3);
    Rig rig(device, 2.2);
    double touched = 0.0, silent = -1.0, muted_at = 0.0;
    RunControl control;
    control.progress = [&](double t) {
      if (muted_at == 0.0 && t > 0.9) {
        touched = behind.felt().force.y();
        vendor.inject(Fault::kMute);  // the scheduler hangs for 60 ms
        muted_at = t;
      } else if (silent < 0.0 && muted_at > 0.0 && t > muted_at + 0.05) {
        silent = behind.felt().force.norm();
      }
    };
    const RunSummary s = rig.go(device, ticks, control);
    EXPECT_GT(touched, 0.5);
    EXPECT_EQ(silent, 0.0);
    EXPECT_GT(s.driven_ticks, s.ticks / 2);
    EXPECT_LT(s.driven_ticks, s.ticks);  // while it hung, we ticked
    EXPECT_GE(s.hand().input.losses, 1u);
    EXPECT_GT(rig.rows.ticks.back().sent.force.y(), 0.5);  // it came back
  });
}

#endif

}  // namespace
}  // namespace palpate::driven_test
