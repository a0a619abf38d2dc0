#include "palpate/haptics/passivity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "palpate/core/error.h"
#include "palpate/haptics/coupling.h"
#include "palpate/haptics/simulated.h"

namespace palpate::passivity_test {
namespace {

constexpr double kDt = 1e-3;

DeviceState moving(const Vec3& position, const Vec3& velocity) {
  DeviceState s;
  s.pose.position = position;
  s.velocity.linear = velocity;
  return s;
}

TEST(EnergyObserver, HeldForceOnAKnownMotion_GivesItsWork) {
  EnergyObserver observer;
  observer.observe({});
  observer.hold({Vec3(2.0, -1.0, 0.0), Vec3(0.0, 0.0, 0.3)});
  Pose end;
  end.position = Vec3(0.01, 0.02, 0.05);
  end.rotation = rotation_from_vector(Vec3(0.0, 0.0, -0.5));
  // 2·0.01 − 1·0.02 + 0.3·(−0.5)
  EXPECT_NEAR(observer.observe(end), -0.15, 1e-16);
  EXPECT_NEAR(observer.energy(), -0.15, 1e-16);
  EXPECT_EQ(observer.peak(), 0.0);
}

TEST(EnergyObserver, RoundTripThroughASampledSpring_GainsKTvd) {
  // In and out of a spring K at constant speed v to depth d, force sampled at T and held: each tick's force lags, so
  // the spring pushes back K·v·T less on the way in and more on the way out. Sum over N = d/(vT) ticks: K·T·v·d.
  constexpr double K = 800.0, v = 0.1;
  constexpr int N = 50;
  EnergyObserver observer;
  for (int n = 0; n <= 2 * N; ++n) {
    const double depth = v * kDt * (n <= N ? n : 2 * N - n);
    Pose pose;
    pose.position.x() = depth;
    observer.observe(pose);
    observer.hold({Vec3(-K * depth, 0.0, 0.0), Vec3::Zero()});
  }
  const double d = v * kDt * N;
  EXPECT_NEAR(observer.energy(), K * kDt * v * d, 1e-15);
}

TEST(EnergyObserver, NotFinitePose_LeavesTheSumFinite) {
  EnergyObserver observer;
  observer.observe({});
  observer.hold({Vec3(1.0, 0.0, 0.0), Vec3::Zero()});
  Pose broken;
  broken.position.x() = std::numeric_limits<double>::quiet_NaN();
  observer.observe(broken);
  Pose end;
  end.position.x() = 0.5;
  observer.observe(end);
  EXPECT_EQ(observer.energy(), 0.5);
}

TEST(PassivityController, ExcessIsGoneOneTickLater) {
  PassivityController controller({});
  const Vec3 v(0.2, 0.0, 0.0);
  controller.apply({}, moving(Vec3::Zero(), v), kDt);
  controller.hold({Vec3(1.0, 0.0, 0.0), Vec3::Zero()});  // pushes along: gives 1 N · 0.2 mm
  const Wrench damped = controller.apply({}, moving(v * kDt, v), kDt);
  EXPECT_NEAR(controller.account(), 2e-4, 1e-18);
  EXPECT_EQ(controller.events_of_last_tick(), static_cast<std::uint32_t>(kPassivityDamped));
  EXPECT_NEAR(damped.force.x(), -1.0, 1e-13);  // α = 2e-4/(0.04·1e-3) = 5 N·s/m, below the largest
  controller.hold(damped);
  const Wrench after = controller.apply({}, moving(2.0 * v * kDt, v), kDt);
  EXPECT_NEAR(controller.account(), 0.0, 1e-17);
  EXPECT_NEAR(after.force.norm(), 0.0, 1e-12);
}

TEST(PassivityController, DampingIsBoundedAndAtRestNothingIsAdded) {
  PassivitySettings settings;
  settings.max_damping = 10.0;
  PassivityController controller(settings);
  controller.apply({}, moving(Vec3::Zero(), Vec3::Zero()), kDt);
  controller.hold({Vec3(5.0, 0.0, 0.0), Vec3::Zero()});
  EXPECT_EQ(controller.apply({}, moving(Vec3(0.01, 0.0, 0.0), Vec3::Zero()), kDt).force.norm(), 0.0);
  const Vec3 slow(0.0, 0.001, 0.0);
  const Wrench w = controller.apply({}, moving(Vec3(0.01, 0.0, 0.0), slow), kDt);
  EXPECT_LT((w.force + 10.0 * slow).norm(), 1e-16);
}

TEST(PassivityController, CreditFromALongPassivePhaseIsBounded) {
  PassivitySettings settings;
  settings.credit_limit = 0.02;
  PassivityController controller(settings);
  const Vec3 v(0.1, 0.0, 0.0);
  double x = 0.0;
  for (int i = 0; i < 5000; ++i) {  // friction of 1 N over half a metre takes 0.5 J
    controller.apply({}, moving(Vec3(x, 0.0, 0.0), v), kDt);
    controller.hold({Vec3(-1.0, 0.0, 0.0), Vec3::Zero()});
    x += 0.1 * kDt;
  }
  EXPECT_EQ(controller.account(), -0.02);
  EXPECT_NEAR(controller.observer().energy(), -0.5, 1e-3);
  int ticks = 0;
  while (controller.events_of_last_tick() == 0 && ticks < 1000) {
    controller.apply({}, moving(Vec3(x, 0.0, 0.0), v), kDt);
    controller.hold({Vec3(1.0, 0.0, 0.0), Vec3::Zero()});
    x += 0.1 * kDt;
    ++ticks;
  }
  EXPECT_NEAR(ticks, 0.02 / (1.0 * 0.1 * kDt), 3);
}

TEST(PassivityController, AllowanceAboveDebtLimitIsRefused) {
  PassivitySettings settings;
  settings.allowance = 0.2;
  EXPECT_THROW(PassivityController{settings}, InputError);
}

struct Swing {
  double low = 1.0;
  double high = -1.0;
  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

/// A virtual wall at x = 0, free on the side x > 0, felt through a simulated device whose hand pulls it in.
struct WallRun {
  double stiffness = 1000.0;
  bool controlled = false;
  double encoder_resolution = 0.0;
  // Results.
  double swing = 0.0;   ///< largest minus smallest position in the last second [m]
  double early = 0.0;   ///< the same in the second before a sixth of the run [m]
  double energy = 0.0;  ///< given to the hand, at the end [J]
  double peak = 0.0;    ///< at its largest [J]
  std::uint64_t damped = 0;

