#include "palpate/bodies/newmark.h"

#include "palpate/core/error.h"

namespace palpate {

ExplicitNewmark::ExplicitNewmark(FemBody& body)
    : body_(body),
      accelerations_(static_cast<std::size_t>(body.node_count()), Vec3::Zero()),
      next_(accelerations_),
      scratch_(accelerations_) {
  if (body.has_stiffness_damping()) {
    fail_input("explicit Newmark: the body's stiffness_damping must be 0; it would make the step implicit");
  }
  restart();
}

void ExplicitNewmark::restart() noexcept {
  std::fill(accelerations_.begin(), accelerations_.end(), Vec3::Zero());
  compute_accelerations(0.0);
  accelerations_.swap(next_);
}

void ExplicitNewmark::predict(double dt) noexcept {
  const auto x = body_.positions(), v = body_.velocities();
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const int node = static_cast<int>(i);
    scratch_[i] = body_.is_prescribed(node) ? Vec3(x[i] + dt * body_.prescribed_velocity(node))
                                            : Vec3(x[i] + dt * v[i] + 0.5 * dt * dt * accelerations_[i]);
  }
  body_.set_positions(scratch_);
}

void ExplicitNewmark::compute_accelerations(double dt) noexcept {
  body_.compute_elastic_forces(scratch_);
  const auto v = body_.velocities(), external = std::as_const(body_).external_forces();
  const auto m = body_.masses(), damping = body_.damping_masses();
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    if (body_.is_prescribed(static_cast<int>(i))) {
      next_[i].setZero();
      continue;
    }
    const Vec3 force =
        scratch_[i] + external[i] + m[i] * body_.gravity() - damping[i] * (v[i] + 0.5 * dt * accelerations_[i]);
    next_[i] = force / (m[i] + 0.5 * dt * damping[i]);
  }
}

void ExplicitNewmark::correct(double dt) noexcept {
  const auto v = body_.velocities();
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const int node = static_cast<int>(i);
    scratch_[i] = body_.is_prescribed(node) ? body_.prescribed_velocity(node)
                                            : Vec3(v[i] + 0.5 * dt * (accelerations_[i] + next_[i]));
  }
  accelerations_.swap(next_);
  body_.set_velocities(scratch_);
}

void ExplicitNewmark::step(double dt) noexcept {
  predict(dt);
  compute_accelerations(dt);
  correct(dt);
}

}  // namespace palpate
