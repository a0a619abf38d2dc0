#include "contact_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace palpate {
namespace {

constexpr double kLeastTangent = 1e-12;  // of the normal's compliance
constexpr int kMostSteps = 60;           // of the root find; bisection alone reaches rounding in these
constexpr double kRootRounding = 1e-14;  // of the ratio's distance from one

}  // namespace

void ContactBlock::set(const Mat3& W, double friction) noexcept {
  friction_ = friction;
  alpha_ = 0.0;
  const double w = W(0, 0);
  normal_inverse_ = w > std::numeric_limits<double>::min() ? 1.0 / w : 0.0;
  if (!movable()) return;
  const double k1 = 0.5 * (W(1, 0) + W(0, 1)) * normal_inverse_;
  const double k2 = 0.5 * (W(2, 0) + W(0, 2)) * normal_inverse_;
  const double S11 = W(1, 1) - k1 * k1 * w;
  const double S22 = W(2, 2) - k2 * k2 * w;
  const double S12 = 0.5 * (W(1, 2) + W(2, 1)) - k1 * k2 * w;
  const double mean = 0.5 * (S11 + S22);
  const double half = 0.5 * (S11 - S22);
  const double radius = std::sqrt(half * half + S12 * S12);
  cosine_ = 1.0;
  sine_ = 0.0;
  if (radius > 0.0) {  // half of the angle whose cosine and sine are these; the larger of its two first
    const double cosine = half / radius, sine = S12 / radius;
    if (cosine >= 0.0) {
      cosine_ = std::sqrt(0.5 * (1.0 + cosine));
      sine_ = 0.5 * sine / cosine_;
    } else {
      sine_ = std::sqrt(0.5 * (1.0 - cosine));
      cosine_ = 0.5 * sine / sine_;
    }
  }
  k0_ = cosine_ * k1 + sine_ * k2;
  k1_ = cosine_ * k2 - sine_ * k1;
  e0_ = std::max(mean + radius, kLeastTangent * w);
  e1_ = std::max(mean - radius, kLeastTangent * w);
  // W and its inverse from these parts: W = [1; k] w [1, k] + diag(0, Ŵ), Ŵ = Q diag(e) Qᵀ.
  const double cc = cosine_ * cosine_, ss = sine_ * sine_, cs = cosine_ * sine_;
  const auto fill = [&](simd::Double4* column, double a, double b, double n0, double n1, double n2, double outer) {
    const double T11 = a * cc + b * ss, T22 = a * ss + b * cc, T12 = (a - b) * cs;
    column[0] = simd::Double4{n0, n1, n2, 0.0};
    column[1] = simd::Double4{n1, T11 + outer * k1 * k1, T12 + outer * k1 * k2, 0.0};
    column[2] = simd::Double4{n2, T12 + outer * k1 * k2, T22 + outer * k2 * k2, 0.0};
  };
  fill(W_, e0_, e1_, w, k1 * w, k2 * w, w);
  diagonal_ = simd::Double4{W_[0][0], W_[1][1], W_[2][2], 0.0};
  fill(inverse_, 1.0 / e0_, 1.0 / e1_, 0.0, 0.0, 0.0, 0.0);
  const simd::Double4 n = -k1 * inverse_[1] - k2 * inverse_[2];  // −Ŵ⁻¹ k
  inverse_[0] = simd::Double4{normal_inverse_ - k1 * n[1] - k2 * n[2], n[1], n[2], 0.0};
  inverse_[1][0] = n[1];
  inverse_[2][0] = n[2];
}

simd::Double4 ContactBlock::slip(simd::Double4 b) noexcept {
  const double n0 = -b[0] * normal_inverse_;
  if (!(friction_ > 0.0)) return simd::Double4{n0, 0.0, 0.0, 0.0};
  const double q0 = cosine_ * b[1] + sine_ * b[2] - k0_ * b[0];
  const double q1 = cosine_ * b[2] - sine_ * b[1] - k1_ * b[0];
  // |λ_t|(1 + μ|k|) ≤ μ n0 is enough for the ratio to be above one: the upper end of the bracket.
  const double q = std::sqrt(q0 * q0 + q1 * q1);
  double low = 0.0;
  double high = q * (1.0 + friction_ * std::sqrt(k0_ * k0_ + k1_ * k1_)) / (friction_ * n0);
  double alpha = alpha_ > 0.0 && alpha_ < high ? alpha_ : high;
  double n = n0, t0 = 0.0, t1 = 0.0, length = 0.0;
  for (int step = 0; step < kMostSteps; ++step) {
    const double d0 = e0_ + alpha, d1 = e1_ + alpha;
    const double both = 1.0 / (d0 * d1);
    const double s0 = d1 * both, s1 = d0 * both;
    t0 = -q0 * s0;
    t1 = -q1 * s1;
    n = n0 - k0_ * t0 - k1_ * t1;
    const double square = t0 * t0 + t1 * t1;
    length = std::sqrt(square);
    const double excess = friction_ * n - length;
    if (!(std::abs(excess) > kRootRounding * length)) break;
    (excess < 0.0 ? low : high) = alpha;
    // d(n/length)/dα times length³, with dt_i/dα = −t_i s_i.
    const double slope = (k0_ * t0 * s0 + k1_ * t1 * s1) * square + n * (t0 * t0 * s0 + t1 * t1 * s1);
    const double next = alpha - excess * square / (friction_ * slope);
    if (next == alpha) break;
    alpha = next > low && next < high ? next : 0.5 * (low + high);
    if (!(alpha > low && alpha < high)) break;
  }
  alpha_ = alpha;
  if (!(length > 0.0)) return simd::Double4{n0, 0.0, 0.0, 0.0};
  // On the cone to the last bit, whatever the root find left over.
  n = std::max(n, 0.0);
  const double scale = friction_ * n / length;
  return simd::Double4{n, scale * (cosine_ * t0 - sine_ * t1), scale * (sine_ * t0 + cosine_ * t1), 0.0};
}

simd::Double4 ContactBlock::sweep_pyramid(simd::Double4 lambda, simd::Double4 delta) const noexcept {
  simd::Double4 l = lambda, d = delta;
  l[0] = std::max(0.0, l[0] - d[0] * normal_inverse_);
  d += W_[0] * (l[0] - lambda[0]);
  const double bound = friction_ * l[0];
  for (int i = 1; i < 3; ++i) {
    l[i] = std::max(-bound, std::min(bound, l[i] - d[i] / W_[i][i]));
    d += W_[i] * (l[i] - lambda[i]);
  }
  return l;
}

}  // namespace palpate
