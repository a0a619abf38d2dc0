#include "newton.h"

#include <algorithm>
#include <cmath>

#include "residual.h"

namespace palpate {
namespace {

using DenseMap = Eigen::Map<Eigen::MatrixXd>;
using VectorMap = Eigen::Map<Eigen::VectorXd>;

/// Springs where none are asked for: large enough that rounding of a singular W, about 1e-16, stays small in λ, and
/// small enough that a step errs by a part in 1e10.
constexpr double kLeastShare = 1e-10;
/// Springs that run_proximal() begins with and never exceeds.
constexpr double kFirstShare = 1e-2, kMostShare = 10.0;
/// Steps within which a point with springs is found, or not at all.
constexpr int kStepsPerPoint = 12;
/// A force this many times what any row alone would need is no answer but a contradiction between equality rows.
constexpr double kMostForce = 1e4;
/// Columns that the factorisation takes at once.
constexpr int kPanel = 16;

std::size_t at_row(int i) noexcept {
  return as_size(i);
}

/// Eliminates columns [from, to) of A below their diagonal, exchanging whole rows of A and x.
bool factor_panel(DenseMap& A, VectorMap& x, int from, int to) noexcept {
  const int n = static_cast<int>(A.rows());
  for (int k = from; k < to; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
    }
    if (!(std::abs(A(pivot, k)) > 0.0) || !std::isfinite(A(pivot, k))) return false;
    if (pivot != k) {
      A.row(k).swap(A.row(pivot));
      std::swap(x[k], x[pivot]);
    }
    const int below = n - k - 1;
    A.col(k).tail(below) /= A(k, k);
    for (int j = k + 1; j < to; ++j) A.col(j).tail(below) -= A(k, j) * A.col(k).tail(below);
  }
  return true;
}

}  // namespace

bool solve_general(DenseMap& A, VectorMap& x) noexcept {
  const int n = static_cast<int>(A.rows());
  for (int from = 0; from < n; from += kPanel) {
    const int to = std::min(from + kPanel, n);
    if (!factor_panel(A, x, from, to)) return false;
    for (int j = to; j < n; ++j) {
      for (int k = from; k < to; ++k)
        A.col(j).segment(k + 1, to - k - 1) -= A(k, j) * A.col(k).segment(k + 1, to - k - 1);
    }
    A.bottomRightCorner(n - to, n - to).noalias() -=
        A.block(to, from, n - to, to - from) * A.block(from, to, to - from, n - to);
  }
  for (int k = 0; k < n; ++k) x.tail(n - k - 1) -= x[k] * A.col(k).tail(n - k - 1);
  for (int k = n - 1; k >= 0; --k) {
    x[k] /= A(k, k);
    x.head(k) -= x[k] * A.col(k).head(k);
  }
  return true;
}

void NewtonSteps::reserve(int rows) {
  most_rows_ = std::max(most_rows_, rows);
  const std::size_t n = at_row(most_rows_);
  W_.resize(n * n);
  A_.resize(n * n);
  for (std::vector<double>* v : {&own_, &centre_, &lambda_, &delta_, &step_, &pushed_, &rhs_}) v->resize(n);
  row_.resize(n);
  known_.resize(n);
  active_.reserve(n);
}

void NewtonSteps::start(const ConstraintProblem& problem, bool pyramid) noexcept {
  problem_ = &problem;
  pyramid_ = pyramid;
  rows_ = problem.rows();
  std::fill_n(known_.begin(), rows_, 0);
  most_force_ = 0.0;
  for (int i = 0; i < rows_; ++i) {
    const double w = problem.compute_own_compliance(i) + problem.compliance()[at_row(i)];
    own_[at_row(i)] = w;
    row_[at_row(i)] = {};
    row_[at_row(i)].w = w;
    if (w > 0.0) most_force_ = std::max(most_force_, kMostForce * std::abs(problem.delta_free()[at_row(i)]) / w);
  }
  for (const Constraint& c : problem.constraints()) {
    if (c.kind != ConstraintKind::kContact) continue;
    for (int i = 1; i < 3; ++i) {
      Row& row = row_[at_row(c.first_row + i)];
      row.normal = c.first_row;
      row.friction = c.friction;
      if (!pyramid) row.w = 0.5 * (own_[at_row(c.first_row + 1)] + own_[at_row(c.first_row + 2)]);
    }
  }
}

void NewtonSteps::fill_column(int j) noexcept {
  double* to = W_.data() + at_row(rows_) * at_row(j);
  std::fill_n(to, rows_, 0.0);
  problem_->add_column(j, {to, at_row(rows_)});
  to[j] = own_[at_row(j)] * (1.0 + share_);
  known_[at_row(j)] = 1;
}

const double* NewtonSteps::column(int j) noexcept {
  if (!known_[at_row(j)]) fill_column(j);
  return W_.data() + at_row(rows_) * at_row(j);
}

