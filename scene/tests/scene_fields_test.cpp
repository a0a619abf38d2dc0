#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "palpate/core/error.h"
#include "palpate/scene/scene.h"
#include "sample_scenes.h"

// What is promised of every single field of a scene file, tried on every single one: a file that has them all is
// spoilt in one place, and the message must name that place.
namespace palpate::scene_fields_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMark = "MARK";

struct Place {
  Json::json_pointer at = Json::json_pointer("");
  std::string path;  ///< as messages write it: bodies[0].friction
};

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

bool is_vector(const Json& json) {
  return json.is_array() && json.size() == 3 && json[0].is_number();
}

/// Calls `visit(Place, value)` for everything in `json`, objects and lists too.
template <typename Visit>
void walk(const Json& json, const Place& place, const Visit& visit) {
  visit(place, json);
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) walk(value, {place.at / key, join(place.path, key)}, visit);
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i)
      walk(json[i], {place.at / i, place.path + "[" + std::to_string(i) + "]"}, visit);
  }
}

std::string error_of(const Json& json) {
  try {
    parse_scene(json.dump(1), "x.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<Json> samples() {
  return {Json::parse(testing::kEverything), Json::parse(testing::kTwoHands)};
}

/// From 1.
long line_of(const std::string& text, std::size_t at) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

TEST(SceneFields, ValueOfAWrongTypeIsNamedByFileLineAndPathEverywhere) {
  for (const Json& good : samples()) {
    ASSERT_EQ(error_of(good), "");
    walk(good, {}, [&](const Place& place, const Json& value) {
      if (place.path.empty()) return;
      Json bad = good;
      bad[place.at] = value.is_string() ? Json::array({kMark}) : Json(kMark);
      const std::string text = bad.dump(1);
      const std::size_t mark = text.find(kMark);
      // A list begins a line above its only item.
      const long line = line_of(text, mark) - (value.is_string() ? 1 : 0);
      const std::string error = error_of(bad);
      EXPECT_EQ(error.find("x.json:" + std::to_string(line) + ": " + place.path + " = "), 0u)
          << place.path << ": " << error;
      EXPECT_NE(error.find("must be"), std::string::npos) << error;
    });
  }
}

TEST(SceneFields, KeyThatNobodyKnowsIsRefusedInEveryObject) {
  for (const Json& good : samples()) {
    walk(good, {}, [&](const Place& place, const Json& value) {
      if (!value.is_object()) return;
      Json bad = good;
      bad[place.at]["zzz"] = 1;
      const std::string error = error_of(bad);
      EXPECT_NE(error.find("unknown key \"zzz\""), std::string::npos) << place.path << ": " << error;
      EXPECT_NE(error.find(place.path.empty() ? "the scene: " : place.path + ": "), std::string::npos) << error;
    });
  }
}

/// Keys of numbers that may be as large as they like, in that direction.
const std::set<std::string> kUnlimitedAbove = {"lower",       "upper",      "rest",         "stall_from",
                                               "stall_until", "debt_limit", "credit_limit", "max_force"};
const std::set<std::string> kUnlimitedBelow = {"lower", "upper", "rest"};

TEST(SceneFields, EveryNumberHasLimitsAndTheMessageSaysWhich) {
  std::size_t refused = 0;
  for (const Json& good : samples()) {
    walk(good, {}, [&](const Place& place, const Json& value) {
      if (!value.is_number() || place.path.ends_with("]")) return;  // vectors have none
      const std::string key = place.path.substr(place.path.rfind('.') + 1);
      for (const double sign : {1.0, -1.0}) {
        Json bad = good;
        bad[place.at] = sign * 1e300;
        const std::string error = error_of(bad);
        if (error.empty()) {
          EXPECT_TRUE((sign > 0.0 ? kUnlimitedAbove : kUnlimitedBelow).contains(key)) << place.path << " has no limit";
          continue;
        }
        ++refused;
        EXPECT_NE(error.find(": " + place.path + " = " + (sign > 0.0 ? "1e+300: must be " : "-1e+300: must be ")),
                  std::string::npos)
            << place.path << ": " << error;
      }
    });
  }
  EXPECT_GT(refused, 300u);
}

// Whole numbers are no fractions, whatever else is allowed: 1.5 beams, contacts or copies are none.
TEST(SceneFields, WholeNumbersAreNotRounded) {
  const std::set<std::string> whole = {"format",
                                       "max_constraints",
                                       "beams",
                                       "cells",
                                       "around",
                                       "along",
                                       "strokes",
                                       "count",
                                       "seed",
                                       "around_tube",
                                       "subdivisions",
                                       "resolution",
                                       "max_iterations",
                                       "max_contacts",
                                       "max_steps",
                                       "x",
                                       "y",
                                       "z",
                                       "max_rows"};
  std::size_t tried = 0;
  walk(samples()[0], {}, [&](const Place& place, const Json&) {
    if (!whole.contains(place.path.substr(place.path.rfind('.') + 1))) return;
    Json bad = samples()[0];
    bad[place.at] = bad[place.at].get<double>() + 0.5;
    const std::string error = error_of(bad);
    EXPECT_NE(error.find(place.path + " = "), std::string::npos) << place.path << ": " << error;
    ++tried;
  });
  EXPECT_GT(tried, 15u);
}

TEST(SceneFields, VectorsHaveThreeNumbers) {
  walk(samples()[0], {}, [&](const Place& place, const Json& value) {
    if (!is_vector(value)) return;
    Json bad = samples()[0];
    bad[place.at].push_back(0.0);
    EXPECT_NE(error_of(bad).find(place.path + ": has 4 items; must be three numbers [x, y, z]"), std::string::npos)
        << place.path;
  });
}

// Without a key a scene is either still one, and then it can be written and read again, or it is refused in words.
TEST(SceneFields, EveryKeyMayBeLeftOutOrIsSaidToBeMissing) {
  std::size_t missing = 0, left_out = 0;
  for (const Json& good : samples()) {
    walk(good, {}, [&](const Place& place, const Json& value) {
      if (!value.is_object()) return;
      for (const auto& [key, member] : value.items()) {
        Json bad = good;
        bad[place.at].erase(key);
        const std::string error = error_of(bad);
        if (error.empty()) {
          const Scene scene = parse_scene(bad.dump(), "x.json");
          EXPECT_EQ(parse_scene(write_scene(scene), "x.json"), scene) << place.path << " without " << key;
          ++left_out;
        } else {
          EXPECT_EQ(error.find("x.json:"), 0u) << error;
          missing += error.find("key \"" + key + "\" is missing") != std::string::npos ? 1u : 0u;
        }
      }
    });
  }
  EXPECT_GT(left_out, 200u);
  EXPECT_GT(missing, 40u);
}

// A written scene holds what differs from the standard, so a change of any number by one ulp must come back.
TEST(SceneFields, EveryNumberSurvivesWritingToTheBit) {
  for (const Json& good : samples()) {
    walk(good, {}, [&](const Place& place, const Json& value) {
      if (!value.is_number_float()) return;
      Json other = good;
      other[place.at] = std::nextafter(value.get<double>(), 0.0);
      if (!error_of(other).empty()) return;  // one that must be larger than another
      const Scene scene = parse_scene(other.dump(), "x.json");
      EXPECT_FALSE(scene == parse_scene(good.dump(), "x.json")) << place.path << " does not count";
      EXPECT_EQ(parse_scene(write_scene(scene), "x.json"), scene) << place.path;
    });
  }
}

}  // namespace
}  // namespace palpate::scene_fields_test
