#include "palpate/scene/scene.h"

#include <gtest/gtest.h>

#include <random>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/scene/builtin.h"
#include "palpate/testing/temp_folder.h"

namespace palpate::scene_test {
namespace {

constexpr const char* kMinimal = R"({
  "format": 1,
  // A comment, which plain JSON does not have.
  "bodies": [ { "type": "static", "shape": { "type": "box" } } ],
  "hand": { "type": "scripted", "path": { "type": "tap" } }
})";

std::string error_of(const std::string& text) {
  try {
    const Scene scene = parse_scene(text, "x.json");
    make_world(scene);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Scene, MinimalFileGetsSaneDefaults) {
  const Scene scene = parse_scene(kMinimal, "folder/minimal.json");
  EXPECT_EQ(scene.name, "minimal");
  EXPECT_EQ(scene.run.dt, 0.001);
  EXPECT_EQ(scene.run.latency, scene.run.slow_period);
  EXPECT_DOUBLE_EQ(scene.first().guards.safety.stale_after, scene.run.latency + 2 * scene.run.slow_period);
  EXPECT_FALSE(scene.first().guards.passivity.has_value());
  EXPECT_EQ(scene.source.text, kMinimal);
  World world = make_world(scene);
  ASSERT_EQ(world.static_surfaces().size(), 1u);
  EXPECT_EQ(world.static_surfaces()[0].name, "box");
}

TEST(Scene, DefaultSceneIsWhatAFileThatSaysNothingElseIsReadAs) {
  Scene scene;
  scene.name = "minimal";
  scene.bodies.emplace_back();  // a static box
  scene.first().hand.kind = SceneScriptedHand{.path = SceneTapPath{}};
  EXPECT_EQ(parse_scene(kMinimal, "folder/minimal.json"), scene);
}

TEST(Scene, GivenRatesWinOverTheDefaultsInAnyOrderOfKeys) {
  const Scene scene = parse_scene(R"({"hand":{"type":"scripted","path":{"type":"tap"}},
    "safety":{"stale_after":0.5},"rates":{"latency":0.005,"slow_period":0.1},
    "bodies":[{"type":"static","shape":{"type":"box"}}],"format":1})",
                                  "x.json");
  EXPECT_EQ(scene.run.latency, 0.005);
  EXPECT_EQ(scene.run.slow_period, 0.1);
  EXPECT_EQ(scene.first().guards.safety.stale_after, 0.5);
}

TEST(Scene, AnAutomaticSlowPeriodIsTheDefaultInVirtualTimeAndIsWrittenAsItWas) {
  const char* text = R"({"format": 1, "rates": {"slow_period": "auto"}, "tool": {"type": "point"},
    "bodies": [{"type": "plane"}], "hand": {"type": "scripted", "path": {"type": "circle"}}})";
  const Scene scene = parse_scene(text, "auto.json");
  EXPECT_TRUE(scene.run.auto_period);
  EXPECT_EQ(scene.run.slow_period, RunSettings{}.slow_period);
  EXPECT_EQ(scene.run.latency, RunSettings{}.slow_period);
  const std::string written = write_scene(scene);
  EXPECT_NE(written.find(R"("slow_period": "auto")"), std::string::npos) << written;
  EXPECT_EQ(parse_scene(written, "auto.json"), scene);
  Scene fixed = scene;
  set_slow_period(fixed, 0.05);
  EXPECT_FALSE(fixed.run.auto_period);
  std::string wrong = text;
  wrong.replace(wrong.find("auto"), 4, "fast");
  try {
    parse_scene(wrong, "auto.json");
    FAIL() << "\"fast\" is no period";
  } catch (const InputError& error) {
    const std::string what = error.what();
    for (const char* part : {"auto.json:1", "rates.slow_period", "\"fast\"", "1e-05 to 10 s, or \"auto\""})
      EXPECT_NE(what.find(part), std::string::npos) << what;
  }
}

