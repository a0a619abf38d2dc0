#include <gtest/gtest.h>

#include <numbers>

#include "palpate/core/error.h"
#include "palpate/doubles/haply_service.h"
#include "palpate/doubles/vendor_double.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/real_hand.h"

// Real devices in the hands of a scene, by their doubles.
namespace palpate::real_devices_test {
namespace {

/// Waits where it is for 1.2 s, long enough for the force to be let in, and goes `way` to the right in half a second.
std::unique_ptr<HandPath> reach_right(double way) {
  KeyframePathSettings path;
  path.times = {0.0, 1.2, 1.7};
  path.positions = {Vec3::Zero(), Vec3::Zero(), Vec3(way, 0.0, 0.0)};
  return make_path(std::move(path));
}

TEST(RealDevices, TwoOfThemSqueezeABlockEachWithItsMethodItsMappingAndItsLimits) {
  Scene scene = load_builtin_scene("two-hands");
  scene.run.seconds = 2.2;
  scene.tools[1].method = "jacobian";
  // The right one sits opposite: its right is the scene's left, and a centimetre of it is two.
  scene.tools[1].device.emplace();
  scene.tools[1].device->mapping.rotation = Vec3(0.0, std::numbers::pi, 0.0);
  scene.tools[1].device->mapping.scale = 2.0;
  const SimulatedDeviceSettings kind = simulated_device_preset("touch");
  DoubleHand left(kind, reach_right(0.02)), right(kind, reach_right(0.01));
  HaplyService service(left, {});
  VendorDouble library(right, PALPATE_DHD_DOUBLE);
  RealHand haply("haply:" + service.address());
  RealHand omega(std::string("force-dimension:") + PALPATE_DHD_DOUBLE);
  const std::unique_ptr<Device> devices[] = {haply.make_device(scene, 0), omega.make_device(scene, 1)};
  World world = make_world(scene);
  SceneRunOptions options;
  options.lockstep = false;
  options.realtime = {.priority = 0, .lock_memory = false, .pin = false};
  Wrench felt[2];
  options.control.progress = [&](double t) {
    if (t < 2.1) felt[0] = left.felt(), felt[1] = right.felt();
  };
  const SceneRun run = run_scene(scene, world, options, {devices[0].get(), devices[1].get()});
  ASSERT_EQ(run.all().size(), 2u);
  EXPECT_EQ(run.all()[0]->name, "direct");
  EXPECT_EQ(run.all()[1]->name, "jacobian");
  // Both begin where the scene's hands do and go inward, mirror images of each other.
  const auto x = [&](std::size_t tool, bool first) {
    const auto& ticks = run.all()[tool]->ticks;
    return (first ? ticks.front() : ticks.back()).device.position.x();
  };
  EXPECT_NEAR(x(0, true), -0.055, 1e-3);
  EXPECT_NEAR(x(1, true), 0.055, 1e-3);
  EXPECT_GT(x(0, false) - x(0, true), 0.012);
  EXPECT_NEAR(x(1, true) - x(1, false), x(0, false) - x(0, true), 3e-3);
  // The block pushes each hand back to the device's left; of the right one half arrives, for its way is double.
  const Vec3 at_left = run.all()[0]->ticks.back().sent.force, at_right = run.all()[1]->ticks.back().sent.force;
  EXPECT_LT(at_left.x(), -0.2);
  EXPECT_GT(at_right.x(), 0.2);
  EXPECT_NEAR(felt[0].force.x(), at_left.x(), 0.1 * std::abs(at_left.x()));
  EXPECT_NEAR(felt[1].force.x(), -0.5 * at_right.x(), 0.1 * std::abs(at_right.x()));
  EXPECT_LE(left.take_peak(), haply.info().max_force * (1.0 + 1e-4));
  EXPECT_LE(right.take_peak(), omega.info().max_force);
}

TEST(RealDevices, AnchorSaysWhereTheHandBegins) {
  Scene scene = load_builtin_scene("wall");
  DoubleHand hand;
  hand.place({Vec3(0.01, 0.02, 0.0), Quat::Identity()});
  VendorDouble library(hand, PALPATE_DHD_DOUBLE);
  RealHand omega(std::string("force-dimension:") + PALPATE_DHD_DOUBLE);
  SceneDevice device;
  device.mapping.offset = Vec3(0.0, 0.1, 0.0);
  device.mapping.scale = 3.0;
  scene.first().device = device;
  const Vec3 own = make_device(scene)->read(0.0).pose.position;
  EXPECT_LT((omega.make_device(scene, 0)->read(0.0).pose.position - (own + Vec3(0.0, 0.1, 0.0))).norm(), 1e-9);
  scene.first().device->anchor = DeviceAnchor::kOrigin;
  EXPECT_LT((omega.make_device(scene, 0)->read(0.0).pose.position - Vec3(0.03, 0.16, 0.0)).norm(), 1e-9);
}

}  // namespace
}  // namespace palpate::real_devices_test
