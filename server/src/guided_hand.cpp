#include "palpate/server/guided_hand.h"

#include <algorithm>
#include <cmath>

namespace palpate {
namespace {

/// One step of the critically damped spring, exact: d is how far x is ahead of the target.
template <typename T>
void relax(T& d, T& v, double dt) noexcept {
  constexpr double w = GuidedHand::kFrequency;
  const T c = v + w * d;
  const double e = std::exp(-w * dt);
  d = e * (d + dt * c);
  v = e * (v - w * dt * c);
}

Vec3 shortened(const Vec3& d, double limit) noexcept {
  const double norm = d.norm();
  return norm > limit ? Vec3(d * (limit / norm)) : d;
}

}  // namespace

GuidedHand::GuidedHand(std::unique_ptr<Device> own) : own_(std::move(own)) {}

void GuidedHand::hold(const Pose& t, std::optional<double> grip) noexcept {
  const Vec3& p = t.position;
  const Quat q = t.rotation.normalized();
  message_.write({{p.x(), p.y(), p.z()}, {q.w(), q.x(), q.y(), q.z()}, grip.value_or(-1.0), true});
}

void GuidedHand::let_go() noexcept {
  message_.write({{}, {1.0, 0.0, 0.0, 0.0}, -1.0, false});
}

void GuidedHand::begin(double time, double now) noexcept {
  begin_ = time - now;
  last_time_ = now;
}

void GuidedHand::replace(std::unique_ptr<Device> own, double now) {
  own_ = std::move(own);
  begin(0.0, now);
  own_hand_ = !started_;
}

DeviceState GuidedHand::read(double time) noexcept {
  message_.read(target_);
  DeviceState state = own_->read(begin_ + time);
  state.time -= begin_;
  const double dt = std::max(0.0, time - last_time_);
  last_time_ = time;
  started_ = true;
  if (target_.held) {
    own_hand_ = false;
    const Vec3 wanted(target_.position[0], target_.position[1], target_.position[2]);
    const DeviceInfo& device = own_->info();
    const Quat turned(target_.rotation[0], target_.rotation[1], target_.rotation[2], target_.rotation[3]);
    follow({wanted.cwiseMax(device.workspace_min).cwiseMin(device.workspace_max), turned}, {}, dt);
    target_.grip >= 0.0 ? follow_grip(std::min(target_.grip, 1.0), 0.0, dt)
                        : follow_grip(state.grip, state.grip_rate, dt);
  } else if (!own_hand_) {
    follow(state.pose, state.velocity, dt);
    follow_grip(state.grip, state.grip_rate, dt);
    constexpr double kThere = 2e-4, kStill = 0.01;  // [m], [m/s] and as many radians
    own_hand_ = (pose_.position - state.pose.position).norm() < kThere &&
                (velocity_.linear - state.velocity.linear).norm() < kStill &&
                rotation_vector(pose_.rotation * state.pose.rotation.conjugate()).norm() < kStill &&
                std::abs(grip_ - state.grip) < kStill;
  }
  if (own_hand_) {
    pose_ = state.pose;
    velocity_ = state.velocity;
    grip_ = state.grip;
    grip_rate_ = state.grip_rate;
  } else {
    state.pose = pose_;
    state.velocity = velocity_;
    state.grip = grip_;
    state.grip_rate = grip_rate_;
  }
  return state;
}

/// In the frame that moves with the target, or the hand would stay behind one that moves by 2 v/ω.
void GuidedHand::follow(const Pose& target, const Twist& velocity, double dt) noexcept {
  Vec3 d = shortened(pose_.position - target.position + dt * velocity.linear, kMaxLead);
  Vec3 v = velocity_.linear - velocity.linear;
  const Vec3 goal = pose_.position - d + dt * velocity.linear;
  relax(d, v, dt);
  pose_.position = goal + d;
  velocity_.linear = v + velocity.linear;

  const Quat turn = rotation_from_vector(dt * velocity.angular);
  Vec3 r = shortened(rotation_vector(turn * pose_.rotation * target.rotation.conjugate()), kMaxTurn);
  Vec3 w = velocity_.angular - velocity.angular;
  const Quat facing = rotation_from_vector(-r) * turn * pose_.rotation;
  relax(r, w, dt);
  pose_.rotation = (rotation_from_vector(r) * facing).normalized();
  velocity_.angular = w + velocity.angular;
}

void GuidedHand::follow_grip(double target, double rate, double dt) noexcept {
  double d = grip_ - target + dt * rate;
  double v = grip_rate_ - rate;
  relax(d, v, dt);
  grip_ = std::clamp(target + d, 0.0, 1.0);
  grip_rate_ = v + rate;
}

void GuidedHand::write(const SafeWrench& wrench) noexcept {
  if (own_hand_) own_->write(wrench);
}

}  // namespace palpate
