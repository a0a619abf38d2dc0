#include "contact_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace palpate {
namespace {

constexpr double kLeastTangent = 1e-12;  // of the normal's compliance
constexpr int kMostSteps = 60;           // of the root find; bisection alone reaches rounding in these
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();

}  // namespace

void ContactBlock::set(const Mat3& W, double friction) noexcept {
  friction_ = friction;
  alpha_ = 0.0;
  W_ = W;
  normal_inverse_ = W(0, 0) > 0.0 ? 1.0 / W(0, 0) : 0.0;
  if (!movable()) return;
  const double k1 = 0.5 * (W(1, 0) + W(0, 1)) * normal_inverse_;
  const double k2 = 0.5 * (W(2, 0) + W(0, 2)) * normal_inverse_;
  const double S11 = W(1, 1) - k1 * k1 * W(0, 0);
  const double S22 = W(2, 2) - k2 * k2 * W(0, 0);
  const double S12 = 0.5 * (W(1, 2) + W(2, 1)) - k1 * k2 * W(0, 0);
  const double mean = 0.5 * (S11 + S22);
  const double half = 0.5 * (S11 - S22);
  const double radius = std::hypot(half, S12);
  const double angle = radius > 0.0 ? 0.5 * std::atan2(S12, half) : 0.0;
  cosine_ = std::cos(angle);
  sine_ = std::sin(angle);
  k0_ = cosine_ * k1 + sine_ * k2;
  k1_ = cosine_ * k2 - sine_ * k1;
  const double least = kLeastTangent * W(0, 0);
  e0_ = std::max(mean + radius, least);
  e1_ = std::max(mean - radius, least);
  inverse_e0_ = 1.0 / e0_;
  inverse_e1_ = 1.0 / e1_;
  // W again, from its parts.
  const double cc = cosine_ * cosine_, ss = sine_ * sine_, cs = cosine_ * sine_;
  W_(1, 0) = W_(0, 1) = k1 * W(0, 0);
  W_(2, 0) = W_(0, 2) = k2 * W(0, 0);
  W_(1, 1) = e0_ * cc + e1_ * ss + k1 * k1 * W(0, 0);
  W_(2, 2) = e0_ * ss + e1_ * cc + k2 * k2 * W(0, 0);
  W_(1, 2) = W_(2, 1) = (e0_ - e1_) * cs + k1 * k2 * W(0, 0);
}

Vec3 ContactBlock::solve_cone(const Vec3& b) noexcept {
  if (!(b[0] < 0.0)) return Vec3::Zero();
  const double n0 = -b[0] * normal_inverse_;
  if (friction_ <= 0.0) return {n0, 0.0, 0.0};
  const double b0 = cosine_ * b[1] + sine_ * b[2];
  const double b1 = cosine_ * b[2] - sine_ * b[1];
  const double q0 = b0 - k0_ * b[0];
  const double q1 = b1 - k1_ * b[0];
  const double t0 = -q0 * inverse_e0_;
  const double t1 = -q1 * inverse_e1_;
  const double n = n0 - k0_ * t0 - k1_ * t1;
  if (n >= 0.0 && t0 * t0 + t1 * t1 <= friction_ * friction_ * n * n) return turned(n, t0, t1);
  return slip(q0, q1, n0);
}

Vec3 ContactBlock::slip(double q0, double q1, double n0) noexcept {
  // |λ_t|(1 + μ|k|) ≤ μ n0 is enough for the ratio to be above one: the upper end of the bracket.
  const double q = std::hypot(q0, q1);
  double low = 0.0;
  double high = q * (1.0 + friction_ * std::hypot(k0_, k1_)) / (friction_ * n0);
  double alpha = alpha_ > 0.0 && alpha_ < high ? alpha_ : high;
  double n = n0, t0 = 0.0, t1 = 0.0, length = 0.0;
  for (int step = 0; step < kMostSteps; ++step) {
    const double s0 = 1.0 / (e0_ + alpha);
    const double s1 = 1.0 / (e1_ + alpha);
    t0 = -q0 * s0;
    t1 = -q1 * s1;
    n = n0 - k0_ * t0 - k1_ * t1;
    const double square = t0 * t0 + t1 * t1;
    length = std::sqrt(square);
    const double excess = friction_ * n - length;
    if (!(std::abs(excess) > kRounding * length)) break;
    (excess < 0.0 ? low : high) = alpha;
    // d(n/length)/dα times length², with dt_i/dα = −t_i s_i.
    const double slope = (k0_ * t0 * s0 + k1_ * t1 * s1) * length + n * (t0 * t0 * s0 + t1 * t1 * s1) / length;
    const double next = alpha - excess * length / (friction_ * slope);
    if (next == alpha) break;
    alpha = next > low && next < high ? next : 0.5 * (low + high);
    if (!(alpha > low && alpha < high)) break;
  }
  alpha_ = alpha;
  if (!(length > 0.0)) return {n0, 0.0, 0.0};
  // On the cone to the last bit, whatever the root find left over.
  const double scale = friction_ * std::max(n, 0.0) / length;
  return turned(std::max(n, 0.0), t0 * scale, t1 * scale);
}

Vec3 ContactBlock::sweep_pyramid(const Vec3& b, const Vec3& lambda) const noexcept {
  Vec3 l = lambda;
  const double rest = b[0] + W_(0, 1) * l[1] + W_(0, 2) * l[2];
  l[0] = std::max(0.0, -rest * normal_inverse_);
  const double bound = friction_ * l[0];
  for (int i = 1; i < 3; ++i) {
    const double d = b[i] + W_.row(i).dot(l);
    l[i] = std::max(-bound, std::min(bound, l[i] - d / W_(i, i)));
  }
  return l;
}

}  // namespace palpate
