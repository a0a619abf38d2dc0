#include "palpate/bodies/particle.h"

#include <cmath>

#include "palpate/core/error.h"
#include "small_body.h"

namespace palpate {

Particle::Particle(double mass, const Vec3& position, double damping, int max_time_steps)
    : mass_(mass), damping_(damping), position_(position) {
  if (!(mass > 0.0 && std::isfinite(mass))) fail_input("mass = {} kg; allowed: above 0", mass);
  if (!(damping >= 0.0 && std::isfinite(damping))) fail_input("damping = {} 1/s; allowed: at least 0", damping);
  if (max_time_steps < 1) fail_input("max_time_steps = {}; allowed: at least 1", max_time_steps);
  time_steps_.reserve(as_size(max_time_steps));
}

void Particle::save_state(std::span<double> out) const noexcept {
  Eigen::Map<Vec3>(out.data()) = position_;
  Eigen::Map<Vec3>(out.data() + 3) = velocity_;
}

void Particle::restore_state(std::span<const double> state) noexcept {
  position_ = Eigen::Map<const Vec3>(state.data());
  velocity_ = Eigen::Map<const Vec3>(state.data() + 3);
}

std::unique_ptr<Body> Particle::make_copy() const {
  auto copy = std::make_unique<Particle>(*this);
  copy->time_steps_.reserve(time_steps_.capacity());  // which a vector does not copy
  return copy;
}

bool Particle::linearise(std::span<const double> time_steps) noexcept {
  if (time_steps.size() > time_steps_.capacity()) return false;
  time_steps_.assign(time_steps.begin(), time_steps.end());
  return position_.allFinite() && velocity_.allFinite();
}

double Particle::inverse_system(int which) const noexcept {
  const double h = time_steps_[as_size(which)];
  return 1.0 / (mass_ * (1.0 / h + damping_) + grip_.damping + h * grip_.stiffness);
}

Wrench Particle::compute_grip() const noexcept {
  return {compute_grip_wrench(grip_, handle_pose(), {velocity_, Vec3::Zero()}).force, Vec3::Zero()};
}

void Particle::compute_free_motion(int which, std::span<Vec3> dv) noexcept {
  const double h = time_steps_[as_size(which)];
  const Vec3 f = external_ + mass_ * (gravity_ - damping_ * velocity_) + compute_grip().force;
  dv[0] = prescribed_ ? Vec3(prescribed_velocity_ - velocity_)
                      : Vec3(inverse_system(which) * (f - h * grip_.stiffness * velocity_));
}

bool Particle::compute_response(int which, Mat6& response) const noexcept {
  response.setZero();
  if (!prescribed_) {
    const double h = time_steps_[as_size(which)];
    response.topLeftCorner<3, 3>().diagonal().setConstant(h * inverse_system(which));
  }
  return true;
}

bool Particle::add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  Vec3 scratch;
  add_compliance_by_rows(time_steps_[as_size(which)], J, {&prescribed_, 1}, {&scratch, 1}, W,
                         [&](std::span<Vec3> y) { y[0] *= inverse_system(which); });
  return true;
}

void Particle::compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                  std::span<Vec3> dv) noexcept {
  dv[0].setZero();
  for (int r = 0; r < J.rows(); ++r) scatter_row(J.row(r), lambda[as_size(r)], {&prescribed_, 1}, dv);
  dv[0] *= inverse_system(which);
}

void Particle::advance(double h, std::span<const Vec3> dv) noexcept {
  velocity_ += dv[0];
  position_ += h * velocity_;
}

BodyEnergy Particle::compute_energy() const noexcept {
  return {0.5 * mass_ * velocity_.squaredNorm(), 0.0, -mass_ * gravity_.dot(position_)};
}

BodyMomentum Particle::compute_momentum() const noexcept {
  return {mass_ * velocity_, position_.cross(mass_ * velocity_)};
}

}  // namespace palpate
