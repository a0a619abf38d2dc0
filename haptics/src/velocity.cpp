#include "palpate/haptics/velocity.h"

#include <cmath>
#include <numbers>

#include "checks.h"

namespace palpate {

void validate(const VelocityEstimatorSettings& s) {
  require_positive("velocity.cutoff", s.cutoff, kInfinity, "Hz");
}

VelocityEstimator::VelocityEstimator(const VelocityEstimatorSettings& settings)
    : rate_(2.0 * std::numbers::pi * settings.cutoff) {
  validate(settings);
}

const Twist& VelocityEstimator::update(const Pose& pose, double dt) noexcept {
  if (!(dt > 0.0) && started_) return estimate_;
  if (!pose.position.allFinite() || !pose.rotation.coeffs().allFinite()) {
    skipped_ += dt;
    return estimate_;
  }
  if (started_) {
    const double h = dt + skipped_;
    const double gain = -std::expm1(-rate_ * h);
    const Vec3 linear = (pose.position - last_.position) / h;
    const Vec3 angular = rotation_vector(pose.rotation * last_.rotation.conjugate()) / h;
    estimate_.linear += gain * (linear - estimate_.linear);
    estimate_.angular += gain * (angular - estimate_.angular);
  }
  started_ = true;
  skipped_ = 0.0;
  last_ = pose;
  return estimate_;
}

}  // namespace palpate
