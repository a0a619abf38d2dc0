#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "palpate/core/error.h"
#include "palpate/experiments/compare.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/record/recording.h"
#include "palpate/record/replay_hand.h"
#include "palpate/scene/builtin.h"

// From a run to a file and back into a run.
namespace palpate::replay_run_test {
namespace {

namespace fs = std::filesystem;

/// A run of `wall` with a simulated hand, recorded in a folder that is gone afterwards.
class RecordedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("palpate_replay_run_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    scene_ = load_builtin_scene("wall");
    scene_.run.seconds = 0.8;
    World world = make_world(scene_);
    run_ = run_scene(scene_, world, {.method = "reference", .recording = file()});
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file() const { return (folder_ / "run.palpate").string(); }

  fs::path folder_;
  Scene scene_;
  SceneRun run_;
};

TEST_F(RecordedRun, SceneWithItsHandRunsTheSameWay) {
  Scene scene = scene_;
  scene.source = {(folder_ / "scene.json").string(), ""};
  scene.first().hand.kind = SceneReplayHand{.file = "run.palpate"};
  World world = make_world(scene);
  const SceneRun again = run_scene(scene, world, {.method = "reference"});
  ASSERT_EQ(again.data.ticks.size(), run_.data.ticks.size());
  for (std::size_t i = 0; i < run_.data.ticks.size(); ++i) {
    ASSERT_EQ(again.data.ticks[i].device.position, run_.data.ticks[i].device.position) << i;
    ASSERT_EQ(again.data.ticks[i].sent.force, run_.data.ticks[i].sent.force) << i;
  }
}

// A simulated hand gives way to the force; a replayed one goes the recorded way whatever it feels.
TEST_F(RecordedRun, ReplayedHandDoesNotFeel) {
  Scene scene = scene_;
  scene.first().tool.coupling.stiffness *= 0.5;
  World world = make_world(scene);
  const std::unique_ptr<Device> hand = make_replay_device(file());
  const SceneRun replayed = run_scene(scene, world, {.method = "reference"}, {hand.get()});
  const SceneRun felt = run_scene(scene, world, {.method = "reference"});
  double apart = 0.0;
  for (std::size_t i = 0; i < run_.data.ticks.size(); ++i) {
    ASSERT_EQ(replayed.data.ticks[i].device.position, run_.data.ticks[i].device.position) << i;
    apart = std::max(apart, (felt.data.ticks[i].device.position - run_.data.ticks[i].device.position).norm());
  }
  EXPECT_GT(apart, 1e-4);
}

TEST_F(RecordedRun, RecordedSceneIsTheOneThatWasRun) {
  const Scene read = parse_scene(read_recording(file()).header.scene, file());
  EXPECT_EQ(read, scene_);
}

TEST_F(RecordedRun, CutFileReplaysAsFarAsItGoes) {
  fs::resize_file(file(), fs::file_size(file()) - 40000);
  const Recording cut = read_recording(file());
  ASSERT_TRUE(cut.cut);
  ASSERT_GT(cut.ticks().size(), 100u);
  ASSERT_LT(cut.ticks().size(), run_.data.ticks.size());
  const std::unique_ptr<Device> hand = make_replay_device(file());
  const TickRow& last = cut.ticks().back();
  EXPECT_EQ(hand->read(last.time).pose.position, last.device.position);
  EXPECT_EQ(hand->read(last.time + 1.0).pose.position, last.device.position) << "and stays there";
}

TEST_F(RecordedRun, MetricsOfTheFileAreThoseOfTheRun) {
  const Recording read = read_recording(file());
  RunData data;
  data.ticks = read.ticks();
  data.steps = read.steps;
  const Metrics a = compute_metrics(run_.data, nullptr), b = compute_metrics(data, nullptr);
  EXPECT_EQ(a.force_peak, b.force_peak);
  EXPECT_EQ(a.force_jump_max, b.force_jump_max);
  EXPECT_EQ(a.force_rms_high, b.force_rms_high);
  EXPECT_EQ(a.energy_final, b.energy_final);
  EXPECT_EQ(a.safety_events, b.safety_events);
  EXPECT_EQ(a.event_counts, b.event_counts);
}

}  // namespace
}  // namespace palpate::replay_run_test
