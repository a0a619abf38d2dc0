#include "palpate/testing/dense_algebra.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace palpate::testing {

Eigen::VectorXd compute_eigenvalues(const Eigen::MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::MatrixXd solve_definite(const Eigen::MatrixXd& A, const Eigen::MatrixXd& b) {
  return Eigen::LLT<Eigen::MatrixXd>(A).solve(b);
}

}  // namespace palpate::testing