TEST(Scene, BodiesStandWhereTheirPoseSays) {
  const Scene scene = parse_scene(R"({"format":1,"bodies":[{"type":"static","position":[1,2,3],
    "rotation":[0,0,1.5707963267948966],"shape":{"type":"box","size":[0.2,0.4,0.6]}}],
    "hand":{"type":"scripted","path":{"type":"tap"}}})",
                                  "x.json");
  World world = make_world(scene);
  const BoundingBox box = compute_bounding_box(world.static_surfaces()[0].surface.mesh().vertices);
  // A quarter turn about z swaps the extents along x and y.
  EXPECT_LT((box.size() - Vec3(0.4, 0.2, 0.6)).norm(), 1e-15);
  EXPECT_LT((box.center() - Vec3(1, 2, 3)).norm(), 1e-15);
}

TEST(SceneErrors, NameFileLinePathValueAndWhatIsAllowed) {
  EXPECT_EQ(error_of("{\n\"format\": 1,\n\"bodies\": [\n{\"type\": \"static\",\n\"friction\": -2,\n"
                     "\"shape\": {\"type\": \"box\"}}],\n\"hand\": {}}"),
            "x.json:5: bodies[0].friction = -2: must be 0 to 100");
  EXPECT_EQ(error_of("{\n\"format\": 1,\n\"secnds\": 3}").substr(0, 60),
            "x.json:1: the scene: key \"bodies\" is missing: what can be to");
}

TEST(SceneErrors, SceneThatAProgramMadeIsHeldToTheSameRanges) {
  Scene scene = load_builtin_scene("soft-block");
  EXPECT_NO_THROW(validate(scene));
  scene.first().tool.coupling.stiffness = -1.0;
  try {
    make_world(scene);
    FAIL() << "accepted a negative stiffness";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "scenes/soft-block.json: tool.coupling.stiffness = -1: must be above 0 and at most 1000000 N/m");
  }
}

TEST(SceneErrors, WhatIsFoundOutWhileMakingNamesItsPlaceToo) {
  EXPECT_EQ(
      error_of("{\"format\": 1,\n\"bodies\": [\n{\"type\": \"static\",\n\"shape\": {\"type\": \"mesh\", \"file\": "
               "\"gone.obj\"}}],\n\"hand\": {\"type\": \"scripted\", \"path\": {\"type\": \"tap\"}}}"),
      "x.json:4: bodies[0].shape: gone.obj: no such file");
}

TEST(SceneErrors, AMeshIsInAFileOrInTheScene) {
  const auto mesh = [](const std::string& keys) {
    return error_of("{\"format\": 1, \"bodies\": [{\"type\": \"static\", \"shape\": {\"type\": \"mesh\"" + keys +
                    "}}], \"hand\": {\"type\": \"scripted\", \"path\": {\"type\": \"circle\"}}}");
  };
  EXPECT_NE(mesh("").find("give one of file and data"), std::string::npos);
  EXPECT_NE(mesh(", \"file\": \"a.obj\", \"data\": \"OFF\"").find("give one of file and data"), std::string::npos);
  const std::string broken = mesh(", \"data\": \"OFF\\n3 1 0\\n0 0 0\\n1 0 0\\n0 x 0\\n3 0 1 2\\n\"");
  EXPECT_NE(broken.find("bodies[0].shape"), std::string::npos) << broken;
  EXPECT_NE(broken.find("data.off:5: \"x\" is not a number"), std::string::npos) << broken;
}

// Two ways to one result: a scene that carries its mesh, and one that names its file.
TEST(Scene, AMeshInTheSceneIsThatOfTheFile) {
  const testing::TempFolder folder("scene_mesh");
  const TriangleMesh mesh = make_torus(0.05, 0.02, 17, 11);
  write_mesh(folder.path("torus.obj"), mesh);
  SceneShape named, carried;
  named.kind = MeshShape{.file = "torus.obj", .scale = 0.3};
  carried.kind = MeshShape{.data = format_off(mesh), .scale = 0.3};
  const std::string scene_file = folder.path("scene.json").string();
  const TriangleMesh a = make_surface(named, scene_file), b = make_surface(carried, scene_file);
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.triangles, b.triangles);
  Scene scene = load_builtin_scene("wall");
  scene.bodies.push_back({.kind = SceneStatic{carried}});
  EXPECT_EQ(parse_lone_scene(write_scene(scene), "again.json"), scene);
  scene.bodies.push_back({.kind = SceneStatic{named}});
  EXPECT_THROW(parse_lone_scene(write_scene(scene), "again.json"), InputError);
}

