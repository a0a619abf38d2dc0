#include "palpate/experiments/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "palpate/experiments/experiment.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"
#include "sample_runs.h"

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
  for (const MethodInfo& method : registered_methods()) able += method.refuse({world, tool}).empty() ? 1u : 0u;
  EXPECT_EQ(report.tables[0].rows.size(), able);
  EXPECT_GE(report.plots.size(), 6u);
  EXPECT_LT(make_report_html(report).size(), 3u << 20);
}

TEST(Compare, TruthComesFirstAndEveryMethodOnce) {
  const Scene scene = short_scene("sine-static", 0.1);
  World world = make_world(scene);
  CompareOptions options;
  options.methods = {"direct", "reference", "halfspace"};
  const Comparison c = compare_methods(scene, world, options);
  ASSERT_EQ(c.metrics.size(), 3u);
  EXPECT_EQ(c.metrics[0].name, "reference");
  EXPECT_TRUE(c.metrics[0].truth);
  EXPECT_TRUE(std::isnan(c.metrics[0].metrics.force_error_rms)) << "the truth has no error against itself";
  EXPECT_EQ(c.metrics[1].name, "direct");
  EXPECT_EQ(c.metrics[2].name, "halfspace");
  EXPECT_FALSE(c.metrics[1].truth);
  for (const NamedMetrics& m : c.metrics) EXPECT_EQ(m.tool, "") << "there is only one";
  EXPECT_TRUE(c.skipped.empty()) << "those asked for are not passed over";
}

TEST(Compare, MethodsThatCannotWorkAreLeftOutWithTheirReason) {
  const Scene scene = short_scene("sine-static", 0.02);
  World world = make_world(scene);
  const Comparison c = compare_methods(scene, world, {});
  ASSERT_FALSE(c.skipped.empty());
  for (const SkippedMethod& s : c.skipped) {
    EXPECT_FALSE(s.reason.empty()) << s.name;
    for (const SceneRun& run : c.runs) EXPECT_NE(run.data.name, s.name);
  }
  const Report report = make_comparison_report(scene, world, c);
  for (const SkippedMethod& s : c.skipped)
    EXPECT_NE(
        std::find(report.paragraphs.begin(), report.paragraphs.end(), "Left out: " + s.name + " (" + s.reason + ")."),
        report.paragraphs.end());
}

TEST(Compare, StopRequestEndsItAfterTheRunUnderWay) {
  const Scene scene = short_scene("sine-static", 0.2);
  World world = make_world(scene);
  std::atomic<bool> stop{false};
  CompareOptions options;
  options.stop = &stop;
  options.progress = [&](std::string_view method, double) { stop = stop || method != "reference"; };
  const Comparison c = compare_methods(scene, world, options);
  EXPECT_TRUE(c.stopped);
  EXPECT_EQ(c.runs.size(), 1u);
}

TEST(Compare, ProgressGoesFromNothingToAllForEveryMethod) {
  const Scene scene = short_scene("sine-static", 0.2);
  World world = make_world(scene);
  std::map<std::string, double, std::less<>> share;
  CompareOptions options;
  options.methods = {"direct", "halfspace"};
  options.progress = [&](std::string_view method, double now) {
    const auto [at, first] = share.try_emplace(std::string(method), now);
    EXPECT_GE(now, at->second);
    EXPECT_LE(now, 1.0);
    at->second = now;
  };
  compare_methods(scene, world, options);
  ASSERT_EQ(share.size(), 3u);
  for (const auto& [method, last] : share) EXPECT_GT(last, 0.7) << method;
}

