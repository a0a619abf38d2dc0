#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <string>
#include <vector>

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

/// What two devices said and felt that squeeze a block between them, along x.
struct Squeeze {
  double begin[2], end[2];   ///< in the scene [m]
  double sent[2];            ///< in the scene, the median of the time of rest [N]
  double felt[2];            ///< in the device's own frame, then [N]
  double peak[2], limit[2];  ///< [N]
  std::string names[2];      ///< of the methods
};

double find_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  if (values.empty()) return 0.0;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Squeeze squeeze_block() {
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
  constexpr double kSettled = 1.8, kLast = 2.1;  // of the time in which both rest [s]
  std::vector<double> felt[2];
  options.control.progress = [&](double t) {
    if (t < kSettled || t > kLast) return;
    felt[0].push_back(left.felt().force.x());
    felt[1].push_back(right.felt().force.x());
  };
  const SceneRun run = run_scene(scene, world, options, {devices[0].get(), devices[1].get()});
  Squeeze out{};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& ticks = run.all().at(i)->ticks;
    std::vector<double> sent;
    for (const auto& tick : ticks) {
      if (tick.time >= kSettled && tick.time <= kLast) sent.push_back(tick.sent.force.x());
    }
    out.names[i] = run.all()[i]->name;
    out.begin[i] = ticks.front().device.position.x();
    out.end[i] = ticks.back().device.position.x();
    out.sent[i] = find_median(sent);
    out.felt[i] = find_median(felt[i]);
  }
  out.peak[0] = left.take_peak(), out.limit[0] = haply.info().max_force * (1.0 + 1e-4);
  out.peak[1] = right.take_peak(), out.limit[1] = omega.info().max_force;
  return out;
}

/// What is not as it should be; nothing if all is.
std::string find_fault(const Squeeze& s) {
  // Both begin where the scene's hands do and go inward, mirror images of each other.
  if (std::abs(s.begin[0] + 0.055) > 1e-3 || std::abs(s.begin[1] - 0.055) > 1e-3) return "begins elsewhere";
  const double way[] = {s.end[0] - s.begin[0], s.begin[1] - s.end[1]};
  if (way[0] < 0.012 || std::abs(way[1] - way[0]) > 3e-3) return "other ways";
  // The block pushes each hand back to the device's left; of the right one half arrives, for its way is double.
  if (!(s.sent[0] < -0.2) || !(s.sent[1] > 0.2)) return "other forces";
  if (std::abs(s.felt[0] - s.sent[0]) > 0.1 * std::abs(s.sent[0])) return "the left hand feels another force";
  if (std::abs(s.felt[1] + 0.5 * s.sent[1]) > 0.1 * std::abs(s.sent[1])) return "the right hand feels another force";
  return "";
}

// By the clock, with a service and a library in processes of their own: where the machine stands still for a tenth of a
// second, forces are faded, as they should be, and a run says nothing. A wrong sign or scale is wrong in every run.
TEST(RealDevices, TwoOfThemSqueezeABlockEachWithItsMethodItsMappingAndItsLimits) {
  constexpr int kTries = 4;
  std::string faults;
  for (int i = 0; i < kTries; ++i) {
    const Squeeze s = squeeze_block();
    EXPECT_EQ(s.names[0], "direct");
    EXPECT_EQ(s.names[1], "jacobian");
    for (int k = 0; k < 2; ++k) EXPECT_LE(s.peak[k], s.limit[k]) << "in any run";
    const std::string fault = find_fault(s);
    if (fault.empty()) return;
    faults += fault + "; ";
  }
  FAIL() << "in each of " << kTries << " runs: " << faults;
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
