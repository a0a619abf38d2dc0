#include "palpate/linear/conjugate_gradient.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"

namespace palpate {
namespace {

/// Inverse of the Cholesky factor of `m`; false if it is not positive definite.
bool invert_factor(const Mat3& m, Mat3& inverse) noexcept {
  const Eigen::LLT<Mat3> factor(m);
  const Mat3 lower = factor.matrixL();
  // Eigen lets not-a-number pass.
  if (factor.info() != Eigen::Success || !(lower.diagonal().minCoeff() > 0.0) || !lower.allFinite()) return false;
  inverse = lower.triangularView<Eigen::Lower>().solve(Mat3::Identity());
  return true;
}

}  // namespace

ConjugateGradient::ConjugateGradient(std::shared_ptr<const BlockPattern> pattern,
                                     const ConjugateGradientSettings& settings)
    : pattern_(std::move(pattern)), settings_(settings) {
  if (!(settings.tolerance > 0.0) || settings.tolerance >= 1.0) {
    fail_input("tolerance is {}, allowed above 0 to below 1", settings.tolerance);
  }
  if (settings.max_iterations < 1) fail_input("max_iterations is {}, allowed from 1", settings.max_iterations);
  const int n = pattern_->blocks();
  inverse_.assign(n, Mat3::Identity());
  for (Eigen::VectorXd* v : {&r_, &z_, &p_, &q_}) v->setZero(pattern_->scalars());
  if (settings.preconditioner != Preconditioner::kIncompleteCholesky) return;
  factor_.assign(pattern_->stored(), Mat3::Zero());
  update_begin_.push_back(0);
  for (int k = 0; k < n; ++k) {
    for (int right = pattern_->column_begin(k) + 1; right < pattern_->column_begin(k + 1); ++right) {
      for (int left = right; left < pattern_->column_begin(k + 1); ++left) {
        const int target = pattern_->find(pattern_->row(left), pattern_->row(right));
        if (target >= 0) updates_.push_back({target, left, right});
      }
    }
    update_begin_.push_back(static_cast<int>(updates_.size()));
  }
}

bool ConjugateGradient::prepare(const BlockMatrix& a) noexcept {
  if (settings_.preconditioner == Preconditioner::kBlockJacobi) return prepare_jacobi(a);
  if (prepare_incomplete(a, 1.0)) return true;
  // Doubling the excess reaches block diagonal dominance long before the last try.
  double excess = 1e-3;
  for (int retry = 0; retry < 40; ++retry, excess *= 2.0) {
    if (prepare_incomplete(a, 1.0 + excess)) return true;
  }
  return false;
}

bool ConjugateGradient::prepare_jacobi(const BlockMatrix& a) noexcept {
  for (int i = 0; i < pattern_->blocks(); ++i) {
    Mat3 inverse_factor;
    if (!invert_factor(a.diagonal(i), inverse_factor)) return false;
    inverse_[i] = inverse_factor.transpose() * inverse_factor;
  }
  return true;
}

bool ConjugateGradient::prepare_incomplete(const BlockMatrix& a, double diagonal_factor) noexcept {
  for (int at = 0; at < pattern_->stored(); ++at) factor_[at] = a.block(at);
  for (int i = 0; i < pattern_->blocks(); ++i) factor_[pattern_->column_begin(i)] *= diagonal_factor;
  for (int k = 0; k < pattern_->blocks(); ++k) {
    const int begin = pattern_->column_begin(k);
    if (!invert_factor(factor_[begin], inverse_[k])) return false;
    for (int at = begin + 1; at < pattern_->column_begin(k + 1); ++at) {
      factor_[at] = (factor_[at] * inverse_[k].transpose()).eval();
    }
    for (int u = update_begin_[k]; u < update_begin_[k + 1]; ++u) {
      const auto [target, left, right] = updates_[u];
      factor_[target].noalias() -= factor_[left] * factor_[right].transpose();
    }
  }
  return true;
}

/// z = C⁻¹ r for the preconditioner C.
void ConjugateGradient::apply_preconditioner() noexcept {
  const int n = pattern_->blocks();
  if (settings_.preconditioner == Preconditioner::kBlockJacobi) {
    for (int i = 0; i < n; ++i) z_.segment<3>(3 * i) = inverse_[i] * r_.segment<3>(3 * i);
    return;
  }
  z_ = r_;
  for (int k = 0; k < n; ++k) {
    const Vec3 z_k = inverse_[k] * z_.segment<3>(3 * k);
    z_.segment<3>(3 * k) = z_k;
    for (int at = pattern_->column_begin(k) + 1; at < pattern_->column_begin(k + 1); ++at) {
      z_.segment<3>(3 * pattern_->row(at)) -= factor_[at] * z_k;
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    Vec3 z_k = z_.segment<3>(3 * k);
    for (int at = pattern_->column_begin(k) + 1; at < pattern_->column_begin(k + 1); ++at) {
      z_k -= factor_[at].transpose() * z_.segment<3>(3 * pattern_->row(at));
    }
    z_.segment<3>(3 * k) = inverse_[k].transpose() * z_k;
  }
}

ConjugateGradientResult ConjugateGradient::solve(const BlockMatrix& a, const Eigen::Ref<const Eigen::VectorXd>& b,
                                                 Eigen::Ref<Eigen::VectorXd> x) noexcept {
  ConjugateGradientResult result;
  const double scale = b.norm();
  if (scale == 0.0) {
    x.setZero();
    result.converged = true;
    return result;
  }
  a.multiply(x, r_);
  r_ = b - r_;
  result.residual = r_.norm() / scale;
  double rho = 0.0;
  while (result.residual > settings_.tolerance && result.iterations < settings_.max_iterations) {
    apply_preconditioner();
    const double rho_before = rho;
    rho = r_.dot(z_);
    if (result.iterations == 0) {
      p_ = z_;
    } else {
      p_ = z_ + (rho / rho_before) * p_;
    }
    a.multiply(p_, q_);
    const double curvature = p_.dot(q_);
    if (!(curvature > 0.0)) break;  // not positive definite, or not a number
    const double alpha = rho / curvature;
    x += alpha * p_;
    r_ -= alpha * q_;
    result.residual = r_.norm() / scale;
    ++result.iterations;
  }
  result.converged = result.residual <= settings_.tolerance;
  return result;
}

}  // namespace palpate
