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

/// The latency follows; so does the age at which a model is stale, unless the scene has one of its own.
void set_slow_rate(RunSettings& run, double rate) {
  const double stale_after = run.safety.stale_after;
  const bool own = stale_after != run.latency + 2.0 * run.slow_period;
  set_slow_period(run, 1.0 / rate);
  if (own) run.safety.stale_after = stale_after;
}

}  // namespace

std::span<const SceneSlider> scene_sliders() noexcept {
  return kSliders;
}

SliderValues read_sliders(const Scene& scene) {
  SliderValues out;
  out["coupling_stiffness"] = scene.tool.coupling.stiffness;
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
    if (name == "coupling_stiffness") scene.tool.coupling.stiffness = value;
    if (name == "slow_rate") set_slow_rate(scene.run, value);
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
