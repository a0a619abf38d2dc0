#include "palpate/haptics/input_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "palpate/core/error.h"

namespace palpate::input_guard_test {
namespace {

constexpr double kDt = 1e-3;
constexpr double kFade = 0.1;  ///< [s]
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// A hand that swings by 5 cm at 2 Hz, turns and closes.
DeviceState swing(int tick) {
  const double t = kDt * tick, w = 2.0 * M_PI * 2.0;
  DeviceState s;
  s.time = t;
  s.pose.position = Vec3(0.05 * std::sin(w * t), 0.1, 0.0);
  s.velocity.linear = Vec3(0.05 * w * std::cos(w * t), 0.0, 0.0);
  s.pose.rotation = rotation_from_vector(Vec3(0.0, 0.4 * std::sin(w * t), 0.0));
  s.velocity.angular = Vec3(0.0, 0.4 * w * std::cos(w * t), 0.0);
  s.grip = 0.5 - 0.5 * std::cos(w * t);
  s.grip_rate = 0.5 * w * std::sin(w * t);
  return s;
}

/// All that a sample says, exactly; a NaN is like nothing.
bool is_same(const DeviceState& a, const DeviceState& b) {
  return a.time == b.time && a.pose.position == b.pose.position &&
         a.pose.rotation.coeffs() == b.pose.rotation.coeffs() && a.velocity.linear == b.velocity.linear &&
         a.velocity.angular == b.velocity.angular && a.buttons == b.buttons && a.grip == b.grip &&
         a.grip_rate == b.grip_rate;
}

bool is_sane(const DeviceState& s) {
  return std::isfinite(s.time) && s.pose.position.allFinite() && s.pose.rotation.coeffs().allFinite() &&
         s.velocity.linear.allFinite() && s.velocity.angular.allFinite() && std::isfinite(s.grip) &&
         std::isfinite(s.grip_rate);
}

struct Fault {
  const char* name;
  std::uint32_t event;
  std::function<void(DeviceState&)> make;
};

/// One of each kind, each in a number of its own.
std::vector<Fault> all_faults() {
  return {
      {"time", kSampleBroken, [](DeviceState& s) { s.time = kNan; }},
      {"x", kSampleBroken, [](DeviceState& s) { s.pose.position.x() = kNan; }},
      {"z", kSampleBroken, [](DeviceState& s) { s.pose.position.z() = -kInf; }},
      {"rotation", kSampleBroken, [](DeviceState& s) { s.pose.rotation.y() = kInf; }},
      {"no rotation", kSampleBroken, [](DeviceState& s) { s.pose.rotation.coeffs().setZero(); }},
      {"velocity", kSampleBroken, [](DeviceState& s) { s.velocity.linear.y() = kNan; }},
      {"spin", kSampleBroken, [](DeviceState& s) { s.velocity.angular.z() = kNan; }},
      {"grip", kSampleBroken, [](DeviceState& s) { s.grip = kNan; }},
      {"closed too far", kSampleBroken, [](DeviceState& s) { s.grip = 7.0; }},
      {"grip rate", kSampleBroken, [](DeviceState& s) { s.grip_rate = kInf; }},
      {"older", kSampleOutOfOrder, [](DeviceState& s) { s.time -= 3 * kDt; }},
      {"from after now", kSampleOutOfOrder, [](DeviceState& s) { s.time += 1.0; }},
      {"jump", kSampleTooFar, [](DeviceState& s) { s.pose.position.y() += 0.02; }},
      {"huge", kSampleTooFar, [](DeviceState& s) { s.pose.position.x() = 1e300; }},
      {"turn", kSampleTooFar,
       [](DeviceState& s) { s.pose.rotation = rotation_from_vector(Vec3(0.3, 0.0, 0.0)) * s.pose.rotation; }},
      {"speed", kSampleTooFar, [](DeviceState& s) { s.velocity.linear.x() = 6.0; }},
      {"turn rate", kSampleTooFar, [](DeviceState& s) { s.velocity.angular.x() = -60.0; }},
      {"closing rate", kSampleTooFar, [](DeviceState& s) { s.grip_rate = 60.0; }},
  };
}

TEST(InputGuard, SoundSamplesPassUnchanged) {
  InputGuard guard({}, kDt, kFade);
  EXPECT_FALSE(guard.ready());
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(is_same(guard.take(swing(i), kDt * i), swing(i))) << i;
    ASSERT_EQ(guard.events_of_last_tick(), 0u);
  }
  EXPECT_TRUE(guard.ready());
  EXPECT_EQ(guard.counters().rejected(), 0u);
}

// A sample of each kind of fault is not taken and is counted under its reason; the next good one is.
TEST(InputGuard, EachFaultIsHeldCountedAndOverAtTheNextGoodSample) {
  for (const Fault& fault : all_faults()) {
    InputGuard guard({}, kDt, kFade);
    for (int i = 0; i < 100; ++i) guard.take(swing(i), kDt * i);
    DeviceState bad = swing(100);
    fault.make(bad);
    EXPECT_TRUE(is_same(guard.take(bad, 0.1), swing(99))) << fault.name;
    EXPECT_EQ(guard.events_of_last_tick(), fault.event) << fault.name;
    EXPECT_TRUE(is_same(guard.take(swing(101), 0.101), swing(101))) << fault.name;
    EXPECT_EQ(guard.events_of_last_tick(), 0u) << fault.name;
    const InputCounters& c = guard.counters();
    EXPECT_EQ(c.broken, fault.event == kSampleBroken ? 1u : 0u) << fault.name;
    EXPECT_EQ(c.out_of_order, fault.event == kSampleOutOfOrder ? 1u : 0u) << fault.name;
    EXPECT_EQ(c.too_far, fault.event == kSampleTooFar ? 1u : 0u) << fault.name;
    EXPECT_EQ(c.rejected(), 1u) << fault.name;
  }
}

// max_speed · elapsed divides what passes from what does not, whatever the tick, and elapsed grows while held.
TEST(InputGuard, ReachIsSpeedTimesTimeSinceTheLastGoodSample) {
  InputGuardSettings settings;
  settings.max_speed = 2.0;
  for (const double dt : {2.5e-4, 1e-3, 4e-3}) {
    for (const int bad : {0, 1, 4}) {
      for (const double share : {0.99, 1.01}) {
        InputGuard guard(settings, dt, kFade);
        DeviceState s;
        guard.take(s, 0.0);
        s.pose.position.x() = kNan;
        for (int i = 1; i <= bad; ++i) guard.take(s, s.time = dt * i);
        s.time = dt * (bad + 1);
        s.pose.position.x() = share * 2.0 * s.time;
        guard.take(s, s.time);
        EXPECT_EQ(guard.events_of_last_tick(), share < 1.0 ? 0u : static_cast<std::uint32_t>(kSampleTooFar)) << dt;
      }
    }
  }
}

// A device that samples at 250 Hz under a loop of 1 kHz moves four ticks' way at once, and says so by its times; one
// that gives no times repeats itself between.
TEST(InputGuard, DeviceSlowerThanTheLoopIsNotTooFast) {
  InputGuardSettings settings;
  settings.max_speed = 1.1 * 0.05 * 4.0 * M_PI;  // a tenth above the hand's own
  settings.max_turn_rate = 1.1 * 0.4 * 4.0 * M_PI;
  InputGuard guard(settings, kDt, kFade);
  for (int i = 0; i < 1000; ++i) guard.take(swing(i - i % 4), kDt * i);
  EXPECT_EQ(guard.counters().rejected(), 0u);
}

// The steps of an encoder are no motion, however short the tick.
TEST(InputGuard, EncoderStepsPassAtAnyRate) {
  InputGuard guard({}, 1e-5, kFade);
  DeviceState s;
  for (int i = 0; i < 1000; ++i) {
    s.time = 1e-5 * i;
    if (i % 100 == 0) s.pose.position.x() += 5.5e-5;
    guard.take(s, s.time);
  }
  EXPECT_EQ(guard.counters().rejected(), 0u);
}

TEST(InputGuard, NothingIsReadyBeforeTheFirstSoundSample) {
  for (const Fault& fault : all_faults()) {
    if (fault.event == kSampleTooFar && std::string(fault.name).find("rate") == std::string::npos) continue;
    InputGuard guard({}, kDt, kFade);
    DeviceState bad = swing(0);
    fault.make(bad);
    if (std::string(fault.name) == "older") continue;  // than none
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(is_sane(guard.take(bad, kDt * i)));
      bad.time += bad.time > 0.5 ? kDt : 0.0;  // a clock that runs ahead
      ASSERT_FALSE(guard.ready()) << fault.name;
      ASSERT_EQ(guard.events_of_last_tick(), fault.event | kInputLost) << fault.name;
    }
    guard.take(swing(200), 0.2);
    EXPECT_TRUE(guard.ready()) << fault.name;
    EXPECT_EQ(guard.events_of_last_tick(), 0u) << fault.name;
  }
}

