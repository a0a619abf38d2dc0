#pragma once

#include <map>
#include <span>
#include <string>

#include "palpate/scene/scene.h"

namespace palpate {

/// What a page may change about a scene, by name. Everything else of a scene is out of its reach.
struct SceneSlider {
  std::string_view name;
  std::string_view label;
  std::string_view unit;
  double min = 0.0, max = 1.0;
};
std::span<const SceneSlider> scene_sliders() noexcept;

/// Values by slider.
using SliderValues = std::map<std::string, double, std::less<>>;

/// The values of a scene; sliders that mean nothing to it are missing.
SliderValues read_sliders(const Scene& scene);

/// The scene with these values.
Scene apply_sliders(Scene scene, const SliderValues& values);

}  // namespace palpate
