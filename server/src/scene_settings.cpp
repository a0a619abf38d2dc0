#include "scene_settings.h"

#include <array>

namespace palpate {
namespace {

constexpr std::array kSliders = {
    SceneSlider{"young_modulus", "Stiffness of soft bodies", "Pa", 1e3, 1e6},
    SceneSlider{"friction", "Friction", "", 0.0, 1.0},
    SceneSlider{"coupling_stiffness", "Coupling", "N/m", 50.0, 2000.0},
    SceneSlider{"slow_rate", "Slow loop", "Hz", 10.0, 100.0},
    SceneSlider{"extra_latency", "Extra latency", "ms", 0.0, 200.0},
};

/// The latency follows; so does the age at which a model is stale, unless a tool has one of its own.
void set_slow_rate(Scene& scene, double rate) {
  const double standard = make_standard_guards(scene.run).safety.stale_after;
  const std::vector<HeldTool> before = scene.tools;
  set_slow_period(scene, 1.0 / rate);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double stale_after = before[i].guards.safety.stale_after;
    if (stale_after != standard) scene.tools[i].guards.safety.stale_after = stale_after;
  }
}

}  // namespace

std::span<const SceneSlider> scene_sliders() noexcept {
  return kSliders;
}

SliderValues read_sliders(const Scene& scene) {
  SliderValues out;
  out["coupling_stiffness"] = scene.first().tool.coupling.stiffness;
  out["slow_rate"] = 1.0 / scene.run.slow_period;
  out["extra_latency"] = 1e3 * scene.run.extra_latency;
  if (!scene.bodies.empty()) out["friction"] = scene.bodies.front().friction;
  for (const SceneBody& body : scene.bodies) {
    const auto* soft = std::get_if<SceneSoft>(&body.kind);
    if (!soft) continue;
    out["young_modulus"] = soft->material.young_modulus;
    break;
  }
  return out;
}

Scene apply_sliders(Scene scene, const SliderValues& values) {
  for (const auto& [name, value] : values) {
    for (HeldTool& held : scene.tools) {
      if (name == "coupling_stiffness") held.tool.coupling.stiffness = value;
    }
    if (name == "slow_rate") set_slow_rate(scene, value);
    if (name == "extra_latency") scene.run.extra_latency = 1e-3 * value;
    for (SceneBody& body : scene.bodies) {
      if (name == "friction") body.friction = value;
      auto* soft = std::get_if<SceneSoft>(&body.kind);
      if (name == "young_modulus" && soft) soft->material.young_modulus = value;
    }
  }
  return scene;
}

}  // namespace palpate
