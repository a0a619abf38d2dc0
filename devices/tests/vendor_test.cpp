#include <gtest/gtest.h>

#include "benches.h"
#include "fake_protocol.h"
#include "palpate/core/error.h"

// Drivers of devices that are reached through a vendor's library or a daemon, each against its double.
namespace palpate::vendor_test {
namespace {

using testing::OpenHapticsBench;
using testing::SpaceMouseBench;
using testing::Touch;
using testing::wait_for;

/// A fast loop that is driven from outside: a spring to the origin.
struct DrivenLoop {
  DriverDevice& device;
  std::atomic<int> ticks{0};
  double time = 0.0;
  static void tick(void* self) noexcept {
    auto& loop = *static_cast<DrivenLoop*>(self);
    const DeviceState s = loop.device.read(loop.time += 1e-3);
    loop.device.write(testing::safe({-50.0 * s.pose.position, Vec3::Zero()}));
    ++loop.ticks;
  }
};

TEST(OpenHaptics, VendorsThreadCanDriveTheTick) {
  OpenHapticsBench bench;
  bench.hand.place({Vec3(0.02, 0.0, 0.0), Quat::Identity()});
  const std::unique_ptr<DriverDevice> device = open_device(bench.name());
  ASSERT_NE(device->tick_source(), nullptr);
  DrivenLoop loop{*device};
  device->tick_source()->drive({&DrivenLoop::tick, &loop});
  EXPECT_TRUE(wait_for([&] { return loop.ticks > 100; }));
  EXPECT_NEAR(bench.hand.felt().force.x(), -1.0, 1e-6);
  device->tick_source()->release();
  const int ticks = loop.ticks;
  EXPECT_TRUE(wait_for([&] { return bench.hand.felt().force.norm() == 0.0; }, 0.5));
  EXPECT_EQ(loop.ticks, ticks);
}

TEST(SpaceMouse, TurnsTheToolAsTheCapIsTwistedAndStopsWithIt) {
  SpaceMouseBench bench;
  Touch touch(bench);
  for (const Vec3& axis : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}) {
    const DeviceState before = touch.tick();
    bench.hand.place({}, {Vec3::Zero(), 0.75 * axis});
    touch.run(0.2);
    bench.hand.place({});
    touch.run(0.05);
    const DeviceState after = touch.run(0.05);
    const Vec3 turn = rotation_vector(after.pose.rotation * before.pose.rotation.conjugate());
    EXPECT_GT(turn.dot(axis), 0.9 * turn.norm());
    EXPECT_NEAR(turn.norm(), 0.15, 0.04);
    EXPECT_EQ(after.velocity.angular.norm(), 0.0);
  }
}

TEST(Vendors, ProbeTellsWhereTheLibraryIsOrWhatIsMissing) {
  for (const char* name : {"force-dimension", "open-haptics", "space-mouse"}) {
    DriverOptions nowhere;
    nowhere.where = "/nowhere/at.all";
    const DriverProbe none = find_driver(name).probe(nowhere);
    EXPECT_FALSE(none.usable()) << name;
    EXPECT_FALSE(none.steps.back().advice.empty()) << name;
  }
  DriverOptions dhd;
  dhd.where = PALPATE_DHD_DOUBLE;
  const DriverProbe found = find_driver("force-dimension").probe(dhd);
  EXPECT_TRUE(found.usable());
  EXPECT_EQ(found.found, PALPATE_DHD_DOUBLE);
  EXPECT_EQ(found.version, "SDK 3.0.0.0");
  DriverOptions hd;
  hd.where = PALPATE_HD_DOUBLE;
  ASSERT_EQ(find_driver("open-haptics").probe(hd).devices.size(), 1u);
  EXPECT_NEAR(find_driver("open-haptics").probe(hd).devices[0].info.max_stiffness, 500.0, 1e-9);
  DriverDeviceSettings hasty;
  hasty.open_timeout = 0.05;
  EXPECT_THROW(open_device("force-dimension:/nowhere/lib.so", hasty), InputError);
}

}  // namespace
}  // namespace palpate::vendor_test
