#include "own_block.h"

#include <array>
#include <cmath>
#include <utility>

namespace palpate {
namespace {

/// A pivot this much smaller than the largest of its block is rounding.
constexpr double kDependent = 1e-12;

void add_sides(const ConstraintProblem& problem, const ConstraintSide& i, const ConstraintSide& j, int rows,
               OwnBlock& W) noexcept {
  if (i.kind != j.kind || i.body != j.body || i.kind == ConstraintSide::Kind::kNone) return;
  if (i.kind == ConstraintSide::Kind::kDense) {
    W.topLeftCorner(rows, rows) += problem.dense_compliance(i.body).block(i.first, j.first, rows, rows);
    return;
  }
  if (rows == 3) {  // contacts: many, and worth unrolling
    using Rows = Eigen::Map<const Eigen::Matrix<double, 6, 3>>;
    const Rows J(problem.light_J(i.first).data()), Y(problem.light_Y(j.first).data());
    W.topLeftCorner<3, 3>() += J.transpose().lazyProduct(Y);
    return;
  }
  for (int c = 0; c < rows; ++c) {
    for (int r = 0; r < rows; ++r) W(r, c) += problem.light_J(i.first + r).dot(problem.light_Y(j.first + c));
  }
}

double own_entry(const ConstraintProblem& problem, const ConstraintSide& i, const ConstraintSide& j, int row) noexcept {
  if (i.kind != j.kind || i.body != j.body || i.kind == ConstraintSide::Kind::kNone) return 0.0;
  if (i.kind == ConstraintSide::Kind::kDense) return problem.dense_compliance(i.body)(i.first + row, j.first + row);
  return problem.light_J(i.first + row).dot(problem.light_Y(j.first + row));
}

}  // namespace

Eigen::Matrix<double, kMaxConstraintRows, 1> compute_own_diagonal(const ConstraintProblem& problem,
                                                                  const Constraint& c) noexcept {
  Eigen::Matrix<double, kMaxConstraintRows, 1> w = Eigen::Matrix<double, kMaxConstraintRows, 1>::Zero();
  for (int i = 0; i < c.rows; ++i) {
    w[i] = own_entry(problem, c.a, c.a, i) + own_entry(problem, c.b, c.b, i) + own_entry(problem, c.a, c.b, i) +
           own_entry(problem, c.b, c.a, i);
  }
  return w;
}

OwnBlock compute_own_block(const ConstraintProblem& problem, const Constraint& constraint) noexcept {
  OwnBlock W = OwnBlock::Zero();
  add_sides(problem, constraint.a, constraint.a, constraint.rows, W);
  add_sides(problem, constraint.b, constraint.b, constraint.rows, W);
  // Both sides on one body, as where it touches itself: the coupling between them.
  add_sides(problem, constraint.a, constraint.b, constraint.rows, W);
  add_sides(problem, constraint.b, constraint.a, constraint.rows, W);
  return W;
}

OwnBlock compute_own_inverse(const OwnBlock& W, int rows) noexcept {
  // Gauss–Jordan on the pivots in falling order turns W into −W⁻¹ over the pivots taken (the sweep operator).
  OwnBlock S = W;
  std::array<bool, kMaxConstraintRows> taken{};
  const double largest = W.diagonal().head(rows).maxCoeff();
  for (int step = 0; step < rows; ++step) {
    int p = -1;
    for (int i = 0; i < rows; ++i) {
      if (!taken[as_size(i)] && (p < 0 || S(i, i) > S(p, p))) p = i;
    }
    if (!(S(p, p) > kDependent * largest)) break;
    taken[as_size(p)] = true;
    const double d = 1.0 / S(p, p);
    const Eigen::Matrix<double, kMaxConstraintRows, 1> column = S.col(p);
    for (int j = 0; j < rows; ++j) {
      for (int i = 0; i < rows; ++i) {
        if (i != p && j != p) S(i, j) -= column[i] * column[j] * d;
      }
    }
    S.col(p) = column * d;
    S.row(p) = column.transpose() * d;
    S(p, p) = -d;
  }
  OwnBlock inverse = OwnBlock::Zero();
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < rows; ++i) {
      if (taken[as_size(i)] && taken[as_size(j)]) inverse(i, j) = -S(i, j);
    }
  }
  return inverse;
}

}  // namespace palpate
