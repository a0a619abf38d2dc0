#include "palpate/scene/scene.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "palpate/core/error.h"
#include "palpate/scene/builtin.h"

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
  EXPECT_DOUBLE_EQ(scene.run.safety.stale_after, scene.run.latency + 2 * scene.run.slow_period);
  EXPECT_FALSE(scene.run.passivity.has_value());
  EXPECT_EQ(scene.text, kMinimal);
  World world = make_world(scene);
  ASSERT_EQ(world.static_surfaces().size(), 1u);
  EXPECT_EQ(world.static_surfaces()[0].name, "box");
}

TEST(Scene, GivenRatesWinOverTheDefaultsInAnyOrderOfKeys) {
  const Scene scene = parse_scene(R"({"hand":{"type":"scripted","path":{"type":"tap"}},
    "safety":{"stale_after":0.5},"rates":{"latency":0.005,"slow_period":0.1},
    "bodies":[{"type":"static","shape":{"type":"box"}}],"format":1})",
                                  "x.json");
  EXPECT_EQ(scene.run.latency, 0.005);
  EXPECT_EQ(scene.run.slow_period, 0.1);
  EXPECT_EQ(scene.run.safety.stale_after, 0.5);
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

TEST(Scene, BuiltinScenesAreValidAndMakeTheirWorlds) {
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Scene scene = load_builtin_scene(builtin.name);
    EXPECT_FALSE(scene.description.empty());
    World world = make_world(scene);
    const std::unique_ptr<Device> device = scene.make_device();
    EXPECT_NO_THROW(make_method(scene, scene.method, world, *device)) << builtin.name;
  }
}

TEST(Scene, StiffCouplingOnALightDeviceIsWarnedOf) {
  Scene scene = load_builtin_scene("wall");
  EXPECT_TRUE(find_warnings(scene, *scene.make_device()).empty());
  scene.tool.coupling.stiffness = 5000;  // 2b/T = 1000 N/m
  ASSERT_EQ(find_warnings(scene, *scene.make_device()).size(), 1u);
}

/// Enough of JSON Schema to use ours: type, properties, required, additionalProperties, oneOf, enum, const, bounds.
bool fits(const nlohmann::json& schema, const nlohmann::json& value) {
  if (schema.contains("oneOf")) {
    int matches = 0;
    for (const auto& one : schema["oneOf"]) matches += fits(one, value);
    return matches == 1;
  }
  if (schema.contains("const") && schema["const"] != value) return false;
  if (schema.contains("enum")) {
    const auto& allowed = schema["enum"];
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) return false;
  }
  const std::string type = schema.value("type", "");
  if (type == "object") {
    if (!value.is_object()) return false;
    for (const auto& name : schema.value("required", nlohmann::json::array())) {
      if (!value.contains(name.get<std::string>())) return false;
    }
    for (const auto& [name, member] : value.items()) {
      if (!schema["properties"].contains(name) || !fits(schema["properties"][name], member)) return false;
    }
  }
  if (type == "array") {
    if (!value.is_array()) return false;
    for (const auto& item : value) {
      if (!fits(schema["items"], item)) return false;
    }
  }
  if (type == "number" || type == "integer") {
    if (!value.is_number()) return false;
    if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>()) return false;
    if (schema.contains("maximum") && value.get<double>() > schema["maximum"].get<double>()) return false;
  }
  if (type == "string" && !value.is_string()) return false;
  return true;
}

TEST(SceneSchema, AcceptsTheBuiltinScenesAndRefusesWhatTheReaderRefuses) {
  const nlohmann::json schema = nlohmann::json::parse(make_scene_schema());
  for (const BuiltinScene& builtin : builtin_scenes()) {
    nlohmann::json scene = nlohmann::json::parse(builtin.text, nullptr, true, true);
    EXPECT_TRUE(fits(schema, scene)) << builtin.name;
    nlohmann::json wrong = scene;
    wrong["secnds"] = 1;
    EXPECT_FALSE(fits(schema, wrong));
    wrong = scene;
    wrong["bodies"][0]["shape"]["type"] = "blob";
    EXPECT_FALSE(fits(schema, wrong));
    wrong = scene;
    wrong["tool"]["coupling"]["stiffness"] = "stiff";
    EXPECT_FALSE(fits(schema, wrong));
  }
}

}  // namespace
}  // namespace palpate::scene_test
