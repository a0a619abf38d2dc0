#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "palpate/core/math.h"
#include "palpate/core/range.h"

namespace palpate {

/// Where a hand wants to be at one instant, and how fast it moves.
struct HandSample {
  Pose pose;
  Twist velocity;
  double grip = 0.0;       ///< as DeviceState::grip
  double grip_rate = 0.0;  ///< [1/s]
};

/// What a hand does: pose and velocity as a function of time. The velocity is the exact derivative of the pose
/// (one-sided where a linear path has a corner).
///
/// Immutable after construction. at() may be called from any thread; it allocates nothing and takes bounded time.
class HandPath {
 public:
  virtual ~HandPath() = default;
  /// At `t` [s] since the path's start. Before 0 (or NaN) the path stands at its beginning, after duration() at its
  /// end.
  virtual HandSample at(double t) const noexcept = 0;
  /// [s]; infinity for a path that goes on for ever.
  virtual double duration() const noexcept = 0;
};

/// How to go from one keyframe to the next.
enum class PathInterpolation {
  /// Positions: through each keyframe without stopping, at rest at both ends, never overshooting along any axis
  /// (monotone cubic, tangents by Fritsch & Butland 1984). Rotations and grips: at rest at each keyframe, minimum jerk
  /// between.
  kSmooth,
  /// Constant speed between keyframes, corners at them.
  kLinear,
};

struct KeyframePathSettings {
  std::vector<double> times;    ///< strictly increasing from 0 or later [s]; before the first the hand waits there
  std::vector<Vec3> positions;  ///< one for each time [m]
  std::vector<Quat> rotations;  ///< one for each time, or none: never turns
  std::vector<double> grips{};  ///< one for each time, 0 open to 1 closed, or none: always open
  PathInterpolation interpolation = PathInterpolation::kSmooth;

  static constexpr Range kTime{0.0, 1e9};
  static constexpr Range kGrip{0.0, 1.0};
};

/// start + velocity·t + amplitude·sin(2π f t + phase), and the same sine about a fixed axis in rotation.
struct SinePathSettings {
  Vec3 start = Vec3::Zero();               ///< [m]
  Vec3 velocity = Vec3::Zero();            ///< drift under the sine [m/s]
  Vec3 amplitude = Vec3::Zero();           ///< [m]
  double frequency = 1.0;                  ///< [Hz]
  double phase = 0.0;                      ///< [rad]
  Quat rotation = Quat::Identity();        ///< mean rotation
  Vec3 rotation_amplitude = Vec3::Zero();  ///< rotation vector [rad]
  double start_time = 0.0;                 ///< the hand waits that long [s]; t counts from there
  double ramp_time = 0.0;                  ///< amplitude and drift come in (and go out) smoothly over this time [s]
  double duration = 0.0;                   ///< of the motion after start_time [s]; 0: for ever

  static constexpr Range kFrequency{0.0, 1e4};
  static constexpr Range kPhase{-1e6, 1e6};
  static constexpr Range kTime{0.0, 1e9};
  static constexpr Range kRamp{0.0, 1e6};  ///< of one that ends: at most half of its duration
};

/// Down along `direction`, hold, sideways and back, up again. Each part begins and ends at rest.
struct PressAndSlidePathSettings {
  Vec3 start = Vec3::Zero();  ///< before the approach [m]
  Quat rotation = Quat::Identity();
  Vec3 direction = Vec3(0.0, -1.0, 0.0);       ///< of pressing; any length
  double depth = 0.01;                         ///< way from start along `direction` [m]
  double approach_time = 0.5;                  ///< minimum jerk [s]
  double hold_time = 0.2;                      ///< after the approach, and again before the retreat [s]
  Vec3 slide_direction = Vec3(1.0, 0.0, 0.0);  ///< made perpendicular to `direction`; any length
  double slide_distance = 0.02;                ///< of one stroke [m]
  double slide_speed = 0.05;                   ///< in the middle of a stroke [m/s]
  double slide_ramp = 0.05;                    ///< time to reach that speed, and to stop [s]
  int strokes = 1;                             ///< 1: there; 2: there and back; …
  double retract_time = 0.5;                   ///< [s]

