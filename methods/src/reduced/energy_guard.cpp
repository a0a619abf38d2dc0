#include "reduced/energy_guard.h"

#include <algorithm>
#include <cmath>

namespace palpate::reduced {

void multiply_mass(const BodyView<const double>& model, double dt, const Eigen::Ref<const Eigen::VectorXd>& x,
                   Eigen::Ref<Eigen::VectorXd> y) noexcept {
  const int r = static_cast<int>(model.states);
  y.setZero();
  y.head(r) = dt * (1.0 - model.damping_one) * x.head(r);
  y.head(r).noalias() -= (dt * (model.damping_stiffness + dt)) * (model.K.topLeftCorner(r, r) * x.head(r));
  if (model.has_D != 0.0) y.head(r).noalias() -= dt * (model.D.topLeftCorner(r, r) * x.head(r));
}

void EnergyGuard::see(double energy, double work) noexcept {
  if (knows_) owed_ = std::max(0.0, owed_ + energy - energy_ - (work - work_));
  knows_ = true;
  energy_ = energy;
  work_ = work;
}

bool EnergyGuard::take_out(const BodyView<const double>& model, double dt, const Eigen::VectorXd& direction,
                           Eigen::Ref<Eigen::VectorXd> speed) noexcept {
  if (!(owed_ > 0.0)) return false;
  /// Of all motion, at a look: a body is not stopped dead.
  constexpr double kMostOfAll = 0.1;
  Eigen::Matrix<double, kMaxStates, 1> momentum, mass_direction;
  multiply_mass(model, dt, speed, momentum);
  multiply_mass(model, dt, direction, mass_direction);
  const double along = direction.dot(momentum), mass = direction.dot(mass_direction);
  double kinetic = 0.5 * speed.dot(momentum), paid = 0.0;
  if (mass > 0.0 && along != 0.0) {
    // (s d) less of speed is s d·Mv − s²/2 d·Md less of energy.
    const double rest = along * along - 2.0 * mass * owed_;
    const double s = rest > 0.0 ? 2.0 * owed_ / (along + std::copysign(std::sqrt(rest), along)) : along / mass;
    paid = std::min(owed_, s * along - 0.5 * s * s * mass);
    speed -= s * direction;
    kinetic -= paid;
  }
  const double left = owed_ - paid;
  if (left > 0.0 && kinetic > 0.0) {
    const double share = std::min(kMostOfAll, left / kinetic);
    speed *= std::sqrt(1.0 - share);
    paid += share * kinetic;
  }
  owed_ -= paid;
  taken_ += paid;
  energy_ -= paid;
  return true;
}

}  // namespace palpate::reduced
