#include "palpate/haptics/safety.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "palpate/core/error.h"

namespace palpate::safety_test {
namespace {

constexpr double kDt = 1e-3;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
// A step is a sum of two rounded vectors no longer than the limit: a few units in the last place of the limit.
constexpr double kRounding = 1e-14;

Wrench force_wrench(const Vec3& f) {
  return {f, Vec3::Zero()};
}

/// Comes in at once: the tests of one law must not see the ramp.
SafetySettings without_ramp() {
  SafetySettings s;
  s.ramp_time = 0.0;
  return s;
}

/// Values that a broken method might send.
class Adversary {
 public:
  explicit Adversary(std::uint64_t seed) : random_(seed) {}
  double value() {
    switch (random_() % 12) {
      case 0:
        return kNan;
      case 1:
        return kInf;
      case 2:
        return -std::numeric_limits<double>::max();
      case 3:
        return std::numeric_limits<double>::denorm_min();
      case 4:
        return 1e200 * normal_(random_);
      default:
        return 5.0 * normal_(random_);
    }
  }
  /// Calm for a while, then wild for a while.
  Wrench wrench(int tick) {
    Wrench w;
    const bool wild = tick / 50 % 3 == 0;
    for (double& x : w.force) x = wild ? value() : 10.0 * normal_(random_);
    for (double& x : w.torque) x = wild ? value() : 0.3 * normal_(random_);
    return w;
  }
  double age() {
    const int kind = static_cast<int>(random_() % 40);
    return kind == 0 ? kNan : kind == 1 ? kInf : kind < 8 ? 1.0 : 0.02;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

TEST(SafetyStage, WhateverComesIn_FiniteShortAndSlowGoesOut) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SafetySettings settings;
    settings.ramp_time = 0.01 * static_cast<double>(seed % 4);
    settings.fade_time = 0.01 * static_cast<double>(seed % 3);
    SafetyStage stage(settings, kDt);
    Adversary adversary(seed);
    Wrench last;
    for (int tick = 0; tick < 2000; ++tick) {
      const SafeWrench sent = stage.apply(adversary.wrench(tick), adversary.age());
      ASSERT_TRUE(is_finite(sent.wrench()));
      ASSERT_LE(sent.force().norm(), settings.max_force * (1.0 + kRounding));
      ASSERT_LE(sent.torque().norm(), settings.max_torque * (1.0 + kRounding));
      ASSERT_LE((sent.force() - last.force).norm(), settings.max_force_rate * kDt + kRounding * settings.max_force);
      ASSERT_LE((sent.torque() - last.torque).norm(), settings.max_torque_rate * kDt + kRounding * settings.max_torque);
      last = sent.wrench();
    }
    EXPECT_GT(stage.counters().not_finite, 0u);
    EXPECT_GT(stage.counters().clamped, 0u);
    EXPECT_GT(stage.counters().slew_limited, 0u);
    EXPECT_GT(stage.counters().stale_model, 0u);
    EXPECT_EQ(stage.counters().ticks, 2000u);
  }
}

TEST(SafetyStage, ModestWrench_PassesUnchanged) {
  SafetyStage stage(without_ramp(), kDt);
  const Wrench wanted{Vec3(1.0, -0.5, 0.25), Vec3(0.01, 0.02, -0.03)};
  const SafeWrench sent = stage.apply(wanted, 0.02);
  EXPECT_EQ(sent.force(), wanted.force);
  EXPECT_EQ(sent.torque(), wanted.torque);
  EXPECT_EQ(stage.events_of_last_tick(), 0u);
}

TEST(SafetyStage, HugeForce_KeepsDirectionAtFullMagnitude) {
  for (const double size : {13.0, 1e6, 1e308}) {
    SafetyStage stage(without_ramp(), kDt);
    const Vec3 direction = Vec3(1.0, -2.0, 0.5).normalized();
    SafeWrench sent = stage.apply(force_wrench(size * direction), 0.0);
    for (int i = 0; i < 10; ++i) sent = stage.apply(force_wrench(size * direction), 0.0);
    EXPECT_NEAR(sent.force().norm(), 12.0, 12.0 * kRounding);
    EXPECT_LT((sent.force().normalized() - direction).norm(), kRounding);
    EXPECT_EQ(stage.events_of_last_tick(), static_cast<std::uint32_t>(kClamped));
    EXPECT_NEAR(stage.counters().peak_force, 12.0, 12.0 * kRounding);
  }
}

TEST(SafetyStage, Start_RampsMonotonicallyAndIsOpenAfterRampTime) {
  SafetySettings settings;
  settings.ramp_time = 0.1;
  SafetyStage stage(settings, kDt);
  double last = 0.0;
  for (int tick = 1; tick <= 100; ++tick) {
    const double sent = stage.apply(force_wrench(Vec3(4.0, 0.0, 0.0)), 0.0).force().x();
    EXPECT_GE(sent, last);
    // Steepest slope of smoothstep is 1.5: no tick rises by more than 1.5 · 4 N · dt/ramp_time.
    EXPECT_LE(sent - last, 1.5 * 4.0 * 0.01 + kRounding);
    if (tick == 50) {
      EXPECT_NEAR(sent, 2.0, 1e-12);
    }
    last = sent;
  }
  EXPECT_NEAR(last, 4.0, 1e-12);
}

TEST(SafetyStage, NotFinite_HoldsDirectionAndFadesToZeroInFadeTime) {
  SafetyStage stage(without_ramp(), kDt);
  const Vec3 f(0.0, 2.0, 1.0);
  stage.apply(force_wrench(f), 0.0);
  double last = f.norm();
  for (int tick = 1; tick <= 100; ++tick) {
    const SafeWrench sent = stage.apply(force_wrench(Vec3(kNan, 0.0, 0.0)), 0.0);
    EXPECT_LE(sent.force().norm(), last);
    EXPECT_LT(sent.force().cross(f).norm(), 1e-12);
    EXPECT_GE(sent.force().dot(f), 0.0);
    if (tick == 1) {
      EXPECT_GT(sent.force().norm(), 0.99 * f.norm());
    }
    last = sent.force().norm();
  }
  // 100 steps of 1/100 leave a progress of rounding size; smoothstep squares it.
  EXPECT_LT(last, 1e-12);
  EXPECT_EQ(stage.counters().not_finite, 100u);
}

TEST(SafetyStage, StaleModel_NeverGrowsWhateverIsWanted) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 50; ++round) {
    SafetyStage stage(without_ramp(), kDt);
    Wrench last = stage.apply({Vec3(1.0, 1.0, 0.0), Vec3(0.02, 0.0, 0.0)}, 0.0).wrench();
    const double age = round % 2 == 0 ? kNan : 0.3;
    for (int tick = 0; tick < 150; ++tick) {
      Wrench wanted;
      for (double& x : wanted.force) x = 8.0 * normal(random);
      for (double& x : wanted.torque) x = 8.0 * normal(random);
      if (tick % 17 == 0) wanted.force.x() = kInf;
      const Wrench sent = stage.apply(wanted, age).wrench();
      ASSERT_LE(sent.force.norm(), last.force.norm() * (1.0 + kRounding));
      ASSERT_LE(sent.torque.norm(), last.torque.norm() * (1.0 + kRounding));
      last = sent;
    }
    EXPECT_LT(last.force.norm(), 1e-12);
    EXPECT_LT(last.torque.norm(), 1e-12);
  }
}

