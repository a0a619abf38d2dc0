#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "palpate/core/error.h"
#include "palpate/haptics/device_list.h"
#include "palpate/haptics/replay.h"
#include "palpate/haptics/scripted.h"
#include "palpate/haptics/simulated.h"
#include "palpate/haptics/velocity.h"

namespace palpate::devices_test {
namespace {

constexpr double kDt = 1e-3;

std::unique_ptr<HandPath> still_path() {
  KeyframePathSettings s;
  s.times = {0.0};
  s.positions = {Vec3::Zero()};
  return make_path(std::move(s));
}

/// A constant wrench as the safety stage passes it, unchanged.
SafeWrench safe(const Wrench& w) {
  SafetySettings s;
  s.ramp_time = 0.0;
  s.max_force = 1000.0;
  s.max_torque = 100.0;
  s.max_force_rate = 1e7;
  s.max_torque_rate = 1e6;
  return SafetyStage(s, kDt).apply(w, 0.0);
}

/// Step response of M ẍ + B ẋ + K x = p from rest, underdamped.
double step_response(double M, double B, double K, double p, double t) {
  const double decay = B / (2.0 * M);
  const double rate = std::sqrt(K / M - decay * decay);
  return p / K * (1.0 - std::exp(-decay * t) * (std::cos(rate * t) + decay / rate * std::sin(rate * t)));
}

TEST(ScriptedDevice, ReadsItsPathWhateverForceItIsSent) {
  SinePathSettings sine;
  sine.amplitude = Vec3(0.01, 0.0, 0.0);
  ScriptedDevice device(make_path(sine));
  device.write(safe({Vec3(10.0, 0.0, 0.0), Vec3::Zero()}));
  const HandSample expected = make_path(sine)->at(0.37);
  const DeviceState s = device.read(0.37);
  EXPECT_EQ(s.time, 0.37);
  EXPECT_EQ(s.pose.position, expected.pose.position);
  EXPECT_EQ(s.velocity.linear, expected.velocity.linear);
}

std::vector<DeviceState> some_recording() {
  std::vector<DeviceState> samples;
  for (int i = 0; i < 20; ++i) {
    DeviceState s;
    s.time = 0.1 + i * 1e-3 / 3.0;
    s.pose.position = Vec3(std::sin(i), std::cos(i) / 3.0, 0.1 * i);
    s.pose.rotation = rotation_from_vector(Vec3(0.1 * i, 0.0, 0.05));
    s.velocity.linear = Vec3(0.3 * i, 0.0, -1.0 / 3.0);
    s.buttons = static_cast<std::uint32_t>(i % 3);
    samples.push_back(s);
  }
  return samples;
}

TEST(ReplayDevice, IsExactAtEachSampleBitForBit) {
  const std::vector<DeviceState> samples = some_recording();
  ReplayDevice device(samples);
  for (const DeviceState& s : samples) {
    const DeviceState r = device.read(s.time);
    EXPECT_EQ(r.time, s.time);
    EXPECT_EQ(r.pose.position, s.pose.position);
    EXPECT_EQ(r.pose.rotation.coeffs(), s.pose.rotation.coeffs());
    EXPECT_EQ(r.velocity.linear, s.velocity.linear);
    EXPECT_EQ(r.velocity.angular, s.velocity.angular);
    EXPECT_EQ(r.buttons, s.buttons);
  }
}

TEST(ReplayDevice, IsLinearBetweenSamplesAndStillBeyondThem) {
  const std::vector<DeviceState> samples = some_recording();
  ReplayDevice device(samples);
  const DeviceState& a = samples[4];
  const DeviceState& b = samples[5];
  const DeviceState middle = device.read(0.5 * (a.time + b.time));
  EXPECT_LT((middle.pose.position - 0.5 * (a.pose.position + b.pose.position)).norm(), 1e-12);
  // Halfway between; each angle comes from an arc function near zero, good to 1e-8 at least.
  EXPECT_NEAR(middle.pose.rotation.angularDistance(a.pose.rotation),
              middle.pose.rotation.angularDistance(b.pose.rotation), 1e-7);
  EXPECT_GT(middle.pose.rotation.angularDistance(a.pose.rotation), 0.04);
  EXPECT_EQ(middle.buttons, a.buttons);
  EXPECT_EQ(device.read(0.0).pose.position, samples.front().pose.position);
  EXPECT_EQ(device.read(9.0).pose.position, samples.back().pose.position);
  EXPECT_EQ(device.read(9.0).velocity.linear, Vec3(0.0, 0.0, 0.0));
}

TEST(ReplayDevice, RefusesARecordingThatIsEmptyOrRunsBackwards) {
  EXPECT_THROW(ReplayDevice({}), InputError);
  std::vector<DeviceState> samples = some_recording();
  std::swap(samples[3].time, samples[4].time);
  EXPECT_THROW(ReplayDevice{samples}, InputError);
  samples = some_recording();
  samples[2].pose.position.x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ReplayDevice{samples}, InputError);
}

TEST(SimulatedDevice, AnswersAConstantForceAsTheDampedOscillator) {
  SimulatedDeviceSettings s;
  s.rotational_inertia = 2e-4;
  s.rotational_damping = 1e-3;
  SimulatedDevice device(s, still_path());
  const Wrench push{Vec3(0.0, 1.0, 0.0), Vec3(0.05, 0.0, 0.0)};
  device.write(safe(push));
  const double M = s.mass + s.hand.mass, B = s.damping + s.hand.damping, K = s.hand.stiffness;
  const double I = s.rotational_inertia + s.hand.rotational_inertia;
  const double C = s.rotational_damping + s.hand.rotational_damping;
  for (int tick = 1; tick <= 2000; ++tick) {
    const DeviceState state = device.read(tick * kDt);
    // The exponential is good to 1e-15 a tick; 2000 ticks of 3 mm and 0.1 rad cannot add up to 1e-12, let alone 1e-9.
    ASSERT_NEAR(state.pose.position.y(), step_response(M, B, K, 1.0, tick * kDt), 1e-12);
    ASSERT_NEAR(rotation_vector(state.pose.rotation).x(),
                step_response(I, C, s.hand.rotational_stiffness, 0.05, tick * kDt), 1e-11);
  }
}

TEST(SimulatedDevice, DoesNotDependOnHowOftenItIsRead) {
  SimulatedDevice often({}, still_path());
  SimulatedDevice seldom({}, still_path());
  often.write(safe({Vec3(2.0, 0.0, 0.0), Vec3::Zero()}));
  seldom.write(safe({Vec3(2.0, 0.0, 0.0), Vec3::Zero()}));
  for (int i = 1; i < 500; ++i) often.read(i * 0.1e-3);
  EXPECT_LT((often.read(0.05).pose.position - seldom.read(0.05).pose.position).norm(), 1e-14);
}

TEST(SimulatedDevice, FollowsAMovingHandByItsTransferFunction) {
  SinePathSettings sine;
  sine.amplitude = Vec3(0.01, 0.0, 0.0);
  sine.frequency = 5.0;
  SimulatedDeviceSettings s;
  SimulatedDevice device(s, make_path(sine));
  const double M = s.mass + s.hand.mass, B = s.damping + s.hand.damping, K = s.hand.stiffness;
  const std::complex<double> iw(0.0, 2.0 * std::numbers::pi * sine.frequency);
  const std::complex<double> gain = (K + s.hand.damping * iw) / (M * iw * iw + B * iw + K);
  for (int tick = 0; tick < 4000; ++tick) {
    const double x = device.read(tick * kDt).pose.position.x();
    if (tick < 3000) continue;  // the start has decayed by e^(−B t/2M) < 1e-13
    const double steady = 0.01 * (gain * std::exp(iw * (tick * kDt))).imag();
    // A pull linear over a tick misses (ωT)²/12 = 8e-5 of it; the gain is about 2.
    ASSERT_NEAR(x, steady, 2e-4 * 0.01 * std::abs(gain));
  }
}

TEST(SimulatedDevice, CoulombFriction_StopsAtCoulombDistanceAndSticks) {
  SimulatedDeviceSettings s;
  s.mass = 0.2;
  s.damping = 0.0;
  s.coulomb_friction = 1.0;
  s.hand = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  SinePathSettings shove;
  shove.velocity = Vec3(0.3, 0.4, 0.0);  // sets off at 0.5 m/s, then nobody holds it
  SimulatedDevice device(s, make_path(shove));
  for (int tick = 1; tick <= 300; ++tick) device.read(tick * kDt);
  // m v²/(2 F) = 25 mm; the last substep of h = 1/8 ms may run on by less than (F/m) h² = 8e-8 m.
  const Pose rest = device.true_pose();
  EXPECT_LT((rest.position - 0.025 * Vec3(0.6, 0.8, 0.0)).norm(), 8e-8);
  device.write(safe({Vec3(0.0, 0.99, 0.0), Vec3::Zero()}));
  EXPECT_EQ(device.read(1.0).pose.position, rest.position);
  device.write(safe({Vec3(0.0, 1.01, 0.0), Vec3::Zero()}));
  EXPECT_GT(device.read(1.1).pose.position.y(), rest.position.y());
}

TEST(SimulatedDevice, MotorsGiveNoMoreThanTheirForce) {
  SimulatedDeviceSettings s;
  s.max_force = 3.0;
  SimulatedDevice strong({}, still_path());
  SimulatedDevice weak(s, still_path());
  strong.write(safe({Vec3(0.0, 3.0, 0.0), Vec3::Zero()}));
  weak.write(safe({Vec3(0.0, 300.0, 0.0), Vec3::Zero()}));
  EXPECT_LT((strong.read(0.02).pose.position - weak.read(0.02).pose.position).norm(), 1e-16);
}

TEST(SimulatedDevice, DelayedOutput_ActsExactlyOneTickLater) {
  SimulatedDeviceSettings s;
  s.delay_output = true;
  SimulatedDevice prompt({}, still_path());
  SimulatedDevice late(s, still_path());
  double before = 0.0;
  for (int tick = 0; tick < 100; ++tick) {
    const double t = tick * kDt;
    const double x = prompt.read(t).pose.position.x();
    // Read times differ in their last bit from tick to tick.
    ASSERT_NEAR(late.read(t).pose.position.x(), before, 1e-14);
    before = x;
    const SafeWrench w = safe({Vec3(std::sin(0.1 * tick) + 1.0, 0.0, 0.0), Vec3::Zero()});
    prompt.write(w);
    late.write(w);
  }
  EXPECT_GT(before, 1e-4);
}

TEST(SimulatedDevice, EncoderReadsMultiplesOfItsResolution) {
  SimulatedDeviceSettings s = simulated_device_preset("omega");
  SinePathSettings sine;
  sine.amplitude = Vec3(0.01, 0.003, 0.0);
  SimulatedDevice device(s, make_path(sine));
  double worst = 0.0;
  for (int tick = 0; tick < 1000; ++tick) {
    const DeviceState state = device.read(tick * kDt);
    const Vec3 steps = state.pose.position / s.encoder_resolution;
    ASSERT_LT((steps - Vec3(steps.array().round())).norm(), 1e-9);
    ASSERT_LE((state.pose.position - device.true_pose().position).cwiseAbs().maxCoeff(),
              0.5 * s.encoder_resolution * (1.0 + 1e-9));
    if (tick > 20) worst = std::max(worst, (state.velocity.linear - device.true_velocity().linear).norm());
  }
  // One step in a tick is 10 mm/s before the filter, which passes 1 − e^(−2π·0.1) = 0.47 of it on each of two axes; it
  // lags by 1.6 + 0.5 ms behind at most 0.01·(2π)² m/s², times the hand's resonant gain of 2 at most: 2 mm/s.
  EXPECT_LT(worst, 0.01 * 0.47 * std::sqrt(2.0) + 0.002);
  EXPECT_GT(worst, 0.0);
}

TEST(SimulatedDevice, JumpInTime_StaysBoundedAndSettlesWhereTheHandIs) {
  SimulatedDevice device(simulated_device_preset("touch"), still_path());
  device.write(safe({Vec3(1.0, 0.0, 0.0), Vec3::Zero()}));
  for (const double t : {0.5, 100.0, 1e9, 1e300}) EXPECT_TRUE(device.read(t).pose.position.allFinite());
  SimulatedDevice ideal(simulated_device_preset("ideal"), still_path());
  ideal.write(safe({Vec3(3.0, 0.0, 0.0), Vec3::Zero()}));
  EXPECT_NEAR(ideal.read(1e6).pose.position.x(), 3.0 / HandImpedance{}.stiffness, 1e-12);
}

TEST(SimulatedDevice, PresetsAreValidAndUnknownOnesAreRefused) {
  for (const std::string_view name : simulated_device_presets()) {
    EXPECT_NO_THROW(SimulatedDevice(simulated_device_preset(name), still_path())) << name;
  }
  EXPECT_EQ(SimulatedDevice(simulated_device_preset("touch"), still_path()).info().max_force, 3.3);
  EXPECT_THROW(simulated_device_preset("fathom"), InputError);
  SimulatedDeviceSettings s;
  s.mass = 0.0;
  EXPECT_THROW(SimulatedDevice(s, still_path()), InputError);
}

TEST(VelocityEstimator, ConvergesToAConstantVelocityAtItsCutoff) {
  VelocityEstimatorSettings s;
  s.cutoff = 50.0;
  VelocityEstimator estimator(s);
  const Vec3 v(0.1, -0.2, 0.3);
  const Vec3 w(0.0, 2.0, 0.0);
  for (int tick = 0; tick <= 20; ++tick) {
    Pose pose;
    pose.position = tick * kDt * v;
    pose.rotation = rotation_from_vector(tick * kDt * w);
    estimator.update(pose, kDt);
    const double share = 1.0 - std::exp(-2.0 * std::numbers::pi * 50.0 * tick * kDt);
    EXPECT_LT((estimator.estimate().linear - share * v).norm(), 1e-12);
    EXPECT_LT((estimator.estimate().angular - share * w).norm(), 1e-11);
  }
}

TEST(VelocityEstimator, PassesOverABrokenPose) {
  VelocityEstimatorSettings s;
  s.cutoff = std::numeric_limits<double>::infinity();
  VelocityEstimator estimator(s);
  Pose pose;
  estimator.update(pose, kDt);
  pose.position.x() = std::numeric_limits<double>::quiet_NaN();
  estimator.update(pose, kDt);
  pose.position.x() = 0.002;
  EXPECT_NEAR(estimator.update(pose, kDt).linear.x(), 1.0, 1e-12);
}

TEST(DeviceList, NamesEachKindOnce) {
  const std::vector<DeviceKind> kinds = list_device_kinds();
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].name, "scripted");
  EXPECT_EQ(kinds[1].name, "replay");
  EXPECT_EQ(kinds[2].name, "simulated");
}

}  // namespace
}  // namespace palpate::devices_test