void NewtonSteps::add_product(std::span<const double> x, double* out) noexcept {
  for (int j = 0; j < rows_; ++j) {
    if (x[at_row(j)] == 0.0) continue;
    VectorMap(out, rows_) += x[at_row(j)] * Eigen::Map<const Eigen::VectorXd>(column(j), rows_);
  }
}

void NewtonSteps::set_springs(double share, std::span<const double> centre) noexcept {
  share_ = share;
  for (int i = 0; i < rows_; ++i) {
    W_[at_row(rows_) * at_row(i) + at_row(i)] = own_[at_row(i)] * (1.0 + share);
    centre_[at_row(i)] = centre[at_row(i)];
  }
}

Residual NewtonSteps::residual() const noexcept {
  Residual r;
  for (const Constraint& c : problem_->constraints()) {
    const std::size_t first = at_row(c.first_row);
    add_residual(c, &own_[first], &delta_[first], &lambda_[first], pyramid_, r);
  }
  return r;
}

bool NewtonSteps::evaluate() noexcept {
  VectorMap delta(delta_.data(), rows_);
  const VectorMap lambda(lambda_.data(), rows_), own(own_.data(), rows_), centre(centre_.data(), rows_);
  std::copy_n(problem_->delta_free().begin(), rows_, delta_.begin());
  add_product(lambda_, delta_.data());
  delta -= share_ * own.cwiseProduct(lambda);
  metres_ = residual().metres;
  delta += share_ * own.cwiseProduct(lambda - centre);
  // Weak springs only pick one of many answers: how far those are met nobody asks.
  sprung_metres_ = share_ > kLeastShare ? residual().metres : metres_;
  return std::isfinite(metres_);
}

void NewtonSteps::classify_tangents(const Constraint& c, double normal_force) noexcept {
  const std::size_t t = at_row(c.first_row + 1);
  const double radius = c.friction * normal_force;
  if (pyramid_) {
    for (std::size_t i = t; i < t + 2; ++i) {
      const double tau = lambda_[i] - delta_[i] / row_[i].w;
      row_[i].state = !(row_[i].w > 0.0)        ? RowState::kFixed
                      : std::abs(tau) <= radius ? RowState::kHeld
                                                : RowState::kBound;
      row_[i].direction = tau > 0.0 ? 1.0 : -1.0;
    }
    return;
  }
  const double x = lambda_[t] - delta_[t] / row_[t].w;
  const double y = lambda_[t + 1] - delta_[t + 1] / row_[t].w;
  const double length = std::hypot(x, y);
  const RowState state = !(row_[t].w > 0.0) ? RowState::kFixed : length <= radius ? RowState::kHeld : RowState::kSlip;
  row_[t].state = row_[t + 1].state = state;
  row_[t].direction = x / length;
  row_[t + 1].direction = y / length;
  row_[t].beta = row_[t + 1].beta = radius / length;
}

void NewtonSteps::classify_contact(const Constraint& c) noexcept {
  const std::size_t n = at_row(c.first_row);
  const double tau = row_[n].w > 0.0 ? lambda_[n] - delta_[n] / row_[n].w : 0.0;
  for (std::size_t i = n; i < n + 3; ++i) row_[i].state = RowState::kFixed;
  if (tau > 0.0) {
    row_[n].state = RowState::kHeld;
    if (c.friction > 0.0) classify_tangents(c, tau);
  }
  for (std::size_t i = n; i < n + 3; ++i) {
    if (row_[i].state == RowState::kFixed) step_[i] = -lambda_[i];
  }
}

void NewtonSteps::classify() noexcept {
  std::fill_n(step_.begin(), rows_, 0.0);
  for (const Constraint& c : problem_->constraints()) {
    const std::size_t first = at_row(c.first_row);
    if (c.kind == ConstraintKind::kContact) {
      classify_contact(c);
    } else if (c.kind == ConstraintKind::kEquality) {
      for (std::size_t i = first; i < first + at_row(c.rows); ++i) {
        row_[i].state = row_[i].w > 0.0 ? RowState::kHeld : RowState::kFixed;
      }
    } else {
      const double w = row_[first].w;
      const double tau = w > 0.0 ? lambda_[first] - delta_[first] / w : lambda_[first];
      const double to = std::max(c.lower, std::min(c.upper, tau));
      row_[first].state = to == tau && w > 0.0 ? RowState::kHeld : RowState::kFixed;
      if (row_[first].state == RowState::kFixed) step_[first] = to - lambda_[first];
    }
  }
  active_.clear();
  for (int i = 0; i < rows_; ++i) {
    if (row_[at_row(i)].state != RowState::kFixed) active_.push_back(i);
  }
}