TEST(SceneErrors, UnknownKeyIsNamedWithItsLineAndTheNearestKnown) {
  std::string text = kMinimal;
  text.replace(text.find("\"shape\""), 7, "\"frction\": 1,\n \"shape\"");
  const std::string error = error_of(text);
  EXPECT_NE(error.find("x.json:4: bodies[0]: unknown key \"frction\". Did you mean \"friction\"?"), std::string::npos)
      << error;
}

TEST(SceneErrors, LineIsThatOfTheValueWhereverTheNumberEnds) {
  // A number is only known to end when the next character is read, here the end of its line.
  for (const char* tail : {"\n,", ",", " ,", "\n\n\n,", "// comment\n,"}) {
    const std::string error = error_of(std::string("{\"format\": 1,\n\n\"seconds\": -5") + tail + "\"bodies\": []}");
    EXPECT_EQ(error.substr(0, 9), "x.json:3:") << error;
  }
}

TEST(SceneErrors, NoTextWhateverCrashesTheReader) {
  std::mt19937 random(7);
  const std::string good(builtin_scenes()[0].text);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = good.substr(0, trial % 3 == 0 ? random() % good.size() : good.size());
    for (int i = 0; i < trial % 4 && !text.empty(); ++i) text[random() % text.size()] = static_cast<char>(random());
    try {
      parse_scene(text, "x.json");
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 6), "x.json") << error.what();
    }
  }
}

TEST(Scene, BodiesAreFoundByNameAndMissedOnesSuggested) {
  Scene scene = load_builtin_scene("cylinder-wire");
  EXPECT_EQ(find_body<SceneSoft>(scene, "cylinder").material.young_modulus, 20000.0);
  try {
    find_body(scene, "cylindre");
    FAIL() << "found what is not there";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Did you mean \"cylinder\"?"), std::string::npos) << error.what();
  }
}

TEST(Scene, BuiltinScenesAreValidAndMakeTheirWorlds) {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Scene scene = load_builtin_scene(builtin.name);
    EXPECT_FALSE(scene.description.empty());
    World world = make_world(scene);
    if (scene.tools.size() > 1) continue;  // the loops run one so far
    const std::unique_ptr<Device> device = make_device(scene);
    EXPECT_NO_THROW(make_method(scene, scene.first().method, world, *device)) << builtin.name;
  }
}

TEST(Scene, StiffCouplingOnALightDeviceIsWarnedOf) {
  Scene scene = load_builtin_scene("wall");
  EXPECT_TRUE(find_warnings(scene, *make_device(scene)).empty());
  scene.first().tool.coupling.stiffness = 5000;  // 2b/T = 1000 N/m
  ASSERT_EQ(find_warnings(scene, *make_device(scene)).size(), 1u);
}

// No hand of ours is one that the input guard would refuse.
TEST(Scene, EveryBuiltinHandMovesAsAHandCan) {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Scene scene = load_builtin_scene(builtin.name);
    for (std::size_t i = 0; i < scene.tools.size(); ++i) {
      const std::unique_ptr<Device> device = make_device(scene, i);
      const HandGuards& guards = scene.tools[i].guards;
      InputGuard guard(guards.input, scene.run.dt, guards.safety.fade_time);
      for (double t = 0.0; t < scene.run.seconds; t += scene.run.dt) guard.take(device->read(t), t);
      EXPECT_EQ(guard.counters().rejected(), 0u) << builtin.name;
    }
  }
}

}  // namespace
}  // namespace palpate::scene_test
