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