// After hold_time the hand is at rest where it was last seen, and the safety stage is told in every tick.
TEST(InputGuard, HeldForItsTimeThenLostAtRest) {
  InputGuardSettings settings;
  settings.hold_time = 0.02;
  InputGuard guard(settings, kDt, kFade);
  for (int i = 0; i < 100; ++i) guard.take(swing(i), kDt * i);
  DeviceState bad = swing(100);
  bad.pose.position.x() = kNan;
  for (int i = 100; i < 400; ++i) {
    const DeviceState held = guard.take(bad, kDt * i);
    EXPECT_EQ(held.pose.position, swing(99).pose.position);
    const bool lost = i >= 120;
    EXPECT_EQ((guard.events_of_last_tick() & kInputLost) != 0, lost) << i;
    EXPECT_EQ(held.velocity.linear, lost ? Vec3(Vec3::Zero()) : swing(99).velocity.linear) << i;
    EXPECT_EQ(held.grip_rate, lost ? 0.0 : swing(99).grip_rate);
  }
  EXPECT_EQ(guard.counters().losses, 1u);
  EXPECT_EQ(guard.counters().broken, 300u);
}

/// Tick in which a device that is elsewhere from tick 100 on is taken again, or −1 within ten seconds.
int find_return(InputGuard& guard, const std::function<DeviceState(int)>& device) {
  for (int i = 0; i < 100; ++i) guard.take(swing(i), kDt * i);
  for (int i = 100; i < 10000; ++i) {
    const DeviceState sample = device(i);
    if (is_same(guard.take(sample, kDt * i), sample)) return i;
  }
  return -1;
}

