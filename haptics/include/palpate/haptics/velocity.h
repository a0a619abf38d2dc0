#pragma once

#include "palpate/core/math.h"

namespace palpate {

struct VelocityEstimatorSettings {
  /// Of the first-order low-pass on the finite difference [Hz]. It delays the velocity by 1/(2π cutoff), 1.6 ms at
  /// 100 Hz, and passes about (resolution/dt)·(1 − e^(−2π cutoff dt)) of encoder steps. Infinity: no filter.
  double cutoff = 100.0;
};

void validate(const VelocityEstimatorSettings& settings);

/// Velocity from successive poses, for devices that give none: finite difference, then a first-order low-pass, exact
/// for any mixture of time steps. Zero until the second pose.
///
/// Thread: the fast loop's alone; wait-free. A pose that is not finite is passed over.
class VelocityEstimator {
 public:
  explicit VelocityEstimator(const VelocityEstimatorSettings& settings);

  /// `dt`: since the last pose [s]; at 0 or less the last estimate stands.
  const Twist& update(const Pose& pose, double dt) noexcept;
  const Twist& estimate() const noexcept { return estimate_; }

 private:
  double rate_;  ///< 2π cutoff [1/s]
  Pose last_;
  bool started_ = false;
  double skipped_ = 0.0;  ///< time of poses passed over [s]
  Twist estimate_;
};

}  // namespace palpate
