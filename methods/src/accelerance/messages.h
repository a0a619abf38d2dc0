#pragma once

#include <algorithm>
#include <array>

#include "palpate/methods/accelerance_feedback.h"

namespace palpate::accelerance {

inline constexpr int kMaxPlanes = 8;
inline constexpr int kMaxLocalContacts = 384;
inline constexpr int kMaxLocalJoints = 32;

/// A half-space that holds all of a body: its points have normal·x ≤ offset. In the frame at the body's centre of mass;
/// of what does not move, in the world's.
struct FacePlane {
  Vec3 normal = Vec3::UnitY();
  double offset = 0.0;
};

/// Where a pointer may touch something: a point of the pointer, with a radius, outside half-spaces or a ball. This is
/// the paper's intermediate representation, which has one plane; more keep a pointer that slides off an edge from
/// standing on air.
struct PointerContact {
  std::int32_t pointer = 0;
  std::int32_t neighbour = -1;  ///< of the model; −1: something that does not move
  std::int32_t body = -1;       ///< of the world
  std::uint32_t feature = 0;    ///< the same from model to model as long as the same corners meet
  /// The other way round: a corner of the body under the one plane, which is the pointer's and in its frame. Of two
  /// solids the smaller one's corners are taken, so that none comes to hang beyond the other's face.
  bool body_corner = false;
  Vec3 point = Vec3::Zero();  ///< in the pointer's frame, or the body's [m]
  double radius = 0.0;        ///< around it, and of a ball in the world [m]
  double share = 1.0;         ///< of the coupling's stiffness and damping: points of one face share them
  double friction = 0.0;
  std::int32_t planes = 0;  ///< 0: a ball at `centre`
  Vec3 centre = Vec3::Zero();
  std::array<FacePlane, kMaxPlanes> plane{};
};

/// A body that the fast loop moves.
struct Neighbour {
  std::int32_t body = -1;
  Pose pose;                            ///< of its centre of mass, and …
  Vec6 velocity = Vec6::Zero();         ///< … its velocity when the model begins
  Vec6 nonlinear = Vec6::Zero();        ///< velocity that the global step gave beyond the last model's, eq. 14
  Vec6 acceleration = Vec6::Zero();     ///< b of eq. 2 [m/s², rad/s²]
  double inverse_mass = 0.0;            ///< by itself [1/kg]
  Mat3 inverse_inertia = Mat3::Zero();  ///< the same about its centre, world frame [1/(kg·m²)]
};

/// A contact of a neighbour with another or with what does not move. The fast loop has both sides of it, so it is left
/// out of A and b and done in every tick: things give way when pushed hard enough, tip, stop when let go.
///
/// With a body beyond the neighbours it is friction alone that slips: A holds them apart, and a friction that kept its
/// force would drive what the hand has let go.
struct LocalContact {
  std::int32_t a = -1, b = -1;  ///< neighbours; b = −1: what the fast loop does not move
  Vec3 foot_a = Vec3::Zero();   ///< in the frame at a's centre of mass [m]
  Vec3 foot_b = Vec3::Zero();   ///< the same of b, or in the world's frame [m]
  Vec3 drift = Vec3::Zero();    ///< velocity of a body beyond the neighbours there [m/s]
  double limit = -1.0;          ///< of friction with a body beyond the neighbours [N]; negative: the contact is whole
  Vec3 normal = Vec3::UnitY();  ///< unit, from b to a, world frame
  double offset = 0.0;          ///< the gap is (foot_a − foot_b)·normal + offset [m]
  double friction = 0.0;        ///< μ
  Vec3 force = Vec3::Zero();    ///< on a, along the normal and make_tangents(): first guess [N]
};

/// A joint whose ends the fast loop moves. What holds always is in A, and ticks see to it that poses agree; what gives
/// way (limits, drives, dry friction) is done in every tick.
struct LocalJoint {
  static constexpr std::size_t kMaxBounded = 3;  ///< both limits and the drive
  std::int32_t joint = -1;                       ///< of the world
  std::int32_t a = -1, b = -1;                   ///< neighbours; −1: what does not move
  std::array<double, kMaxBounded> force{};       ///< of its bounded rows: first guess [N]
};

struct Model {
  MessageHeader header;
  double begin;  ///< when the fast loop goes over to it [s]: one slow period after the step began
  bool follow;   ///< the fast loop takes poses and velocities over (impulse); else its own go on
  std::int32_t neighbours;
  std::int32_t contacts;
  std::int32_t local_contacts;
  std::int32_t local_joints;
  std::int32_t columns;   ///< of A for each neighbour: 6 for force and torque, 3 for a force where it was touched
  std::int32_t left_out;  ///< contacts or neighbours that there was no room for
  std::array<Neighbour, kMaxNeighbours> neighbour;
  std::array<PointerContact, kMaxContacts> contact;
  std::array<LocalContact, kMaxLocalContacts> local_contact;
  std::array<LocalJoint, kMaxLocalJoints> local_joint;
  /// u̇ = A f + b (eq. 8) of all neighbours at once: 6·neighbours rows, columns·neighbours columns, by columns.
  std::array<double, 36 * kMaxNeighbours * kMaxNeighbours> A;
};

/// A neighbour's velocity when its model begins, from what it is: the nonlinear part is added (eq. 14), but only as far
/// as that brings the body nearer to where the global simulation has it. Of a body that the hand has treated otherwise
/// than the global step knew, the rest would be a kick. `whole`: all of it, as the paper does.
inline Vec6 add_nonlinear(const Vec6& velocity, const Neighbour& n, bool whole) noexcept {
  if (whole) return velocity + n.nonlinear;
  Vec6 out = velocity;
  for (const int part : {0, 3}) {
    const Vec3 d = n.nonlinear.segment<3>(part), missing = n.velocity.segment<3>(part) - velocity.segment<3>(part);
    if (d.squaredNorm() > 0.0) out.segment<3>(part) += std::clamp(d.dot(missing) / d.squaredNorm(), 0.0, 1.0) * d;
  }
  return out;
}

/// Leaves nothing in a model that the fast loop would move or touch.
inline void clear_model(Model& model) noexcept {
  model.neighbours = model.contacts = model.local_contacts = model.local_joints = 0;
}

/// Copies what is used of a model: it is large and mostly empty. Real-time; counts must be in range.
inline void copy_model(const Model& from, Model& to) noexcept {
  to.header = from.header;
  to.begin = from.begin;
  to.follow = from.follow;
  to.neighbours = from.neighbours;
  to.contacts = from.contacts;
  to.local_contacts = from.local_contacts;
  to.local_joints = from.local_joints;
  to.columns = from.columns;
  to.left_out = from.left_out;
  std::copy_n(from.neighbour.begin(), from.neighbours, to.neighbour.begin());
  std::copy_n(from.contact.begin(), from.contacts, to.contact.begin());
  std::copy_n(from.local_contact.begin(), from.local_contacts, to.local_contact.begin());
  std::copy_n(from.local_joint.begin(), from.local_joints, to.local_joint.begin());
  std::copy_n(from.A.begin(), 6 * from.columns * from.neighbours * from.neighbours, to.A.begin());
}

}  // namespace palpate::accelerance
