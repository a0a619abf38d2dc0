#include "palpate/devices/mapping.h"

#include <gtest/gtest.h>

#include <numbers>

#include "fake_protocol.h"
#include "palpate/core/error.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::mapping_test {
namespace {

constexpr double kDt = 1e-3;

/// A device that is where the test puts it, and keeps what it was sent.
struct StillDevice final : Device {
  DeviceInfo own;
  DeviceState state;
  Wrench sent;
  StillDevice() {
    own.name = "still";
    own.max_force = 5.0;
    own.max_torque = 0.5;
    own.max_stiffness = 1000.0;
    own.damping = 2.0;
    own.workspace_min = Vec3(-0.1, -0.1, -0.2);
    own.workspace_max = Vec3(0.1, 0.1, 0.2);
  }
  const DeviceInfo& info() const noexcept override { return own; }
  DeviceState read(double time) noexcept override {
    state.time = time;
    return state;
  }
  void write(const SafeWrench& w) noexcept override { sent = w.wrench(); }
};

/// A mapped device that is ready at once, and ticks.
struct Rig {
  explicit Rig(DeviceMappingSettings s, bool at_once = true) {
    if (at_once) s.free_time = s.return_ramp = 0.0;
    auto own = std::make_unique<StillDevice>();
    still = own.get();
    device = std::make_unique<MappedDevice>(std::move(own), s, kDt);
    if (at_once) tick(0.0);
  }
  DeviceState tick(double force_x) { return tick(Wrench{Vec3(force_x, 0, 0), Vec3::Zero()}); }
  DeviceState tick(const Wrench& w) {
    const DeviceState s = device->read(time += kDt);
    device->write(testing::safe(w));
    return s;
  }
  /// Often enough for the device's own rate limit.
  DeviceState settle(const Wrench& w) {
    for (int i = 0; i < 20; ++i) tick(w);
    return tick(w);
  }
  StillDevice* still = nullptr;
  std::unique_ptr<MappedDevice> device;
  double time = 0.0;
};

DeviceMappingSettings turned_and_scaled() {
  DeviceMappingSettings s;
  s.offset = Vec3(0.5, 0.2, -0.1);
  s.scale = 2.0;
  s.rotation = Vec3(0.0, std::numbers::pi / 2, 0.0);  // x of the device is −z of the scene
  return s;
}

TEST(Mapping, MovesTurnsAndScalesPoseAndVelocity) {
  Rig rig(turned_and_scaled());
  rig.still->state.pose.position = Vec3(0.01, 0.02, 0.0);
  rig.still->state.velocity.linear = Vec3(0.1, 0.0, 0.0);
  rig.still->state.pose.rotation = rotation_from_vector(Vec3(0.3, 0.0, 0.0));
  rig.still->state.velocity.angular = Vec3(0.7, 0.0, 0.0);
  const DeviceState s = rig.tick(0.0);
  EXPECT_LT((s.pose.position - Vec3(0.5, 0.24, -0.12)).norm(), 1e-12);
  EXPECT_LT((s.velocity.linear - Vec3(0.0, 0.0, -0.2)).norm(), 1e-12);
  EXPECT_LT((rotation_vector(s.pose.rotation) - Vec3(0.0, 0.0, -0.3)).norm(), 1e-12);
  EXPECT_LT((s.velocity.angular - Vec3(0.0, 0.0, -0.7)).norm(), 1e-12);
}

// Power at the hand is power in the scene times φ/s, for force and torque alike: nothing is made by the mapping.
TEST(Mapping, PowerAtTheHandIsThatInTheSceneByOneFactor) {
  Rig rig(turned_and_scaled());
  DeviceState& own = rig.still->state;
  own.velocity = {Vec3(0.1, -0.2, 0.05), Vec3(0.3, 0.4, -0.5)};
  const Wrench w{Vec3(0.4, 0.9, -1.2), Vec3(0.02, -0.03, 0.05)};
  const DeviceState s = rig.settle(w);
  const Wrench& sent = rig.still->sent;
  EXPECT_NEAR(sent.force.dot(own.velocity.linear), 0.25 * w.force.dot(s.velocity.linear), 1e-12);
  EXPECT_NEAR(sent.torque.dot(own.velocity.angular), 0.25 * w.torque.dot(s.velocity.angular), 1e-12);
}

TEST(Mapping, StiffnessIsFeltAsItIsUnlessAForceScaleIsGiven) {
  DeviceMappingSettings s;
  s.scale = 4.0;
  Rig rig(s);
  rig.still->state.pose.position.x() = -0.001;
  const double x = rig.tick(0.0).pose.position.x();
  rig.settle({Vec3(-800.0 * x, 0.0, 0.0), Vec3::Zero()});
  EXPECT_NEAR(rig.still->sent.force.x() / 0.001, 800.0, 1e-9);
  EXPECT_FALSE(find_mapping_warning(s, rig.still->own, 800.0).has_value());
  s.force_scale = 1.0;
  const auto warning = find_mapping_warning(s, rig.still->own, 800.0);
  ASSERT_TRUE(warning.has_value());
  EXPECT_NE(warning->find("3200 N/m at the hand"), std::string::npos) << *warning;
  EXPECT_NE(warning->find("force scale of 0.31"), std::string::npos) << *warning;
}

TEST(Mapping, InfoIsInTheScenesMeasure) {
  const StillDevice still;
  const DeviceInfo info = map_info(still.own, turned_and_scaled());
  EXPECT_LT((info.workspace_min - Vec3(0.1, 0.0, -0.3)).norm(), 1e-12);
  EXPECT_LT((info.workspace_max - Vec3(0.9, 0.4, 0.1)).norm(), 1e-12);
  EXPECT_NEAR(info.max_force, 10.0, 1e-12);
  EXPECT_NEAR(info.max_stiffness, 1000.0, 1e-12);
  EXPECT_NEAR(info.damping, 2.0, 1e-12);
}

TEST(Mapping, DeviceGetsNoMoreThanItCanGiveWhateverTheForceScale) {
  DeviceMappingSettings s;
  s.force_scale = 100.0;
  Rig rig(s);
  for (int i = 0; i < 50; ++i) {
    rig.tick(Wrench{Vec3(10.0, 10.0, 0.0), Vec3(3.0, 0.0, 0.0)});
    EXPECT_LE(rig.still->sent.force.norm(), 5.0);
    EXPECT_LE(rig.still->sent.torque.norm(), 0.5);
  }
  EXPECT_NEAR(rig.still->sent.force.norm(), 5.0, 1e-9);
}

TEST(Mapping, ClutchHoldsTheToolWhileTheHandMovesAndLetsNoForceThrough) {
  DeviceMappingSettings s;
  s.clutch_button = 1;
  Rig rig(s);
  DeviceState& own = rig.still->state;
  own.pose.position.x() = 0.02;
  rig.settle({Vec3(1.0, 0.0, 0.0), Vec3::Zero()});
  EXPECT_NEAR(rig.still->sent.force.x(), 1.0, 1e-12);
  own.buttons = 2;
  rig.tick(1.0);
  own.pose.position.x() = -0.05;
  own.velocity.linear.x() = 1.0;
  DeviceState out = rig.settle({Vec3(1.0, 0.0, 0.0), Vec3::Zero()});
  EXPECT_NEAR(out.pose.position.x(), 0.02, 1e-12);
  EXPECT_EQ(out.velocity.linear.x(), 0.0);
  EXPECT_EQ(rig.still->sent.force.x(), 0.0);
  own.buttons = 0;
  out = rig.tick(1.0);
  EXPECT_NEAR(out.pose.position.x(), 0.02, 1e-12);
  own.pose.position.x() = -0.04;
  EXPECT_NEAR(rig.tick(1.0).pose.position.x(), 0.03, 1e-12);
}

TEST(Mapping, DriftBringsTheHandBackToTheMiddleOnlyWhileNothingIsTouched) {
  DeviceMappingSettings s;
  s.drift = 0.2;
  for (const bool touching : {false, true}) {
    Rig rig(s);
    DeviceState& own = rig.still->state;
    // To and fro about 8 cm out: the scene goes along outwards, so the same tool position needs less reach.
    double out = 0.0;
    for (int i = 0; i < 1000; ++i) {
      own.pose.position.x() = 0.08 + 0.01 * std::sin(0.02 * i);
      own.velocity.linear.x() = 0.2 * std::cos(0.02 * i);
      out = rig.tick(touching ? 1.0 : 0.0).pose.position.x() - own.pose.position.x();
    }
    // 0.2 · 0.8 · (mean |v| = 0.127 m/s) · 1 s
    EXPECT_NEAR(out, touching ? 0.0 : 0.0204, 1e-3);
  }
}

TEST(Mapping, ForceComesBackOnlyWhereNothingIsTouchedAndByARamp) {
  Rig rig(DeviceMappingSettings{}, false);
  const auto run = [&](double seconds, double force) {
    double most = 0.0;
    for (int i = 0; i < static_cast<int>(seconds / kDt); ++i) {
      rig.tick(force);
      most = std::max(most, std::abs(rig.still->sent.force.x()));
    }
    return most;
  };
  EXPECT_EQ(run(2.0, 3.0), 0.0);  // begins inside something
  EXPECT_EQ(rig.device->phase(), DevicePhase::kWaiting);
  EXPECT_LE(run(0.7, 0.05), 0.05);  // free
  EXPECT_EQ(rig.device->phase(), DevicePhase::kReady);
  EXPECT_LT(run(0.1, 3.0), 2.9);
  EXPECT_NEAR(run(1.0, 3.0), 3.0, 1e-12);
  rig.still->state.present = false;
  rig.tick(3.0);
  rig.tick(3.0);
  EXPECT_EQ(rig.device->phase(), DevicePhase::kLost);
  EXPECT_LE(std::abs(rig.still->sent.force.x()), 0.0);
  rig.still->state.present = true;
  EXPECT_EQ(run(2.0, 3.0), 0.0);  // comes back inside it
  run(0.7, 0.0);
  EXPECT_GT(run(1.0, 3.0), 2.9);
}

TEST(Mapping, StopTakesTheForceAwayInOneTickAndItComesBackOnlyByAFreeHandAndARamp) {
  DeviceMappingSettings s;
  s.handle_mass = 0.1;
  Rig rig(s, false);
  DeviceDesk desk;
  rig.device->attach(desk);
  for (int i = 0; i < 700; ++i) rig.tick(0.0);
  for (int i = 0; i < 500; ++i) rig.tick(4.0);
  ASSERT_NEAR(rig.still->sent.force.x(), 4.0, 1e-12);
  desk.stop(DeviceDesk::kByHand);
  rig.tick(4.0);
  EXPECT_EQ(rig.still->sent.force.norm(), 0.0);  // the weight too
  EXPECT_EQ(rig.device->phase(), DevicePhase::kStopped);
  desk.stop(DeviceDesk::kByPause);
  desk.resume(DeviceDesk::kByHand);
  for (int i = 0; i < 2000; ++i) rig.tick(0.0);
  EXPECT_EQ(rig.device->phase(), DevicePhase::kStopped);  // for another reason
  desk.resume(DeviceDesk::kByPause);
  for (int i = 0; i < 2000; ++i) rig.tick(4.0);
  EXPECT_EQ(rig.still->sent.force.x(), 0.0);  // inside something
  EXPECT_EQ(rig.device->phase(), DevicePhase::kWaiting);
  for (int i = 0; i < 700 && rig.device->phase() != DevicePhase::kReady; ++i) rig.tick(0.0);
  double last = 0.0, step = 0.0;
  for (int i = 0; i < 500; ++i) {
    rig.tick(4.0);
    step = std::max(step, rig.still->sent.force.x() - last);
    last = rig.still->sent.force.x();
  }
  EXPECT_NEAR(last, 4.0, 1e-12);
  EXPECT_LE(step, 2.0 * 4.0 * kDt / s.return_ramp * (1.0 + 1e-9));  // the first of them are two steps of the ramp
}

TEST(Mapping, ReadingIsInTheDevicesOwnMeasure) {
  DeviceMappingSettings s = turned_and_scaled();
  s.clutch_button = 3;
  Rig rig(s);
  DeviceDesk desk;
  rig.device->attach(desk);
  rig.still->state.pose.position = Vec3(0.01, 0.02, 0.03);
  rig.still->state.buttons = 1;
  rig.settle({Vec3(0.0, 0.0, -2.0), Vec3::Zero()});  // along the device's x
  DeviceReading r{};
  ASSERT_TRUE(desk.read(r));
  EXPECT_EQ(r.position[2], 0.03);
  EXPECT_NEAR(r.asked[0], 1.0, 1e-12);
  EXPECT_NEAR(r.sent[0], 1.0, 1e-12);
  EXPECT_EQ(r.share, 1.0);
  EXPECT_EQ(r.buttons, 1u);
  EXPECT_EQ(r.phase, DevicePhase::kReady);
  EXPECT_FALSE(r.clutched);
  rig.still->state.buttons = 8;
  rig.settle({Vec3(0.0, 0.0, -2.0), Vec3::Zero()});
  ASSERT_TRUE(desk.read(r));
  EXPECT_TRUE(r.clutched);
  EXPECT_NEAR(r.asked[0], 1.0, 1e-12);
  EXPECT_EQ(r.sent[0], 0.0);
}

TEST(Mapping, ButtonClosesAHandWithoutAGrip) {
  DeviceMappingSettings s;
  s.grip_button = 2;
  Rig rig(s);
  rig.still->state.grip = 0.5;  // what the device itself says does not count then
  EXPECT_NEAR(rig.tick(0.0).grip, 0.0, 1e-12);
  rig.still->state.buttons = 4;
  DeviceState out;
  for (int i = 0; i < 100; ++i) out = rig.tick(0.0);
  EXPECT_NEAR(out.grip, 0.5, 0.01);  // in 0.2 s
  EXPECT_NEAR(out.grip_rate, 5.0, 1e-6);
  for (int i = 0; i < 200; ++i) out = rig.tick(0.0);
  EXPECT_EQ(out.grip, 1.0);
  EXPECT_EQ(out.grip_rate, 0.0);
  rig.still->state.buttons = 0;
  for (int i = 0; i < 300; ++i) out = rig.tick(0.0);
  EXPECT_EQ(out.grip, 0.0);
}

TEST(Mapping, WeightIsHeldWhileTheDeviceIsThereEvenBeforeTheForceIsBack) {
  DeviceMappingSettings s;
  s.handle_mass = 0.1;
  Rig rig(s, false);
  rig.settle({Vec3(3.0, 0.0, 0.0), Vec3::Zero()});
  EXPECT_LT((rig.still->sent.force - Vec3(0.0, 0.981, 0.0)).norm(), 1e-12);
  const double twice = 2.0;
  rig.device->set_weight(
      [](const void* c, const DeviceState&) noexcept { return Vec3(0.0, *static_cast<const double*>(c), 0.0); },
      &twice);
  rig.settle({});
  EXPECT_NEAR(rig.still->sent.force.y(), 2.0, 1e-12);
  rig.still->state.present = false;
  rig.settle({});
  EXPECT_EQ(rig.still->sent.force.y(), 0.0);
}

TEST(Mapping, BadSettingsAreRefusedByName) {
  DeviceMappingSettings s;
  s.scale = 0.0;
  try {
    validate(s);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("scale = 0"), std::string::npos) << e.what();
  }
}

TEST(Mapping, TickAllocatesLocksAndWaitsForNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  DeviceMappingSettings s = turned_and_scaled();
  s.clutch_button = 0;
  s.drift = 0.3;
  s.grip_button = 1;
  Rig rig(s);
  DeviceDesk desk;
  rig.device->attach(desk);
  const SafeWrench wrench = testing::push_x(1.0);
  const testing::RealtimeGuard guard;
  for (int i = 0; i < 300; ++i) {
    rig.still->state.buttons = i / 100 % 2;
    rig.still->state.present = i % 50 != 0;
    if (i == 200) desk.stop(DeviceDesk::kByHand);
    rig.device->read(kDt * i);
    rig.device->write(wrench);
  }
  EXPECT_EQ(guard.violations().total(), 0);
}

}  // namespace
}  // namespace palpate::mapping_test
