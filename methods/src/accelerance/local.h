#pragma once

#include "messages.h"

namespace palpate::accelerance {

/// The neighbours' motion under a model: u̇ = A f + b, and their own contacts. Real-time: no allocation, and every call
/// is bounded by the model's capacities. The fast loop steps it tick by tick; the slow loop once over a whole period,
/// to know what the fast one is about to do.
class LocalDynamics {
 public:
  /// What becomes of bodies that overlap.
  enum class Overlap : std::uint8_t {
    kPushed,  ///< a velocity parts them within the step, at most kPushOut: as World::step does
    kMoved,   ///< part() moves them apart, and they get no velocity from it: else each synchronisation would kick
  };
  /// `model` stays where it is as long as it is used; `h` is the step [s].
  void take(const Model& model, double h, Overlap overlap) noexcept;

  /// A step from this state begins: b, and contact forces as they were.
  void start(std::span<const Pose> poses, std::span<const Vec6> velocities) noexcept;
  /// A force and torque on a neighbour changes by so much.
  void push(int neighbour, const Vec6& change) noexcept;
  /// One sweep of projected Gauss–Seidel over the contacts: nothing comes nearer than touching by the end of the step,
  /// and nothing slides that friction can hold. Returns the largest change [N].
  double sweep_contacts() noexcept;
  /// Moves bodies that overlap apart, by the share of the overlap that the step is of kPartTime.
  void part(std::span<Pose> poses) const noexcept;
  /// u̇ of a neighbour with all that acts now.
  const Vec6& acceleration(int neighbour) const noexcept { return accelerations_[static_cast<std::size_t>(neighbour)]; }

  /// Acceleration of a point of a neighbour, and how it answers to a force there [1/kg].
  Vec3 point_acceleration(int neighbour, const Vec3& arm) const noexcept;
  Mat3 point_response(int neighbour, const Vec3& arm) const noexcept {
    return point_response(neighbour, arm, neighbour, arm);
  }

  static constexpr double kPushOut = 0.5;    ///< [m/s], as WorldSettings::push_out_speed
  static constexpr double kPartTime = 0.02;  ///< [s]

 private:
  /// A contact made ready.
  struct Ready {
    Mat3 axes;                      ///< normal and tangents, by columns
    Vec3 arm_a, arm_b;              ///< world frame [m]
    double inverse_normal = 0.0;    ///< force for a velocity along the normal [N·s/m]; 0: cannot move
    double inverse_tangents = 0.0;  ///< the same along the tangents
    double gap = 0.0;               ///< at the beginning of this step [m]
    double wish = 0.0;              ///< least velocity along the normal in this step [m/s]
    Vec3 force = Vec3::Zero();
  };
  Mat3 point_response(int of, const Vec3& arm, int by, const Vec3& by_arm) const noexcept;
  void find_own_response(const LocalContact& c, Ready& r) const noexcept;
  Vec3 velocity(const LocalContact& c, const Ready& r) const noexcept;
  void apply(const LocalContact& c, const Ready& r, const Vec3& change) noexcept;

  const Model* model_ = nullptr;
  double h_ = 0.001;
  Overlap overlap_ = Overlap::kMoved;
  std::array<Vec6, kMaxNeighbours> accelerations_{}, velocities_{};
  std::array<Ready, kMaxLocalContacts> ready_{};
  /// Those that a force on a neighbour moves: most pairs do not touch.
  std::array<std::array<std::int8_t, kMaxNeighbours>, kMaxNeighbours> coupled_{};
  std::array<std::int32_t, kMaxNeighbours> coupled_count_{};
};

}  // namespace palpate::accelerance
