#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "palpate/core/error.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/scene.h"

namespace palpate::scene_write_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "folder/x.json";

Scene read_again(const Scene& scene) {
  return parse_scene(write_scene(scene), scene.source.file);
}

/// A scene that has something of every kind, nothing of it as it would be anyway.
constexpr const char* kEverything = R"({
  "$schema": "scene.schema.json", "format": 1, "name": "all", "description": "Über \"alles\"\n", "seconds": 0.1, "method": "jacobian",
  "methods": {
    "limited": { "radius": 0.011, "max_constraints": 99, "max_moving_vertices": 33, "depth": 0.003, "tolerance": 1e-9, "max_iterations": 7 },
    "compliance": { "force": "constraints", "lookahead": 2, "tolerance": 1e-7, "max_iterations": 61, "max_seconds": 0.01, "environment_rows": 3 },
    "jacobian": { "form": "equality", "answer": "fast", "track": false, "filter_time": 0.1, "blend": 0.5, "max_contacts": 9, "tolerance": 1e-7, "max_iterations": 41 },
    "interpolation": { "contact": "penalty", "penalty_stiffness": 7, "display": "extrapolate", "force": "end", "predict": true, "linear_strain": true,
      "margin": 0.8, "time_step": 1e-4, "max_steps": 9, "push_out_speed": 0.1, "max_speed": 3 },
    "accelerance": { "way": "tests", "coupled": false, "local_contacts": false, "reach": 0.03, "max_neighbours": 5, "test_force": 0.2, "max_bodies": 4, "tolerance": 1e-6, "max_iterations": 13 }
  },
  "rates": { "dt": 0.002, "slow_period": 0.03, "latency": 0.01, "extra_latency": 0.001, "stall_from": 1, "stall_until": 2 },
  "tool": { "type": "rigid", "shape": { "type": "torus", "major_radius": 0.06, "minor_radius": 0.01, "around": 12, "around_tube": 11 }, "offset": [0, 0.01, 0],
    "mass": 0.02, "convex": false, "friction": 0.1,
    "coupling": { "stiffness": 400, "damping": 0.7, "rotational_stiffness": 0.1, "rotational_damping": 1e-3 } },
  "world": { "gravity": [0, -1, -0.0], "alarm_distance": 0.004, "max_contacts": 99, "max_contacts_per_pair": 9, "max_contacts_per_soft_pair": 8,
    "push_out_speed": 0.4, "max_turn": 0.2,
    "solver": { "name": "direct", "tolerance": 1e-6, "max_iterations": 9, "max_seconds": 1, "pyramid": true } },
  "safety": { "max_force": 3, "max_torque": 0, "max_force_rate": 1000, "max_torque_rate": 99, "ramp_time": 0.1, "stale_after": 0.3, "fade_time": 0.2 },
  "passivity": { "allowance": 0.01, "credit_limit": 0.2, "debt_limit": 0.3, "max_damping": 10, "max_rotational_damping": 0.01 },
  "bodies": [
    { "name": "s", "type": "static", "shape": { "type": "sine", "amplitude": 0.001, "wavelength": 0.02, "size_x": 0.05, "size_z": 0.04, "cell": 0.002 },
      "position": [1, 2, 3], "rotation": [0.1, 0.2, 0.30000000000000004], "friction": 0.5 },
    { "type": "static", "shape": { "type": "organ", "size": 0.1, "resolution": 20 } },
    { "type": "static", "shape": { "type": "figure", "size": 0.2, "resolution": 40 } },
    { "type": "static", "shape": { "type": "mesh", "file": "m.obj", "scale": 0.001 } },
    { "type": "plane", "normal": [0, 1, 1] },
    { "name": "r", "type": "rigid", "shape": { "type": "box", "size": [0.1, 0.2, 0.3], "cells": 2 }, "density": 10, "contact": "hull", "velocity": [1, 0, 0], "spin": [0, 1, 0],
      "damping": 0.1, "copies": { "x": 2, "y": 3, "z": 4, "spacing": [0.2, 0.3, 0.4] } },
    { "type": "rigid", "shape": { "type": "sphere", "radius": 0.01, "subdivisions": 3 }, "contact": "sphere" },
    { "type": "soft", "shape": { "type": "cylinder", "radius": 0.01, "height": 0.02, "around": 9, "along": 2 }, "model": "neo_hookean", "cell": 0.01,
      "material": { "young_modulus": 1e5, "poisson_ratio": 0.1, "density": 900, "mass_damping": 1, "stiffness_damping": 0.01 },
      "fixed": [ { "min": [0, 0, 0], "max": [1, 1, 1] }, { "min": [-1, 0, 0], "max": [1, 1, 1] } ], "self_contact": true, "max_rows": 9, "single_precision_error": 1e-3 },
    { "type": "soft", "volume": "v.vtu" },
    { "name": "c", "type": "chain", "from": [0, 1, 0], "to": [0, 2, 0], "beams": 3, "radius": 0.002, "material": { "young_modulus": 1e7 }, "clamp": "both" }
  ],
  "joints": [
    { "type": "ball", "name": "j", "a": "r 1", "b": "c", "position": [1, 1, 1], "arm": 0.1 },
    { "type": "fixed", "a": "r 2" },
    { "type": "hinge", "a": "r 3", "axis": [0, 1, 0], "lower": -1, "upper": 1, "stiffness": 2, "damping": 3, "rest": 0.1, "max_drive": 4, "speed": -1 },
    { "type": "slider", "a": "r 4", "lower": -0.5 },
    { "type": "curve", "a": "r 5", "points": [ { "position": [0, 0, 0] }, { "position": [0, 0, 1] } ], "upper": 2 },
    { "type": "box", "a": "r 6", "min": [0, 0, 0], "max": [1, 2, 3] }
  ],
  "hand": { "type": "simulated", "preset": "touch", "mass": 0.045, "damping": 0.3, "coulomb_friction": 0.1, "max_force": 3, "encoder_resolution": 0, "delay_output": true,
    "impedance": { "mass": 0.2, "damping": 2, "stiffness": 200, "rotational_inertia": 2e-4, "rotational_damping": 0.006, "rotational_stiffness": 0.6 },
    "path": { "type": "sequence", "blend_time": 0.1, "parts": [
      { "type": "keyframes", "interpolation": "linear", "keyframes": [ { "time": 0, "position": [0, 0, 0] }, { "time": 1, "position": [0, 0, 1], "rotation": [1, 0, 0], "grip": 0.5 } ] },
      { "type": "sine", "start": [1, 0, 0], "velocity": [0, 1, 0], "amplitude": [0, 0, 1], "frequency": 2, "phase": 1, "rotation": [0, 1, 0], "rotation_amplitude": [0, 0, 1],
        "start_time": 0.1, "ramp_time": 0.2, "duration": 3 },
      { "type": "press_and_slide", "start": [1, 1, 1], "rotation": [0, 1, 0], "direction": [0, 0, 1], "depth": 0.02, "approach_time": 0.4, "hold_time": 0.1,
        "slide_direction": [0, 1, 0], "slide_distance": 0.03, "slide_speed": 0.06, "slide_ramp": 0.04, "strokes": 3, "retract_time": 0.4 },
      { "type": "tap", "start": [1, 1, 0], "rotation": [0, 0, 1], "direction": [1, 0, 0], "depth": 0.02, "period": 0.4, "count": 3 },
      { "type": "circle", "centre": [1, 0, 1], "rotation": [1, 1, 0], "axis": [1, 0, 0], "radius": 0.03, "frequency": 0.6, "lead_in": 0.4, "turns": 2 } ] },
    "tremor": { "rms": 1e-5, "low": 7, "high": 13, "seed": 5 } }
})";

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
  scene.run.passivity.emplace();
  EXPECT_TRUE(read_again(scene).run.passivity.has_value());
  scene.run.passivity.reset();
  EXPECT_FALSE(read_again(scene).run.passivity.has_value());
  scene.tool.friction = 0.0;
  EXPECT_EQ(read_again(scene).tool.friction, 0.0);
}

TEST(SceneWriting, FingersKeepTheirPosesAndShapes) {
  Scene scene = load_builtin_scene("wall");
  SceneFinger ball{.radius = 0.02, .open = {.position = Vec3(0.1, 0.0, 0.0), .rotation = Vec3(0.0, 1.0, 0.0)}};
  SceneFinger jaw = ball;
  jaw.shape = SceneShape{.kind = CapsuleShape{.radius = 0.01}};
  jaw.closed = ScenePose{.position = Vec3(0.2, 0.0, 0.0), .rotation = ball.open.rotation};
  scene.tool.kind = SceneFingersTool{.fingers = {ball, jaw}};
  EXPECT_EQ(read_again(scene), scene);
  // What a closed pose does not say is as in the open one.
  EXPECT_EQ(write_scene(scene).find("\"closed\": { \"position\": [0.2, 0, 0], \"rotation\""), std::string::npos);
  const auto fingers = make_tool_settings(read_again(scene)).fingers;
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
  scene.tool.coupling.stiffness = 123.0;
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
