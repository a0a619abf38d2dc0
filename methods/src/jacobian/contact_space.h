#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "messages.h"
#include "palpate/constraints/problem.h"

namespace palpate::jacobian {

/// One row of a ConstraintProblem.
struct RowRef {
  std::int32_t constraint;
  std::int32_t offset;  ///< within the constraint
};

/// W over those rows, with the light body `without` left out (−1: none). Allocates if W must grow.
void assemble_compliance(const ConstraintProblem& problem, std::span<const RowRef> rows, int without,
                         Eigen::MatrixXd& W);

/// J of light body `body` in a row; zero if it does not act there.
Vec6 light_row(const ConstraintProblem& problem, const RowRef& row, int body) noexcept;

/// The paper's linear contact model.
struct LinearModel {
  Mat6 by_force = Mat6::Zero();
  Vec6 offset = Vec6::Zero();
};

/// Rows that hold: J of the tool (one row each), everything else's W/h [s/kg], and what everything else would do to
/// the row without contact [m/s].
struct HeldRows {
  const Eigen::MatrixXd& J;         ///< n × 6
  const Eigen::MatrixXd& W_over_h;  ///< n × n
  const Eigen::VectorXd& velocity;  ///< n
};

/// Otaduy & Gross 2007, eq. 13, with A⁻¹ the tool's 6×6 in the fast loop's time step [s/kg] (our A is theirs over Δt):
///   A_λ = J A⁻¹ Jᵀ + W/h,   by_force = −Jᵀ A_λ⁻¹ J A⁻¹,   offset = −Jᵀ A_λ⁻¹ velocity
/// Redundant rows (a rigid tool on a rigid floor) make A_λ singular: 1e-12 of its largest diagonal is added.
LinearModel compute_linear_model(const HeldRows& rows, const Mat6& inverse_A);

/// λ of A λ = b by Gaussian elimination, as the paper solves eq. 11, with the same guard against redundant rows.
void solve_held(Eigen::MatrixXd& A, Eigen::VectorXd& b);

}  // namespace palpate::jacobian
