#include "../src/otaduy_runs.h"
#include "../src/wanted_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "palpate/methods/jacobian_settings.h"
#include "palpate/scene/builtin.h"
#include "sample_runs.h"

namespace palpate::otaduy_runs_test {
namespace {

using namespace otaduy;
using testing::make_run;
using testing::make_still_run;

/// A sine of `frequency` [Hz] and amplitude 1 N sideways over 2 s, on 3 N upwards.
RunData make_shaken(double frequency) {
  return make_run("shaken", 2000, 1e-3, [=](double t) { return Vec3(std::sin(2.0 * M_PI * frequency * t), 3.0, 0.0); });
}

TEST(OtaduyRuns, SlowRateSetsLatencyAndStaleAge) {
  Scene scene = load_builtin_scene("otaduy-block");
  set_slow_rate(scene, 25.0);
  EXPECT_EQ(scene.run.slow_period, 0.04);
  EXPECT_EQ(scene.run.latency, 0.04);
  EXPECT_EQ(scene.first().guards.safety.stale_after, 0.12);
}

TEST(OtaduyRuns, PaperFormIsEqualityWithoutTracking) {
  Scene scene = load_builtin_scene("otaduy-block");
  choose_paper_form(scene);
  EXPECT_EQ(scene.methods.get<JacobianSettings>("jacobian").form, JacobianSettings::Form::kEquality);
  EXPECT_FALSE(scene.methods.get<JacobianSettings>("jacobian").track);
}

TEST(OtaduyRuns, ForceOfIsTheComponentInTheHalfOpenSpan) {
  const RunData run = make_run("ramp", 10, 0.1, [](double t) { return Vec3(t, 2.0 * t, 0.0); });
  const std::vector<double> y = force_of(run, 1, 0.2, 0.5);
  ASSERT_EQ(y.size(), 3u);
  EXPECT_DOUBLE_EQ(y[0], 0.4);
  EXPECT_DOUBLE_EQ(y[2], 0.8);
  EXPECT_TRUE(force_of(run, 0, 5.0, 6.0).empty());
}

// A sine of amplitude 1 has an RMS of √½, all of it above 20 Hz or nothing. What the corner at the ends adds is bounded
// by compute_rms_above()'s own estimate: slopes of 2πf, so at 5 Hz (2·31.4)² / (12 π⁴ 20³ 2) = 2.1e-4, its root 1.5 %.
TEST(OtaduyRuns, OscillationIsTheRmsAboveTwentyHertz) {
  EXPECT_NEAR(compute_oscillation(make_shaken(60.0), 0, 0.0, 2.0), std::sqrt(0.5), 0.02);
  EXPECT_LT(compute_oscillation(make_shaken(5.0), 0, 0.0, 2.0), 0.02);
  EXPECT_LT(compute_oscillation(make_shaken(60.0), 1, 0.0, 2.0), 1e-9) << "a steady force does not oscillate";
}

TEST(OtaduyRuns, OscillationOfHardlyAnyTicksIsNotAvailable) {
  EXPECT_TRUE(std::isnan(compute_oscillation(make_still_run("one", 1, Vec3::Zero()), 0, 0.0, 1.0)));
  EXPECT_TRUE(std::isnan(compute_oscillation({}, 0, 0.0, 1.0)));
}

TEST(OtaduyRuns, ComponentPlotDrawsTheFirstRunAsTheTruth) {
  const RunData truth = make_still_run("reference", 5, Vec3(1, 2, 3)),
                other = make_still_run("direct", 5, Vec3(4, 5, 6));
  const Plot plot = make_component_plot("Sideways", {&truth, &other}, 2);
  EXPECT_EQ(plot.title, "Sideways");
  EXPECT_EQ(plot.y_unit, "N");
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].style, SeriesStyle::kReference);
  EXPECT_EQ(plot.series[1].style, SeriesStyle::kMethod);
  EXPECT_EQ(plot.series[1].name, "direct");
  EXPECT_EQ(plot.series[1].y, std::vector<double>(5, 6.0));
  EXPECT_DOUBLE_EQ(plot.series[0].x[4], 0.004);
}