// A device that was connected again elsewhere, or whose clock began anew, is taken when the force has left the hand.
TEST(InputGuard, DeviceThatIsNotPresentIsLostAtOnceAndReturnsWhenItAgreesAgain) {
  InputGuard guard({}, kDt, kFade);
  int tick = 0;
  for (; tick < 10; ++tick) guard.take(swing(tick), kDt * tick);
  DeviceState gone = swing(tick);
  gone.present = false;
  guard.take(gone, kDt * tick);
  EXPECT_EQ(guard.events_of_last_tick(), kSampleBroken | kInputLost);
  EXPECT_EQ(guard.counters().losses, 1u);
  const int back = ++tick;
  while (guard.take(swing(tick), kDt * tick), guard.events_of_last_tick() != 0) ++tick;
  // Lost for the fade at least, which is longer than the samples need to agree.
  EXPECT_NEAR(kDt * (tick - back), kFade, 1.5 * kDt);
}

TEST(InputGuard, RealJumpIsTakenAfterTheFade) {
  const auto elsewhere = [](int i) {
    DeviceState s = swing(i);
    s.pose.position += Vec3(0.0, 0.0, 0.5);
    return s;
  };
  const auto new_clock = [](int i) {
    DeviceState s = swing(i);
    s.time -= 0.1;
    return s;
  };
  {
    InputGuard guard({}, kDt, kFade);
    EXPECT_EQ(find_return(guard, elsewhere), 100 + 20 + 100);  // hold_time, fade_time
    EXPECT_EQ(guard.events_of_last_tick(), 0u);
    EXPECT_EQ(guard.counters().losses, 1u);
    EXPECT_EQ(guard.counters().rejected(), 120u);
  }
  {
    // A clock 0.1 s behind has caught up with the last good sample when it would be lost; make it wait longer.
    InputGuardSettings settings;
    settings.hold_time = 0.03;
    settings.settle_time = 0.3;
    InputGuard guard(settings, kDt, kFade);
    EXPECT_EQ(find_return(guard, new_clock), 100 + 30 + 1 + 300);  // the first after the loss begins the agreement
  }
}

