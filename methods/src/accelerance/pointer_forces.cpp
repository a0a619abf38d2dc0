#include "accelerance/pointer_forces.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "palpate/constraints/point_on_planes.h"

namespace palpate::accelerance {
namespace {

/// A contact this near takes part in a tick although it does not touch: others may push the body onto it [m].
constexpr double kNear = 1e-3;

/// How fast an overlap that was there when a contact was found comes to be felt [m/s].
constexpr double kReliefSpeed = 0.1;

/// Where a pointer's point is over a body, in the body's frame.
struct Foot {
  double gap = 0.0;  ///< [m]
  Vec3 normal = Vec3::UnitY();
  Vec3 point = Vec3::Zero();  ///< of the body's surface
};

/// The point of a convex solid nearest to p. Outside several faces it lies on their common edge or corner; inside, on
/// the nearest face.
Foot find_foot(const PointerContact& c, const Vec3& p) noexcept {
  Foot foot;
  if (c.planes == 0) {
    const double distance = (p - c.centre).norm();
    foot.normal = distance > 1e-9 ? Vec3((p - c.centre) / distance) : Vec3(Vec3::UnitY());
    foot.gap = distance - c.radius;
    foot.point = p - foot.gap * foot.normal;
    return foot;
  }
  std::array<ContactPlane, kMaxPlanes> outside;
  std::size_t count = 0;
  double highest = -HUGE_VAL;
  for (std::size_t i = 0; i < as_size(c.planes); ++i) {
    const double height = c.plane[i].normal.dot(p) - c.plane[i].offset;
    if (height > 0.0) outside[count++] = {-c.plane[i].normal, -c.plane[i].offset, 0.0};
    if (height <= highest) continue;
    highest = height;
    foot.normal = c.plane[i].normal;
  }
  foot.gap = highest - c.radius;
  foot.point = p - highest * foot.normal;
  if (count < 2) return foot;
  const PlaneContact nearest = settle_on_planes({outside.data(), count}, p, p);
  const double distance = (p - nearest.position).norm();
  if (!nearest.feasible || !(distance > 1e-9)) return foot;
  foot.normal = (p - nearest.position) / distance;
  foot.point = nearest.position;
  foot.gap = distance - c.radius;
  return foot;
}

}  // namespace

PointerForces::PointerForces(const ToolSettings& tool, double step, double ahead, bool literal)
    : step_(step),
      ahead_(literal ? 0.0 : ahead),
      stiffness_(tool.coupling.stiffness),
      damping_(tool.coupling.damping),
      literal_(literal),
      pointers_(make_fingers(tool)) {
  for (Finger& f : pointers_) f.surface = {};
}

void PointerForces::recall(std::span<const PointerMemory> touched) noexcept {
  touched_count_ = std::min(touched.size(), touched_.size());
  std::copy_n(touched.begin(), touched_count_, touched_.begin());
}

void PointerForces::take(const Model& model) noexcept {
  model_ = &model;
  active_count_ = 0;
  for (std::size_t i = 0; i < as_size(model.contacts); ++i) {
    const PointerContact& c = model.contact[i];
    PointerMemory& memory = memories_[i];
    memory = {};
    // A corner that is new among those of the same pair is stretched and relieved as the others are.
    Vec3 stretch = Vec3::Zero();
    double relief = 0.0;
    int others = 0;
    for (const PointerMemory& old : touched()) {
      if (old.pointer != c.pointer || old.body != c.body) continue;
      stretch += old.stretch;
      relief = std::max(relief, old.relief);
      ++others;
      if (old.feature == c.feature) memory = old;
    }
    if (!memory.touches && others > 0) memory.stretch = stretch / others;
    memory.relief = relief;
    const auto known = std::span(known_).first(known_count_);
    memory.fresh = std::find(known.begin(), known.end(), std::pair(c.pointer, c.body)) == known.end();
  }
  known_count_ = as_size(model.contacts);
  for (std::size_t i = 0; i < known_count_; ++i) known_[i] = {model.contact[i].pointer, model.contact[i].body};
}

void PointerForces::start(const DeviceState& hand, std::span<const Pose> poses, std::span<const Vec6> velocities,
                          LocalDynamics& local) noexcept {
  active_count_ = 0;
  for (std::size_t i = 0; i < as_size(model_->contacts); ++i) {
    const PointerContact& c = model_->contact[i];
    const Finger& pointer = pointers_[as_size(c.pointer)];
    const Pose X_WP = compute_finger_pose(pointer, hand);
    const Twist V_WP = compute_finger_velocity(pointer, hand);
    const Pose X_WB = c.neighbour < 0 ? Pose{} : poses[as_size(c.neighbour)];
    const Vec6 V_WB = c.neighbour < 0 ? Vec6(Vec6::Zero()) : velocities[as_size(c.neighbour)];
    const Quat to_body = X_WB.rotation.conjugate();
    Foot foot;
    Vec3 offset = X_WP.rotation * c.point;  // of the pointer's point from its origin
    if (c.body_corner) {
      offset = X_WB.position + X_WB.rotation * c.point - X_WP.position;
      foot.point = c.point;
      foot.normal = -(to_body * (X_WP.rotation * c.plane[0].normal));
      foot.gap = c.plane[0].normal.dot(X_WP.rotation.conjugate() * offset) - c.plane[0].offset;
    } else {
      foot = find_foot(c, to_body * (X_WP.position + offset - X_WB.position));
    }
    Active& a = active_[active_count_];
    a.normal = X_WB.rotation * foot.normal;
    a.arm = X_WB.rotation * foot.point;
    a.velocity = V_WP.linear + V_WP.angular.cross(offset);
    const Vec3 rate = a.velocity - V_WB.head<3>() - V_WB.tail<3>().cross(a.arm);
    PointerMemory& memory = memories_[i];
    if (memory.fresh) memory.relief = std::max(0.0, -foot.gap);
    memory.fresh = false;
    memory.relief = literal_ ? 0.0 : std::max(0.0, memory.relief - kReliefSpeed * step_);
    foot.gap += memory.relief;
    if (std::min(foot.gap, foot.gap + ahead_ * rate.dot(a.normal)) > kNear) {
      memory = {};
      continue;
    }
    ++active_count_;
    a.contact = i;
    a.neighbour = c.neighbour;
    a.foot = X_WB.position + a.arm;
    a.stiffness = c.share * stiffness_;
    a.damping = c.share * damping_;
    a.c = literal_ ? 0.0 : a.stiffness * step_ * step_ + a.damping * step_;
    a.friction = c.friction;
    // What the pointer slides on is the body, or of a corner of the body the pointer.
    const double sign = c.body_corner ? -1.0 : 1.0;
    const Pose& ground = c.body_corner ? X_WP : X_WB;
    if (!memory.touches)
      memory.anchor = ground.rotation.conjugate() * (a.foot - sign * memory.stretch - ground.position);
    Vec3 stretch = sign * (a.foot - (ground.position + ground.rotation * memory.anchor));
    stretch -= stretch.dot(a.normal) * a.normal;
    memory.stretch = stretch;
    a.apart = foot.gap * a.normal + stretch;
    a.wanted = -a.stiffness * (a.apart + ahead_ * rate) - a.damping * rate;
    a.system.setIdentity();
    if (a.neighbour >= 0) a.system += a.c * local.point_response(a.neighbour, a.arm);
    a.inverse = a.system.inverse();
    a.force = memory.touches ? memory.force : Vec3(Vec3::Zero());
    apply(a, a.force, local);
  }
}

/// The force on the pointer changes, and so what the body gets.
void PointerForces::apply(const Active& a, const Vec3& change, LocalDynamics& local) noexcept {
  if (a.neighbour < 0 || change.isZero(0.0)) return;
  Vec6 wrench;
  wrench << -change, -a.arm.cross(change);
  local.push(a.neighbour, wrench);
}

/// The force of one contact, given those of all others: f = wanted − c G f, pushing only, within the friction cone. To
/// the paper's explicit force this adds what the force itself does to its spring and damper within the step: without it
/// light bodies and many pointers shake themselves apart, with it any stiffness is stable.
Vec3 PointerForces::solve_one(const Active& a, const LocalDynamics& local) noexcept {
  Vec3 right = a.wanted;
  if (a.neighbour >= 0)
    right += a.c * local.point_acceleration(a.neighbour, a.arm) + (a.system - Mat3::Identity()) * a.force;
  const Vec3 sticks = a.inverse * right;
  const double push = sticks.dot(a.normal);
  const Vec3 rubs = sticks - push * a.normal;
  if (push > 0.0 && rubs.norm() <= a.friction * push) return sticks;
  const Vec3 slip = a.friction > 0.0 && rubs.norm() > 0.0 ? Vec3(a.friction * rubs.normalized()) : Vec3(Vec3::Zero());
  const double along = a.normal.dot(a.system * (a.normal + slip));
  const double size = a.normal.dot(right) / (along > 0.1 ? along : a.normal.dot(a.system * a.normal));
  return std::max(0.0, size) * (a.normal + slip);
}

double PointerForces::sweep(LocalDynamics& local) noexcept {
  double largest = 0.0;
  for (std::size_t i = 0; i < active_count_; ++i) {
    Active& a = active_[i];
    const Vec3 force = solve_one(a, local);
    const Vec3 difference = force - a.force;
    if (!difference.allFinite()) continue;
    apply(a, difference, local);
    a.force = force;
    largest = std::max(largest, difference.norm());
  }
  return largest;
}

void PointerForces::settle(const DeviceState& hand, std::span<const Pose> poses) noexcept {
  touched_count_ = 0;
  for (const Active& a : active()) {
    const PointerContact& c = model_->contact[a.contact];
    PointerMemory& memory = memories_[a.contact];
    const double push = a.force.dot(a.normal);
    memory.touches = push > 0.0;
    memory.force = a.force;
    if (!memory.touches) {
      memory.stretch.setZero();
      continue;
    }
    const Vec3 rubs = a.force - push * a.normal;
    if (a.friction * push > 0.0 && rubs.norm() >= (1.0 - 1e-9) * a.friction * push)
      memory.stretch = -rubs / a.stiffness;
    if (!(a.friction > 0.0)) memory.stretch.setZero();
    Pose ground = a.neighbour < 0 ? Pose{} : poses[as_size(a.neighbour)];
    if (c.body_corner) ground = compute_finger_pose(pointers_[as_size(c.pointer)], hand);
    memory.anchor =
        ground.rotation.conjugate() * (a.foot - (c.body_corner ? -1.0 : 1.0) * memory.stretch - ground.position);
    memory.pointer = c.pointer;
    memory.body = c.body;
    memory.feature = c.feature;
    touched_[touched_count_++] = memory;
  }
}

void PointerForces::add_wrenches(std::span<Vec6> wrenches) const noexcept {
  for (const Active& a : active()) {
    if (a.neighbour < 0) continue;
    Vec6& wrench = wrenches[as_size(a.neighbour)];
    wrench.head<3>() -= a.force;
    wrench.tail<3>() -= a.arm.cross(a.force);
  }
}

}  // namespace palpate::accelerance
