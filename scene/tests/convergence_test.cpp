#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "palpate/methods/hand_driven.h"
#include "palpate/scene/scene.h"

// Is the truth one? `reference` at 1, 0.5 and 0.25 ms under the same hand, on a scene of each kind: what a hand feels
// must not depend on the step. Everything that is said about methods is said against it.
namespace palpate::convergence_test {
namespace {

struct Case {
  const char* name;
  const char* tool_and_bodies;
  const char* keyframes;
};

constexpr const char* kSoftBlock = R"("bodies": [ { "type": "soft", "friction": 0.3, "shape": { "type": "box",
  "size": [0.09, 0.045, 0.09] }, "cell": 0.015, "position": [0, -0.0225, 0],
  "material": { "young_modulus": 10000, "poisson_ratio": 0.4, "density": 1000, "stiffness_damping": 0.005 },
  "fixed": [ { "min": [-1, -1, -1], "max": [1, -0.044, 1] } ] } ],)";

/// Presses within 0.25 s, waits, and slides until 0.8 s.
constexpr const char* kPressAndSlide = R"({ "time": 0, "position": [-0.01, 0.002, 0.003] },
  { "time": 0.25, "position": [-0.01, -0.006, 0.003] }, { "time": 0.35, "position": [-0.01, -0.006, 0.003] },
  { "time": 0.8, "position": [0.01, -0.006, 0.005] })";

// A point without size sits in a fold of the surface; a rod slides from triangle to triangle.
const Case kCases[] = {
    {"PointInAFoldOfASoftBlock", R"("tool": { "type": "point", "coupling": { "stiffness": 800, "damping": 0.8 } },)",
     kPressAndSlide},
    {"CapsuleOnASoftBlock",
     R"("tool": { "type": "rigid", "mass": 0.05, "offset": [0, 0.02, 0],
        "shape": { "type": "capsule", "radius": 0.006, "length": 0.028, "around": 16 },
        "coupling": { "stiffness": 500, "damping": 3, "rotational_stiffness": 2, "rotational_damping": 0.005 } },)",
     kPressAndSlide},
    // Bent to the side by a rod across it, with friction: contacts change in every step.
    {"RodAcrossAThinStalk",
     R"("tool": { "type": "rigid", "mass": 0.05, "shape": { "type": "capsule", "radius": 0.006, "length": 0.05,
        "around": 24 }, "coupling": { "stiffness": 400, "damping": 4, "rotational_stiffness": 0.5,
        "rotational_damping": 0.001 } },
        "world": { "gravity": [0, 0, 0] },
        "bodies": [ { "type": "soft", "friction": 0.2, "shape": { "type": "capsule", "radius": 0.006, "length": 0.033,
        "around": 12 }, "cell": 0.004, "position": [0, 0.018, 0], "material": { "young_modulus": 150000,
        "poisson_ratio": 0.4, "density": 1000, "stiffness_damping": 0.01 },
        "fixed": [ { "min": [-1, -1, -1], "max": [1, 0, 1] } ] } ],)",
     R"({ "time": 0, "position": [-0.013, 0.03, 0], "rotation": [1.5707963, 0, 0] },
        { "time": 0.8, "position": [0.002, 0.03, 0], "rotation": [1.5707963, 0, 0] })"},
    // By statics 0.4 m g = 0.264 N.
    {"BallPushesABrick",
     R"("tool": { "type": "rigid", "mass": 0.05, "friction": 0, "shape": { "type": "sphere", "radius": 0.015 },
        "coupling": { "stiffness": 600, "damping": 2, "rotational_stiffness": 0.5, "rotational_damping": 0.001 } },
        "bodies": [ { "type": "plane", "friction": 0.4 }, { "type": "rigid", "friction": 0.4, "density": 700,
        "shape": { "type": "box", "size": [0.04, 0.04, 0.06] }, "position": [0, 0.02, 0] } ],)",
     R"({ "time": 0, "position": [-0.0365, 0.018, 0] }, { "time": 1.2, "position": [-0.012, 0.018, 0.002] })"},
    {"WireOnAMesh",
     R"("tool": { "type": "chain", "radius": 0.0015, "length": 0.06, "beams": 6, "friction": 0.3,
        "material": { "young_modulus": 2e8, "density": 1500, "mass_damping": 5 },
        "coupling": { "stiffness": 500, "damping": 1, "rotational_stiffness": 0.5, "rotational_damping": 0.002 } },
        "bodies": [ { "type": "static", "friction": 0.3, "shape": { "type": "box", "size": [0.1, 0.02, 0.06],
        "cells": 7 }, "position": [0, -0.01, 0] } ],)",
     R"({ "time": 0, "position": [-0.03, 0.003, 0.002], "rotation": [0, 0, 1.5707963] },
        { "time": 0.3, "position": [-0.03, -0.002, 0.002], "rotation": [0, 0, 1.5707963] },
        { "time": 0.8, "position": [-0.026, -0.002, 0.008], "rotation": [0, 0, 1.5707963] })"},
    {"SoftToolOnAPlane",
     R"("tool": { "type": "soft", "shape": { "type": "sphere", "radius": 0.015 }, "cell": 0.008, "hold_radius": 0.012,
        "friction": 0.3, "material": { "young_modulus": 50000, "poisson_ratio": 0.4, "density": 1000,
        "stiffness_damping": 0.005 }, "coupling": { "stiffness": 500, "damping": 2 } },
        "bodies": [ { "type": "plane", "friction": 0.3, "position": [0, -0.015, 0] } ],)",
     kPressAndSlide},
};

