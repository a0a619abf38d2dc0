#pragma once

#include "palpate/core/math.h"
#include "palpate/core/range.h"

namespace palpate {

/// How force and velocity, or torque and angular velocity, travel as waves: each pair on a line of its own.
struct WaveSettings {
  /// b [N·s/m, N·m·s/rad]: what the line feels like at once, before an echo comes. More makes far walls stiffer, b/T
  /// for a way of T, and free motion heavier, b·T; 20 N·s/m is 1,000 N/m and 0.4 kg at 20 ms. Both ends use the same.
  double impedance = 20.0;
  /// Time constant with which an end follows what arrives [s]. It takes out what jitter and an estimated velocity put
  /// in; with 4 ms and less, a wall of 2,000 N/m was seen to give a millijoule.
  double follow_time = 0.006;
  bool operator==(const WaveSettings&) const = default;
};

/// For torques: 0.25 N·m/rad and 1e-4 kg·m² at 20 ms, about what a light grip has itself.
inline constexpr WaveSettings kTurnWaves{.impedance = 0.005};

/// Impedances that a line of forces, or one of torques, may have.
inline constexpr Range kWaveImpedance{0.1, 1000.0};     ///< [N·s/m]
inline constexpr Range kTurnWaveImpedance{1e-5, 10.0};  ///< [N·m·s/rad]

/// Throws InputError naming the field, its value and the allowed range; `impedance`: one of the two above.
void validate(const WaveSettings& settings, const Range& impedance);

/// What one end sends the other: all that it has sent so far, so that a lost message is made up for by the next.
struct WaveMessage {
  Vec3 integral = Vec3::Zero();  ///< ∫ u dt [√(W)·s, by axis]
  double energy = 0.0;           ///< ∫ ½|u|² dt [J]
};

/// Numbers that a message can have.
bool is_sound(const WaveMessage& message) noexcept;

/// The receiving half of an end. It follows the integral that arrives, and gives out no more energy than has arrived:
/// so the line stays passive however its messages are delayed, reordered, bunched or lost (Niemeyer & Slotine 1998,
/// sections on variable delay; the reservoir is theirs, the first-order follower is ours).
class WaveInlet {
 public:
  /// Of a message newer than all before.
  void receive(const WaveMessage& message) noexcept { arrived_ = message; }
  /// Begins as if all of `message` had been given out already.
  void begin(const WaveMessage& message) noexcept { arrived_ = given_ = message; }
  /// The wave for the next `dt` seconds.
  Vec3 next(double dt, double follow_time) noexcept;

 private:
  WaveMessage arrived_;
  WaveMessage given_;
};

/// The hand's end of a delayed line (Anderson & Spong 1989; Niemeyer & Slotine 1991): keeps a far wall from swinging
/// the hand.
///
/// A force that is 40 ms old pushes a hand that has long turned round, and so gives it energy that no wall had. Waves
/// cannot: with F the force of the hand on the line and v its velocity,
///   u = (b v + F)/√(2b) goes out,   w = (b v − F)/√(2b) comes in,   F v = ½u² − ½w²
/// so that what comes out of the line has gone into it before. Torque and angular velocity alike, in the world frame.
///
/// Thread: one; wait-free, small enough for a microcontroller. The same holds for the engine's end.
class WaveHandEnd {
 public:
  WaveHandEnd(const WaveSettings& settings, const Range& impedance);

  void receive(const WaveMessage& message) noexcept { inlet_.receive(message); }
  /// The force on the hand for the next `dt` seconds, no longer than `max_force` [N].
  Vec3 advance(const Vec3& velocity, double max_force, double dt) noexcept;
  /// The motors are off for `dt` seconds: nothing is known of the other end.
  void advance_idle(const Vec3& velocity, double dt) noexcept;
  const WaveMessage& message() const noexcept { return sent_; }

 private:
  WaveSettings settings_;
  WaveInlet inlet_;
  WaveMessage sent_;
};

/// The engine's end. What the scene feels is not where the hand is but where the velocities that it gives have brought
/// the tool: in touch that lags by T·F/b, as if the line were a spring.
class WaveEngineEnd {
 public:
  WaveEngineEnd(const WaveSettings& settings, const Range& impedance);

  /// The hand has sent `message` so far, and all of that is in where it is now.
  void begin(const WaveMessage& message) noexcept;
  void receive(const WaveMessage& message) noexcept { inlet_.receive(message); }
  /// `force`: what the scene wants to put into the hand for the next `dt` seconds. Returns the velocity meanwhile.
  Vec3 advance(const Vec3& force, double dt) noexcept;
  const WaveMessage& message() const noexcept { return sent_; }

 private:
  WaveSettings settings_;
  WaveInlet inlet_;
  WaveMessage sent_;
};

}  // namespace palpate
