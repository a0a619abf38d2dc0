#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "palpate/scene/builtin.h"
#include "palpate/scene/scene.h"
#include "sample_scenes.h"

namespace palpate::scene_schema_test {
namespace {

using Json = nlohmann::json;

/// Enough of JSON Schema to use ours: $ref, type, properties, required, oneOf, anyOf, not, enum, const,
/// bounds. All objects are
/// closed.
class Schema {
 public:
  Schema() : root_(Json::parse(make_scene_schema())) {}
  const Json& root() const { return root_; }
  bool fits(const Json& value) const { return fits(root_, value); }

  const Json& resolve(const Json& schema) const {
    if (!schema.contains("$ref")) return schema;
    return root_.at("$defs").at(schema["$ref"].get<std::string>().substr(std::string("#/$defs/").size()));
  }

 private:
  bool fits(const Json& reference, const Json& value) const {
    const Json& schema = resolve(reference);
    if (schema.contains("oneOf")) {
      int matches = 0;
      for (const auto& one : schema["oneOf"]) matches += fits(one, value);
      if (matches != 1) return false;
    }
    if (schema.contains("not") && fits(schema["not"], value)) return false;
    if (schema.contains("anyOf")) {
      const auto& any = schema["anyOf"];
      if (std::none_of(any.begin(), any.end(), [&](const Json& one) { return fits(one, value); })) return false;
    }
    if (schema.contains("const") && schema["const"] != value) return false;
    if (schema.contains("enum")) {
      const auto& allowed = schema["enum"];
      if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) return false;
    }
    const std::string type = schema.value("type", "");
    for (const auto& name : schema.value("required", Json::array())) {
      if (!value.contains(name.get<std::string>())) return false;
    }
    if (type == "object") {
      if (!value.is_object()) return false;
      for (const auto& [name, member] : value.items()) {
        if (!schema["properties"].contains(name) || !fits(schema["properties"][name], member)) return false;
      }
    }
    if (type == "array") {
      if (!value.is_array()) return false;
      if (schema.contains("minItems") && value.size() < schema["minItems"].get<std::size_t>()) return false;
      if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<std::size_t>()) return false;
      for (const auto& item : value) {
        if (!fits(schema["items"], item)) return false;
      }
    }
    if (type == "number" || type == "integer") {
      if (!value.is_number()) return false;
      const double x = value.get<double>();
      if (schema.contains("minimum") && x < schema["minimum"].get<double>()) return false;
      if (schema.contains("exclusiveMinimum") && x <= schema["exclusiveMinimum"].get<double>()) return false;
      if (schema.contains("maximum") && x > schema["maximum"].get<double>()) return false;
    }
    return type != "string" || value.is_string();
  }

  Json root_;
};

TEST(SceneSchema, AcceptsTheBuiltinScenesAndRefusesWhatTheReaderRefuses) {
  const Schema schema;
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Json scene = Json::parse(builtin.text, nullptr, true, true);
    EXPECT_TRUE(schema.fits(scene)) << builtin.name;
    Json wrong = scene;
    wrong["secnds"] = 1;
    EXPECT_FALSE(schema.fits(wrong));
    wrong = scene;
    wrong["bodies"][0]["shape"]["type"] = "blob";
    EXPECT_FALSE(schema.fits(wrong));
    wrong = scene;
    wrong["tool"]["coupling"]["stiffness"] = "stiff";
    EXPECT_FALSE(schema.fits(wrong));
    wrong = scene;
    wrong["tool"]["coupling"]["stiffness"] = 0;
    EXPECT_FALSE(schema.fits(wrong));
    wrong = scene;
    wrong["bodies"] = Json::array();
    EXPECT_FALSE(schema.fits(wrong));
  }
}

TEST(SceneSchema, AcceptsWhatIsWritten) {
  const Schema schema;
  for (const BuiltinScene& builtin : builtin_scenes())
    EXPECT_TRUE(schema.fits(Json::parse(write_scene(load_builtin_scene(builtin.name))))) << builtin.name;
}

TEST(SceneSchema, HasOneToolOrAListOfThemAndNeverBoth) {
  const Schema schema;
  const Json two = Json::parse(testing::kTwoHands);
  EXPECT_TRUE(schema.fits(two));
  EXPECT_TRUE(schema.fits(Json::parse(write_scene(parse_scene(testing::kTwoHands, "x.json")))));
  for (const char* key : {"tool", "hand"}) {
    Json wrong = two;
    wrong[key] = two["tools"][0][key];
    EXPECT_FALSE(schema.fits(wrong)) << key;
  }
  Json none = two;
  none.erase("tools");
  EXPECT_FALSE(schema.fits(none)) << "nobody holds anything";
  none["hand"] = two["tools"][0]["hand"];
  EXPECT_TRUE(schema.fits(none)) << "a point, as if it were said";
  Json many = two;
  while (many["tools"].size() < 5) many["tools"].push_back(two["tools"][0]);
  EXPECT_FALSE(schema.fits(many));
  many["tools"] = Json::array();
  EXPECT_FALSE(schema.fits(many));
}

TEST(SceneSchema, DefinesShapesBodiesToolsHandsJointsAndMethodsOnceEach) {
  const Schema schema;
  const Json& defs = schema.root().at("$defs");
  for (const char* name :
       {"shape",    "box_shape",     "mesh_shape",   "body",        "static_body",   "soft_body",
        "tool",     "point_tool",    "fingers_tool", "hand",        "scripted_hand", "simulated_hand",
        "path",     "tap_path",      "joint",        "hinge_joint", "methods",       "limited_method",
        "material", "wire_material", "coupling",     "held_tool"})
    EXPECT_TRUE(defs.contains(name)) << name;
  // Every reference leads somewhere, and every definition is used.
  std::set<std::string> used;
  const std::function<void(const Json&)> look = [&](const Json& json) {
    if (json.is_object() && json.contains("$ref")) used.insert(json["$ref"].get<std::string>().substr(8));
    if (json.is_structured()) {
      for (const Json& inner : json) look(inner);
    }
  };
  look(schema.root());
  std::set<std::string> defined;
  for (const auto& [name, definition] : defs.items()) defined.insert(name);
  EXPECT_EQ(used, defined);
}

TEST(SceneSchema, FileInTheTreeIsUpToDate) {
  std::ifstream in("schema/scene.schema.json");
  ASSERT_TRUE(in) << "run from the root of the tree";
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(text == make_scene_schema()) << "palpate check --schema > schema/scene.schema.json";
}

}  // namespace
}  // namespace palpate::scene_schema_test