Scene make_scene(const Case& c) {
  std::string text = R"({ "format": 1, )";
  text += c.tool_and_bodies;
  if (text.find("\"bodies\"") == std::string::npos) text += kSoftBlock;
  text += R"("hand": { "type": "scripted", "path": { "type": "keyframes", "interpolation": "linear", "keyframes": [)";
  return parse_scene(text + c.keyframes + "] } } }", c.name);
}

/// What the hand feels, before the safety stage, by the time in µs.
std::map<long, Vec3> feel(const Scene& scene, double dt, double seconds) {
  Scene fine = scene;
  fine.run.dt = dt;
  World world = make_world(fine);
  const std::unique_ptr<Device> device = make_device(fine);
  HandDriven method(make_method(fine, "reference", world, *device));
  std::map<long, Vec3> out;
  for (int i = 1; i <= static_cast<int>(std::lround(seconds / dt)); ++i) {
    const TickResult r = method.tick(device->read(i * dt));
    out[std::lround(i * dt * 1e6)] = r.wrench.force;
  }
  return out;
}

/// Relative RMS difference from the finest.
double compute_error(const std::map<long, Vec3>& coarse, const std::map<long, Vec3>& finest) {
  double off = 0.0, all = 0.0;
  for (const auto& [time, force] : coarse) {
    if (time % 1000 != 0) continue;
    off += (force - finest.at(time)).squaredNorm();
    all += finest.at(time).squaredNorm();
  }
  EXPECT_GT(all, 1.0);  // that is, it was felt: 1 N² s over ticks of 1 ms is 0.03 N throughout
  return std::sqrt(off / all);
}

class Truth : public ::testing::TestWithParam<Case> {};

// At 1 ms off the finest by at most 5 %, and by at most 0.6 of that at half the step: first order would be a third.
TEST_P(Truth, HalvesItsErrorWithTheStep) {
  const Scene scene = make_scene(GetParam());
  const double seconds = 0.8;
  const auto finest = feel(scene, 0.00025, seconds);
  const double whole = compute_error(feel(scene, 0.001, seconds), finest);
  const double half = compute_error(feel(scene, 0.0005, seconds), finest);
  RecordProperty("error_at_1_ms_percent", std::to_string(100.0 * whole));
  EXPECT_LT(whole, 0.05);
  EXPECT_LT(half, 0.6 * whole);
}

INSTANTIATE_TEST_SUITE_P(EachKind, Truth, ::testing::ValuesIn(kCases), [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace palpate::convergence_test
