#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>

#include "../src/dervaux_pluck.h"
#include "../src/dervaux_run.h"
#include "../src/knott_scenes.h"
#include "../src/zhuang_runs.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/shapes.h"
#include "palpate/haptics/scripted.h"
#include "palpate/scene/builtin.h"
#include "sample_runs.h"

// What the experiments after one paper share: Dervaux et al. 2013, Knott & Kuhlen 2015, Zhuang & Canny 2000.
namespace palpate::paper_runs_test {
namespace {

// ---- Dervaux et al. 2013

/// A hand that stays where the scene's begins.
KeyframePathSettings stay(const Scene& scene) {
  KeyframePathSettings path;
  path.times = {0.0};
  path.positions = {make_device(scene)->read(0.0).pose.position};
  path.rotations = {make_device(scene)->read(0.0).pose.rotation};
  return path;
}

Scene short_cylinder(double seconds) {
  Scene scene = dervaux::load_cylinder_wire(5e4);
  scene.run.seconds = seconds;
  return scene;
}

TEST(DervauxRuns, LoadedCylinderHasTheStiffnessThatIsAskedFor) {
  Scene scene = dervaux::load_cylinder_wire(12345.0);
  EXPECT_EQ(find_body<SceneSoft>(scene, "cylinder").material.young_modulus, 12345.0);
  EXPECT_NO_THROW(validate(scene));
}

// The volume is that of the elements, which their surface encloses: somewhat below that of the round cylinder.
TEST(DervauxRuns, CylinderWeighsItsDensityTimesItsVolume) {
  Scene scene = short_cylinder(0.1);
  const World world = make_world(scene);
  const SceneSoft& soft = find_body<SceneSoft>(scene, "cylinder");
  const auto& shape = std::get<CylinderShape>(soft.shape.value().kind);
  const double round = M_PI * shape.radius * shape.radius * shape.height * soft.material.density;
  const FemBody& body = dervaux::cylinder_of(world);
  const BodySurface s = body.surface();
  const TriangleMesh surface{{s.positions.begin(), s.positions.end()}, {s.triangles.begin(), s.triangles.end()}};
  const double mass = dervaux::mass_of(body);
  EXPECT_NEAR(mass, check_mesh(surface).volume * soft.material.density, 1e-9 * mass);
  EXPECT_LT(mass, round);
}

TEST(DervauxRuns, WorldWithoutASoftBodyHasNoCylinder) {
  const World world = make_world(load_builtin_scene("wall"));
  EXPECT_THROW(dervaux::cylinder_of(world), std::logic_error);
}

TEST(DervauxRuns, WatchIsCalledAfterEverySlowStepOrElseEveryTick) {
  const Scene scene = short_cylinder(0.1);
  World world = make_world(scene);
  for (const bool truth : {false, true}) {
    std::vector<double> times;
    int ticks = 0;
    dervaux::WatchedRun run;
    run.method = truth ? "reference" : "compliance";
    run.name = "watched";
    run.watch = [&](double time, World& seen, const StepReport&) {
      EXPECT_EQ(&seen, &world);
      times.push_back(time);
    };
    run.on_tick = [&](const TickRow&) { ++ticks; };
    const SceneRun out = dervaux::run_watched(scene, world, stay(scene), run, {});
    EXPECT_EQ(out.data.name, "watched");
    EXPECT_EQ(ticks, 100);
    EXPECT_EQ(out.data.ticks.size(), 100u);
    EXPECT_EQ(times.size(), truth ? 100u : out.data.steps.size());
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  }
}

TEST(DervauxRuns, RowsThatAreNotKeptAreStillSeen) {
  const Scene scene = short_cylinder(0.05);
  World world = make_world(scene);
  int ticks = 0;
  dervaux::WatchedRun run{"compliance", "unkept", {}, false, [&](const TickRow&) { ++ticks; }};
  const SceneRun out = dervaux::run_watched(scene, world, stay(scene), run, {});
  EXPECT_TRUE(out.data.ticks.empty());
  EXPECT_TRUE(out.data.steps.empty());
  EXPECT_EQ(ticks, 50);
}

TEST(DervauxNumbers, RepeatAndFillTheUnitIntervalEvenly) {
  dervaux::Numbers a, b;
  double sum = 0.0;
  constexpr int kCount = 10000;
  for (int i = 0; i < kCount; ++i) {
    const double x = a.next();
    ASSERT_EQ(x, b.next());
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  // The mean of n even numbers is off by √(1/12n) = 0.003 once; five times that is one in a million.
  EXPECT_NEAR(sum / kCount, 0.5, 0.015);
  for (int i = 0; i < 100; ++i) {
    const double x = a.between(-2.0, 3.0);
    EXPECT_GE(x, -2.0);
    EXPECT_LT(x, 3.0);
  }
}

TEST(DervauxPlots, ReferenceIsDrawnAsTheTruthWhereverItStands) {
  const RunData one = testing::make_still_run("compliance", 3, Vec3(1, 0, 0));
  const RunData truth = testing::make_still_run("reference", 3, Vec3(2, 0, 0));
  const Plot plot = dervaux::make_tick_plot("Title", "force", "N", {&one, &truth},
                                            [](const TickRow& row) { return row.wanted.force.x(); });
  EXPECT_EQ(plot.title, "Title");
  EXPECT_EQ(plot.y_label, "force");
  EXPECT_EQ(plot.y_unit, "N");
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].style, SeriesStyle::kMethod);
  EXPECT_EQ(plot.series[1].style, SeriesStyle::kReference);
  EXPECT_EQ(plot.series[1].y, std::vector<double>(3, 2.0));
}

TEST(DervauxPluck, PeakIsWhereTheSineIs_ThoughAnotherIsNear) {
  constexpr double kDt = 1e-3;
  std::vector<double> x;
  for (int i = 0; i < 1000; ++i) {
    const double t = kDt * i;
    x.push_back(std::sin(2.0 * M_PI * 87.3 * t) + 2.0 * std::cos(2.0 * M_PI * 31.9 * t));
  }
  // A second of samples tells frequencies apart to less than a hertz; steps of the search are a thousandth.
  EXPECT_NEAR(dervaux::find_peak(x, kDt, 80.0), 87.3, 0.3);
  EXPECT_NEAR(dervaux::find_peak(x, kDt, 33.0), 31.9, 0.3);
}

// Backward Euler's own root: after n steps the phase of (1 − iωh)⁻ⁿ is that of the frequency that is seen.
TEST(DervauxPluck, BackwardEulerSlowsAVibrationByItsRootsAngle) {
  for (const double f : {5.0, 31.9, 88.0, 400.0}) {
    for (const double h : {1e-4, 1e-3}) {
      const double omega = 2.0 * M_PI * f;
      const std::complex<double> root = 1.0 / std::complex<double>(1.0, -omega * h);
      EXPECT_NEAR(dervaux::seen_at(f, h), std::arg(root) / (2.0 * M_PI * h), 1e-9 * f);
      EXPECT_LT(dervaux::seen_at(f, h), f);
    }
    EXPECT_NEAR(dervaux::seen_at(f, 1e-7), f, 1e-6 * f) << "small steps see it as it is";
  }
}

// cosh βL cos βL = 1 for a beam that is clamped at both ends; the scene's own material and length.
TEST(DervauxPluck, ModesAreThoseOfAClampedBeamOfTheScene) {
  const Scene scene = load_builtin_scene("two-beams");
  const auto& tool = std::get<SceneChainTool>(scene.first().tool.kind);
  EXPECT_EQ(tool.length, dervaux::kLength);
  const double r = tool.radius, speed = std::sqrt(tool.material.young_modulus * 0.25 * r * r / tool.material.density);
  for (int mode = 0; mode < 4; ++mode) {
    const double beta = std::sqrt(2.0 * M_PI * dervaux::clamped_frequency(mode) / speed) * tool.length;
    EXPECT_NEAR(std::cos(beta), 1.0 / std::cosh(beta), 1e-5) << mode;
    EXPECT_NEAR(beta, (mode + 1.5) * M_PI, 0.02) << "the roots in their order";
  }
}

// ---- Knott & Kuhlen 2015

// Section 5: 1 g, 1000 N/m, 0.8 N·s/m, 1 ms and 33 ms.
TEST(KnottScene, HasThePapersToolAndRates) {
  const Scene scene = make_knott_scene("n", "d", 3.0);
  EXPECT_EQ(scene.name, "n");
  EXPECT_EQ(scene.description, "d");
  EXPECT_EQ(scene.run.seconds, 3.0);
  EXPECT_EQ(std::get<ScenePointTool>(scene.first().tool.kind).mass, 0.001);
  EXPECT_EQ(scene.first().tool.coupling.stiffness, 1000.0);
  EXPECT_EQ(scene.first().tool.coupling.damping, 0.8);
  EXPECT_EQ(scene.first().method, "limited");
  EXPECT_EQ(scene.run.dt, 0.001);
  EXPECT_EQ(scene.run.slow_period, 0.033);
  EXPECT_TRUE(scene.bodies.empty());
  EXPECT_EQ(scene.world.gravity, Vec3::Zero());
}

// What a light, soft surface yields within a tick may be longer than the longest way of a tick, and is no part of it:
// at rest the hand feels the whole coupling, and the truth's force.
TEST(KnottScene, LightSoftBlockAtRestIsFeltWithTheCouplingsAndTheTruthsForce) {
  Scene scene = make_knott_scene("n", "d", 1.2);
  SceneSoft block{.shape = SceneShape{.kind = BoxShape{.size = Vec3(0.06, 0.04, 0.06)}}, .cell = 0.01};
  block.material.young_modulus = 2e4;
  block.fixed = {{Vec3::Constant(-1.0), Vec3(1.0, -0.015, 1.0)}};
  scene.bodies = {{.name = "block", .kind = block, .friction = 0.1}};
  const Vec3 above(0.003, 0.025, -0.008), pressed(0.005, 0.007, -0.0105);
  scene.first().hand.kind =
      SceneScriptedHand{.path = SceneKeyframePath{.keyframes = {{.time = 0.0, .position = above},
                                                                {.time = 0.5, .position = pressed},
                                                                {.time = 2.0, .position = pressed}}}};
  World world = make_world(scene);
  double forces[2];
  int i = 0;
  for (const char* method : {"reference", "limited"}) {
    const TickRow last = run_scene(scene, world, {.method = method}).data.ticks.back();
    forces[i] = last.wanted.force.norm();
    const double coupling = scene.first().tool.coupling.stiffness * (last.tool.position - pressed).norm();
    EXPECT_NEAR(forces[i], coupling, 0.01 * coupling) << method;
    ++i;
  }
  EXPECT_GT(forces[0], 1.0);
  EXPECT_NEAR(forces[1], forces[0], 0.05 * forces[0]);
}

/// The keyframes of a sweep over a box whose top is at y = 0.
std::vector<SceneKeyframe> sweep_over_box(Scene& scene, const SweepSettings& sweep) {
  TriangleMesh box = make_box(Vec3(0.2, 0.02, 0.1), 1);
  for (Vec3& p : box.vertices) p.y() -= 0.01;
  add_sweep(scene, TriangleTree(box), sweep);
  return std::get<SceneKeyframePath>(*find_path(scene.first().hand)).keyframes;
}

TEST(KnottSweep, StaysAsDeepAsAskedBelowAFlatTop) {
  Scene scene = make_knott_scene("n", "d", 1.0);
  const SweepSettings sweep{.through = Vec3(0.0, 0.0, 0.01), .from = -0.04, .to = 0.04, .depth = 0.002, .above = 0.01};
  const std::vector<SceneKeyframe> keyframes = sweep_over_box(scene, sweep);
  ASSERT_GT(keyframes.size(), 10u);
  EXPECT_NEAR(keyframes.front().position.y(), 0.01, 1e-12);
  EXPECT_NEAR(keyframes.back().position.y(), 0.01, 1e-12);
  for (std::size_t i = 1; i + 1 < keyframes.size(); ++i) {
    EXPECT_NEAR(keyframes[i].position.y(), -0.002, 1e-12) << i;
    EXPECT_EQ(keyframes[i].position.z(), 0.01);
  }
}

TEST(KnottSweep, GoesFromOneEndToTheOtherAtItsSpeed) {
  Scene scene = make_knott_scene("n", "d", 1.0);
  const SweepSettings sweep{.from = -0.04, .to = 0.04, .depth = 0.001, .speed = 0.2};
  const std::vector<SceneKeyframe> keyframes = sweep_over_box(scene, sweep);
  EXPECT_NEAR(keyframes[1].position.x(), -0.04, 1e-12);
  for (std::size_t i = 2; i + 1 < keyframes.size(); ++i) {
    const double way = (keyframes[i].position - keyframes[i - 1].position).norm();
    EXPECT_NEAR(way / (keyframes[i].time - keyframes[i - 1].time), 0.2, 1e-9) << i;
  }
  // Keyframes are four samples of 0.5 mm apart.
  EXPECT_NEAR(keyframes[keyframes.size() - 2].position.x(), 0.04, 0.002 + 1e-9);
  EXPECT_NEAR(scene.run.seconds, keyframes.back().time, 1e-3 + 1e-9) << "the run ends with the hand";
  EXPECT_GE(scene.run.seconds, keyframes.back().time - 1e-9);
}

TEST(KnottSweep, OverAHoleKeepsTheHeightItHas) {
  Scene scene = make_knott_scene("n", "d", 1.0);
  // The box ends at x = 0.1.
  const SweepSettings sweep{.from = 0.0, .to = 0.15, .depth = 0.001, .smoothing = 0.0};
  const std::vector<SceneKeyframe> keyframes = sweep_over_box(scene, sweep);
  for (std::size_t i = 1; i + 1 < keyframes.size(); ++i) EXPECT_NEAR(keyframes[i].position.y(), -0.001, 1e-12) << i;
}

// Seen from aside, at 45°, the same box is a slope; there and back it is the same way twice.
TEST(KnottSweep, GoesAlongAnyLineAndBack) {
  Scene scene = make_knott_scene("n", "d", 1.0);
  SweepSettings sweep{.from = -0.01, .to = 0.01, .back = true, .depth = 0.002, .smoothing = 0.0};
  sweep.along = Vec3(0.0, -1.0, 1.0).normalized();
  sweep.up = Vec3(0.0, 1.0, 1.0).normalized();
  const std::vector<SceneKeyframe> keyframes = sweep_over_box(scene, sweep);
  ASSERT_EQ(keyframes.size() % 2, 1u);
  for (std::size_t i = 1; i + 1 < keyframes.size(); ++i) {
    EXPECT_NEAR(keyframes[i].position.y(), -0.002 * std::sqrt(0.5), 1e-12) << i;
    EXPECT_LT((keyframes[i].position - keyframes[keyframes.size() - 1 - i].position).norm(), 1e-12) << i;
  }
}

// The figure's base is flat and level; the way onto it begins above it, on the side, and ends on it.
TEST(KnottMeshes, TheWayOntoTheBaseGoesFromTheSideToTheBase) {
  ExperimentOptions quick;
  quick.quick = true;
  const Statue statue = load_statue(quick);
  Scene scene = make_knott_scene("n", "d", 1.0);
  add_sweep(scene, TriangleTree(statue.mesh), sweep_onto_base(statue));
  const auto keyframes = std::get<SceneKeyframePath>(*find_path(scene.first().hand)).keyframes;
  double lowest = 1.0, highest = 0.0;
  for (std::size_t i = 1; i + 1 < keyframes.size(); ++i) {
    lowest = std::min(lowest, keyframes[i].position.y());
    highest = std::max(highest, keyframes[i].position.y());
  }
  EXPECT_NEAR(lowest, 0.0095, 0.002) << "a millimetre below the base's top";
  EXPECT_GT(highest, 0.03);
}

TEST(KnottMeshes, WithoutTheDataFolderAShapeStandsInAndSaysSo) {
  const char* was = std::getenv("PALPATE_DATA");
  const std::string before = was ? was : "";
  unsetenv("PALPATE_DATA");
  const KnottMesh mesh = load_or_make("rocker.off", 0.001, {.kind = TorusShape{}}, {});
  was ? setenv("PALPATE_DATA", before.c_str(), 1) : unsetenv("PALPATE_DATA");
  EXPECT_TRUE(mesh.file.empty());
  EXPECT_FALSE(mesh.mesh.triangles.empty());
  ASSERT_EQ(mesh.notes.size(), 1u);
  EXPECT_NE(mesh.notes[0].find("rocker.off is not there"), std::string::npos);
  EXPECT_NE(mesh.notes[0].find("torus stands in"), std::string::npos);
}

TEST(KnottComparison, ClaimsAreOfLimitedAgainstHalfspace) {
  Scene scene = load_builtin_scene("sine-static");
  scene.run.seconds = 0.6;
  World world = make_world(scene);
  const auto compare = [&](const std::string& part, const KnottLimits& limits) {
    ExperimentResult out;
    add_knott_comparison(part, scene, world, limits, {}, out);
    return out;
  };
  const ExperimentResult plain = compare("", {}), part = compare("part", {.performance = true});
  // Four of each of three pairs, two force errors, and of what does not move two distances.
  EXPECT_EQ(plain.claims.size(), 16u);
  EXPECT_EQ(compare("", {.soft = true}).claims.size(), 14u);
  ASSERT_EQ(part.claims.size(), 27u) << "iterations, residual, constraints, four times by two clocks";
  for (const MeasuredClaim& claim : plain.claims) EXPECT_TRUE(std::isfinite(claim.measured)) << claim.name;
  // Ratios are what is left of halfspace's figures: far less, and the same in both.
  EXPECT_LT(plain.claims[2].measured, 1.0);
  EXPECT_EQ(plain.claims[2].measured, part.claims[2].measured);
  EXPECT_EQ("part: " + plain.claims[2].name, part.claims[2].name);
  EXPECT_EQ(part.report.views, std::vector<std::string>{"part"});
}

TEST(KnottComparison, StoppedOneClaimsNothing) {
  const Scene scene = load_builtin_scene("sine-static");
  World world = make_world(scene);
  std::atomic<bool> stop{true};
  ExperimentOptions options;
  options.stop = &stop;
  ExperimentResult out;
  add_knott_comparison("", scene, world, {}, options, out);
  EXPECT_TRUE(out.claims.empty());
}

// ---- Zhuang & Canny 2000

TEST(ZhuangBlock, IsAValidSceneThatStandsOnItsFixedBottom) {
  zhuang::PressedBlock block;
  const Scene scene = zhuang::make_pressed_block(block);
  EXPECT_NO_THROW(validate(scene));
  World world = make_world(scene);
  const BoundingBox box = compute_bounding_box(world.bodies()[0].body->surface().positions);
  EXPECT_NEAR(box.upper.y(), 0.0, 1e-12);
  EXPECT_NEAR(box.lower.y(), -block.size.y(), 1e-12);
  EXPECT_LT(world.tools()[0], 0) << "a finger is no body of the world";
  EXPECT_EQ(make_tool_settings(scene).as<HeldFingers>()->fingers.at(0).radius, block.radius);
}

TEST(ZhuangBlock, SurvivesWritingLikeASceneFromAFile) {
  const Scene scene = zhuang::make_pressed_block({});
  EXPECT_EQ(parse_scene(write_scene(scene), ""), scene);
}

TEST(ZhuangBlock, SlowPeriodAndLatencyAreSetApart) {
  Scene scene = zhuang::make_pressed_block({});
  zhuang::set_slow_period(scene, 0.03, 0.01);
  EXPECT_EQ(scene.run.slow_period, 0.03);
  EXPECT_EQ(scene.run.latency, 0.01);
  EXPECT_DOUBLE_EQ(scene.first().guards.safety.stale_after, 0.07);
}

TEST(ZhuangBlock, AtRestNothingMoves) {
  const World world = make_world(zhuang::make_pressed_block({}));
  EXPECT_EQ(zhuang::compute_fastest(world), 0.0);
}

TEST(ZhuangSearch, FindsTheLimitFromAnyGuess_AskingAboutItOnce) {
  constexpr double kLimit = 3.7e-4, kNear = 1.002;
  for (const double guess : {kLimit, 0.999 * kLimit, 1.001 * kLimit, 0.1 * kLimit, 20.0 * kLimit}) {
    std::vector<double> asked;
    const double found = zhuang::find_largest(guess, 1.3, kNear, [&](double value) {
      asked.push_back(value);
      return value <= kLimit;
    });
    EXPECT_LE(found, kLimit) << guess;
    EXPECT_GT(found * kNear, kLimit) << guess;
    // Strides to the limit and one beyond, then halves of the whole way: log2(ln 26 / ln 1.002) of them are below 11.
    EXPECT_LE(static_cast<double>(asked.size()), std::abs(std::log(guess / kLimit) / std::log(1.3)) + 2.0 + 11.0)
        << guess;
    EXPECT_EQ(std::count(asked.begin(), asked.end(), guess), 1);
  }
}

}  // namespace
}  // namespace palpate::paper_runs_test