/// Two tools, as a comparison holds them: what each feels is `force` along x, the other way for the right one [N].
Comparison make_two_handed(double error) {
  const auto run_of = [](const std::string& name, double force) {
    SceneRun run;
    run.data = testing::make_still_run(name, 100, Vec3(force, 0.0, 0.0));
    run.data.tool = "left";
    run.others = {testing::make_still_run(name, 100, Vec3(-2.0 * force, 0.0, 0.0))};
    run.others[0].tool = "right";
    return run;
  };
  Comparison c;
  c.reference = run_of("reference", 1.0);
  c.runs = {run_of("direct", 1.0 + error)};
  for (const SceneRun* run : {&c.reference, &c.runs[0]}) {
    for (std::size_t i = 0; i < 2; ++i) {
      const RunData& data = *run->all()[i];
      const RunData* truth = run == &c.reference ? nullptr : c.reference.all()[i];
      c.metrics.push_back({data.name, compute_metrics(data, truth), truth == nullptr, data.tool});
    }
  }
  return c;
}

TEST(Compare, ReportOfTwoToolsHasTablesAndPlotsForEach) {
  const Scene scene = short_scene("sine-static", 0.1);
  const World world = make_world(scene);
  const Report report = make_comparison_report(scene, world, make_two_handed(0.1));
  for (const char* tool : {"left", "right"}) {
    const std::string prefix = std::string(tool) + ": ";
    const auto force = std::find_if(report.tables.begin(), report.tables.end(),
                                    [&](const Table& t) { return t.title == prefix + "Force"; });
    ASSERT_NE(force, report.tables.end()) << tool;
    ASSERT_EQ(force->rows.size(), 2u);
    EXPECT_EQ(force->rows[0].name, "reference");
    EXPECT_EQ(force->rows[1].name, "direct");
    // The right hand feels twice the force, and twice the error.
    EXPECT_EQ(force->rows[1].cells[0].text, "10.0 %");
    EXPECT_EQ(force->rows[1].cells[1].text, std::string(tool) == "left" ? "100 mN" : "200 mN");
    const auto plot = std::find_if(report.plots.begin(), report.plots.end(),
                                   [&](const Plot& p) { return p.title == prefix + "Force on the hand"; });
    ASSERT_NE(plot, report.plots.end()) << tool;
    EXPECT_EQ(plot->series.size(), 2u);
  }
  for (const Table& table : report.tables)
    EXPECT_TRUE(table.title.starts_with("left: ") || table.title.starts_with("right: ")) << table.title;
}

TEST(Compare, JsonNamesTheToolsOnlyIfThereAreSeveral) {
  const auto two = nlohmann::json::parse(make_metrics_json(make_two_handed(0.1).metrics));
  ASSERT_EQ(two["runs"].size(), 4u);
  EXPECT_EQ(two["runs"][0]["tool"], "left");
  EXPECT_EQ(two["runs"][3]["tool"], "right");
  EXPECT_NEAR(two["runs"][3]["metrics"]["force_error_rms"].get<double>(), 0.2, 1e-12);
  const auto one = nlohmann::json::parse(make_metrics_json({{"direct", Metrics{}}}));
  EXPECT_FALSE(one["runs"][0].contains("tool"));
}

TEST(TraceSurface, FollowsTheHandAndLeavesOutWhatIsFar) {
  const Scene scene = short_scene("wall", 0.1);
  const World world = make_world(scene);
  std::vector<TickRow> ticks(3);
  ticks[0].device.position = Vec3(0.01, 0.02, 0.0);
  ticks[1].device.position = Vec3(0.0, 10.0, 0.0);  // far
  ticks[2].device.position = Vec3(-0.01, 0.03, 0.0);
  const std::vector<Vec3> line = trace_surface(world, ticks);
  ASSERT_EQ(line.size(), 2u);
  WorldClosest nearest;
  ASSERT_TRUE(world.find_closest(ticks[2].device.position, 1.0, nearest));
  EXPECT_EQ(line[1], nearest.closest.point);
}

TEST(TraceSurface, OfALongRunHasNoMorePointsThanAPlotNeeds) {
  const Scene scene = short_scene("wall", 0.1);
  const World world = make_world(scene);
  std::vector<TickRow> ticks(100000);
  for (TickRow& row : ticks) row.device.position = Vec3(0.0, 0.01, 0.0);
  EXPECT_EQ(trace_surface(world, ticks).size(), 2000u);
  EXPECT_TRUE(trace_surface(world, {}).empty());
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
