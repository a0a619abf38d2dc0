#include "catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"
#include "scene_settings.h"

namespace palpate {
namespace catalogue {

using Json = nlohmann::ordered_json;

/// As far as a page draws them differently.
std::string_view name_of(ToolSettings::Kind kind) noexcept {
  if (kind == ToolSettings::Kind::kPoint) return "point";
  return kind == ToolSettings::Kind::kFingers ? "fingers" : "body";
}

}  // namespace catalogue

bool is_builtin(const std::string& name) {
  const auto all = builtin_scenes();
  return std::any_of(all.begin(), all.end(), [&](const BuiltinScene& s) { return s.name == name; });
}

nlohmann::ordered_json make_catalogue(const Scene& scene, const World& world, const std::string& given) {
  using catalogue::Json;
  const ToolSettings tool = make_tool_settings(scene);
  Json scenes = Json::array(), methods = Json::array(), sliders = Json::array();
  if (!is_builtin(given)) scenes.push_back(given);
  for (const BuiltinScene& s : builtin_scenes()) scenes.push_back(s.name);
  for (const MethodInfo& info : registered_methods()) {
    methods.push_back({{"name", info.name}, {"description", info.description}, {"refused", info.refuse(world, tool)}});
  }
  const SliderValues values = read_sliders(scene);
  for (const SceneSlider& s : scene_sliders()) {
    const auto value = values.find(s.name);
    if (value == values.end()) continue;
    sliders.push_back({{"name", s.name},
                       {"label", s.label},
                       {"unit", s.unit},
                       {"min", s.min},
                       {"max", s.max},
                       {"value", value->second}});
  }
  return {{"scene", scene.name},        {"description", scene.description},
          {"scenes", scenes},           {"methods", methods},
          {"sliders", sliders},         {"tool", catalogue::name_of(tool.kind)},
          {"tool_radius", tool.radius}, {"coupling_stiffness", scene.tool.coupling.stiffness},
          {"stages", kStageNames}};
}

}  // namespace palpate
