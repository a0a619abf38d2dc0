#pragma once

#include "palpate/constraints/problem.h"

namespace palpate {

/// Most rows of one constraint.
inline constexpr int kMaxConstraintRows = 6;

using OwnBlock = Eigen::Matrix<double, kMaxConstraintRows, kMaxConstraintRows>;

/// The constraint's own block of W, without its rows' compliance C; rows and columns past its own are zero.
OwnBlock compute_own_block(const ConstraintProblem& problem, const Constraint& constraint) noexcept;

/// Its diagonal, at a third of the cost.
Eigen::Matrix<double, kMaxConstraintRows, 1> compute_own_diagonal(const ConstraintProblem& problem,
                                                                  const Constraint& constraint) noexcept;

/// A generalised inverse of a symmetric positive semidefinite `W` over its first `rows`: Cholesky with pivoting, which
/// leaves out (as zero rows and columns) what depends on earlier pivots to within rounding.
OwnBlock compute_own_inverse(const OwnBlock& W, int rows) noexcept;

}  // namespace palpate
