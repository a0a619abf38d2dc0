#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace palpate {

/// Minimum-jerk progress from 0 to 1 (Flash & Hogan 1985): s(u) = 10u³ − 15u⁴ + 6u⁵, and its derivative in u.
inline double min_jerk(double u) noexcept {
  return u * u * u * (10.0 + u * (6.0 * u - 15.0));
}
inline double min_jerk_rate(double u) noexcept {
  return 30.0 * u * u * (1.0 - u) * (1.0 - u);
}

/// A clock that starts from rest, reaches rate 1 after `ramp`, and stops as it started at `total`: its rate is
/// min_jerk(t/ramp), its reading the integral of that. Reads total − ramp at the end.
class TimeLaw {
 public:
  struct Reading {
    double time;         ///< [s]
    double rate;         ///< d time/dt
    double rate_change;  ///< d rate/dt [1/s]
  };

  /// Needs total ≥ 2·ramp ≥ 0; total may be infinite.
  TimeLaw(double ramp, double total) noexcept : ramp_(ramp), total_(total) {}
  double total() const noexcept { return total_; }

  /// At rest outside [0, total].
  Reading at(double t) const noexcept {
    if (!(t > 0.0)) return {0.0, 0.0, 0.0};
    if (t >= total_) return {total_ - ramp_, 0.0, 0.0};
    if (t < ramp_) return starting(t);
    if (t <= total_ - ramp_) return {t - 0.5 * ramp_, 1.0, 0.0};
    const Reading mirrored = starting(total_ - t);
    return {total_ - ramp_ - mirrored.time, mirrored.rate, -mirrored.rate_change};
  }

 private:
  Reading starting(double t) const noexcept {
    const double u = t / ramp_;
    const double u4 = u * u * u * u;
    return {ramp_ * u4 * (2.5 + u * (u - 3.0)), min_jerk(u), min_jerk_rate(u) / ramp_};
  }

  double ramp_;
  double total_;
};

}  // namespace palpate
