#include <algorithm>
#include <cmath>
#include <limits>

#include "own_block.h"
#include "palpate/constraints/solver.h"
#include "residual.h"

namespace palpate {
namespace {

/// The larger of what was and what is new; a value that is not finite makes it infinite, and so it stays.
void raise(double& largest, double value) noexcept {
  if (!std::isfinite(value)) value = std::numeric_limits<double>::infinity();
  largest = std::max(largest, value);
}

void count(Residual& r, double metres, double w) noexcept {
  raise(r.metres, metres);
  if (w != 0.0) raise(r.newtons, metres / w);
}

/// w·x for a bound x that may be infinite while w is zero: a bound at infinity stays there.
double scaled_bound(double w, double x) noexcept {
  return std::isinf(x) ? x : w * x;
}

// All in metres: w λ − P(w λ − δ') with sets scaled by w, which needs no division.
void count_contact(const Constraint& c, const double* w, const double* delta, const double* lambda, bool pyramid,
                   Residual& r) noexcept {
  count(r, std::abs(w[0] * lambda[0] - std::max(0.0, w[0] * lambda[0] - delta[0])), w[0]);
  const double bound = c.friction * std::max(0.0, lambda[0]);
  if (pyramid) {
    for (int i = 1; i < 3; ++i) {
      const double wl = w[i] * lambda[i];
      count(r, std::abs(wl - std::clamp(wl - delta[i], -w[i] * bound, w[i] * bound)), w[i]);
    }
    return;
  }
  const double w_t = 0.5 * (w[1] + w[2]);
  double x = w_t * lambda[1] - delta[1];
  double y = w_t * lambda[2] - delta[2];
  const double length = std::hypot(x, y);
  if (length > w_t * bound) {
    x *= w_t * bound / length;
    y *= w_t * bound / length;
  }
  count(r, std::hypot(w_t * lambda[1] - x, w_t * lambda[2] - y), w_t);
}

}  // namespace

void add_residual(const Constraint& c, const double* w, const double* delta, const double* lambda, bool pyramid,
                  Residual& r) noexcept {
  // A projection may hide what is not a number; a sum does not.
  for (int i = 0; i < c.rows; ++i) {
    if (!std::isfinite(w[i] + delta[i] + lambda[i])) raise(r.metres, std::numeric_limits<double>::infinity());
  }
  switch (c.kind) {
    case ConstraintKind::kContact:
      count_contact(c, w, delta, lambda, pyramid, r);
      break;
    case ConstraintKind::kEquality:
      for (int i = 0; i < c.rows; ++i) count(r, std::abs(delta[i]), w[i]);
      break;
    case ConstraintKind::kBounded: {
      const double wl = w[0] * lambda[0];
      const double low = scaled_bound(w[0], c.lower), high = scaled_bound(w[0], c.upper);
      count(r, std::abs(wl - std::max(low, std::min(high, wl - delta[0]))), w[0]);
      break;
    }
  }
}

Residual compute_residual(const ConstraintProblem& problem, std::span<const double> lambda, bool pyramid,
                          std::span<double> scratch) noexcept {
  problem.compute_delta(lambda, scratch);
  Residual r;
  for (const Constraint& c : problem.constraints()) {
    const std::size_t row = as_size(c.first_row);
    Eigen::Matrix<double, kMaxConstraintRows, 1> w = compute_own_diagonal(problem, c);
    for (int i = 0; i < c.rows; ++i) {
      const std::size_t at = row + as_size(i);
      w[i] += problem.compliance()[at];
      scratch[at] += problem.compliance()[at] * lambda[at];
    }
    add_residual(c, w.data(), &scratch[row], &lambda[row], pyramid, r);
  }
  return r;
}

}  // namespace palpate
