#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "palpate/core/error.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/scene.h"
#include "sample_scenes.h"

namespace palpate::scene_write_test {
namespace {

using testing::kEverything;

namespace fs = std::filesystem;

constexpr const char* kFile = "folder/x.json";

Scene read_again(const Scene& scene) {
  return parse_scene(write_scene(scene), scene.source.file);
}

TEST(SceneWriting, SceneWithEveryKeySurvivesReadWriteRead) {
  const Scene scene = parse_scene(kEverything, kFile);
  const std::string text = write_scene(scene);
  EXPECT_EQ(parse_scene(text, kFile), scene);
  EXPECT_EQ(write_scene(parse_scene(text, kFile)), text);
}

// If a key were read but not written, or the other way round, the two sets would differ.
TEST(SceneWriting, EveryKeyThatIsGivenIsWritten) {
  const auto keys_of = [](const std::string& text) {
    std::vector<std::string> keys;
    for (std::size_t at = 0; (at = text.find("\": ", at)) != std::string::npos; ++at) {
      const std::size_t begin = text.rfind('"', at - 1);
      keys.push_back(text.substr(begin, at - begin));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  EXPECT_EQ(keys_of(write_scene(parse_scene(kEverything, kFile))), keys_of(kEverything));
}

TEST(SceneWriting, BuiltinScenesSurviveReadWriteRead) {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Scene scene = load_builtin_scene(builtin.name);
    EXPECT_EQ(read_again(scene), scene) << builtin.name;
  }
}

// For scenes that do not belong to the project.
TEST(SceneWriting, ScenesOfAnotherFolderSurviveReadWriteRead) {
  const char* folder = std::getenv("PALPATE_SCENES");
  if (!folder || !fs::is_directory(folder)) GTEST_SKIP() << "set PALPATE_SCENES to a folder of scene files";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const Scene scene = load_scene(entry.path().string());
    EXPECT_EQ(read_again(scene), scene) << entry.path();
  }
}

TEST(SceneWriting, NumbersSurviveBitForBit) {
  std::mt19937_64 random(3);
  const auto check = [](double x) {
    Scene scene = load_builtin_scene("wall");
    scene.world.gravity = Vec3(x, -x, 0.0);
    const Scene again = read_again(scene);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(again.world.gravity.x()), std::bit_cast<std::uint64_t>(x)) << x;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(again.world.gravity.y()), std::bit_cast<std::uint64_t>(-x)) << x;
  };
  for (const double x : {0.0, -0.0, 0.1, 1.0 / 3.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e15, 1e16,
                         9007199254740993.0, 1e22, 1e23})
    check(x);
  for (int i = 0; i < 500; ++i) {
    const double x = std::bit_cast<double>(random());
    if (std::isfinite(x)) check(x);
  }
}

TEST(SceneWriting, MinusZeroIsNotTakenForTheStandardZero) {
  Scene scene = load_builtin_scene("wall");
  scene.bodies.front().position.x() = -0.0;
  EXPECT_TRUE(std::signbit(read_again(scene).bodies.front().position.x()));
}

TEST(SceneWriting, WhatIsAsItWouldBeAnywayIsLeftOut) {
  const Scene scene = parse_scene(
      R"({"format": 1, "seconds": 5, "method": "reference", "rates": {"dt": 0.001, "slow_period": 0.1, "latency": 0.1},
    "safety": {"max_force": 12, "stale_after": 0.30000000000000004},
    "bodies": [{"type": "static", "friction": 0, "shape": {"type": "box", "cells": 1}}],
    "hand": {"type": "scripted", "path": {"type": "tap", "depth": 0.02}}})",
      "x.json");
  EXPECT_EQ(write_scene(scene), R"({
  "format": 1,
  "name": "x",
  "rates": { "slow_period": 0.1 },
  "tool": { "type": "point" },
  "bodies": [{ "type": "static", "shape": { "type": "box" } }],
  "hand": { "type": "scripted", "path": { "type": "tap", "depth": 0.02 } }
}
)");
}

TEST(SceneWriting, PresenceOfWhatMayBeAbsentIsKept) {
  Scene scene = load_builtin_scene("wall");
  scene.first().guards.passivity.emplace();
  EXPECT_TRUE(read_again(scene).first().guards.passivity.has_value());
  scene.first().guards.passivity.reset();
  EXPECT_FALSE(read_again(scene).first().guards.passivity.has_value());
  scene.first().tool.friction = 0.0;
  EXPECT_EQ(read_again(scene).first().tool.friction, 0.0);
}

