#include "../src/reduced_runs.h"
#include "../src/stopwatch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sample_runs.h"

namespace palpate::reduced_runs_test {
namespace {

using namespace reduced_runs;
using testing::make_run;
using testing::make_still_run;

Vec3 press(double t) {
  return {0.0, 2.0 + std::sin(6.0 * t), 0.0};
}

// A force that is everywhere a tenth larger is off by 10 % of its RMS, whatever it does.
TEST(ReducedRuns, CellIsTheRelativeErrorOfWhatWasAskedFor) {
  const RunData truth = make_run("truth", 1000, 1e-3, press);
  RunData run = make_run("run", 1000, 1e-3, [](double t) { return Vec3(1.1 * press(t)); });
  for (TickRow& row : run.ticks) row.sent.force.setZero();  // what the safety stage did to it does not count
  const Cell cell = make_cell(run, truth);
  EXPECT_NEAR(cell.error, 10.0, 1e-9);
  // Its steepest slope is 1.1 · 6 N/s.
  EXPECT_NEAR(cell.jump, 6.6e-3, 1e-6);
  EXPECT_EQ(make_cell(truth, truth).error, 0.0);
}

TEST(ReducedRuns, CellHasTheEnergysPeakAndNotItsEnd) {
  RunData run = make_still_run("run", 10, Vec3(0.0, 1.0, 0.0));
  run.ticks[4].energy = 0.3;
  run.ticks[9].energy = -1.0;
  EXPECT_EQ(make_cell(run, run).energy, 0.3);
}

TEST(ReducedRuns, BestOtherIsNeverReducedItself) {
  const Cells cells = {{"reduced", {.error = 1.0}}, {"direct", {.error = 20.0}}, {"jacobian", {.error = 5.0}}};
  EXPECT_EQ(find_best_other(cells), 5.0);
  EXPECT_TRUE(std::isinf(find_best_other({{"reduced", {.error = 1.0}}})));
}

// From what a hand just notices to the force itself the colour goes by the logarithm: √(7 · 100) % is half way.
TEST(ReducedRuns, MapGoesFromNoticeableToTheForceItself) {
  EXPECT_EQ(make_map_cell(kPerceived, false).heat, 0.0);
  EXPECT_EQ(make_map_cell(0.1, false).heat, 0.0);
  EXPECT_NEAR(make_map_cell(std::sqrt(700.0), false).heat, 0.5, 1e-12);
  EXPECT_NEAR(make_map_cell(100.0, false).heat, 1.0, 1e-12);
  EXPECT_TRUE(make_map_cell(3.0, true).best);
  EXPECT_EQ(make_map_cell(kNotAvailable, false).text, "–");
}

/// A ball that is pressed into a small soft block.
Scene make_press_scene() {
  Scene scene;
  scene.name = "press";
  scene.run.seconds = 0.3;
  SceneSoft block{.shape = SceneShape{.kind = BoxShape{.size = Vec3(0.04, 0.02, 0.04)}}, .cell = 0.02};
  block.material = {.young_modulus = 2e4, .poisson_ratio = 0.3, .density = 1000.0, .stiffness_damping = 0.005};
  block.fixed = {{.min = Vec3::Constant(-1.0), .max = Vec3(1.0, -0.0199, 1.0)}};
  scene.bodies = {{.name = "block", .kind = block, .position = Vec3(0.0, -0.01, 0.0)}};
  scene.first().tool.kind = ScenePointTool{.mass = 0.01, .radius = 0.004};
  scene.first().tool.coupling = {.stiffness = 500.0, .damping = 1.0};
  SceneKeyframePath path;
  path.keyframes = {{.time = 0.0, .position = Vec3(0.003, 0.005, 0.001)},
                    {.time = 0.3, .position = Vec3(0.003, -0.002, 0.001)}};
  scene.first().hand.kind = SceneScriptedHand{.path = std::move(path)};
  return scene;
}

// The truth is of first order in its tick: with half the tick its distance to itself with half of that is half as
// large, or smaller.
TEST(ReducedRuns, TruthsOwnErrorHalvesWithTheTick) {
  ExperimentOptions options;
  Scene scene = make_press_scene();
  otaduy::Rig coarse(scene, options);
  scene.run.dt *= 0.5;
  otaduy::Rig fine(scene, options);
  const double whole = coarse.measure_truth(), half = fine.measure_truth();
  EXPECT_GT(whole, 0.0);
  EXPECT_LT(half, 0.6 * whole);
}

TEST(ReducedRuns, LimitIsWhatIsWantedUnlessTheTruthIsWorse) {
  ExperimentOptions options;
  int runs = 0;
  options.progress = [&](std::string_view, double) { ++runs; };
  otaduy::Rig rig(make_press_scene(), options);
  runs = 0;
  EXPECT_EQ(choose_limit(2.0, 3.0, rig), 3.0);
  EXPECT_EQ(runs, 0) << "the truth is not run where nobody needs it";
  const double own = rig.measure_truth();
  EXPECT_GT(runs, 0);
  runs = 0;
  EXPECT_EQ(choose_limit(50.0, 0.1 * own, rig), 2.0 * own);
  EXPECT_EQ(choose_limit(50.0, 30.0 * own, rig), 30.0 * own);
  EXPECT_EQ(runs, 0) << "nor more than once";
}

// Methods differ from the truth because their slow loop is late; with the truth itself in their place nothing is left.
TEST(ReducedRuns, RigPlaysTheTruthsHandToTheBit) {
  ExperimentOptions options;
  otaduy::Rig rig(make_press_scene(), options);
  const RunData again = rig.run("again", "reference", 20.0);
  ASSERT_EQ(again.ticks.size(), rig.truth().ticks.size());
  for (std::size_t i = 0; i < again.ticks.size(); ++i)
    ASSERT_EQ(again.ticks[i].wanted.force, rig.truth().ticks[i].wanted.force) << i;
}

TEST(ReducedRuns, WatchSeesEveryTickAndStepOfARun) {
  ExperimentOptions options;
  otaduy::Rig rig(make_press_scene(), options);
  Stopwatch watch;
  rig.watch = &watch;
  rig.run("watched", "direct", 20.0);
  EXPECT_EQ(watch.ticks.processor.count(), rig.truth().ticks.size());
  EXPECT_EQ(watch.steps.wall.count(), 6u) << "0.3 s at 20 Hz";
}

TEST(Stopwatch, CellShowsBothClocksInTheirOrder) {
  BothTimes times;
  times.processor.add(2'000);
  times.wall.add(5'000'000);
  const std::string text = format_times(times, TimeOf::kMax);
  EXPECT_EQ(text, "2.00 µs / 5.00 ms");
  EXPECT_EQ(format_times({}, TimeOf::kP99), "– / –");
}

}  // namespace
}  // namespace palpate::reduced_runs_test
