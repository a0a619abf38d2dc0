#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "palpate/core/fields.h"
#include "palpate/haptics/device.h"
#include "palpate/haptics/hand_path.h"
#include "palpate/haptics/simulated.h"

// Who or what moves the device of a scene, as data. Rotations are axis times angle [rad], as in files: a quaternion
// made of one is not turned back into it bit for bit.
namespace palpate {

/// Where the hand is at one time, world frame.
struct SceneKeyframe {
  double time = 0.0;             ///< since the start [s]
  Vec3 position = Vec3::Zero();  ///< of the hand [m]
  Vec3 rotation = Vec3::Zero();  ///< [rad]
  double grip = 0.0;             ///< how far the hand is closed, 0 to 1
  bool operator==(const SceneKeyframe&) const = default;
};

/// A way through given positions at given times.
struct SceneKeyframePath {
  PathInterpolation interpolation = PathInterpolation::kSmooth;
  std::vector<SceneKeyframe> keyframes{};
  bool operator==(const SceneKeyframePath&) const = default;
};

/// A drift with a sine on top; as SinePathSettings.
struct SceneSinePath {
  Vec3 start = Vec3::Zero(), velocity = Vec3::Zero(), amplitude = Vec3::Zero();
  double frequency = SinePathSettings{}.frequency, phase = 0.0;
  Vec3 rotation = Vec3::Zero(), rotation_amplitude = Vec3::Zero();
  double start_time = 0.0, ramp_time = 0.0, duration = 0.0;
  bool operator==(const SceneSinePath&) const = default;
};

/// A way down, sideways and up again; as PressAndSlidePathSettings.
struct ScenePressAndSlidePath {
  using Standard = PressAndSlidePathSettings;
  Vec3 start = Vec3::Zero(), rotation = Vec3::Zero();
  Vec3 direction = Standard{}.direction;
  double depth = Standard{}.depth, approach_time = Standard{}.approach_time, hold_time = Standard{}.hold_time;
  Vec3 slide_direction = Standard{}.slide_direction;
  double slide_distance = Standard{}.slide_distance, slide_speed = Standard{}.slide_speed;
  double slide_ramp = Standard{}.slide_ramp;
  int strokes = Standard{}.strokes;
  double retract_time = Standard{}.retract_time;
  bool operator==(const ScenePressAndSlidePath&) const = default;
};

/// A way down and up again, over and over; as TapPathSettings.
struct SceneTapPath {
  Vec3 start = Vec3::Zero(), rotation = Vec3::Zero();
  Vec3 direction = TapPathSettings{}.direction;
  double depth = TapPathSettings{}.depth, period = TapPathSettings{}.period;
  int count = TapPathSettings{}.count;
  bool operator==(const SceneTapPath&) const = default;
};

/// A way round a circle; as CirclePathSettings.
struct SceneCirclePath {
  Vec3 centre = Vec3::Zero(), rotation = Vec3::Zero();
  Vec3 axis = CirclePathSettings{}.axis;
  double radius = CirclePathSettings{}.radius, frequency = CirclePathSettings{}.frequency;
  double lead_in = CirclePathSettings{}.lead_in, turns = CirclePathSettings{}.turns;
  bool operator==(const SceneCirclePath&) const = default;
};

using SceneSinglePath =
    std::variant<SceneKeyframePath, SceneSinePath, ScenePressAndSlidePath, SceneTapPath, SceneCirclePath>;

/// Several paths in a row; all but the last must end.
struct SceneSequencePath {
  double blend_time = SequencePathSettings{}.blend_time;  ///< from one to the next [s]
  std::vector<SceneSinglePath> parts{};
  bool operator==(const SceneSequencePath&) const = default;
};

using ScenePath = std::variant<SceneKeyframePath, SceneSinePath, ScenePressAndSlidePath, SceneTapPath, SceneCirclePath,
                               SceneSequencePath>;

/// What a hand cannot hold still; as TremorPathSettings.
struct SceneTremor {
  double rms = TremorPathSettings{}.rms, low = TremorPathSettings{}.low, high = TremorPathSettings{}.high;
  int seed = 1;  ///< same seed, same tremor
  bool operator==(const SceneTremor&) const = default;
};

/// A hand that goes its way whatever it meets.
struct SceneScriptedHand {
  ScenePath path{};
  std::optional<SceneTremor> tremor{};
  bool operator==(const SceneScriptedHand&) const = default;
};

/// A device with inertia, held by a hand that feels. What is not given is the preset's.
struct SceneSimulatedHand {
  std::string preset = "omega";  ///< class of device
  std::optional<double> mass{}, damping{}, coulomb_friction{}, max_force{}, encoder_resolution{};
  bool delay_output = false;  ///< a force takes effect one tick late
  HandImpedance impedance{};  ///< of the hand that holds it
  ScenePath path{};
  std::optional<SceneTremor> tremor{};
  bool operator==(const SceneSimulatedHand&) const = default;
};

/// A hand of a recording.
struct SceneReplayHand {
  std::string file{};  ///< relative to the scene file
  std::string tool{};  ///< whose hand; empty: of the only tool, or of the one at the same place as here
  bool operator==(const SceneReplayHand&) const = default;
};

/// Who or what moves the device, and where that stands in the file that it was read from.
struct SceneHand {
  std::variant<SceneScriptedHand, SceneSimulatedHand, SceneReplayHand> kind{};
  SourcePlace place{};
  bool operator==(const SceneHand&) const = default;
};

/// What scene files call its kind: "scripted", "simulated" or "replay".
std::string_view kind_name(const SceneHand& hand) noexcept;

/// The way of a scripted or simulated hand; null for a replay.
ScenePath* find_path(SceneHand& hand) noexcept;

/// Makes the path; it is immutable and may be read by any thread. Throws InputError.
std::unique_ptr<HandPath> make_path(const ScenePath& path);

/// Makes a new device each time. `place` is the tool of its scene that the hand holds, from 0. Throws InputError, which
/// begins with the hand's place in its file if it was read.
std::unique_ptr<Device> make_device(const SceneHand& hand, const std::string& scene_file, std::size_t place = 0);

}  // namespace palpate
