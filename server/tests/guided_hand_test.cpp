#include "palpate/server/guided_hand.h"

#include <gtest/gtest.h>

#include "palpate/testing/realtime_guard.h"

namespace palpate::guided_hand_test {
namespace {

/// A hand that moves along x at 0.1 m/s.
class StraightHand final : public Device {
 public:
  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override {
    DeviceState s;
    s.time = time;
    s.pose.position = Vec3(0.1 * time, 0.0, 0.0);
    s.velocity.linear = Vec3(0.1, 0.0, 0.0);
    return s;
  }
  void write(const SafeWrench&) noexcept override {}

 private:
  DeviceInfo info_;
};

constexpr double kDt = 0.001;

TEST(GuidedHand, IsTheScenesOwnUntilTaken) {
  GuidedHand hand(std::make_unique<StraightHand>());
  for (int i = 0; i < 100; ++i) {
    const DeviceState s = hand.read(i * kDt);
    EXPECT_EQ(s.pose.position.x(), 0.1 * (i * kDt));
    EXPECT_EQ(s.velocity.linear.x(), 0.1);
  }
}

// A pointer that jumps by a metre moves the hand no faster than the spring at its longest lead, ω·lead/e, and never
// with a step in velocity: its acceleration is bounded by ω²·lead plus twice ω times that speed.
TEST(GuidedHand, JumpOfThePointerIsNoJumpOfTheHand) {
  GuidedHand hand(std::make_unique<StraightHand>());
  DeviceState last = hand.read(0.0);
  hand.hold({Vec3(0.0, 1.0, 0.0), Quat(0.0, 1.0, 0.0, 0.0)});
  const double w = GuidedHand::kFrequency;
  double fastest = 0.0;
  for (int i = 1; i < 4000; ++i) {
    const DeviceState s = hand.read(i * kDt);
    const double speed = s.velocity.linear.norm();
    fastest = std::max(fastest, speed);
    EXPECT_LE((s.velocity.linear - last.velocity.linear).norm(),
              kDt * (w * w * GuidedHand::kMaxLead + 2.0 * w * (speed + 0.1)));
    // Position is velocity's integral: off by half an acceleration.
    EXPECT_LE((s.pose.position - last.pose.position - kDt * s.velocity.linear).norm(),
              0.5 * kDt * kDt * (w * w * GuidedHand::kMaxLead + 2.0 * w * (speed + 0.1)));
    last = s;
  }
  EXPECT_LT(fastest, w * GuidedHand::kMaxLead);  // held at the longest lead it runs at half ω·lead, see the header
  EXPECT_LT((last.pose.position - Vec3(0.0, 1.0, 0.0)).norm(), 1e-6);
  EXPECT_LT(last.pose.rotation.angularDistance(Quat(0.0, 1.0, 0.0, 0.0)), 1e-6);
}

TEST(GuidedHand, LetGoGivesTheHandBackWithoutAJump) {
  GuidedHand hand(std::make_unique<StraightHand>());
  hand.read(0.0);
  hand.hold({Vec3(0.0, 0.03, 0.0), Quat::Identity()});
  for (int i = 1; i < 500; ++i) hand.read(i * kDt);
  hand.let_go();
  DeviceState last = hand.read(0.5);
  for (int i = 501; i < 3000; ++i) {
    const DeviceState s = hand.read(i * kDt);
    EXPECT_LT((s.pose.position - last.pose.position - kDt * s.velocity.linear).norm(), 2.5e-4);  // where it locks on
    last = s;
  }
  EXPECT_EQ(last.pose.position.x(), 0.1 * (2999 * kDt));
}

// A key that is pressed closes the hand smoothly: the grip's rate is its derivative, and it never leaves 0 to 1.
TEST(GuidedHand, GripFollowsWithoutAJumpAndGoesBackWhenLetGo) {
  GuidedHand hand(std::make_unique<StraightHand>());
  DeviceState last = hand.read(0.0);
  hand.hold({Vec3::Zero(), Quat::Identity()}, 1.0);
  const double w = GuidedHand::kFrequency;
  for (int i = 1; i < 1000; ++i) {
    const DeviceState s = hand.read(i * kDt);
    EXPECT_LE(std::abs(s.grip - last.grip - kDt * s.grip_rate), 0.5 * kDt * kDt * 2.0 * w * w);
    EXPECT_GE(s.grip, last.grip);
    EXPECT_LE(s.grip, 1.0);
    last = s;
  }
  EXPECT_NEAR(last.grip, 1.0, 1e-6);
  hand.let_go();
  for (int i = 1000; i < 3000; ++i) last = hand.read(i * kDt);
  EXPECT_EQ(last.grip, 0.0);
}

// The scene's hand goes on where it was, and samples carry the time of the run that reads them.
TEST(GuidedHand, SamplesCarryTheTimeOfTheirRun) {
  GuidedHand hand(std::make_unique<StraightHand>());
  hand.begin(5.0);
  const DeviceState state = hand.read(0.25);
  EXPECT_EQ(state.time, 0.25);
  EXPECT_DOUBLE_EQ(state.pose.position.x(), 0.1 * 5.25);
}

TEST(GuidedHand, ReadAllocatesNothing) {
  GuidedHand hand(std::make_unique<StraightHand>());
  hand.hold({Vec3(0.0, 0.03, 0.0), Quat::Identity()});
  const testing::RealtimeGuard guard;
  for (int i = 0; i < 100; ++i) hand.read(i * kDt);
  EXPECT_EQ(guard.violations().total(), 0);
}

}  // namespace
}  // namespace palpate::guided_hand_test
