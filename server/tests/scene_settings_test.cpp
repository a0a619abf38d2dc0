#include "../src/scene_settings.h"

#include <gtest/gtest.h>

#include "palpate/scene/builtin.h"

namespace palpate::scene_settings_test {
namespace {

TEST(SceneSliders, ReadWhatTheyWrote) {
  const Scene scene = load_builtin_scene("soft-block");
  for (const SceneSlider& slider : scene_sliders()) {
    const std::string name(slider.name);
    const double value = 0.25 * slider.max;
    const Scene changed = apply_sliders(scene, {{name, value}});
    EXPECT_NEAR(read_sliders(changed).at(name), value, 1e-12 * value) << name;
    EXPECT_FALSE(changed == scene) << name;
    EXPECT_NO_THROW(validate(changed)) << name;
    EXPECT_EQ(parse_scene(write_scene(changed), scene.source.file), changed) << name;
  }
}

TEST(SceneSliders, ChangeEverySoftBodyAndNothingElseOfTheScene) {
  Scene scene = load_builtin_scene("soft-block");
  scene.bodies.push_back(scene.bodies.front());
  Scene changed = apply_sliders(scene, {{"young_modulus", 12345.0}});
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    auto* soft = std::get_if<SceneSoft>(&changed.bodies[i].kind);
    if (!soft) continue;
    EXPECT_EQ(soft->material.young_modulus, 12345.0);
    soft->material.young_modulus = std::get<SceneSoft>(scene.bodies[i].kind).material.young_modulus;
  }
  EXPECT_EQ(changed, scene);
}

TEST(SceneSliders, LatencyFollowsTheSlowRateAndAnOwnStalenessStays) {
  Scene scene = load_builtin_scene("soft-block");
  set_slow_period(scene, 0.02);
  const Scene slower = apply_sliders(scene, {{"slow_rate", 10.0}});
  EXPECT_EQ(slower.run.latency, 0.1);
  EXPECT_EQ(slower.first().guards.safety.stale_after, 0.1 + 2.0 * 0.1);
  scene.first().guards.safety.stale_after = 0.5;
  EXPECT_EQ(apply_sliders(scene, {{"slow_rate", 10.0}}).first().guards.safety.stale_after, 0.5);
}

TEST(SceneSliders, WhatMeansNothingToASceneIsMissing) {
  EXPECT_EQ(read_sliders(load_builtin_scene("wall")).count("young_modulus"), 0u);
}

}  // namespace
}  // namespace palpate::scene_settings_test