TEST(OtaduyRuns, ErrorTableComparesEveryRunWithTheTruth) {
  RunData truth = make_still_run("reference", 100, Vec3(0, 2, 0));
  RunData off = make_still_run("direct", 100, Vec3(0, 2.5, 0));
  for (TickRow& row : truth.ticks) row.wanted.torque = Vec3(0.0, 0.0, 0.004);
  for (TickRow& row : off.ticks) row.wanted.torque = Vec3(0.0, 0.0, 0.007);
  const Table table = make_error_table("Errors", truth, {off, truth}, 0, 0.0, 1.0);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_TRUE(table.rows[0].muted);
  EXPECT_EQ(table.rows[0].cells[0].text, "–") << "the truth has no error";
  EXPECT_FALSE(table.rows[1].muted);
  EXPECT_EQ(table.rows[1].cells[0].text, "500 mN");
  EXPECT_EQ(table.rows[1].cells[1].text, "25.0 %");
  EXPECT_EQ(table.rows[1].cells[2].text, "75.0 %");
  EXPECT_EQ(table.rows[2].cells[0].text, "0 N");
  for (const TableRow& row : table.rows) EXPECT_EQ(row.cells.size(), table.columns.size());
  EXPECT_NE(table.note.find("from 0 s to 1 s"), std::string::npos) << table.note;
}

TEST(WantedMetrics, DoNotSeeWhatTheSafetyStageCut) {
  const RunData truth = make_still_run("reference", 100, Vec3(0, 2, 0));
  RunData cut = make_still_run("direct", 100, Vec3(0, 4, 0));
  for (TickRow& row : cut.ticks) row.sent.force = Vec3(0, 2, 0);
  EXPECT_DOUBLE_EQ(compute_wanted_metrics(cut, &truth).force_error_rms, 2.0);
  EXPECT_DOUBLE_EQ(compute_wanted_metrics(cut, nullptr).force_peak, 4.0);
}

TEST(EnergyPeak, IsTheMostThatTheHandWasEverGiven) {
  RunData run = make_still_run("direct", 3, Vec3::Zero());
  run.ticks[1].energy = 0.2;
  run.ticks[2].energy = -1.0;
  EXPECT_DOUBLE_EQ(compute_energy_peak(run), 0.2);
}

Scene short_wall() {
  Scene scene = load_builtin_scene("wall");
  scene.run.seconds = 1.0;
  return scene;
}

TEST(OtaduyRig, GivesEveryMethodTheHandOfTheTruth) {
  const ExperimentOptions options;
  Rig rig(short_wall(), options);
  ASSERT_EQ(rig.truth().ticks.size(), 1000u);
  const RunData run = rig.run("late", "direct", 20.0);
  EXPECT_EQ(run.name, "late");
  EXPECT_EQ(run.steps.size(), 20u);
  ASSERT_EQ(run.ticks.size(), 1000u);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(run.ticks[i].device.position, rig.truth().ticks[i].device.position) << i;
}

TEST(OtaduyRig, ChangeIsOfOneRunOnly) {
  const ExperimentOptions options;
  Rig rig(short_wall(), options);
  double seen = 0.0;
  const RunData changed = rig.run("soft", "reference", 50.0, [&](Scene& scene) {
    seen = scene.run.slow_period;
    scene.first().tool.coupling.stiffness *= 0.5;
  });
  EXPECT_EQ(seen, 0.02) << "the rate is set before";
  const RunData again = rig.run("as before", "reference", 50.0);
  double apart = 0.0;
  for (std::size_t i = 0; i < again.ticks.size(); ++i) {
    ASSERT_EQ(again.ticks[i].wanted.force, rig.truth().ticks[i].wanted.force) << i;
    apart = std::max(apart, (changed.ticks[i].wanted.force - again.ticks[i].wanted.force).norm());
  }
  EXPECT_GT(apart, 0.01) << "the change did nothing";
}

TEST(OtaduyRig, StopIsPassedOn) {
  std::atomic<bool> stop{true};
  ExperimentOptions options;
  options.stop = &stop;
  Rig rig(short_wall(), options);
  EXPECT_TRUE(rig.stopped());
  EXPECT_TRUE(rig.truth().ticks.empty());
}

// Two ways to the same: at equal rates and without latency a driven step and tick are those of a lockstep run.
TEST(OtaduyDriver, StepAndTickInTurnAreALockstepRunAtEqualRates) {
  Scene scene = short_wall();
  scene.run.slow_period = scene.run.dt;
  scene.run.latency = 0.0;
  World world = make_world(scene);
  const RunData run = run_scene(scene, world, {.method = "direct"}).data;
  const std::unique_ptr<Device> device = make_device(scene);
  World other = make_world(scene);
  HandDriven driver(make_method(scene, "direct", other, *device));
  for (std::size_t i = 0; i < run.ticks.size(); ++i) {
    driver.step();
    DeviceState state;
    state.time = run.ticks[i].time;
    state.pose = run.ticks[i].device;
    state.velocity = run.ticks[i].device_velocity;
    ASSERT_EQ(driver.tick(state).wrench.force, run.ticks[i].wanted.force) << i;
  }
}

}  // namespace
}  // namespace palpate::otaduy_runs_test
