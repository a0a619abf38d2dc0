#include <gtest/gtest.h>

#include <thread>

#include "benches.h"
#include "palpate/core/error.h"

// Two devices of one vendor's library: a left and a right hand that must not be taken for each other.
namespace palpate::two_devices_test {
namespace {

using namespace testing;

template <typename Bench>
class TwoOfOneLibrary : public ::testing::Test {};
using Libraries = ::testing::Types<ForceDimensionBench, OpenHapticsBench>;
TYPED_TEST_SUITE(TwoOfOneLibrary, Libraries);

/// One hand of two, ticked in the test's own thread.
template <typename Bench>
struct Side {
  Bench bench;
  std::optional<Touch> touch;
  explicit Side(int device) : bench(device) {}
};

/// Ticks both until `done(state of the left, of the right)` or for `seconds`.
template <typename Bench>
bool run_both(Side<Bench>& left, Side<Bench>& right, double seconds,
              const std::function<bool(const DeviceState&, const DeviceState&)>& done) {
  return left.touch->run_until([&](const DeviceState& s) { return done(s, right.touch->tick()); }, seconds);
}

TYPED_TEST(TwoOfOneLibrary, EachConformsWhileTheOtherIsTriedUnpluggedAndPluggedIn) {
  TypeParam left(0), right(1);
  std::vector<std::string> wrong[2];
  std::thread other([&] { wrong[0] = find_nonconformities(left); });
  wrong[1] = find_nonconformities(right);
  other.join();
  EXPECT_EQ(joined(wrong[0]), "");
  EXPECT_EQ(joined(wrong[1]), "");
}

TYPED_TEST(TwoOfOneLibrary, PlaceButtonsAndForceAreEachHandsOwn) {
  Side<TypeParam> left(0), right(1);
  left.bench.hand.place({Vec3(-0.03, 0.01, 0.0), Quat::Identity()});
  right.bench.hand.place({Vec3(0.03, 0.0, 0.02), Quat::Identity()});
  left.bench.hand.press(1);
  right.bench.hand.press(2);
  left.touch.emplace(left.bench);
  right.touch.emplace(right.bench);
  left.touch->wrench.force = Vec3(1.0, 0.0, 0.0);
  right.touch->wrench.force = Vec3(0.0, -0.5, 0.0);
  DeviceState at[2];
  EXPECT_TRUE(run_both(left, right, 1.0, [&](const DeviceState& l, const DeviceState& r) {
    at[0] = l, at[1] = r;
    return left.bench.hand.felt().force.norm() > 0.9 && right.bench.hand.felt().force.norm() > 0.45;
  }));
  EXPECT_LT((at[0].pose.position - Vec3(-0.03, 0.01, 0.0)).norm(), 1e-6);
  EXPECT_LT((at[1].pose.position - Vec3(0.03, 0.0, 0.02)).norm(), 1e-6);
  EXPECT_EQ(at[0].buttons, 1u);
  EXPECT_EQ(at[1].buttons, 2u);
  EXPECT_LT((left.bench.hand.felt().force - Vec3(1.0, 0.0, 0.0)).norm(), 0.01);
  EXPECT_LT((right.bench.hand.felt().force - Vec3(0.0, -0.5, 0.0)).norm(), 0.01);
}

/// The library counts the devices that are plugged in: without the left one, the right one has its number. A left hand
/// that is looked for again must not find it.
TYPED_TEST(TwoOfOneLibrary, LeftThatIsLostDoesNotTakeTheRightOneAndComesBackAsItself) {
  Side<TypeParam> left(0), right(1);
  left.bench.hand.place({Vec3(-0.03, 0.0, 0.0), Quat::Identity()});
  right.bench.hand.place({Vec3(0.03, 0.0, 0.0), Quat::Identity()});
  left.touch.emplace(left.bench);
  right.touch.emplace(right.bench);
  left.touch->wrench.force = Vec3(1.0, 0.0, 0.0);
  right.touch->wrench.force = Vec3(0.0, 1.0, 0.0);
  const auto is_left_there = [](const DeviceState& l, const DeviceState&) { return l.present; };
  const auto is_right_pushed = [&](const DeviceState&, const DeviceState&) {
    return right.bench.hand.felt().force.y() > 0.9;
  };
  ASSERT_TRUE(run_both(left, right, 1.0, is_right_pushed));
  left.bench.unplug();
  ASSERT_TRUE(run_both(left, right, 0.5, [](const DeviceState& l, const DeviceState&) { return !l.present; }));
  // Many attempts to find it, all in vain; the right hand is not let go of, and feels nothing of the left one's force.
  bool found = false;
  double sideways = 0.0, least = 1.0;
  right.touch->take_longest_gap();
  run_both(left, right, 0.5, [&](const DeviceState& l, const DeviceState&) {
    found |= l.present;
    sideways = std::max(sideways, std::abs(right.bench.hand.felt().force.x()));
    least = std::min(least, right.bench.hand.felt().force.y());
    return false;
  });
  EXPECT_FALSE(found);
  EXPECT_EQ(sideways, 0.0);
  EXPECT_EQ(left.bench.hand.felt().force.norm(), 0.0);
  if (right.touch->take_longest_gap() < 15'000'000) {  // else the computer stood still
    EXPECT_GT(least, 0.9);
  }
  left.bench.plug();
  EXPECT_TRUE(run_both(left, right, 3.0, is_left_there));
  EXPECT_NEAR(left.touch->tick().pose.position.x(), -0.03, 1e-6);
  const auto is_left_pushed = [&](const DeviceState&, const DeviceState&) {
    return left.bench.hand.felt().force.x() > 0.9;
  };
  EXPECT_TRUE(run_both(left, right, 1.0, is_left_pushed));
  EXPECT_EQ(right.touch->driver().connections(), 1u);
}

TYPED_TEST(TwoOfOneLibrary, AThousandFaultsOfOneAreNotFeltAtTheOther) {
  Side<TypeParam> left(0), right(1);
  right.touch.emplace(right.bench);
  std::atomic<bool> done{false};
  double wrong = 0.0;
  std::thread other([&] {
    right.touch->wrench.force = Vec3(0.0, 0.0, 0.5);
    while (!done) {
      right.touch->tick();
      const Vec3 felt = right.bench.hand.felt().force;
      wrong = std::max({wrong, std::abs(felt.x()), std::abs(felt.y()), std::abs(felt.z()) - 0.5});
    }
  });
  const FaultResult result = run_faults(left.bench, 1000, 6);
  done = true;
  other.join();
  EXPECT_EQ(joined(result.wrong), "");
  EXPECT_LT(wrong, 1e-6);
  EXPECT_EQ(right.bench.hand.felt().torque.norm(), 0.0);
}

TYPED_TEST(TwoOfOneLibrary, OneDeviceIsNotGivenToTwoHands) {
  TypeParam left(0), right(1);
  const std::unique_ptr<DriverDevice> first = open_device(left.name());
  DriverDeviceSettings hasty;
  hasty.open_timeout = 0.3;
  try {
    open_device(left.name(), hasty);
    FAIL() << "opened twice";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("another tool's"), std::string::npos) << e.what();
  }
  EXPECT_EQ(first->connections(), 1u);
}

TEST(TwoDevices, WhichIsMeantIsSaidOrRefusedInPlainWords) {
  ForceDimensionBench left(0), right(1);
  DriverOptions options;
  options.where = std::string(PALPATE_DHD_DOUBLE) + "#1";
  const DriverProbe probe = find_driver("force-dimension").probe(options);
  EXPECT_TRUE(probe.usable());
  ASSERT_EQ(probe.devices.size(), 2u);
  EXPECT_EQ(probe.devices[1].which, "#1");
  EXPECT_EQ(probe.devices[1].info.max_force, 12.0);
  options.where = std::string(PALPATE_DHD_DOUBLE) + "#2";
  EXPECT_FALSE(find_driver("force-dimension").probe(options).usable());
  EXPECT_THROW(open_device(std::string("force-dimension:") + PALPATE_DHD_DOUBLE + "#left"), InputError);
  OpenHapticsBench touch(0);
  DriverDeviceSettings hasty;
  hasty.open_timeout = 0.05;
  EXPECT_THROW(open_device(std::string("open-haptics:") + PALPATE_HD_DOUBLE + "#Middle Device", hasty), InputError);
}

}  // namespace
}  // namespace palpate::two_devices_test
