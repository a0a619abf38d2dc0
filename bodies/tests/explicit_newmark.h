#pragma once

#include <algorithm>
#include <vector>

#include "palpate/bodies/fem_body.h"

namespace palpate::testing {

/// Explicit Newmark integration (β = 0, γ = ½; docs/design.md, "The step") of any finite-element body with
/// mass-proportional damping, in its plainest form: what ExplicitTets is compared with, and what shows where a body's
/// stable step really ends.
///
/// Stiffness-proportional damping is left out, for it would need a solve. Prescribed nodes move as they are told.
class ExplicitNewmark {
 public:
  /// `body` must outlive this.
  explicit ExplicitNewmark(FemBody& body)
      : body_(body),
        accelerations_(as_size(body.node_count()), Vec3::Zero()),
        next_(accelerations_),
        scratch_(accelerations_) {
    compute_accelerations(0.0);
    accelerations_.swap(next_);
  }

  /// One step of dt [s].
  void step(double dt) {
    predict(dt);
    compute_accelerations(dt);
    correct(dt);
  }

 private:
  /// u⁺ = u + Δt u̇ + ½ Δt² ü
  void predict(double dt) {
    const auto x = body_.positions(), v = body_.velocities();
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
      const int node = static_cast<int>(i);
      scratch_[i] = body_.is_prescribed(node) ? Vec3(x[i] + dt * body_.prescribed_velocity(node))
                                              : Vec3(x[i] + dt * v[i] + 0.5 * dt * dt * accelerations_[i]);
    }
    body_.set_positions(scratch_);
  }

  /// (M + ½ Δt D) ü⁺ = F − R(u⁺) − D (u̇ + ½ Δt ü)
  void compute_accelerations(double dt) {
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

  /// u̇⁺ = u̇ + ½ Δt (ü + ü⁺)
  void correct(double dt) {
    const auto v = body_.velocities();
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
      const int node = static_cast<int>(i);
      scratch_[i] = body_.is_prescribed(node) ? body_.prescribed_velocity(node)
                                              : Vec3(v[i] + 0.5 * dt * (accelerations_[i] + next_[i]));
    }
    accelerations_.swap(next_);
    body_.set_velocities(scratch_);
  }

  FemBody& body_;
  std::vector<Vec3> accelerations_, next_, scratch_;
};

}  // namespace palpate::testing
