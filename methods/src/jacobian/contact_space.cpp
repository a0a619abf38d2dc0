#include "jacobian/contact_space.h"

#include <Eigen/LU>

namespace palpate::jacobian {
namespace {

constexpr double kRedundant = 1e-12;

void guard(Eigen::MatrixXd& A) {
  if (A.rows() > 0) A.diagonal().array() += kRedundant * A.diagonal().cwiseAbs().maxCoeff();
}

}  // namespace

void assemble_compliance(const ConstraintProblem& problem, std::span<const RowRef> rows, int without,
                         Eigen::MatrixXd& W) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  W.setZero(n, n);
  const auto constraints = problem.constraints();
  using Kind = ConstraintSide::Kind;
  for (Eigen::Index j = 0; j < n; ++j) {
    const RowRef& rj = rows[as_size(j)];
    const Constraint& cj = constraints[as_size(rj.constraint)];
    for (const ConstraintSide* sj : {&cj.a, &cj.b}) {
      if (sj->kind == Kind::kNone || (sj->kind == Kind::kLight && sj->body == without)) continue;
      for (Eigen::Index i = 0; i < n; ++i) {
        const RowRef& ri = rows[as_size(i)];
        const Constraint& ci = constraints[as_size(ri.constraint)];
        for (const ConstraintSide* si : {&ci.a, &ci.b}) {
          if (si->kind != sj->kind || si->body != sj->body) continue;
          const int pi = si->first + ri.offset, pj = sj->first + rj.offset;
          W(i, j) += sj->kind == Kind::kDense ? problem.dense_compliance(sj->body)(pi, pj)
                                              : problem.light_J(pi).dot(problem.light_Y(pj));
        }
      }
    }
  }
}

Vec6 light_row(const ConstraintProblem& problem, const RowRef& row, int body) noexcept {
  const Constraint& c = problem.constraints()[as_size(row.constraint)];
  for (const ConstraintSide* s : {&c.a, &c.b}) {
    if (s->kind == ConstraintSide::Kind::kLight && s->body == body) return problem.light_J(s->first + row.offset);
  }
  return Vec6::Zero();
}

LinearModel compute_linear_model(const HeldRows& rows, const Mat6& inverse_A) {
  LinearModel out;
  const Eigen::Index n = rows.J.rows();
  if (n == 0) return out;
  Eigen::MatrixXd A = rows.W_over_h;
  A.noalias() += rows.J * inverse_A * rows.J.transpose();
  guard(A);
  Eigen::MatrixXd right(n, 7);
  right << rows.J, rows.velocity;
  const Eigen::MatrixXd X = A.partialPivLu().solve(right);
  const Eigen::Matrix<double, 6, 7> forces = -rows.J.transpose() * X;
  out.by_force.noalias() = forces.leftCols<6>() * inverse_A;
  out.offset = forces.col(6);
  return out;
}

void solve_held(Eigen::MatrixXd& A, Eigen::VectorXd& b) {
  guard(A);
  if (A.rows() > 0) b = A.partialPivLu().solve(b).eval();
}

}  // namespace palpate::jacobian
