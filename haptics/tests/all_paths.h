#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "palpate/haptics/hand_path.h"

namespace palpate::testing {

struct NamedPath {
  std::string name;
  std::unique_ptr<HandPath> path;
  bool smooth = true;  ///< velocity is continuous
};

inline KeyframePathSettings some_keyframes(PathInterpolation interpolation) {
  KeyframePathSettings s;
  s.times = {0.1, 0.7, 1.3, 2.9};
  s.positions = {Vec3(0.0, 0.1, 0.0), Vec3(0.02, 0.05, 0.01), Vec3(0.05, 0.07, -0.02), Vec3(0.0, 0.1, 0.0)};
  s.rotations = {Quat::Identity(), rotation_from_vector(Vec3(0.5, 0.0, 0.2)),
                 rotation_from_vector(Vec3(0.0, -1.0, 0.0)), Quat::Identity()};
  s.grips = {0.0, 1.0, 0.25, 0.5};
  s.interpolation = interpolation;
  return s;
}

inline SinePathSettings some_sine() {
  SinePathSettings s;
  s.start = Vec3(0.0, 0.1, 0.0);
  s.velocity = Vec3(0.01, 0.0, 0.0);
  s.amplitude = Vec3(0.0, 0.005, 0.002);
  s.rotation_amplitude = Vec3(0.3, 0.1, 0.0);
  s.frequency = 2.5;
  s.phase = 0.3;
  s.start_time = 0.2;
  s.ramp_time = 0.5;
  s.duration = 3.0;
  return s;
}

/// One of every kind, all within 0.2 m, below 1 m/s and, where smooth, 50 m/s².
inline std::vector<NamedPath> all_paths() {
  PressAndSlidePathSettings press;
  press.start = Vec3(0.0, 0.02, 0.0);
  press.strokes = 3;
  TapPathSettings tap;
  tap.count = 4;
  CirclePathSettings circle;
  circle.turns = 1.5;
  CirclePathSettings endless;
  endless.axis = Vec3(1.0, 2.0, -1.0);
  std::vector<std::unique_ptr<HandPath>> parts;
  parts.push_back(make_path(tap));
  parts.push_back(make_path(circle));
  SinePathSettings sudden = some_sine();  // sets off at full speed: the blend must meet its velocity
  sudden.start_time = sudden.ramp_time = sudden.duration = 0.0;
  parts.push_back(make_path(sudden));

  std::vector<NamedPath> paths;
  paths.push_back({"keyframes smooth", make_path(some_keyframes(PathInterpolation::kSmooth)), true});
  paths.push_back({"keyframes linear", make_path(some_keyframes(PathInterpolation::kLinear)), false});
  paths.push_back({"sine", make_path(some_sine()), true});
  paths.push_back({"press and slide", make_path(press), true});
  paths.push_back({"tap", make_path(tap), true});
  paths.push_back({"circle", make_path(circle), true});
  paths.push_back({"endless circle", make_path(endless), true});
  paths.push_back({"tremor", make_path(TremorPathSettings{}, make_path(press)), true});
  paths.push_back({"sequence", make_path(SequencePathSettings{}, std::move(parts)), true});
  return paths;
}

}  // namespace palpate::testing
