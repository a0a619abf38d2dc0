#include "palpate/experiments/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"
#include "palpate/experiments/sweep.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"

namespace palpate::advise_test {
namespace {

Scene short_scene(std::string_view name, double seconds) {
  Scene scene = load_builtin_scene(name);
  scene.run.seconds = seconds;
  return scene;
}

TEST(Advise, SuggestionsHaveEveryMethodOnceAndThoseThatCannotWorkLast) {
  for (const char* name : {"cubes", "soft-block", "sine-static", "wire"}) {
    const Scene scene = load_builtin_scene(name);
    World world = make_world(scene);
    const std::vector<Suggestion> all = suggest_methods(scene, world);
    EXPECT_EQ(all.size() + 1, registered_methods().size()) << "all but the truth";
    EXPECT_TRUE(all.front().refused.empty()) << name;
    EXPECT_TRUE(std::ranges::is_partitioned(all, [](const Suggestion& s) { return s.refused.empty(); })) << name;
    for (const Suggestion& s : all) {
      EXPECT_EQ(s.refused, refuse_method(scene, s.method, world)) << s.method;
      EXPECT_FALSE(s.reason.empty());
    }
  }
}

TEST(Advise, TakesTheMethodNearestToTheTruthOfItsTrial) {
  const Scene scene = short_scene("soft-block", 1.0);
  const Advice advice = advise(scene, {.contact_seconds = 0.1});
  double least = 1e9;
  std::string nearest;
  for (const NamedMetrics& m : advice.trial.leading().metrics) {
    if (m.truth || !(m.metrics.force_error_rms < least)) continue;
    least = m.metrics.force_error_rms;
    nearest = m.name;
  }
  EXPECT_EQ(advice.nearest, nearest);
  EXPECT_EQ(advice.choice(false), nearest) << "in virtual time no clock has a say";
  // The trial ends when there was enough contact, and not at the scene's end.
  EXPECT_LT(advice.seconds, 1.0);
  const std::vector<TickRow>& ticks = advice.trial.leading().reference.data.ticks;
  const auto touching =
      std::ranges::count_if(ticks, [](const TickRow& row) { return row.sent.force.norm() > kContactForce; });
  EXPECT_EQ(touching, 100);
}

// At a slow period of a tick the slow loop has nothing to be late with, and the nearest method is near indeed.
TEST(Advise, PeriodsHoldWithSomethingToSpare) {
  EXPECT_DOUBLE_EQ(holding_period(0.0021, 0.001), 0.003);
  EXPECT_DOUBLE_EQ(holding_period(1e-5, 0.001), 0.001) << "no faster than the tick";
}

TEST(Advise, AutoIsSettledOnceAndOtherMethodsAreLeftAlone) {
  Scene scene = short_scene("sine-static", 0.6);
  scene.first().method = "direct";
  EXPECT_FALSE(settle_auto(scene, false));
  EXPECT_EQ(scene.first().method, "direct");
  scene.first().method = kAutoMethod;
  validate(scene);  // a scene may say so
  World world = make_world(scene);
  EXPECT_THROW(run_scene(scene, world, {}), InputError) << "nobody has chosen yet";
  const std::string nearest = advise(scene).nearest;
  EXPECT_TRUE(settle_auto(scene, false));
  EXPECT_EQ(scene.first().method, nearest);
  // A point on a surface that stays: a tick of the truth is microseconds.
  Scene real = scene;
  real.first().method = kAutoMethod;
  EXPECT_TRUE(settle_auto(real, true));
  EXPECT_EQ(real.first().method, "reference");
}

TEST(Advise, ASceneThatTouchesNothingHasErrorsOfZeroAndStillAnswers) {
  const Advice advice = advise(short_scene("sine-static", 0.01));
  EXPECT_EQ(advice.seconds, 0.01);
  EXPECT_FALSE(advice.nearest.empty());
}

TEST(Sweep, GoesThroughAllAndEachPointIsWhatCompareGivesThere) {
  const Scene scene = short_scene("soft-block", 0.5);
  SweepOptions options;
  options.rates = {20.0, 100.0};
  options.stiffness = {5e3, 2e4};
  options.methods = {"direct"};
  const Sweep sweep = sweep_scene(scene, options);
  ASSERT_EQ(sweep.points.size(), 4u);
  EXPECT_EQ(sweep.points[1].rate, 100.0);
  EXPECT_EQ(sweep.points[2].stiffness, 2e4);
  EXPECT_TRUE(std::isnan(sweep.points[0].friction));
  // The last point by itself: its truth was taken over from another rate.
  Scene one = scene;
  set_slow_period(one, 0.01);
  for (SceneBody& body : one.bodies) {
    if (auto* soft = std::get_if<SceneSoft>(&body.kind)) soft->material.young_modulus = 2e4;
  }
  SceneCompareOptions compare;
  compare.methods = {"direct"};
  compare.truth_error = false;
  compare.hand = sweep.hand;
  EXPECT_EQ(sweep.points[3].metrics.at(1).metrics.force_error_rms,
            compare_scene(one, compare).leading().metrics.at(1).metrics.force_error_rms);
}

TEST(Sweep, ReportHasAMapForEachMethodAndALineInEachPlot) {
  SweepOptions options;
  options.rates = {20.0, 50.0};
  options.friction = {0.0, 0.4};
  options.methods = {"direct", "halfspace"};
  const Scene scene = short_scene("sine-static", 0.5);
  const Sweep sweep = sweep_scene(scene, options);
  const Report report = make_report(scene, sweep);
  ASSERT_EQ(report.tables.size(), 2u);
  EXPECT_EQ(report.tables[0].title, "direct");
  EXPECT_EQ(report.tables[0].columns, (std::vector<std::string>{"20 Hz", "50 Hz"}));
  EXPECT_EQ(report.tables[0].rows.at(1).name, "µ = 0.4");
  ASSERT_EQ(report.plots.size(), 2u);
  EXPECT_EQ(report.plots[0].series.size(), 2u);
  EXPECT_EQ(report.plots[0].series[0].x, (std::vector<double>{20.0, 50.0}));
  EXPECT_NE(make_json(scene, sweep).find("\"friction\": 0.4"), std::string::npos);
}

TEST(Sweep, OfAStiffnessThatNothingHasIsRefused) {
  SweepOptions options;
  options.stiffness = {1e4};
  EXPECT_THROW(sweep_scene(short_scene("sine-static", 0.1), options), InputError);
  options = {};
  options.friction = {-1.0};
  EXPECT_THROW(sweep_scene(short_scene("sine-static", 0.1), options), InputError);
}

}  // namespace
}  // namespace palpate::advise_test
