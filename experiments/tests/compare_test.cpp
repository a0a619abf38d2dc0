#include "palpate/experiments/compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "palpate/experiments/experiment.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"

namespace palpate::compare_test {
namespace {

Scene short_scene(std::string_view name, double seconds) {
  Scene scene = load_builtin_scene(name);
  scene.run.seconds = seconds;
  return scene;
}

TEST(Compare, GivesEveryMethodTheSameHandAsTheTruth) {
  const Scene scene = short_scene("organ-static", 0.5);
  World world = make_world(scene);
  const Comparison c = compare_methods(scene, world, {});
  ASSERT_GE(c.runs.size(), 2u);
  for (const SceneRun& run : c.runs) {
    ASSERT_EQ(run.data.ticks.size(), c.reference.data.ticks.size());
    for (std::size_t i = 0; i < run.data.ticks.size(); ++i) {
      ASSERT_EQ(run.data.ticks[i].device.position, c.reference.data.ticks[i].device.position) << run.data.name << i;
    }
  }
}

TEST(Compare, ClosedLoopLetsEachMethodMoveItsOwnHand) {
  const Scene scene = short_scene("wall", 1.0);
  World world = make_world(scene);
  CompareOptions options;
  options.methods = {"direct"};
  options.closed_loop = true;
  const Comparison c = compare_methods(scene, world, options);
  double apart = 0.0;
  for (std::size_t i = 0; i < c.runs[0].data.ticks.size(); ++i) {
    apart =
        std::max(apart, (c.runs[0].data.ticks[i].device.position - c.reference.data.ticks[i].device.position).norm());
  }
  EXPECT_GT(apart, 1e-5);  // a force that comes 20 ms late moves the hand differently
}

// At equal rates and no latency there is nothing left for a slow loop to be late with.
TEST(Compare, DirectWithoutLatencyAtTheFastRateIsTheTruth) {
  Scene scene = short_scene("sine-static", 1.0);
  scene.run.slow_period = scene.run.dt;
  scene.run.latency = 0.0;
  World world = make_world(scene);
  CompareOptions options;
  options.methods = {"direct"};
  const Comparison c = compare_methods(scene, world, options);
  // The slow step sees the tick before: one tick of delay at 0.1 m/s on a 1000 N/m coupling.
  EXPECT_LT(c.metrics[1].metrics.force_error_max, 1000 * 0.1 * 0.001 * 2.0);
  // It is the truth of one tick before, but for its first step, which it makes before the first tick: that much is
  // forgotten within a few times of the coupling's own b/k = 0.8 ms.
  for (std::size_t i = 100; i < c.runs[0].data.ticks.size(); ++i) {
    const Vec3 difference = c.runs[0].data.ticks[i].wanted.force - c.reference.data.ticks[i - 1].wanted.force;
    ASSERT_LT(difference.norm(), 1e-9) << i;
  }
}

TEST(Compare, ErrorOfHalfspaceVanishesAsItsPeriodDoes) {
  double previous = 1e9;
  for (const double period : {0.033, 0.011, 0.004}) {
    Scene scene = short_scene("sine-static", 1.0);
    scene.run.slow_period = scene.run.latency = period;
    World world = make_world(scene);
    CompareOptions options;
    options.methods = {"halfspace"};
    const double error = compare_methods(scene, world, options).metrics[1].metrics.force_error_rms;
    EXPECT_LT(error, 0.5 * previous) << period;
    previous = error;
  }
}

TEST(Compare, UnknownMethodIsRefusedBeforeAnythingRuns) {
  const Scene scene = short_scene("wall", 0.1);
  World world = make_world(scene);
  CompareOptions options;
  options.methods = {"magic"};
  EXPECT_THROW(compare_methods(scene, world, options), InputError);
}

TEST(Compare, ReportHasEveryMethodAndPlot) {
  const Scene scene = short_scene("sine-static", 0.3);
  World world = make_world(scene);
  const Report report = make_comparison_report(scene, world, compare_methods(scene, world, {}));
  ASSERT_EQ(report.tables.size(), 3u);
  std::size_t able = 0;
  const ToolSettings tool = make_tool_settings(scene);
  for (const MethodInfo& method : registered_methods()) able += method.refuse(world, tool).empty() ? 1u : 0u;
  EXPECT_EQ(report.tables[0].rows.size(), able);
  EXPECT_GE(report.plots.size(), 6u);
  EXPECT_LT(make_report_html(report).size(), 3u << 20);
}

TEST(Experiments, ClaimsHoldByTheirRelationAndNeverByNotANumber) {
  MeasuredClaim claim;
  claim.measured = 2.0;
  claim.limit = 1.0;
  EXPECT_FALSE(claim.holds());
  claim.relation = MeasuredClaim::Relation::kAtLeast;
  EXPECT_TRUE(claim.holds());
  claim.measured = std::nan("");
  EXPECT_FALSE(claim.holds());
}

TEST(Experiments, JsonHasTheDocumentedShape) {
  MeasuredClaim one;
  one.measured = 1.0;
  one.limit = 2.0;
  const auto json = nlohmann::json::parse(make_experiments_json({{"x", {one}, "x.html"}}));
  const auto& claim = json["experiments"][0]["claims"][0];
  EXPECT_EQ(json["experiments"][0]["name"], "x");
  for (const char* key : {"name", "paper", "measured", "limit", "holds"}) EXPECT_TRUE(claim.contains(key)) << key;
  EXPECT_EQ(claim["holds"], true);
}

TEST(Experiments, WhatStoodInIsSaidInReportAndJson) {
  const std::string note = "m.obj is not there: Palpate's own torus stands in.";
  ExperimentResult result;
  result.notes = {note};
  const Report report = make_experiment_report(registered_experiments().front(), result);
  EXPECT_NE(make_report_html(report).find("m.obj is not there"), std::string::npos);
  const auto json = nlohmann::json::parse(make_experiments_json({{"x", {}, "x.html", result.notes}}));
  EXPECT_EQ(json["experiments"][0]["notes"][0], note);
}

TEST(Experiments, UnknownNameIsRefusedWithASuggestion) {
  try {
    find_experiment("wall-pasivity");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Did you mean \"wall-passivity\"?"), std::string::npos);
  }
}

}  // namespace
}  // namespace palpate::compare_test
