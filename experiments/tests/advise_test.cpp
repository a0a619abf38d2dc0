#include "palpate/experiments/advise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "palpate/core/error.h"
#include "palpate/experiments/sweep.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"
#include "sample_runs.h"

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

// Measured (docs/choosing-a-method.md): among a few rigid bodies those that have them in the tick are the truth.
TEST(Advise, SuggestsWhatHasRigidBodiesInTheTickWhereTheyAreFew) {
  Scene scene = load_builtin_scene("cubes");
  const auto first = [&] {
    World world = make_world(scene);
    return suggest_methods(scene, world).front().method;
  };
  EXPECT_EQ(first(), "accelerance") << "thirty";
  for (SceneBody& body : scene.bodies) {
    if (auto* rigid = std::get_if<SceneRigid>(&body.kind)) rigid->copies.x = rigid->copies.y = 1;
  }
  EXPECT_EQ(first(), "reduced") << "three";
}

TEST(Advise, TakesTheMethodNearestToTheTruthOfItsTrial) {
  const Scene scene = short_scene("soft-block", 1.0);
  const Advice advice = advise(scene, {.contact_seconds = 0.1});
  const std::string nearest = advice.nearest;
  ASSERT_EQ(advice.trial.hands.size(), 2u);
  // With one of the hands at least none is nearer.
  bool best_somewhere = false;
  for (const SceneComparison::Part& part : advice.trial.hands) {
    const auto metrics = [&](const NamedMetrics& m) { return m.truth ? 1e9 : m.metrics.force_error_rms; };
    best_somewhere = best_somewhere || std::ranges::min_element(part.comparison.metrics, {}, metrics)->name == nearest;
  }
  EXPECT_TRUE(best_somewhere) << nearest;
  EXPECT_EQ(advice.choice(false), nearest) << "in virtual time no clock has a say";
  // The trial ends when there was enough contact, and not at the scene's end.
  EXPECT_LT(advice.seconds, 1.0);
  const std::vector<TickRow>& ticks = advice.trial.leading().reference.data.ticks;
  const auto touching =
      std::ranges::count_if(ticks, [](const TickRow& row) { return row.sent.force.norm() > kContactForce; });
  EXPECT_EQ(touching, 100);
}

/// A comparison in which the truth is 1 N, and methods are off by so much with each hand [N].
SceneComparison make_comparison(const std::vector<std::map<std::string, double>>& errors) {
  SceneComparison out;
  for (std::size_t h = 0; h < errors.size(); ++h) {
    SceneComparison::Part part;
    part.hand = h == 0 ? ComparedHand::kReplayed : ComparedHand::kClosedLoop;
    part.comparison.reference.data = testing::make_still_run("reference", 1000, Vec3(1.0, 0.0, 0.0));
    for (const auto& [name, error] : errors[h]) {
      part.comparison.runs.emplace_back();
      part.comparison.runs.back().data = testing::make_still_run(name, 1000, Vec3(1.0 + error, 0.0, 0.0));
    }
    out.hands.push_back(std::move(part));
  }
  return out;
}

TEST(FindNearest, IsTheBestOfOneHandAndOfTwoNoneThatOneOfThemHates) {
  EXPECT_EQ(find_nearest(make_comparison({{{"a", 0.2}, {"b", 0.1}, {"c", 0.3}}})), "b");
  EXPECT_EQ(find_nearest(make_comparison({{{"a", 0.23}, {"b", 0.33}}, {{"a", 1.32}, {"b", 0.30}}})), "b");
  EXPECT_EQ(find_nearest(make_comparison({{{"a", 0.10}, {"b", 0.14}}, {{"a", 0.12}, {"b", 0.11}}})), "a");
  EXPECT_EQ(find_nearest(make_comparison({{}})), "");
}

TEST(FindNearest, LooksNoFurtherThanTheTrial) {
  SceneComparison c = make_comparison({{{"a", 0.1}, {"b", 0.2}}});
  for (std::size_t i = 500; i < 1000; ++i) c.hands[0].comparison.runs[0].data.ticks[i].sent.force.x() = 9.0;
  EXPECT_EQ(find_nearest(c), "b");
  EXPECT_EQ(find_nearest(c, 0.4), "a");
  EXPECT_EQ(find_nearest(c, 0.4, [](const SceneRun& run) { return run.data.name != "a"; }), "b");
}

TEST(Advise, PeriodsHoldWithSomethingToSpare) {
  EXPECT_DOUBLE_EQ(holding_period(0.0021, 0.001), 0.003);
  EXPECT_DOUBLE_EQ(holding_period(1e-5, 0.001), 0.001) << "no faster than the tick";
  Scene scene = short_scene("sine-static", 0.3);
  scene.first().method = "halfspace";
  const double period = measure_period(scene);
  EXPECT_GE(period, scene.run.dt);
  EXPECT_LT(period, scene.run.slow_period) << "a step of microseconds";
  scene.first().method = "reference";
  EXPECT_EQ(measure_period(scene), scene.run.slow_period) << "without a slow loop nothing is measured";
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
  const std::optional<AutoChoice> choice = settle_auto(scene, false);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->warning, "") << "the trial could tell";
  EXPECT_EQ(scene.first().method, nearest);
  // A point on a surface that stays: a tick of the truth is microseconds.
  Scene real = scene;
  real.first().method = kAutoMethod;
  EXPECT_TRUE(settle_auto(real, true));
  EXPECT_EQ(real.first().method, "reference");
}

TEST(Advise, WithNothingFeltTheDefaultOrderIsTakenAndSaid) {
  for (const std::string name : {"organ-static", "wall", "soft-block"}) {
    Scene scene = short_scene(name, 0.01);
    World world = make_world(scene);
    const std::string first = suggest_methods(scene, world).front().method;
    const Advice advice = advise(scene);
    EXPECT_EQ(advice.seconds, 0.01);
    EXPECT_FALSE(advice.felt) << name;
    EXPECT_EQ(advice.nearest, first) << name << ": all errors are zero, and tell nothing";
    EXPECT_EQ(find_nearest(advice.trial), "") << name;
    EXPECT_FALSE(advice.truth_fits) << name << ": a tick without contact is no measure of one with it";
    scene.first().method = kAutoMethod;
    const std::optional<AutoChoice> choice = settle_auto(scene, false);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->method, first);
    EXPECT_EQ(scene.first().method, first);
    EXPECT_TRUE(choice->warning.find("touches nothing") != std::string::npos) << choice->warning;
  }
}

TEST(Sweep, GoesThroughAllAndEachPointIsWhatCompareGivesThere) {
  const Scene scene = short_scene("soft-block", 0.25);
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
  EXPECT_EQ(report.subtitle.find("slow"), std::string::npos) << "the scene's own rate was not run";
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