TEST(SafetyStage, StaleModel_FollowsAHandThatLetsGo) {
  SafetyStage stage(without_ramp(), kDt);
  stage.apply(force_wrench(Vec3(2.0, 0.0, 0.0)), 0.0);
  const SafeWrench sent = stage.apply(force_wrench(Vec3(0.5, 0.0, 0.0)), 1.0);
  EXPECT_EQ(sent.force().x(), 0.5);
}

TEST(SafetyStage, FreshAgain_ReturnsByARampNotAStep) {
  SafetySettings settings = without_ramp();
  settings.ramp_time = 0.1;
  for (const int stale_ticks : {1, 20, 100, 500}) {
    SafetyStage stage(settings, kDt);
    for (int i = 0; i < 200; ++i) stage.apply(force_wrench(Vec3(1.0, 0.0, 0.0)), 0.0);
    double last = 1.0;
    for (int i = 0; i < stale_ticks; ++i) last = stage.apply(force_wrench(Vec3(1.0, 0.0, 0.0)), 1.0).force().x();
    // Meanwhile the wanted force has grown to 2 N: the way back up is as gentle as a ramp of 2 N.
    const double steepest = 1.5 * 2.0 * kDt / settings.ramp_time;
    for (int i = 0; i < 100; ++i) {
      const double sent = stage.apply(force_wrench(Vec3(2.0, 0.0, 0.0)), 0.0).force().x();
      ASSERT_GE(sent, last - kRounding);
      ASSERT_LE(sent - last, steepest + kRounding);
      last = sent;
    }
    EXPECT_NEAR(last, 2.0, 1e-12);
    EXPECT_EQ(stage.counters().slew_limited, 0u);
  }
}

TEST(SafetyStage, WithoutTorque_SendsForceAlone) {
  SafetySettings settings = without_ramp();
  settings.max_torque = 0.0;
  SafetyStage stage(settings, kDt);
  const SafeWrench sent = stage.apply({Vec3(1.0, 0.0, 0.0), Vec3(0.0, 0.1, 0.0)}, 0.0);
  EXPECT_EQ(sent.force().x(), 1.0);
  EXPECT_EQ(sent.torque(), Vec3(0.0, 0.0, 0.0));
}

TEST(SafetyStage, EarlierEvents_AreCountedAndReported) {
  SafetyStage stage(without_ramp(), kDt);
  stage.apply({}, 0.0, kPassivityDamped);
  EXPECT_EQ(stage.events_of_last_tick(), static_cast<std::uint32_t>(kPassivityDamped));
  EXPECT_EQ(stage.counters().passivity_damped, 1u);
}

TEST(SafetyStage, BadSettings_AreRefusedByName) {
  SafetySettings settings;
  settings.max_force_rate = -1.0;
  try {
    SafetyStage stage(settings, kDt);
    FAIL() << "accepted a negative rate";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("safety.max_force_rate = -1"), std::string::npos) << e.what();
  }
  settings = {};
  settings.max_force = kNan;
  EXPECT_THROW(validate(settings), InputError);
  EXPECT_THROW(SafetyStage(SafetySettings{}, 0.0), InputError);
}

}  // namespace
}  // namespace palpate::safety_test
