#include "palpate/experiments/compare_scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "palpate/scene/builtin.h"
#include "sample_runs.h"

namespace palpate::compare_scene_test {
namespace {

Scene short_scene(std::string_view name, double seconds) {
  Scene scene = load_builtin_scene(name);
  scene.run.seconds = seconds;
  return scene;
}

TEST(CompareScene, WhereTheHandFeelsThereAreBothHandsAndElseOnlyOne) {
  SceneCompareOptions options;
  options.methods = {"direct"};
  options.truth_error = false;
  const SceneComparison felt = compare_scene(short_scene("wall", 0.05), options);
  ASSERT_EQ(felt.hands.size(), 2u);
  EXPECT_EQ(felt.hands[0].hand, ComparedHand::kReplayed) << "a wall stays where it is";
  const SceneComparison scripted = compare_scene(short_scene("sine-static", 0.05), options);
  ASSERT_EQ(scripted.hands.size(), 1u);
  options.hand = ComparedHand::kClosedLoop;
  const SceneComparison asked = compare_scene(short_scene("wall", 0.05), options);
  ASSERT_EQ(asked.hands.size(), 1u);
  EXPECT_EQ(asked.hands[0].hand, ComparedHand::kClosedLoop);
}

TEST(CompareScene, TheClosedLoopLeadsWhereTheHandFeelsAndBodiesMoveAway) {
  EXPECT_TRUE(feels(load_builtin_scene("cubes")) && bodies_move_away(load_builtin_scene("cubes")));
  EXPECT_FALSE(bodies_move_away(load_builtin_scene("soft-block"))) << "its lower side is fixed";
  EXPECT_FALSE(feels(load_builtin_scene("sine-static")));
  Scene scene = short_scene("susa-cube", 0.02);
  ASSERT_TRUE(bodies_move_away(scene));
  SceneCompareOptions options;
  options.methods = {"direct"};
  options.truth_error = false;
  const SceneComparison c = compare_scene(scene, options);
  EXPECT_EQ(c.hands[0].hand, feels(scene) ? ComparedHand::kClosedLoop : ComparedHand::kReplayed);
}

TEST(CompareScene, GivesTheSameBitsWithAnyNumberOfThreadsAndAsOneRunAfterTheOther) {
  const Scene scene = short_scene("soft-block", 0.3);
  SceneCompareOptions options;
  options.methods = {"direct", "jacobian", "compliance"};
  options.truth_error = false;
  options.hand = ComparedHand::kReplayed;
  options.threads = 1;
  const SceneComparison one = compare_scene(scene, options);
  options.threads = 3;
  const SceneComparison three = compare_scene(scene, options);
  World world = make_world(scene);
  CompareOptions plain;
  plain.methods = options.methods;
  const Comparison before = compare_methods(scene, world, plain);
  ASSERT_EQ(before.runs.size(), 3u);
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t i = 0; i < before.runs[m].data.ticks.size(); ++i) {
      const Vec3& force = before.runs[m].data.ticks[i].sent.force;
      ASSERT_EQ(one.leading().runs[m].data.ticks[i].sent.force, force) << m << " " << i;
      ASSERT_EQ(three.leading().runs[m].data.ticks[i].sent.force, force) << m << " " << i;
    }
  }
}

// The omega class gives no torque: a replayed hand that got one would have a torque error of all of it.
TEST(CompareScene, TheReplayedHandHasTheDeviceOfTheTruth) {
  Scene scene = short_scene("soft-block", 0.7);
  ASSERT_EQ(make_device(scene)->info().max_torque, 0.0);
  SceneCompareOptions options;
  options.methods = {"direct"};
  options.truth_error = false;
  options.hand = ComparedHand::kReplayed;
  const SceneComparison c = compare_scene(scene, options);
  const Metrics& m = c.leading().metrics.at(1).metrics;
  EXPECT_GT(m.force_peak, 0.1);
  EXPECT_TRUE(std::isnan(m.torque_error_rms)) << m.torque_error_rms;
}

