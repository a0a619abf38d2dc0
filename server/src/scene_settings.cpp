#include "scene_settings.h"

#include <array>

namespace palpate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kSliders = {
    SceneSlider{"young_modulus", "Stiffness of soft bodies", "Pa", 1e3, 1e6},
    SceneSlider{"friction", "Friction", "", 0.0, 1.0},
    SceneSlider{"coupling_stiffness", "Coupling", "N/m", 50.0, 2000.0},
    SceneSlider{"slow_rate", "Slow loop", "Hz", 10.0, 100.0},
    SceneSlider{"extra_latency", "Extra latency", "ms", 0.0, 200.0},
};

Json parse(const Scene& scene) {
  return Json::parse(scene.text, nullptr, true, true);
}

bool is_soft(const Json& body) {
  return body.value("type", "") == "soft";
}

}  // namespace

std::span<const SceneSlider> scene_sliders() noexcept {
  return kSliders;
}

SliderValues read_sliders(const Scene& scene) {
  SliderValues out;
  const Json json = parse(scene);
  out["coupling_stiffness"] = scene.tool.coupling.stiffness;
  out["slow_rate"] = 1.0 / scene.run.slow_period;
  out["extra_latency"] = 1e3 * scene.run.extra_latency;
  if (!scene.bodies.empty()) out["friction"] = scene.bodies.front().friction;
  for (const Json& body : json["bodies"]) {
    if (!is_soft(body) || !body.contains("material")) continue;
    out["young_modulus"] = body["material"].value("young_modulus", 1e4);
    break;
  }
  return out;
}

Scene apply_sliders(const Scene& scene, const SliderValues& values) {
  Json json = parse(scene);
  for (const auto& [name, value] : values) {
    if (name == "coupling_stiffness") json["tool"]["coupling"]["stiffness"] = value;
    if (name == "slow_rate") {
      json["rates"]["slow_period"] = 1.0 / value;
      json["rates"].erase("latency");
    }
    if (name == "extra_latency") json["rates"]["extra_latency"] = 1e-3 * value;
    for (Json& body : json["bodies"]) {
      if (name == "friction") body["friction"] = value;
      if (name == "young_modulus" && is_soft(body)) body["material"]["young_modulus"] = value;
    }
  }
  return parse_scene(json.dump(2), scene.file);
}

}  // namespace palpate
