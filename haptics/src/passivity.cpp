#include "palpate/haptics/passivity.h"

#include <algorithm>
#include <cmath>

#include "checks.h"

namespace palpate {

void validate(const PassivitySettings& s) {
  require_range("passivity.allowance", s.allowance, 0.0, 1000.0, "J");
  require_range("passivity.credit_limit", s.credit_limit, 0.0, kInfinity, "J");
  require_range("passivity.debt_limit", s.debt_limit, 0.0, kInfinity, "J");
  require_range("passivity.max_damping", s.max_damping, 0.0, 1000.0, "N·s/m");
  require_range("passivity.max_rotational_damping", s.max_rotational_damping, 0.0, 100.0, "N·m·s/rad");
  if (s.debt_limit <= s.allowance) {
    fail_input("passivity.debt_limit = {} J: must be above passivity.allowance = {} J, or the controller never acts",
               s.debt_limit, s.allowance);
  }
}

double EnergyObserver::observe(const Pose& pose) noexcept {
  if (!pose.position.allFinite() || !pose.rotation.coeffs().allFinite()) return 0.0;
  double increment = 0.0;
  if (started_) {
    increment = held_.force.dot(pose.position - last_.position);
    if (!held_.torque.isZero(0.0)) {
      increment += held_.torque.dot(rotation_vector(pose.rotation * last_.rotation.conjugate()));
    }
    if (!std::isfinite(increment)) increment = 0.0;
  }
  started_ = true;
  last_ = pose;
  energy_ += increment;
  peak_ = std::max(peak_, energy_);
  return increment;
}

PassivityController::PassivityController(const PassivitySettings& settings) : settings_(settings) {
  validate(settings);
}

Wrench PassivityController::apply(const Wrench& wanted, const DeviceState& state, double dt) noexcept {
  events_ = 0;
  account_ = std::clamp(account_ + observer_.observe(state.pose), -settings_.credit_limit, settings_.debt_limit);
  const double excess = account_ - settings_.allowance;
  if (!(excess > 0.0)) return wanted;

  const Vec3& v = state.velocity.linear;
  const Vec3& w = state.velocity.angular;
  const double most =
      dt * (settings_.max_damping * v.squaredNorm() + settings_.max_rotational_damping * w.squaredNorm());
  if (!(most > 0.0) || !std::isfinite(most)) return wanted;  // at rest nothing can be dissipated, nor need be
  const double share = std::min(1.0, excess / most);
  events_ = kPassivityDamped;
  return {wanted.force - share * settings_.max_damping * v,
          wanted.torque - share * settings_.max_rotational_damping * w};
}

}  // namespace palpate