TEST(CompareScene, TheTruthsOwnErrorShrinksWithItsTimeStep) {
  double previous = 0.0;
  for (const double dt : {0.002, 0.001, 0.0005}) {
    Scene scene = short_scene("sine-static", 0.8);
    scene.run.dt = dt;
    SceneCompareOptions options;
    options.methods = {"direct"};
    const SceneComparison c = compare_scene(scene, options);
    ASSERT_EQ(c.truth.size(), 1u);
    const double error = c.truth[0].half_step.force_error_rms;
    EXPECT_GT(error, 0.0);
    // First order: half the step, half the error; the surface's edges take part of that.
    if (previous > 0.0) {
      EXPECT_LT(error, 0.75 * previous) << dt;
    }
    previous = error;
    EXPECT_EQ(c.truth[0].finer.ticks.size(), c.leading().reference.data.ticks.size());
  }
}

TEST(CompareScene, AShiftedHandOnASmoothSurfaceIsNotChaos) {
  SceneCompareOptions options;
  options.methods = {"direct"};
  const SceneComparison c = compare_scene(short_scene("sine-static", 0.8), options);
  EXPECT_TRUE(std::isnan(c.truth.at(0).chaotic_from));
  EXPECT_GT(c.truth[0].shift_error, 0.0);
  EXPECT_EQ(describe_truth(c).size(), 1u);
}

TEST(CompareShifted, SaysFromWhenOnTwoRunsPart) {
  const RunData truth = testing::make_still_run("reference", 3000, Vec3(0.0, 2.0, 0.0));
  EXPECT_EQ(compare_shifted(truth, truth, 400.0).error, 0.0);
  EXPECT_TRUE(std::isnan(compare_shifted(truth, truth, 400.0).from));
  RunData apart = truth;
  for (std::size_t i = 1500; i < 3000; ++i) apart.ticks[i].sent.force.x() += 0.4;
  // A window of 0.1 s is above 5 % of 2 N once a sixteenth of it is 0.4 N off; it began 0.1 s before.
  const ShiftResult r = compare_shifted(truth, apart, 400.0);
  EXPECT_NEAR(r.from, 1.5 - kShiftWindow * 15.0 / 16.0, 0.003);
  EXPECT_NEAR(r.error, 100.0 * 0.2 / std::sqrt(2.0), 0.1);
  // What the coupling's spring makes of a tenth of a millimetre is no chaos.
  EXPECT_TRUE(std::isnan(compare_shifted(truth, apart, 2100.0).from));
}

/// A point presses on a table, and then from above on the edge of a roof, 0.03 mm beside its ridge: which side it
/// slides down is decided by less than the hand's shift.
Scene make_ridge_scene() {
  return parse_scene(R"({
    "format": 1, "name": "ridge", "seconds": 2.4, "method": "direct", "rates": { "dt": 0.001, "slow_period": 0.01 },
    "tool": { "type": "point", "coupling": { "stiffness": 200, "damping": 1 } },
    "bodies": [
      { "type": "static", "shape": { "type": "box", "size": [0.1, 0.02, 0.1] }, "position": [-0.2, -0.01, 0] },
      { "type": "static", "shape": { "type": "box", "size": [0.05, 0.05, 0.2] }, "rotation": [0, 0, 0.78539816] }
    ],
    "hand": { "type": "scripted", "path": { "type": "keyframes", "keyframes": [
      { "time": 0, "position": [-0.2, 0.01, 0] }, { "time": 0.4, "position": [-0.2, -0.005, 0] },
      { "time": 0.8, "position": [-0.19, -0.005, 0] }, { "time": 1.1, "position": [-0.19, 0.08, 0] },
      { "time": 1.6, "position": [0.00003, 0.08, 0] }, { "time": 2.2, "position": [0.00003, 0.02, 0] } ] } } })",
                     "ridge.json");
}

