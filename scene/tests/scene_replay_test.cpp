#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "palpate/core/error.h"
#include "palpate/record/recording.h"
#include "palpate/scene/scene.h"

// Hands of recordings in scenes: which file, and whose hand of it.
namespace palpate::scene_replay_test {
namespace {

namespace fs = std::filesystem;

/// A folder of its own with `run.palpate`, in which the hand of tool t stays at x = t, and `one.palpate` with one tool
/// at x = 5. It is gone afterwards.
class Recordings : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("palpate_replay_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    RecordingHeader header;
    header.tools = {{"left", "m"}, {"right", "m"}};
    RecordingWriter two((folder_ / "run.palpate").string(), header);
    for (std::size_t tool = 0; tool < 2; ++tool) two.add(row_at(static_cast<double>(tool)), tool);
    two.close();
    RecordingWriter one((folder_ / "one.palpate").string(), {});
    one.add(row_at(5.0));
    one.close();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static TickRow row_at(double x) {
    TickRow row;
    row.device.position = Vec3(x, 0.0, 0.0);
    return row;
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  /// Hands as JSON, each of a tool of its own.
  Scene parse(const std::vector<std::string>& hands) const {
    std::string tools;
    for (const std::string& hand : hands)
      tools += (tools.empty() ? "{\"hand\": {\"type\": \"replay\", " : ",\n{\"hand\": {\"type\": \"replay\", ") + hand +
               "}}";
    return parse_scene(
        R"({"format": 1, "bodies": [{"type": "static", "shape": {"type": "box"}}], "tools": [)" + tools + "]}",
        file("scene.json"));
  }

  std::string error_of(const std::vector<std::string>& hands) const {
    try {
      parse(hands);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  static double x_of(const Scene& scene, std::size_t tool) {
    return make_device(scene, tool)->read(0.0).pose.position.x();
  }

  fs::path folder_;
};

TEST_F(Recordings, WithoutANameEachHandIsTheOneInItsPlace) {
  const Scene scene = parse({R"("file": "run.palpate")", R"("file": "run.palpate")"});
  EXPECT_EQ(x_of(scene, 0), 0.0);
  EXPECT_EQ(x_of(scene, 1), 1.0);
}

TEST_F(Recordings, NameChoosesTheHandWhateverThePlace) {
  const Scene scene = parse({R"("file": "run.palpate", "tool": "right")", R"("file": "run.palpate", "tool": "left")"});
  EXPECT_EQ(x_of(scene, 0), 1.0);
  EXPECT_EQ(x_of(scene, 1), 0.0);
  EXPECT_EQ(parse_scene(write_scene(scene), scene.source.file), scene);
}

TEST_F(Recordings, OnlyHandOfARecordingPlaysInAnyPlace) {
  const Scene scene = parse({R"("file": "one.palpate")", R"("file": "one.palpate")", R"("file": "one.palpate")"});
  for (std::size_t tool = 0; tool < 3; ++tool) EXPECT_EQ(x_of(scene, tool), 5.0) << tool;
}

TEST_F(Recordings, ErrorsNameTheHandTheFileAndTheToolsThatThereAre) {
  const std::string run = file("run.palpate");
  EXPECT_EQ(error_of({R"("file": "run.palpate")", R"("file": "run.palpate", "tool": "rigth")"}),
            file("scene.json") + ":2: tools[1].hand: " + run +
                ": no tool is called \"rigth\"; there are: left, right. Did you mean \"right\"?");
  EXPECT_EQ(error_of({R"("file": "run.palpate")", R"("file": "run.palpate")", R"("file": "run.palpate")"}),
            file("scene.json") + ":3: tools[2].hand: " + run +
                ": has no tool number 3; say which one is meant, there are: left, right");
  EXPECT_NE(error_of({R"("file": "gone.palpate")"}).find("gone.palpate: cannot open the recording"), std::string::npos);
  std::ofstream(file("not.palpate")) << "no recording";
  EXPECT_NE(error_of({R"("file": "not.palpate")"}).find("not a recording"), std::string::npos);
}

TEST_F(Recordings, FileIsStillFoundFromWhereTheSceneIsMovedTo) {
  const Scene scene = parse({R"("file": "run.palpate", "tool": "right")"});
  fs::create_directories(folder_ / "deeper");
  const Scene moved = move_scene(scene, file("deeper/scene.json"));
  EXPECT_EQ(std::get<SceneReplayHand>(moved.first().hand.kind).file, "../run.palpate");
  EXPECT_EQ(x_of(moved, 0), 1.0);
}

TEST_F(Recordings, WorldBeginsWhereTheReplayedHandDoes) {
  Scene scene = parse({R"("file": "run.palpate", "tool": "right")"});
  scene.first().tool.kind = SceneRigidTool{.shape = {.kind = SphereShape{.radius = 0.01, .subdivisions = 3}}};
  const World world = make_world(scene);
  ASSERT_GE(world.tools()[0], 0);
  const BoundingBox box = compute_bounding_box(world.body(world.tools()[0])->surface().positions);
  EXPECT_NEAR(box.center().x(), 1.0, 1e-12);
}

}  // namespace
}  // namespace palpate::scene_replay_test