  static constexpr Range kDepth{0.0, 10.0};
  static constexpr Range kMoveTime{0.0, 1e6, true};  ///< approach and retreat
  static constexpr Range kHoldTime{0.0, 1e6};
  static constexpr Range kDistance{0.0, 10.0, true};
  static constexpr Range kSpeed{0.0, 100.0, true};
  static constexpr Range kRamp{0.0, 1e3, true};
  static constexpr Range kStrokes{0, 1e6};
};

/// Down and up again, once each period, at rest in between: depth · 64 u³(1 − u)³.
struct TapPathSettings {
  Vec3 start = Vec3::Zero();  ///< [m]
  Quat rotation = Quat::Identity();
  Vec3 direction = Vec3(0.0, -1.0, 0.0);  ///< any length
  double depth = 0.01;                    ///< [m]
  double period = 0.5;                    ///< [s]
  int count = 0;                          ///< 0: for ever

  static constexpr Range kDepth{0.0, 10.0};
  static constexpr Range kPeriod{0.0, 1e6, true};
  static constexpr Range kCount{0, 1e6};
};

/// A circle that begins (and, with `turns`, ends) at rest and keeps a constant speed in between.
struct CirclePathSettings {
  Vec3 centre = Vec3::Zero();  ///< [m]
  Quat rotation = Quat::Identity();
  Vec3 axis = Vec3(0.0, 1.0, 0.0);  ///< right-handed about this; any length
  double radius = 0.02;             ///< [m]
  double frequency = 0.5;           ///< turns a second [Hz]
  double lead_in = 0.5;             ///< time to reach the speed, and to stop [s]
  double turns = 0.0;               ///< 0: for ever

  static constexpr Range kRadius{0.0, 10.0};
  static constexpr Range kFrequency{0.0, 1e3, true};
  static constexpr Range kTurns{0.0, 1e9};
  static constexpr Range kLeadIn{0.0, 1e6};  ///< of one that ends: at most turns / frequency
};

/// Adds to a path what a hand cannot hold still: band-limited pseudo-random motion, the same for the same seed on every
/// machine. A sum of eight fixed sines an axis, spread over the band; it goes on when the path has ended.
struct TremorPathSettings {
  double rms = 1e-4;   ///< root mean square of the added displacement, all axes together [m]
  double low = 8.0;    ///< [Hz]; physiological tremor of the hand lies at 8–12 Hz
  double high = 12.0;  ///< [Hz]
  std::uint64_t seed = 1;

  static constexpr Range kRms{0.0, 1.0};
  static constexpr Range kBand{0.0, 1e3, true};
};

/// One path after another. All but the last must end.
struct SequencePathSettings {
  /// Time from the end of one to the beginning of the next [s], by the cubic that meets both positions and
  /// velocities; 0: at once, with a jump if they do not meet.
  double blend_time = 0.2;

  static constexpr Range kBlendTime{0.0, 1e3};
};

/// Each throws InputError naming the field, its value and the allowed range.
std::unique_ptr<HandPath> make_path(KeyframePathSettings settings);
std::unique_ptr<HandPath> make_path(const SinePathSettings& settings);
std::unique_ptr<HandPath> make_path(const PressAndSlidePathSettings& settings);
std::unique_ptr<HandPath> make_path(const TapPathSettings& settings);
std::unique_ptr<HandPath> make_path(const CirclePathSettings& settings);
std::unique_ptr<HandPath> make_path(const TremorPathSettings& settings, std::unique_ptr<HandPath> base);
std::unique_ptr<HandPath> make_path(const SequencePathSettings& settings, std::vector<std::unique_ptr<HandPath>> parts);

}  // namespace palpate