TEST(CompareScene, BeforeChaosErrorsAreThoseOfARunThatEndsThere) {
  Scene scene = make_ridge_scene();
  SceneCompareOptions options;
  options.methods = {"direct", "halfspace"};
  const SceneComparison whole = compare_scene(scene, options);
  const double chaos = whole.truth.at(0).chaotic_from;
  ASSERT_GT(chaos, 1.6) << "the table is no chaos";
  ASSERT_LT(chaos, 2.2);
  EXPECT_GT(whole.truth[0].contact_before, 0.4) << "on the table";
  EXPECT_LT(whole.truth[0].shift_error_before, 1.0) << "the table is flat";
  EXPECT_GT(whole.truth[0].shift_error, 50.0);
  scene.run.seconds = chaos;
  options.truth_error = false;
  const SceneComparison part = compare_scene(scene, options);
  const std::vector<NamedMetrics>& early = whole.hands[0].before_chaos;
  ASSERT_EQ(early.size(), 3u) << "the truth and two methods";
  for (std::size_t i = 0; i < early.size(); ++i) {
    const NamedMetrics& same = part.leading().metrics.at(i);
    EXPECT_EQ(early[i].name, same.name);
    EXPECT_EQ(early[i].metrics.force_peak, same.metrics.force_peak);
    if (i == 0) continue;
    EXPECT_EQ(early[i].metrics.force_error_rms, same.metrics.force_error_rms) << early[i].name;
    EXPECT_EQ(early[i].metrics.force_error_relative, same.metrics.force_error_relative) << early[i].name;
  }
}

TEST(CompareScene, WhereItIsChaoticMethodsAreJudgedByTheTimeBefore) {
  Scene scene = make_ridge_scene();
  SceneCompareOptions options;
  options.methods = {"direct", "halfspace"};
  SceneComparison c = compare_scene(scene, options);
  const auto says = [](const std::vector<std::string>& texts, const std::string& what) {
    return std::ranges::any_of(texts, [&](const std::string& t) { return t.find(what) != std::string::npos; });
  };
  const std::string until = fmt::format("until {:.2f} s", c.truth.at(0).chaotic_from);
  EXPECT_TRUE(says(describe_nearest(c), until)) << describe_nearest(c).at(0);
  EXPECT_TRUE(says(describe_truth(c), "Over the whole run: "));
  const Report report = make_report(scene, make_world(scene), c);
  EXPECT_TRUE(says(report.paragraphs, until));
  EXPECT_EQ(report.tables.at(0).columns.at(0), "Force error " + until + ", replayed hand");
  EXPECT_EQ(report.tables[0].columns.at(2), "Force error, whole run, replayed hand");
  for (const TableRow& row : report.tables[0].rows) EXPECT_EQ(row.cells.size(), report.tables[0].columns.size());
  const auto json = nlohmann::json::parse(make_json(scene, c));
  const auto& before = json["truth_error"][0]["before_chaos"];
  EXPECT_EQ(before["replayed"]["direct"]["force_error_rms"], c.hands[0].before_chaos[1].metrics.force_error_rms);
  // The one that is better before comes first, however the rest of the run goes.
  c.hands[0].before_chaos[1].metrics.force_error_rms = 1.0;
  c.hands[0].before_chaos[2].metrics.force_error_rms = 0.5;
  EXPECT_EQ(rank_methods(c.hands[0], "").front()->name, "halfspace");
  c.hands[0].before_chaos[2].metrics.force_error_rms = 2.0;
  EXPECT_EQ(rank_methods(c.hands[0], "").front()->name, "direct");
}

