#include "palpate/experiments/scene_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "palpate/core/error.h"
#include "palpate/haptics/scripted.h"
#include "palpate/record/recording.h"
#include "palpate/record/replay_hand.h"
#include "palpate/scene/builtin.h"

namespace palpate::scene_run_test {
namespace {

/// A file in the temporary folder that is gone afterwards.
struct TempFile {
  explicit TempFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_" + name)).string()) {}
  ~TempFile() { std::filesystem::remove(path); }
  const std::string path;
};

Scene short_scene(std::string_view name, double seconds) {
  Scene scene = load_builtin_scene(name);
  scene.run.seconds = seconds;
  return scene;
}

bool same_bits(const Vec3& a, const Vec3& b) {
  return std::memcmp(a.data(), b.data(), sizeof(Vec3)) == 0;
}

TEST(RunScene, MakesEveryTickAndStepOfTheRunAndNamesItAfterTheMethod) {
  const Scene scene = short_scene("sine-static", 0.33);
  World world = make_world(scene);
  const SceneRun run = run_scene(scene, world, {.method = "halfspace"});
  EXPECT_EQ(run.data.name, "halfspace");
  EXPECT_EQ(run.data.ticks.size(), 330u);
  EXPECT_EQ(run.data.steps.size(), 10u);  // of 33 ms
  EXPECT_EQ(run.summary.ticks, 330u);
  EXPECT_EQ(run.data.tick_times.count(), 330u);
  EXPECT_EQ(run.data.step_times.count(), 10u);
  EXPECT_EQ(run.data.deadline_misses, 0u);
}

TEST(RunScene, WithoutAMethodTakesTheScenes) {
  Scene scene = short_scene("wall", 0.02);
  World world = make_world(scene);
  EXPECT_EQ(run_scene(scene, world, {}).data.name, scene.first().method);
  scene.first().method = "direct";
  EXPECT_EQ(run_scene(scene, world, {}).data.name, "direct");
}

TEST(RunScene, BeginsAnewEveryTime) {
  const Scene scene = short_scene("soft-block", 0.3);
  World world = make_world(scene);
  const SceneRun first = run_scene(scene, world, {.method = "direct"});
  const SceneRun again = run_scene(scene, world, {.method = "direct"});
  ASSERT_EQ(first.data.ticks.size(), again.data.ticks.size());
  for (std::size_t i = 0; i < first.data.ticks.size(); ++i) {
    ASSERT_TRUE(same_bits(first.data.ticks[i].sent.force, again.data.ticks[i].sent.force)) << i;
    ASSERT_TRUE(same_bits(first.data.ticks[i].tool.position, again.data.ticks[i].tool.position)) << i;
  }
}

TEST(RunScene, RowsAreKeptOnlyIfWanted) {
  const Scene scene = short_scene("wall", 0.1);
  World world = make_world(scene);
  const SceneRun run = run_scene(scene, world, {.method = "direct", .keep_rows = false});
  EXPECT_TRUE(run.data.ticks.empty());
  EXPECT_TRUE(run.data.steps.empty());
  EXPECT_EQ(run.summary.ticks, 100u);
}

TEST(RunScene, RecordingHoldsTheRunAndTheSceneThatWasRun) {
  const TempFile file("run.palpate");
  Scene scene = short_scene("wall", 0.2);
  scene.first().tool.coupling.stiffness = 321.0;
  World world = make_world(scene);
  const SceneRun run = run_scene(scene, world, {.method = "direct", .recording = file.path});
  const Recording read = read_recording(file.path);
  EXPECT_FALSE(read.cut);
  ASSERT_EQ(read.tracks.size(), 1u);
  EXPECT_EQ(read.tracks[0].method, "direct");
  EXPECT_EQ(read.header.dt, scene.run.dt);
  EXPECT_EQ(parse_scene(read.header.scene, "x.json").first().tool.coupling.stiffness, 321.0);
  ASSERT_EQ(read.ticks().size(), run.data.ticks.size());
  for (std::size_t i = 0; i < read.ticks().size(); ++i)
    ASSERT_TRUE(same_bits(read.ticks()[i].sent.force, run.data.ticks[i].sent.force)) << i;
  EXPECT_EQ(read.steps.size(), run.data.steps.size());
}

TEST(RunScene, RecordingOfTheScenesOwnMethodsNamesThem) {
  const TempFile file("own.palpate");
  const Scene scene = short_scene("wall", 0.02);
  World world = make_world(scene);
  run_scene(scene, world, {.recording = file.path});
  EXPECT_EQ(read_recording(file.path).header.tools.front().method, scene.first().method);
}

// The hand of a recording goes where it went, so the force is the same, bit for bit.
TEST(RunScene, ReplayedHandGivesTheForcesOfTheRunItself) {
  const TempFile file("replay.palpate");
  const Scene scene = short_scene("wall", 0.5);
  World world = make_world(scene);
  const SceneRun run = run_scene(scene, world, {.method = "direct", .recording = file.path});
  const std::unique_ptr<Device> hand = make_replay_device(file.path);
  const SceneRun again = run_scene(scene, world, {.method = "direct"}, {hand.get()});
  ASSERT_EQ(again.data.ticks.size(), run.data.ticks.size());
  for (std::size_t i = 0; i < run.data.ticks.size(); ++i)
    ASSERT_TRUE(same_bits(again.data.ticks[i].wanted.force, run.data.ticks[i].wanted.force)) << i;
}

// Of both hands, that is, if there are two; here in one twin of the world.
TEST(RunScene, ReplayedHandsGiveTheForcesOfTheRunItself) {
  const TempFile file("replay_two.palpate");
  const Scene scene = short_scene("two-hands", 1.3);
  World world = make_world(scene);
  const SceneRun run = run_scene(scene, world, {.method = "reduced", .recording = file.path});
  const auto left = make_replay_device(file.path, "left"), right = make_replay_device(file.path, "right");
  const SceneRun again = run_scene(scene, world, {.method = "reduced"}, {left.get(), right.get()});
  for (std::size_t hand = 0; hand < 2; ++hand) {
    const std::vector<TickRow>&first = run.all()[hand]->ticks, &second = again.all()[hand]->ticks;
    ASSERT_EQ(first.size(), 1300u);
    ASSERT_EQ(second.size(), first.size());
    EXPECT_GT(first.back().wanted.force.norm(), 0.3) << "it is touched";
    for (std::size_t i = 0; i < first.size(); ++i)
      ASSERT_TRUE(same_bits(second[i].wanted.force, first[i].wanted.force)) << hand << " " << i;
  }
}

TEST(RunScene, GivenDeviceTakesThePlaceOfTheScenes) {
  const Scene scene = short_scene("wall", 0.05);
  World world = make_world(scene);
  ScriptedDevice still(make_path(ScenePath(SceneKeyframePath{.keyframes = {{.position = Vec3(0.0, 0.5, 0.0)}}})));
  for (const TickRow& row : run_scene(scene, world, {.method = "reference"}, {&still}).data.ticks)
    ASSERT_EQ(row.device.position, Vec3(0.0, 0.5, 0.0));
}

TEST(RunScene, GuardsAreThoseOfTheTool) {
  Scene scene = short_scene("wall", 1.5);
  World world = make_world(scene);
  const double free = run_scene(scene, world, {.method = "reference"}).summary.hand().safety.peak_force;
  ASSERT_GT(free, 0.2);
  scene.first().guards.safety.max_force = 0.5 * free;
  const RunSummary held = run_scene(scene, world, {.method = "reference"}).summary;
  EXPECT_LE(held.hand().safety.peak_force, 0.5 * free);
  EXPECT_GT(held.hand().safety.clamped, 0u);
}

TEST(RunScene, StopsOnRequestAndKeepsWhatItHas) {
  const Scene scene = short_scene("wall", 10.0);
  World world = make_world(scene);
  std::atomic<bool> stop{false};
  SceneRunOptions options;
  options.method = "reference";
  options.control.stop = &stop;
  options.control.progress = [&](double t) { stop = t > 0.2; };
  const SceneRun run = run_scene(scene, world, options);
  EXPECT_TRUE(run.summary.stopped);
  EXPECT_GT(run.data.ticks.size(), 200u);
  EXPECT_LT(run.data.ticks.size(), 1000u);
}

TEST(RunScene, MethodThatCannotWorkHereSaysWhyAndWritesNothing) {
  const TempFile file("refused.palpate");
  const Scene scene = short_scene("wire", 0.1);
  World world = make_world(scene);
  EXPECT_THROW(run_scene(scene, world, {.method = "halfspace", .recording = file.path}), InputError);
  EXPECT_FALSE(std::filesystem::exists(file.path));
}

TEST(SceneRun, ListsItsToolsInOrder) {
  SceneRun run;
  run.data.tool = "left";
  run.others.resize(2);
  run.others[0].tool = "right";
  run.others[1].tool = "third";
  const std::vector<const RunData*> all = run.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], &run.data);
  EXPECT_EQ(all[1]->tool, "right");
  EXPECT_EQ(all[2]->tool, "third");
}

// The wall's surface is the plane y = 0 near its middle.
TEST(SurfaceDistance, IsPositiveOutsideAndNegativeInside) {
  Scene scene;
  scene.bodies.resize(1);
  scene.bodies[0].kind = SceneStatic{.shape = {.kind = BoxShape{.size = Vec3(0.2, 0.2, 0.2)}}};
  scene.first().hand.kind = SceneScriptedHand{.path = SceneTapPath{}};
  const World world = make_world(scene);
  const SignedDistance distance = make_surface_distance(world);
  EXPECT_NEAR(distance(Vec3(0.0, 0.13, 0.0)), 0.03, 1e-12);
  EXPECT_NEAR(distance(Vec3(0.02, 0.09, 0.01)), -0.01, 1e-12);
  EXPECT_NEAR(distance(Vec3(0.13, 0.14, 0.0)), 0.05, 1e-12) << "from an edge: 3, 4, 5";
  EXPECT_NEAR(distance(Vec3(0.0, 100.0, 0.0)), 99.9, 1e-9) << "however far";
}

}  // namespace
}  // namespace palpate::scene_run_test
