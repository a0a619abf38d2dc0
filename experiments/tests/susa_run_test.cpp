#include "../src/susa_run.h"

#include <gtest/gtest.h>

#include <cmath>

#include "palpate/bodies/rigid_body.h"
#include "sample_runs.h"

namespace palpate::susa_run_test {
namespace {

using namespace susa;

Scene short_cube(double seconds) {
  Scene scene = load_at("susa-cube", 0.02);
  scene.run.seconds = seconds;
  return scene;
}

TEST(SusaRuns, LoadedAtAnotherRateAModelIsOnePeriodLateAndStaleAfterThree) {
  const Scene scene = load_at("susa-push", 0.05);
  EXPECT_EQ(scene.run.slow_period, 0.05);
  EXPECT_EQ(scene.run.latency, 0.05);
  EXPECT_DOUBLE_EQ(scene.first().guards.safety.stale_after, 0.15);
  EXPECT_EQ(scene.first().guards.safety.ramp_time, 0.0);
}

TEST(SusaRuns, TimedRunHasEveryStepWithItsTimeAndReport) {
  const Scene scene = short_cube(0.2);
  World world = make_world(scene);
  int seen = 0;
  const TimedRun run = run_timed(scene, world, "accelerance", "mine", {}, [&](const SeenStep& step) {
    EXPECT_EQ(&step.world, &world);
    EXPECT_NE(step.fast, nullptr);
    ++seen;
  });
  EXPECT_EQ(run.run.data.name, "mine");
  EXPECT_EQ(run.steps.size(), 10u);
  EXPECT_EQ(seen, 10);
  EXPECT_EQ(run.ticks.processor.count(), 200u);
  for (const TimedStep& step : run.steps) EXPECT_GT(step.sample.processor, 0.0);
}

TEST(SusaRuns, DutyIsTheMeanStepOverItsPeriod) {
  const Scene scene = short_cube(0.2);
  World world = make_world(scene);
  const TimedRun run = run_timed(scene, world, "accelerance", "mine", {});
  double sum = 0.0;
  for (const TimedStep& step : run.steps) sum += step.sample.processor;
  // Times are kept as whole nanoseconds.
  EXPECT_NEAR(run.duty, sum / 10.0 / scene.run.slow_period, 2e-9 / scene.run.slow_period);
  EXPECT_GE(run.worst_duty, 0.9 * run.duty);
  EXPECT_GE(run.wall_duty, 0.99 * run.duty) << "a thread cannot have more of the processor than passes by the clock";
}

TEST(SusaRuns, DutyOfAMethodWithoutASlowHalfIsThatOfItsTicks) {
  const Scene scene = short_cube(0.1);
  World world = make_world(scene);
  const TimedRun run = run_timed(scene, world, "reference", "truth", {});
  EXPECT_TRUE(run.steps.empty());
  EXPECT_NEAR(run.duty, 1e-9 * run.ticks.processor.mean_ns() / scene.run.dt, 1e-12);
  EXPECT_TRUE(std::isnan(run.stage(Stage{}))) << "no steps, no stages";
}

// The stages share out what a step took.
TEST(SusaRuns, StagesAddUpToTheStep) {
  const Scene scene = short_cube(0.2);
  World world = make_world(scene);
  const TimedRun run = run_timed(scene, world, "accelerance", "mine", {});
  double stages = 0.0, steps = 0.0;
  for (std::size_t i = 0; i < kStageCount; ++i) stages += run.stage(static_cast<Stage>(i));
  for (const TimedStep& step : run.steps) steps += step.sample.processor;
  EXPECT_NEAR(stages, steps / static_cast<double>(run.steps.size()), 1e-9);
}

TEST(SusaRuns, SameSceneIsTheSameRunHoweverItIsTimed) {
  const Scene scene = short_cube(0.3);
  World world = make_world(scene);
  const RunData timed = run_timed(scene, world, "accelerance", "mine", {}).run.data;
  const RunData plain = run_scene(scene, world, {.method = "accelerance"}).data;
  ASSERT_EQ(timed.ticks.size(), plain.ticks.size());
  for (std::size_t i = 0; i < plain.ticks.size(); ++i)
    ASSERT_EQ(timed.ticks[i].wanted.force, plain.ticks[i].wanted.force) << i;
}

TEST(SusaRuns, StopAndProgressArePassedOn) {
  const Scene scene = short_cube(5.0);
  World world = make_world(scene);
  std::atomic<bool> stop{false};
  ExperimentOptions options;
  options.stop = &stop;
  options.progress = [&](std::string_view stage, double share) {
    EXPECT_EQ(stage, "mine");
    stop = share > 0.02;
  };
  EXPECT_TRUE(run_timed(scene, world, "reference", "mine", options).run.summary.stopped);
}

TEST(SusaRuns, SeriesIsOneValueOfEveryTick) {
  const RunData run = testing::make_run("r", 4, 0.5, [](double t) { return Vec3(t, 0.0, 0.0); });
  const Series series = make_series(run, [](const TickRow& row) { return 2.0 * row.wanted.force.x(); });
  EXPECT_EQ(series.name, "r");
  EXPECT_EQ(series.style, SeriesStyle::kMethod);
  EXPECT_EQ(series.x, (std::vector<double>{0.0, 0.5, 1.0, 1.5}));
  EXPECT_EQ(series.y, (std::vector<double>{0.0, 1.0, 2.0, 3.0}));
  EXPECT_EQ(make_series(
                run, [](const TickRow&) { return 0.0; }, SeriesStyle::kReference)
                .style,
            SeriesStyle::kReference);
}

// Nothing touches anything: the energy at the beginning of a step is that of the bodies where the last one left them.
TEST(SusaEnergy, OfBodiesThatNobodyTouchesIsTheirOwn) {
  const Scene scene = short_cube(0.02);
  World world = make_world(scene);
  double expected = 0.0;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const Body* body = world.bodies()[i].body.get();
    if (body && !world.is_tool(static_cast<int>(i))) expected += body->compute_energy().total();
  }
  EnergyAtSteps energy(world, 1000.0);
  const accelerance::Feedback nothing{};
  const StepReport report;
  EXPECT_NEAR(energy.add({world, report, &nothing}), expected, 1e-12 * std::max(1.0, std::abs(expected)));
}

// A spring of k [N/m] under f [N] holds f²/2k, once the fast loop moves bodies at all.
TEST(SusaEnergy, SpringsOfThePointersCount) {
  const Scene scene = short_cube(0.02);
  World world = make_world(scene);
  int rigid = -1;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    if (!world.is_tool(static_cast<int>(i)) && dynamic_cast<const RigidBody*>(world.bodies()[i].body.get()))
      rigid = static_cast<int>(i);
  }
  ASSERT_GE(rigid, 0);
  const auto& body = dynamic_cast<const RigidBody&>(*world.bodies()[as_size(rigid)].body);
  accelerance::Feedback fast{};
  fast.header.sequence = 1;
  fast.bodies = 1;
  fast.body[0].body = rigid;
  fast.body[0].pose = body.centre_pose();
  fast.body[0].velocity.setZero();
  const StepReport report;
  EnergyAtSteps energy(world, 500.0);
  const double without = energy.add({world, report, &fast});
  fast.contacts = 1;
  fast.contact[0].force = Vec3(0.0, 3.0, 4.0);
  EXPECT_NEAR(energy.add({world, report, &fast}) - without, 25.0 / (2.0 * 500.0), 1e-9);
  fast.contacts = 0;
  fast.body[0].velocity[0] = 2.0;
  EXPECT_NEAR(energy.add({world, report, &fast}) - without, 0.5 * body.mass() * 4.0, 1e-9 * body.mass())
      << "and so does what a body moves by in the fast loop";
}

}  // namespace
}  // namespace palpate::susa_run_test
