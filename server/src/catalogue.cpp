#include "catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "palpate/experiments/advise.h"
#include "palpate/methods/registry.h"
#include "palpate/scene/builtin.h"
#include "scene_settings.h"

namespace palpate {

bool is_builtin(const std::string& name) {
  const auto all = builtin_scenes();
  return std::any_of(all.begin(), all.end(), [&](const BuiltinScene& s) { return s.name == name; });
}

nlohmann::ordered_json make_catalogue(const Scene& scene, World& world) {
  using Json = nlohmann::ordered_json;
  Json scenes = Json::array(), methods = Json::array(), sliders = Json::array();
  for (const BuiltinScene& s : builtin_scenes()) scenes.push_back(s.name);
  // The likely best first; the truth before all.
  const auto add = [&](const Suggestion& s) {
    methods.push_back({{"name", s.method},
                       {"description", find_method(s.method).description},
                       {"reason", s.reason},
                       {"refused", s.refused}});
  };
  add({"reference", "the truth, if a tick has room for the whole world", refuse_method(scene, "reference", world)});
  for (const Suggestion& s : suggest_methods(scene, world)) add(s);
  Json own_methods = Json::array();
  for (const HeldTool& held : scene.tools) own_methods.push_back(held.method);
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
  return {{"scene", scene.name},  {"description", scene.description}, {"scenes", scenes},
          {"methods", methods},   {"own_methods", own_methods},       {"sliders", sliders},
          {"stages", kStageNames}};
}

}  // namespace palpate