// Samples that jump about at random never agree for long enough; nor does one that repeats a fault.
TEST(InputGuard, SamplesThatDisagreeAreNeverTakenAfterALoss) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> anywhere(-0.3, 0.3);
  InputGuard guard({}, kDt, kFade);
  EXPECT_EQ(find_return(guard,
                        [&](int i) {
                          DeviceState s = swing(i);
                          s.pose.position += Vec3(0.5 + anywhere(random), anywhere(random), anywhere(random));
                          return s;
                        }),
            -1);
}

// Whatever comes in, what goes out is finite and in order of time, and moves by leaps only after a loss.
TEST(InputGuard, WhateverComesIn_FiniteOrderedAndReachableGoesOut) {
  const std::vector<Fault> faults = all_faults();
  std::uint64_t losses = 0, settling = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    InputGuard guard({}, kDt, kFade);
    DeviceState last;
    std::uint64_t taken = 0;
    bool was_lost = true;
    int good_tick = 0;
    for (int i = 0; i < 3000; ++i) {
      DeviceState sample = swing(i);
      const bool wild = i / 100 % 3 == 1;
      if (wild && random() % 20 != 0) faults[random() % faults.size()].make(sample);
      const DeviceState out = guard.take(sample, kDt * i);
      const bool lost = (guard.events_of_last_tick() & kInputLost) != 0;
      ASSERT_TRUE(is_sane(out));
      taken += guard.ready() && is_same(out, sample);
      if (!was_lost && !lost) {
        ASSERT_GE(out.time, last.time);
        const double elapsed = std::max(kDt * (i - good_tick), out.time - last.time);
        ASSERT_LE((out.pose.position - last.pose.position).norm(), 5.0 * elapsed + 1e-8);
      }
      if (is_same(out, sample)) good_tick = i;
      was_lost = lost;
      last = out;
    }
    EXPECT_EQ(taken + guard.counters().rejected(), 3000u);
    losses += guard.counters().losses;
    settling += guard.counters().settling;
  }
  EXPECT_GT(losses, 10u);
  EXPECT_GT(settling, 100u);
}

TEST(InputGuard, BadSettingsAreRefusedByName) {
  InputGuardSettings settings;
  settings.max_speed = 0.0;
  try {
    InputGuard guard(settings, kDt, kFade);
    FAIL() << "accepted a hand that cannot move";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("input.max_speed = 0"), std::string::npos) << e.what();
  }
  settings = {};
  settings.hold_time = kNan;
  EXPECT_THROW(validate(settings), InputError);
  EXPECT_THROW(InputGuard(InputGuardSettings{}, 0.0, kFade), InputError);
}

// The two stages together: a device that is lost loses its force within fade_time, and gets it back by the ramp.
TEST(InputGuard, LostInputFadesTheForceAndReturnsByARamp) {
  SafetySettings limits;
  limits.ramp_time = 0.2;
  InputGuard guard({}, kDt, limits.fade_time);
  SafetyStage stage(limits, kDt);
  const Wrench wanted{Vec3(0.0, 4.0, 0.0), Vec3::Zero()};
  double last = 0.0;
  for (int i = 0; i < 1000; ++i) {
    DeviceState sample = swing(i);
    if (i >= 300) sample.pose.position += Vec3(0.0, 0.0, 0.4);
    guard.take(sample, kDt * i);
    const double sent = stage.apply(wanted, 0.0, guard.events_of_last_tick()).force().y();
    if (i >= 200 && i < 320) {
      EXPECT_EQ(sent, 4.0) << i;
    } else if (i >= 320 && i < 420) {
      EXPECT_LT(sent, last) << i;
    } else if (i >= 420) {
      // Steepest slope of the ramp is 1.5: no tick rises by more than 1.5 · 4 N · dt/ramp_time.
      EXPECT_LE(sent - last, 1.5 * 4.0 * kDt / limits.ramp_time + 1e-12) << i;
    }
    if (i == 419) {
      EXPECT_LT(sent, 1e-12);
    }
    last = sent;
  }
  EXPECT_NEAR(last, 4.0, 1e-12);
  EXPECT_EQ(stage.counters().input_lost, 100u);
  EXPECT_EQ(stage.counters().input_held, 120u);
}

}  // namespace
}  // namespace palpate::input_guard_test
