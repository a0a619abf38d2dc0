#pragma once

#include <Eigen/Core>

// Dense decompositions to check results against, compiled once: in each test that names them they would cost seconds.
namespace palpate::testing {

/// Ascending; of a symmetric matrix, whose lower triangle is read.
Eigen::VectorXd compute_eigenvalues(const Eigen::MatrixXd& symmetric);

/// A⁻¹ b for a symmetric positive definite A.
Eigen::MatrixXd solve_definite(const Eigen::MatrixXd& A, const Eigen::MatrixXd& b);

}  // namespace palpate::testing
