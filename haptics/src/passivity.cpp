#include "palpate/haptics/passivity.h"

#include <algorithm>
#include <cmath>

#include "checks.h"

namespace palpate {

void describe(Fields& f, PassivitySettings& s, const PassivitySettings& d) {
  f.number({.name = "allowance", .doc = "energy that may be given to the hand before the controller acts", .unit = "J"},
           s.allowance, d.allowance, {0.0, 1e3});
  f.number({.name = "credit_limit", .doc = "most energy taken from the hand that is remembered", .unit = "J"},
           s.credit_limit, d.credit_limit, kNotNegative);
  f.number({.name = "debt_limit", .doc = "most energy given to the hand that is remembered", .unit = "J"}, s.debt_limit,
           d.debt_limit, kNotNegative);
  f.number({.name = "max_damping", .doc = "most damping that the controller adds", .unit = "N·s/m"}, s.max_damping,
           d.max_damping, {0.0, 1e3});
  f.number({.name = "max_rotational_damping",
            .doc = "most rotational damping that the controller adds",
            .unit = "N·m·s/rad"},
           s.max_rotational_damping, d.max_rotational_damping, {0.0, 100.0});
  f.require(s.debt_limit > s.allowance,
            fmt::format("debt_limit = {} J: must be above allowance, {} J, or the controller never acts", s.debt_limit,
                        s.allowance));
}

void validate(const PassivitySettings& s) {
  check_member("passivity", s);
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