// Rows are scaled to metres: all entries are then of the size of W's.
void NewtonSteps::assemble_tangent(int at) noexcept {
  const int i = active_[at_row(at)];
  const Row& row = row_[at_row(i)];
  const int n = static_cast<int>(active_.size());
  DenseMap A(A_.data(), n, n);
  const int other = i == row.normal + 1 ? i + 1 : i - 1;
  const bool slips = row.state == RowState::kSlip;
  // (I − n nᵀ) β: this tangent's row of it.
  const double own = slips ? row.beta * (1.0 - row.direction * row.direction) : 0.0;
  const double cross = slips ? -row.beta * row.direction * row_[at_row(other)].direction : 0.0;
  for (int j = 0; j < n; ++j) {
    const int k = active_[at_row(j)];
    const double* W_k = column(k);
    double a = own * W_k[i] + cross * W_k[other];
    if (k == i) a += row.w * (1.0 - own);
    if (slips && k == other) a -= row.w * cross;
    if (k == row.normal) a -= row.w * row.friction * row.direction;
    A(at, j) = a;
  }
  const double off = lambda_[at_row(i)] - row.friction * lambda_[at_row(row.normal)] * row.direction;
  rhs_[at_row(at)] = -row.w * off - own * pushed_[at_row(i)] - cross * pushed_[at_row(other)];
}

void NewtonSteps::assemble() noexcept {
  const int n = static_cast<int>(active_.size());
  DenseMap A(A_.data(), n, n);
  // What the fixed rows' steps do to the others.
  std::fill_n(pushed_.begin(), rows_, 0.0);
  add_product(step_, pushed_.data());
  for (int j = 0; j < n; ++j) {
    const double* W_j = column(active_[at_row(j)]);
    for (int i = 0; i < n; ++i) A(i, j) = W_j[active_[at_row(i)]];
  }
  for (int k = 0; k < n; ++k) {
    const std::size_t i = at_row(active_[at_row(k)]);
    if (row_[i].state == RowState::kHeld) {
      rhs_[at_row(k)] = -delta_[i] - pushed_[i];
    } else {
      assemble_tangent(k);
    }
  }
}

bool NewtonSteps::step() noexcept {
  classify();
  assemble();
  const int n = static_cast<int>(active_.size());
  DenseMap A(A_.data(), n, n);
  VectorMap x(rhs_.data(), n);
  if (!solve_general(A, x)) return false;
  for (int k = 0; k < n; ++k) step_[at_row(active_[at_row(k)])] = x[k];
  VectorMap lambda(lambda_.data(), rows_);
  lambda += VectorMap(step_.data(), rows_);
  return evaluate() && lambda.lpNorm<Eigen::Infinity>() <= most_force_;
}

NewtonSteps::Result NewtonSteps::run(std::span<double> lambda, double goal, bool polish, int most_steps,
                                     const Deadline& deadline) noexcept {
  Result result;
  std::copy_n(lambda.begin(), rows_, lambda_.begin());
  set_springs(kLeastShare, lambda);
  if (!evaluate()) return {metres_, 0};
  result.metres = metres_;
  while (result.steps < most_steps && (result.metres > goal || polish) && !deadline.passed()) {
    ++result.steps;
    if (!step()) break;
    const double before = result.metres;
    if (metres_ < before) {
      result.metres = metres_;
      std::copy_n(lambda_.begin(), rows_, lambda.begin());
      set_springs(kLeastShare, lambda);
    }
    if (before <= goal && !(metres_ < 0.5 * before)) break;
  }
  return result;
}

NewtonSteps::Result NewtonSteps::run_proximal(std::span<double> lambda, double goal, int most_steps,
                                              const Deadline& deadline) noexcept {
  Result result;
  std::copy_n(lambda.begin(), rows_, lambda_.begin());
  set_springs(kFirstShare, lambda);
  if (!evaluate()) return {metres_, 0};
  result.metres = metres_;
  double from = sprung_metres_;  // residual with springs when they were set
  int tried = 0;
  while (result.steps < most_steps && result.metres > goal && !deadline.passed()) {
    ++result.steps;
    ++tried;
    const bool fine = step();
    if (fine && metres_ < result.metres) {
      result.metres = metres_;
      std::copy_n(lambda_.begin(), rows_, lambda.begin());
    }
    const bool found = fine && sprung_metres_ <= std::max(1e-3 * from, 0.1 * goal);
    if (!found && fine && tried < kStepsPerPoint) continue;
    if (found) {
      set_springs(std::max(0.1 * share_, kLeastShare), lambda_);
    } else {
      if (share_ >= kMostShare) break;
      std::copy_n(centre_.begin(), rows_, lambda_.begin());
      set_springs(10.0 * share_, lambda_);
    }
    if (!evaluate()) break;
    from = sprung_metres_;
    tried = 0;
  }
  return result;
}

}  // namespace palpate
