#pragma once

#include <array>

#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/method.h"

namespace palpate::jacobian {

/// The tool's contacts, and where all else is rigid so many more among the others.
inline constexpr int kMaxContacts = JacobianSettings::kMost + 32;
inline constexpr int kMaxRows = 3 * kMaxContacts;

/// What the slow loop knows of the contact. Sixes are force and torque about the tool's centre of mass, or velocity of
/// it and angular velocity, in the world frame.
struct Model {
  MessageHeader header;
  /// Equality (eq. 13): contact wrench = offset + by_force · F̃. The 6×6 holds the paper's four blocks ∂F_c/∂F̃, ∂F_c/∂T̃,
  /// ∂T_c/∂F̃, ∂T_c/∂T̃, the six its F_c0, T_c0.
  Mat6 by_force;
  Vec6 offset;
  /// Inequality: three rows a contact, normal and two tangents, each δ = delta + rate t + J (x − x_model) + W λ − slip,
  /// with t the time since the end of the slow step and x_model the centre and orientation of `tool`.
  Pose tool;
  std::array<Vec6, kMaxRows> J;
  std::array<double, kMaxRows> delta;  ///< [m]
  std::array<double, kMaxRows> rate;   ///< of rigid bodies that go on as the slow step left them; else 0 [m/s]
  /// Where `inertial`: how weight and what holds the others elsewhere change `rate`, and how friction elsewhere does,
  /// which can only slow down [m/s²].
  std::array<double, kMaxRows> acceleration, friction_elsewhere;
  std::array<double, kMaxRows> lambda;  ///< of the slow step: the first guess [N]
  std::array<double, kMaxContacts> friction;
  std::array<double, kMaxRows * kMaxRows> W;  ///< by columns of 3·contacts [m/N]; everything but the tool
  std::int32_t contacts;                      ///< published; of the equality form: those that hold
  std::int32_t left_out;                      ///< more than there was room for
  /// Everything else that moves is rigid. W is then that of a tick, `delta` has the slow step's λ in it, and what a
  /// tick's λ does to the bodies lasts: they move by W λ and keep the velocity that it gives them.
  std::int32_t inertial;
};

/// What the fast loop's tool and hand did.
struct Feedback {
  MessageHeader header;
  DeviceState device;
  std::array<double, 13> tool;  ///< Body::save_state(): of a point six numbers, of a rigid body thirteen
};

}  // namespace palpate::jacobian
