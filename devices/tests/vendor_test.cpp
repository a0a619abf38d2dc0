#include <gtest/gtest.h>

#include "conformance.h"
#include "fake_protocol.h"
#include "palpate/core/error.h"
#include "palpate/doubles/space_mouse_double.h"
#include "palpate/doubles/vendor_double.h"
#include "palpate/testing/temp_folder.h"

// Drivers of devices that are reached through a vendor's library or a daemon, each against its double.
namespace palpate::vendor_test {
namespace {

using testing::DeviceTraits;
using testing::DriverBench;
using testing::joined;
using testing::Touch;
using testing::wait_for;

class VendorBench : public DriverBench {
 public:
  VendorBench(Flaw flaw, std::string driver, std::string library)
      : DriverBench(flaw), vendor(hand, library), name_(driver + ":" + library) {}
  std::string name() const override { return name_; }
  void unplug() override { vendor.plug(false); }
  void plug() override { vendor.plug(true); }
  void inject(Fault fault, double seconds) override { vendor.inject(fault, seconds); }
  std::uint64_t faults_done() const override { return vendor.faults_done(); }

  VendorDouble vendor;

 private:
  std::string name_;
};

class ForceDimensionBench final : public VendorBench {
 public:
  explicit ForceDimensionBench(Flaw flaw = Flaw::kNone) : VendorBench(flaw, "force-dimension", PALPATE_DHD_DOUBLE) {}
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.twists = t.grips = true;
    t.buttons = 3;
    return t;
  }
};

class OpenHapticsBench final : public VendorBench {
 public:
  explicit OpenHapticsBench(Flaw flaw = Flaw::kNone) : VendorBench(flaw, "open-haptics", PALPATE_HD_DOUBLE) {}
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.buttons = 2;
    return t;
  }
};

class SpaceMouseBench final : public DriverBench {
 public:
  explicit SpaceMouseBench(Flaw flaw = Flaw::kNone) : DriverBench(flaw), folder_("spnav") { plug(); }
  std::string name() const override { return "space-mouse:" + path(); }
  DeviceTraits traits() const override {
    DeviceTraits t;
    t.turns = t.pushes = false;
    t.is_rate = true;
    t.buttons = 2;
    return t;
  }
  void unplug() override { mouse.reset(); }
  void plug() override { mouse = std::make_unique<SpaceMouseDouble>(hand, path()); }
  void inject(Fault fault, double seconds) override { mouse->inject(fault, seconds); }
  std::uint64_t faults_done() const override { return mouse->faults_done(); }

  std::unique_ptr<SpaceMouseDouble> mouse;

 private:
  std::string path() const { return folder_.path("spnav.sock").string(); }
  testing::TempFolder folder_;
};

const std::vector<Flaw> kAllFlaws{
    Flaw::kMirroredX,     Flaw::kSwappedYZ,      Flaw::kMillimetres, Flaw::kMirroredTurn,   Flaw::kMirroredSpeed,
    Flaw::kMirroredForce, Flaw::kSwappedForceXY, Flaw::kHalfForce,   Flaw::kSwappedButtons, Flaw::kStrongerThanTold};

template <typename Bench>
void expect_every_flaw_is_found(const std::vector<Flaw>& flaws) {
  for (const Flaw flaw : flaws) {
    Bench bench(flaw);
    EXPECT_FALSE(testing::find_nonconformities(bench, testing::HowFar::kUntilWrong).empty()) << static_cast<int>(flaw);
  }
}

template <typename Bench>
void expect_faults_are_survived(unsigned seed) {
  Bench bench;
  const testing::FaultResult result = testing::run_faults(bench, 1000, seed);
  EXPECT_EQ(joined(result.wrong), "");
  EXPECT_GT(result.connections, 50u);
}

TEST(ForceDimension, Conforms) {
  ForceDimensionBench bench;
  EXPECT_EQ(joined(testing::find_nonconformities(bench)), "");
}
TEST(ForceDimension, EveryFlawOfTheDoubleIsFound) {
  std::vector<Flaw> flaws = kAllFlaws;
  std::erase(flaws, Flaw::kMirroredSpeed);  // the velocity is not taken from the library
  expect_every_flaw_is_found<ForceDimensionBench>(flaws);
}
TEST(ForceDimension, AThousandFaultsNeitherCrashItNorPushTheHandTooHard) {
  expect_faults_are_survived<ForceDimensionBench>(3);
}

TEST(OpenHaptics, Conforms) {
  OpenHapticsBench bench;
  EXPECT_EQ(joined(testing::find_nonconformities(bench)), "");
}
TEST(OpenHaptics, EveryFlawOfTheDoubleIsFound) {
  expect_every_flaw_is_found<OpenHapticsBench>(kAllFlaws);
}
TEST(OpenHaptics, AThousandFaultsNeitherCrashItNorPushTheHandTooHard) {
  expect_faults_are_survived<OpenHapticsBench>(4);
}

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

TEST(SpaceMouse, Conforms) {
  SpaceMouseBench bench;
  EXPECT_EQ(joined(testing::find_nonconformities(bench)), "");
}
TEST(SpaceMouse, EveryFlawOfTheDoubleIsFound) {
  expect_every_flaw_is_found<SpaceMouseBench>(
      {Flaw::kMirroredX, Flaw::kSwappedYZ, Flaw::kMirroredSpeed, Flaw::kSwappedButtons});
}
TEST(SpaceMouse, AThousandFaultsNeitherCrashItNorPushTheHandTooHard) {
  expect_faults_are_survived<SpaceMouseBench>(5);
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
  EXPECT_NEAR(find_driver("open-haptics").probe(hd).info->max_stiffness, 500.0, 1e-9);
  DriverDeviceSettings hasty;
  hasty.open_timeout = 0.05;
  EXPECT_THROW(open_device("force-dimension:/nowhere/lib.so", hasty), InputError);
}

}  // namespace
}  // namespace palpate::vendor_test