TEST(CompareScene, ANearestMethodThatDoesNotFitIntoATickIsNotLeftAlone) {
  SceneCompareOptions options;
  options.methods = {"direct", "halfspace"};
  options.truth_error = false;
  SceneComparison c = compare_scene(short_scene("sine-static", 0.6), options);
  auto& metrics = c.hands[0].comparison.metrics;
  for (std::size_t i = 1; i < 3; ++i) {
    metrics[i].metrics.force_error_rms = metrics[i].name == "direct" ? 0.1 : 0.2;
    metrics[i].metrics.tick_time_p99 = 1e-6;
  }
  EXPECT_EQ(describe_nearest(c).at(0).find("real time"), std::string::npos);
  for (NamedMetrics& m : metrics) m.metrics.tick_time_p99 = m.name == "direct" ? 0.004 : 1e-6;
  EXPECT_NE(describe_nearest(c).at(0).find("take 4.00 ms on this machine (99 %), and there are 1.00 ms"),
            std::string::npos)
      << describe_nearest(c)[0];
  EXPECT_NE(describe_nearest(c)[0].find("of those that fit halfspace is the nearest"), std::string::npos);
}

TEST(CompareScene, AToolThatTheReplayedHandDragsBehindItIsNamed) {
  SceneComparison c;
  c.strays = {{"jacobian", "", 0.025, 10.0}, {"direct", "left", 0.01, 4.0}};
  const std::vector<std::string> texts = describe_strays(c);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_NE(texts[0].find("the tool of jacobian comes to be 25.0 mm from"), std::string::npos) << texts[0];
  EXPECT_NE(texts[0].find("stretched to up to 10.0 N"), std::string::npos) << texts[0];
  EXPECT_TRUE(texts[1].starts_with("left: ")) << texts[1];
  SceneCompareOptions options;
  options.methods = {"direct"};
  options.truth_error = false;
  EXPECT_TRUE(compare_scene(short_scene("wall", 0.6), options).strays.empty()) << "a wall is where it is";
}

TEST(CompareScene, ReportHasASwitchAndJsonBothHands) {
  const Scene scene = short_scene("wall", 0.6);
  SceneCompareOptions options;
  options.methods = {"direct"};
  const SceneComparison c = compare_scene(scene, options);
  const Report report = make_report(scene, make_world(scene), c);
  EXPECT_EQ(report.views, (std::vector<std::string>{"replayed hand", "closed loop"}));
  EXPECT_TRUE(report.tables.at(0).view.empty()) << "both side by side";
  EXPECT_EQ(report.tables[0].columns.at(0), "Force error, replayed hand");
  EXPECT_EQ(report.tables[0].columns.at(2), "Force error, closed loop");
  for (const std::string& view : report.views)
    EXPECT_TRUE(std::ranges::any_of(report.plots, [&](const Plot& p) { return p.view == view; })) << view;
  const auto json = nlohmann::json::parse(make_json(scene, c));
  EXPECT_EQ(json["hand"], "replayed");
  EXPECT_EQ(json["leading"], "replayed");
  EXPECT_EQ(json["runs"][1]["name"], "direct");
  EXPECT_EQ(json["closed_loop"]["runs"][1]["name"], "direct");
  EXPECT_NE(json["runs"][1]["metrics"]["force_error_rms"],
            json["closed_loop"]["runs"][1]["metrics"]["force_error_rms"]);
  EXPECT_TRUE(json["truth_error"][0].contains("chaotic_from"));
}

TEST(CompareScene, WhatIsWrongInOneRunGoesOnToTheCaller) {
  SceneCompareOptions options;
  options.methods = {"limited"};  // refuses what is not a point
  EXPECT_THROW(compare_scene(short_scene("cubes", 0.01), options), InputError);
}

TEST(CompareScene, StopEndsItAndSaysSo) {
  std::atomic<bool> stop{true};
  SceneCompareOptions options;
  options.stop = &stop;
  const SceneComparison c = compare_scene(short_scene("sine-static", 0.5), options);
  EXPECT_TRUE(c.stopped);
  EXPECT_TRUE(c.leading().runs.empty());
}

}  // namespace
}  // namespace palpate::compare_scene_test