TEST(SceneWriting, FingersKeepTheirPosesAndShapes) {
  Scene scene = load_builtin_scene("wall");
  SceneFinger ball{.radius = 0.02, .open = {.position = Vec3(0.1, 0.0, 0.0), .rotation = Vec3(0.0, 1.0, 0.0)}};
  SceneFinger jaw = ball;
  jaw.shape = SceneShape{.kind = CapsuleShape{.radius = 0.01}};
  jaw.closed = ScenePose{.position = Vec3(0.2, 0.0, 0.0), .rotation = ball.open.rotation};
  scene.first().tool.kind = SceneFingersTool{.fingers = {ball, jaw}};
  EXPECT_EQ(read_again(scene), scene);
  // What a closed pose does not say is as in the open one.
  EXPECT_EQ(write_scene(scene).find("\"closed\": { \"position\": [0.2, 0, 0], \"rotation\""), std::string::npos);
  const auto fingers = make_tool_settings(read_again(scene)).as<HeldFingers>()->fingers;
  EXPECT_EQ(fingers[0].closed.position, ball.open.position);
  EXPECT_EQ(fingers[1].closed.rotation.coeffs(), fingers[1].open.rotation.coeffs());
}

TEST(SceneWriting, EditedSceneIsNotTheOneThatWasRead) {
  const Scene scene = load_builtin_scene("soft-block");
  Scene edited = scene;
  EXPECT_EQ(edited, scene);
  for (SceneBody& body : edited.bodies) {
    if (auto* soft = std::get_if<SceneSoft>(&body.kind)) soft->material.young_modulus *= 1.0 + 1e-15;
  }
  EXPECT_FALSE(edited == scene);
  edited = scene;
  edited.world.contacts.max_contacts_per_soft_pair -= 1;
  EXPECT_FALSE(edited == scene);
  edited = scene;
  edited.source = {"elsewhere.json", ""};
  for (SceneBody& body : edited.bodies) body.place.text.clear();
  EXPECT_EQ(edited, scene) << "where it was read does not count";
}

// A replay parses the text of a recording: it must be that of the scene that was run.
TEST(SceneRecordings, CarryTheFilesTextUnlessTheSceneWasEdited) {
  Scene scene = load_builtin_scene("wall");
  EXPECT_EQ(make_recording_header(scene, "direct", true).scene, scene.source.text);
  scene.first().tool.coupling.stiffness = 123.0;
  const std::string text = make_recording_header(scene, "direct", true).scene;
  EXPECT_EQ(parse_scene(text, "recordings/wall-001.palpate"), scene);
}

TEST(SceneMoving, FilesAreStillFoundFromTheNewPlace) {
  Scene scene = parse_scene(kEverything, "a/b/x.json");
  const Scene moved = move_scene(scene, "a/c/d/y.json");
  EXPECT_EQ(std::get<MeshShape>(std::get<SceneStatic>(moved.bodies[3].kind).shape.kind).file, "../../b/m.obj");
  EXPECT_EQ(std::get<SceneSoft>(moved.bodies[8].kind).volume, "../../b/v.vtu");
  std::get<MeshShape>(std::get<SceneStatic>(scene.bodies[3].kind).shape.kind).file = "data:m.obj";
  std::get<SceneSoft>(scene.bodies[8].kind).volume = "/v.vtu";
  EXPECT_EQ(move_scene(scene, "z.json"), scene) << "neither moves with the file";
}

/// The mesh is there or not; the variable is put back.
class DataFolder {
 public:
  explicit DataFolder(const char* folder) {
    if (const char* was = std::getenv("PALPATE_DATA")) was_ = was;
    folder ? setenv("PALPATE_DATA", folder, 1) : unsetenv("PALPATE_DATA");
  }
  ~DataFolder() { was_ ? setenv("PALPATE_DATA", was_->c_str(), 1) : unsetenv("PALPATE_DATA"); }

 private:
  std::optional<std::string> was_;
};

TEST(DataFolder, IsNowhereUnlessTheEnvironmentSays) {
  {
    const DataFolder none(nullptr);
    EXPECT_EQ(data_folder(), "");
    EXPECT_FALSE(find_data("m.obj"));
    EXPECT_THROW(resolve_file("data:m.obj", "x.json"), InputError);
    EXPECT_EQ(resolve_file("m.obj", "folder/x.json"), "folder/m.obj");
  }
  const DataFolder some("/nowhere");
  EXPECT_EQ(resolve_file("data:m.obj", "x.json"), "/nowhere/m.obj");
  EXPECT_FALSE(find_data("m.obj"));
}

}  // namespace
}  // namespace palpate::scene_write_test
