#include "palpate/experiments/auto_period.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/scene/builtin.h"

namespace palpate::auto_period_test {
namespace {

constexpr double kDt = 0.001;

TEST(FindRung, IsTheFastestThatLeavesThreeTenthsOfTheTime) {
  for (double step = 1e-6; step < 0.069; step *= 1.07) {
    const double period = find_rung(step, kDt);
    EXPECT_GE(period * kLoad, step * (1.0 - 1e-9)) << step;
    EXPECT_GE(period, kDt * (1.0 - 1e-9));
    for (const double rate : kAutoRates) {
      const double faster = 1.0 / rate;
      if (faster < period) {
        EXPECT_TRUE(faster * kLoad < step || faster < kDt) << step << " " << rate;
      }
    }
  }
  EXPECT_EQ(find_rung(1.0, kDt), 1.0 / kAutoRates.back()) << "slower than the ladder";
}

/// As many steps of that length as two seconds hold.
void add_window(PeriodKeeper& keeper, double step_time) {
  for (double t = 0.0; t < PeriodKeeper::kWindow - 1e-9; t += std::max(keeper.period(), step_time))
    keeper.add(step_time);
}

TEST(PeriodKeeper, SlowsDownAtOnceAndSpeedsUpAfterThreeCalmTimes) {
  PeriodKeeper keeper(0.02, kDt, 0.1);
  add_window(keeper, 0.013);
  EXPECT_EQ(keeper.wanted(), 0.02) << "13 of 20 ms is less than 70 %";
  add_window(keeper, 0.018);
  EXPECT_EQ(keeper.wanted(), find_rung(0.018, kDt));
  EXPECT_GT(keeper.wanted(), 0.02);

  PeriodKeeper calm(0.02, kDt, 0.1);
  add_window(calm, 0.001);
  add_window(calm, 0.003);
  EXPECT_EQ(calm.wanted(), 0.02);
  add_window(calm, 0.002);
  EXPECT_EQ(calm.wanted(), find_rung(0.003 * 1.022, kDt)) << "the slowest of what they asked for, to a bin's width";
}

TEST(PeriodKeeper, OneLongStepInAThousandIsNoReasonAndTheLongestIsABound) {
  PeriodKeeper keeper(0.002, kDt, 0.004);
  keeper.add(0.05);
  add_window(keeper, 0.0013);
  EXPECT_EQ(keeper.wanted(), 0.002);
  add_window(keeper, 0.05);
  EXPECT_EQ(keeper.wanted(), 0.004);
}

TEST(PeriodWatch, AsksForAChangeOnlyWhileNoHandTouches) {
  Scene scene = load_builtin_scene("soft-block");
  set_slow_period(scene, 0.02);
  scene.first().guards.safety.stale_after = 0.12;  // room for periods of 40 ms
  PeriodWatch watch(scene, nullptr, nullptr);
  StepRow step;
  step.step_time = 0.019;
  TickRow touching, free;
  touching.sent.force = Vec3(0.0, 1.0, 0.0);
  const auto tick = [&](const TickRow& row, int times) {
    for (int i = 0; i < times; ++i) watch.after_tick({&row, 1});
  };
  tick(free, 1000);
  EXPECT_FALSE(watch.stop()) << "nothing speaks against the period";
  for (int i = 0; i < 120; ++i) watch.after_step(step, {});
  ASSERT_GT(watch.wanted(), 0.02);
  tick(touching, 1000);
  EXPECT_FALSE(watch.stop());
  for (int i = 0; i < 99; ++i) {
    free.device.position.x() += 1e-4;  // 0.1 m/s
    tick(free, 1);
  }
  EXPECT_FALSE(watch.stop());
  tick(free, 2);
  EXPECT_TRUE(watch.stop());
  EXPECT_TRUE(watch.wants_change());
  watch.go_on(watch.wanted());
  tick(free, 1000);
  EXPECT_FALSE(watch.stop());
}

/// Ticks in the order in which they came.
class Rows final : public RunSink {
 public:
  void add(const TickRow& row) override { ticks.push_back(row); }
  void add(const StepRow&) override {}
  std::vector<TickRow> ticks;
};

using SceneChange = std::function<void(Scene&)>;

/// Soft-block in virtual time, whose hand touches after half a second, strokes once and has let go after 2.5 s;
/// `change` [s]: until then with a slow period of 33 ms, and from then on with 20 ms.
std::vector<TickRow> run_block(const std::string& method, double change, double seconds,
                               const SceneChange& change_scene = {}) {
  Scene scene = load_builtin_scene("soft-block");
  if (change_scene) change_scene(scene);
  auto& path = std::get<ScenePressAndSlidePath>(*find_path(scene.first().hand));
  path.strokes = 1;
  path.slide_distance = 0.02;
  World world = make_world(scene);
  const auto device = make_device(scene);
  Device* devices[] = {device.get()};
  Rows rows;
  RunMemory memory;
  if (change > 0.0) set_slow_period(scene, 0.033);
  std::vector<Method> methods = make_methods(scene, method, world, devices);
  const auto run = [&](double part) {
    RunParts parts({{methods[0], *device, scene.first().guards}}, &rows);
    parts.memory = &memory;
    scene.run.seconds = part;
    run_lockstep(scene.run, parts);
  };
  if (change > 0.0) {
    run(change);
    set_slow_period(scene, 0.02);
    const TickRow last = rows.ticks.back();
    methods = renew_methods(scene, method, world, {&last, 1}, memory);
  }
  run(seconds - change);
  return rows.ticks;
}

/// Every method that can work on the block, so that a new one cannot be forgotten.
std::vector<std::string> block_methods(const SceneChange& change_scene = {}) {
  Scene scene = load_builtin_scene("soft-block");
  if (change_scene) change_scene(scene);
  World world = make_world(scene);
  std::vector<std::string> out;
  for (const Suggestion& s : suggest_methods(scene, world)) {
    if (s.refused.empty()) out.push_back(s.method);
  }
  return out;
}

/// The largest force between two times.
double find_peak(const std::vector<TickRow>& ticks, double from, double to) {
  double peak = 0.0;
  for (const TickRow& row : ticks) {
    if (row.time > from && row.time < to) peak = std::max(peak, row.sent.force.norm());
  }
  return peak;
}

TEST(RenewMethods, AChangeBeforeTheTouchIsNotFelt) {
  constexpr double kChange = 0.04;  // the hand begins to move
  std::size_t tried = 0;
  for (const std::string& method : block_methods()) {
    const std::vector<TickRow> plain = run_block(method, 0.0, 1.5), changed = run_block(method, kChange, 1.5);
    ++tried;
    ASSERT_EQ(plain.size(), changed.size());
    double error = 0.0, all = 0.0, before = 0.0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ASSERT_NEAR(changed[i].time, plain[i].time, 1e-12);
      if (plain[i].time < kChange) continue;
      const double difference = (changed[i].sent.force - plain[i].sent.force).norm();
      if (plain[i].time < 0.45) before = std::max(before, difference);
      error += difference * difference;
      all += plain[i].sent.force.squaredNorm();
    }
    ASSERT_GT(all, 1.0);
    EXPECT_LT(before, kLightTouch) << method;
    // The slow steps fall on the same ticks from then on, and the hand has felt nothing else before.
    EXPECT_LT(std::sqrt(error / all), 0.01) << method;
  }
  EXPECT_GE(tried, 3u);
}

/// Tools and forms of contacts for which methods have fast halves of their own.
struct Variant {
  const char* name;
  bool point, held;
};

TEST(RenewMethods, AChangeUnderAHandThatMovesIsNoKick) {
  constexpr double kChange = 0.25, kTouch = 0.45;  // half-way to the block, and before it is touched
  std::size_t tried = 0;
  for (const Variant& variant : {Variant{"rod", false, false}, {"rod, held", false, true}, {"point", true, false}}) {
    const auto change_scene = [&](Scene& scene) {
      if (variant.point) scene.first().tool.kind = ScenePointTool{};
      if (!variant.held) return;
      scene.methods.get<JacobianSettings>("jacobian").contacts = JacobianSettings::Contacts::kHeld;
      scene.methods.get<ComplianceSettings>("compliance").contacts = ComplianceSettings::Contacts::kHeld;
    };
    for (const std::string& method : block_methods(change_scene)) {
      SCOPED_TRACE(fmt::format("{}, {}", variant.name, method));
      const std::vector<TickRow> plain = run_block(method, 0.0, kTouch, change_scene);
      const std::vector<TickRow> changed = run_block(method, kChange, kTouch, change_scene);
      EXPECT_GT(changed[static_cast<std::size_t>(kChange / kDt)].device_velocity.linear.norm(), 0.03);
      ++tried;
      EXPECT_LT(find_peak(changed, kChange, kTouch), find_peak(plain, kChange, kTouch) + kLightTouch);
    }
  }
  EXPECT_GE(tried, 9u);
}

// A touch that begins while the new methods have no model yet is felt a little later, and not with a blow.
TEST(RenewMethods, ATouchRightAfterAChangeIsNoBlow) {
  for (const std::string& method : block_methods()) {
    const std::vector<TickRow> plain = run_block(method, 0.0, 1.0);
    const auto touch = std::ranges::find_if(
        plain, [](const TickRow& row) { return row.time > 0.3 && row.sent.force.norm() > kLightTouch; });
    ASSERT_NE(touch, plain.end()) << method;
    const double change = touch->time - 0.005;
    const std::vector<TickRow> changed = run_block(method, change, 1.0);
    EXPECT_LT(find_peak(changed, change, 1.0), 1.1 * find_peak(plain, change, 1.0)) << method;
  }
}

TEST(RenewMethods, AChangeAfterTheTouchIsNoKick) {
  std::size_t tried = 0;
  for (const std::string& method : block_methods()) {
    const std::vector<TickRow> ticks = run_block(method, 2.9, 3.2);
    if (find_peak(ticks, 2.8, 2.9) > kLightTouch) continue;
    ++tried;
    EXPECT_LT(find_peak(ticks, 2.9, 3.2), kLightTouch) << method;
  }
  EXPECT_GE(tried, 3u);
}

TEST(RenewMethods, TheWorldGoesOnAsItWas) {
  Scene scene = load_builtin_scene("cubes");
  World world = make_world(scene);
  const auto device = make_device(scene);
  Device* devices[] = {device.get()};
  std::vector<Method> methods = make_methods(scene, "direct", world, devices);
  for (int i = 0; i < 20; ++i) {
    StepReport report;
    world.step(0.01, report);
  }
  WorldState before, after;
  world.save_state(before);
  RunMemory memory;
  TickRow last;
  last.device = dynamic_cast<const RigidBody*>(world.body(world.tools()[0]))->handle_pose();
  methods = renew_methods(scene, "direct", world, {&last, 1}, memory);
  world.save_state(after);
  EXPECT_EQ(before.bodies, after.bodies);
  EXPECT_THROW(renew_methods(scene, "limited", world, {&last, 1}, memory), InputError);
  world.save_state(after);
  EXPECT_EQ(before.bodies, after.bodies);
}

TEST(SceneRun, APeriodThatTheMachineDoesNotHoldIsGivenUpWhileItRuns) {
  Scene scene = load_builtin_scene("soft-block");
  set_slow_period(scene, 0.001);
  find_body<SceneSoft>(scene, "block").cell = 0.0125;  // a step of some thousand tets takes longer
  scene.first().guards.safety.stale_after = 0.3;
  auto& path = std::get<ScenePressAndSlidePath>(*find_path(scene.first().hand));
  path.depth = 0.001;  // and never touches
  path.slide_distance = path.slide_speed =
      0.001;  // where the world falls behind the clock, a quick hand drags the tool
  scene.run.seconds = 3.5;
  SceneRunOptions options;
  options.lockstep = false;
  options.adapt_period = true;
  options.waits = {true};
  World world = make_world(scene);
  const SceneRun run = run_scene(scene, world, options);
  EXPECT_NEAR(run.summary.seconds, 3.5, 1e-6);
  EXPECT_FALSE(run.summary.stopped);
  ASSERT_FALSE(run.summary.notes.empty());
  EXPECT_TRUE(
      std::ranges::any_of(run.summary.notes, [](const std::string& note) { return note.starts_with("slow loop at"); }));
  for (std::size_t i = 1; i < run.data.ticks.size(); ++i) {
    ASSERT_GT(run.data.ticks[i].time, run.data.ticks[i - 1].time);
    ASSERT_LT(run.data.ticks[i].sent.force.norm(), kLightTouch);
  }
}

}  // namespace
}  // namespace palpate::auto_period_test