  static constexpr double kDamping = 0.5;  ///< of the device; the hand adds none [N·s/m]
  static constexpr double kMass = 0.1;     ///< [kg]

  void run(double seconds) {
    SimulatedDeviceSettings s;
    s.mass = kMass;
    s.damping = kDamping;
    s.max_force = 1000.0;
    s.encoder_resolution = encoder_resolution;
    s.hand = {0.0, 0.0, 50.0, 0.0, 0.0, 0.0};
    KeyframePathSettings reach;  // 20 mm into the wall: presses with 1 N
    reach.times = {0.0, 0.5};
    reach.positions = {Vec3(0.005, 0.0, 0.0), Vec3(-0.02, 0.0, 0.0)};
    SimulatedDevice device(s, make_path(reach));
    PassivitySettings passivity;
    if (!controlled) passivity.max_damping = 0.0;
    PassivityController controller(passivity);
    SafetySettings wide;  // out of the way: the wall's own stability is the question
    wide.max_force = 1000.0;
    wide.max_force_rate = 1e7;
    wide.ramp_time = 0.0;
    SafetyStage safety(wide, kDt);
    Swing last, earlier;
    const int ticks = static_cast<int>(seconds / kDt);
    for (int tick = 0; tick < ticks; ++tick) {
      const DeviceState state = device.read(tick * kDt);
      const double x = state.pose.position.x();
      const Wrench wall{Vec3(x < 0.0 ? -stiffness * x : 0.0, 0.0, 0.0), Vec3::Zero()};
      const Wrench wanted = controller.apply(wall, state, kDt);
      const SafeWrench sent = safety.apply(wanted, 0.0, controller.events_of_last_tick());
      device.write(sent);
      controller.hold(sent.wrench());
      const double true_x = device.true_pose().position.x();
      if (tick >= ticks - 1000) last.add(true_x);
      if (tick < ticks / 6 && tick >= ticks / 6 - 1000) earlier.add(true_x);
    }
    swing = last.high - last.low;
    early = earlier.high - earlier.low;
    energy = controller.observer().energy();
    peak = controller.observer().peak();
    damped = safety.counters().passivity_damped;
  }
};

TEST(SampledWall, LosesStabilityAtTheColgateSchenkelLimit) {
  // Settled in the wall, the loop is linear: the held spring acts as if damped by −KT/2, to first order in ωT.
  // ωT = √(K/m)·T = 0.1 here, so the limit is met to about (ωT)² = 1 %. A swing that does not halve in
  // 50 s decays by less than ln 2/50 = 0.014/s, where KT/2 is within 2M·0.014 = 0.003 N·s/m of b: 0.6 % more.
  const double limit = max_passive_stiffness(WallRun::kDamping, 0.0, kDt);
  double stable = 0.5 * limit, unstable = 2.0 * limit;
  for (int i = 0; i < 10; ++i) {
    WallRun wall;
    wall.stiffness = 0.5 * (stable + unstable);
    wall.run(60.0);
    (wall.swing < 0.5 * wall.early ? stable : unstable) = wall.stiffness;
  }
  RecordProperty("stability_limit_N_per_m", std::to_string(stable));
  EXPECT_NEAR(stable, limit, 0.016 * limit);
}

TEST(SampledWall, FarAboveTheLimit_VibratesAndGivesEnergy) {
  WallRun calm;  // at 60 % of the limit a swing of millimetres decays by (b − KT/2)/2M = 1/s, for 8.5 s
  calm.stiffness = 600.0;
  calm.run(10.0);
  EXPECT_LT(calm.swing, 5e-6);
  WallRun wild;
  wild.stiffness = 4000.0;
  wild.run(10.0);
  EXPECT_GT(wild.swing, 1e-3);
  EXPECT_GT(wild.energy, 0.1);
}

TEST(SampledWall, PassivityController_BoundsEnergyAndStopsTheVibration) {
  for (const double resolution : {0.0, 1e-5}) {
    WallRun wild;
    wild.stiffness = 4000.0;
    wild.encoder_resolution = resolution;
    wild.run(10.0);
    WallRun tamed = wild;
    tamed.controlled = true;
    tamed.run(10.0);
    EXPECT_GT(tamed.damped, 0u);
    EXPECT_LT(tamed.peak, 0.01 * wild.energy);  // not zero: the controller acts after the fact, by bounded damping
    EXPECT_LT(tamed.swing, 0.05 * wild.swing);
  }
}

}  // namespace
}  // namespace palpate::passivity_test
