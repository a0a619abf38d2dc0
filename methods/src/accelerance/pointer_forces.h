#pragma once

#include "accelerance/local.h"

namespace palpate::accelerance {

/// What pointers and bodies do to each other: spring and damper (eq. 7) at every contact that touches, with Coulomb's
/// limit. Real-time: no allocation, bounded by kMaxContacts.
///
/// The fast loop has one with the tick as its step; the slow loop has one with its period, to know what the hand will
/// have done to the bodies by the end of it.
class PointerForces {
 public:
  /// What takes part in this step; world frame.
  struct Active {
    std::size_t contact = 0;  ///< of the model
    int neighbour = -1;
    Vec3 normal, foot, arm;  ///< from the body to the pointer; of the surface; of the foot from the body's centre
    Vec3 apart;              ///< of the pointer from where the spring would rest [m]
    Vec3 velocity;           ///< of the pointer there [m/s]
    Vec3 wanted;             ///< the spring's and damper's force, were the body to go on as it does [N]
    Vec3 force;              ///< on the pointer [N]
    Mat3 system;             ///< 1 + c G: how the force weakens itself by moving the body
    Mat3 inverse;
    double c = 0.0;  ///< force lost for an acceleration of the foot [N·s²/m]
    double stiffness = 0.0, damping = 0.0;
    double friction = 0.0;
  };

  /// Forces are those of pointers and bodies `ahead` [s] after where they are, each going on as it does. `literal`: eq.
  /// 7 as it stands, of where they are, and an overlap is felt at once.
  PointerForces(const ToolSettings& tool, double step, double ahead, bool literal = false);

  std::span<const Finger> pointers() const noexcept { return pointers_; }

  /// What touched, from elsewhere: take() goes on from there.
  void recall(std::span<const PointerMemory> touched) noexcept;
  /// What touched when settle() was called last.
  std::span<const PointerMemory> touched() const noexcept { return {touched_.data(), touched_count_}; }
  /// Goes over to a model; contacts that touched already keep what they know. `model` stays as long as it is used.
  void take(const Model& model) noexcept;

  /// A step begins: finds what touches or nearly does and pushes the bodies as the last step did. After local.start().
  void start(const DeviceState& hand, std::span<const Pose> poses, std::span<const Vec6> velocities,
             LocalDynamics& local) noexcept;
  /// One sweep of projected Gauss–Seidel; returns the largest change [N].
  double sweep(LocalDynamics& local) noexcept;
  /// What the contacts remember of this step.
  void settle(const DeviceState& hand, std::span<const Pose> poses) noexcept;

  std::span<const Active> active() const noexcept { return {active_.data(), active_count_}; }
  /// Adds force and torque on each neighbour.
  void add_wrenches(std::span<Vec6> wrenches) const noexcept;

 private:
  static void apply(const Active& a, const Vec3& change, LocalDynamics& local) noexcept;
  static Vec3 solve_one(const Active& a, const LocalDynamics& local) noexcept;

  const double step_, ahead_, stiffness_, damping_;
  const bool literal_;
  std::vector<Finger> pointers_;
  const Model* model_ = nullptr;
  std::array<PointerMemory, kMaxContacts> memories_{};                       ///< of the model's contacts
  std::array<std::pair<std::int32_t, std::int32_t>, kMaxContacts> known_{};  ///< pointers and bodies of the last model
  std::size_t known_count_ = 0;
  std::array<PointerMemory, kMaxContacts> touched_{};
  std::size_t touched_count_ = 0;
  std::array<Active, kMaxContacts> active_{};
  std::size_t active_count_ = 0;
};

}  // namespace palpate::accelerance
