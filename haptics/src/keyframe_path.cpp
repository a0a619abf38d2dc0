#include <algorithm>
#include <cmath>

#include "checks.h"
#include "palpate/haptics/hand_path.h"
#include "time_law.h"

namespace palpate {
namespace {

/// Tangent at a keyframe between the slopes `a`, `b` of segments of length `ha`, `hb`: zero at an extremum, else a
/// weighted harmonic mean (Fritsch & Butland 1984), which keeps the cubic monotone.
double monotone_tangent(double a, double b, double ha, double hb) {
  if (a * b <= 0.0) return 0.0;
  const double wa = 2.0 * hb + ha;
  const double wb = hb + 2.0 * ha;
  return (wa + wb) / (wa / a + wb / b);
}

class KeyframePath final : public HandPath {
 public:
  explicit KeyframePath(KeyframePathSettings settings) : k_(std::move(settings)) {
    const std::size_t n = k_.times.size();
    tangents_.assign(n, Vec3::Zero());
    for (std::size_t i = 1; i + 1 < n; ++i) {
      const double ha = k_.times[i] - k_.times[i - 1];
      const double hb = k_.times[i + 1] - k_.times[i];
      const Vec3 a = (k_.positions[i] - k_.positions[i - 1]) / ha;
      const Vec3 b = (k_.positions[i + 1] - k_.positions[i]) / hb;
      for (int axis = 0; axis < 3; ++axis) tangents_[i][axis] = monotone_tangent(a[axis], b[axis], ha, hb);
    }
    for (std::size_t i = 0; i + 1 < k_.rotations.size(); ++i) {
      turns_.push_back(rotation_vector(k_.rotations[i + 1] * k_.rotations[i].conjugate()));
    }
  }

  double duration() const noexcept override { return k_.times.back(); }

  HandSample at(double t) const noexcept override {
    if (!(t >= k_.times.front())) return resting(0);
    if (t >= k_.times.back()) return resting(k_.times.size() - 1);
    const auto next = std::upper_bound(k_.times.begin(), k_.times.end(), t);
    const auto i = as_size(next - k_.times.begin()) - 1;
    const double h = k_.times[i + 1] - k_.times[i];
    const double u = (t - k_.times[i]) / h;
    const bool smooth = k_.interpolation == PathInterpolation::kSmooth;
    HandSample s;
    smooth ? place_smooth(i, u, h, s) : place_linear(i, u, h, s);
    if (!k_.rotations.empty()) {
      const double progress = smooth ? min_jerk(u) : u;
      const double rate = smooth ? min_jerk_rate(u) : 1.0;
      s.pose.rotation = rotation_from_vector(progress * turns_[i]) * k_.rotations[i];
      s.velocity.angular = rate / h * turns_[i];
    }
    if (!k_.grips.empty()) {
      const double way = k_.grips[i + 1] - k_.grips[i];
      s.grip = k_.grips[i] + (smooth ? min_jerk(u) : u) * way;
      s.grip_rate = (smooth ? min_jerk_rate(u) : 1.0) * way / h;
    }
    return s;
  }

 private:
  HandSample resting(std::size_t i) const noexcept {
    HandSample s;
    s.pose.position = k_.positions[i];
    if (!k_.rotations.empty()) s.pose.rotation = k_.rotations[i];
    if (!k_.grips.empty()) s.grip = k_.grips[i];
    return s;
  }
  void place_linear(std::size_t i, double u, double h, HandSample& s) const noexcept {
    const Vec3 way = k_.positions[i + 1] - k_.positions[i];
    s.pose.position = k_.positions[i] + u * way;
    s.velocity.linear = way / h;
  }
  void place_smooth(std::size_t i, double u, double h, HandSample& s) const noexcept {
    const Vec3 way = k_.positions[i + 1] - k_.positions[i];
    const Vec3 m0 = h * tangents_[i];
    const Vec3 m1 = h * tangents_[i + 1];
    const Vec3 c2 = 3.0 * way - 2.0 * m0 - m1;
    const Vec3 c3 = m0 + m1 - 2.0 * way;
    s.pose.position = k_.positions[i] + u * (m0 + u * (c2 + u * c3));
    s.velocity.linear = (m0 + u * (2.0 * c2 + 3.0 * u * c3)) / h;
  }

  KeyframePathSettings k_;
  std::vector<Vec3> tangents_;  ///< velocity at each keyframe [m/s]
  std::vector<Vec3> turns_;     ///< rotation vector of each segment [rad]
};

}  // namespace

std::unique_ptr<HandPath> make_path(KeyframePathSettings settings) {
  const std::size_t n = settings.times.size();
  if (n == 0) fail_input("keyframes.times is empty: must have one time at least");
  if (settings.positions.size() != n) {
    fail_input("keyframes.positions has {} entries: must have {}, one for each time", settings.positions.size(), n);
  }
  if (!settings.rotations.empty() && settings.rotations.size() != n) {
    fail_input("keyframes.rotations has {} entries: must have {}, one for each time, or none",
               settings.rotations.size(), n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    require_in(fmt::format("keyframes.times[{}]", i), settings.times[i], settings.kTime, "s");
    if (i > 0 && !(settings.times[i] > settings.times[i - 1])) {
      fail_input("keyframes.times[{}] = {} s: must be above the one before, {} s", i, settings.times[i],
                 settings.times[i - 1]);
    }
    require_finite(fmt::format("keyframes.positions[{}]", i), settings.positions[i]);
  }
  for (std::size_t i = 0; i < settings.rotations.size(); ++i) {
    settings.rotations[i] = require_rotation(fmt::format("keyframes.rotations[{}]", i), settings.rotations[i]);
  }
  if (!settings.grips.empty() && settings.grips.size() != n) {
    fail_input("keyframes.grips has {} entries: must have {}, one for each time, or none", settings.grips.size(), n);
  }
  for (std::size_t i = 0; i < settings.grips.size(); ++i) {
    require_in(fmt::format("keyframes.grips[{}]", i), settings.grips[i], settings.kGrip, "");
  }
  return std::make_unique<KeyframePath>(std::move(settings));
}

}  // namespace palpate
