#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "deadline.h"
#include "palpate/constraints/solver.h"

namespace palpate {

/// Semismooth Newton on the natural map of a whole problem, with its full matrix: quadratic once it knows which
/// contacts are open, stick and slip, where sweeps crawl; but from far away it may wander, so it keeps the best λ that
/// it met and leaves globalising to who calls it.
///
/// With τ = λ − δ'/w, each contact is open (τ_n ≤ 0: λ = 0), or closed (δ'_n = 0) and sticks (|τ_t| ≤ μ λ_n: δ'_t = 0)
/// or slips. The latter's equation and its derivative, with n = τ_t/|τ_t| and β = μ λ_n/|τ_t|, are (Alart & Curnier
/// 1991, with λ_n for their τ_n in the radius, which is the same where δ'_n = 0)
///
///   λ_t − μ λ_n n = 0,      dλ_t − μ n dλ_n − β (I − n nᵀ)(dλ_t − W_t dλ / w_t)
///
/// Weak springs from the λ it started at pick one λ where the problem has many.
/// No allocation after reserve().
class NewtonSteps {
 public:
  void reserve(int rows);
  bool fits(const ConstraintProblem& problem) const noexcept { return problem.rows() <= most_rows_; }

  /// What a step needs of W is computed when it is first needed: a contact that is open and stays so costs nothing.
  void start(const ConstraintProblem& problem, bool pyramid) noexcept;

  struct Result {
    double metres = 0.0;  ///< residual of the λ given back
    int steps = 0;
  };
  /// Steps from `lambda` until the residual is at most `goal` [m], or `most_steps` or the deadline is reached. `lambda`
  /// leaves as the best met, and is what it was if none was better. If `polish`, goes on below the goal as long as a
  /// step halves the residual.
  Result run(std::span<double> lambda, double goal, bool polish, int most_steps, const Deadline& deadline) noexcept;

  /// The same by proximal points, where run() wanders: every row gets a spring from its λ of before, of `share` of its
  /// own compliance, which makes the problem well posed; solved, it moves the spring's rest and softens the spring;
  /// not solved, it stiffens it. Slower but surer: without friction each point is nearer to the answer than the last.
  Result run_proximal(std::span<double> lambda, double goal, int most_steps, const Deadline& deadline) noexcept;

 private:
  enum class RowState : std::uint8_t {
    kFixed,  ///< its step is known: to zero, or to a bound
    kHeld,   ///< δ' = 0
    kSlip,   ///< tangent on the cone
    kBound,  ///< tangent on a side of the pyramid
  };
  struct Row {
    RowState state = RowState::kFixed;
    std::int32_t normal = -1;  ///< of tangents: the normal's row
    double w = 0.0;            ///< own compliance, C included [m/N]; of the cone's tangents, their mean
    double direction = 0.0;    ///< slip: n's component along this tangent; bound: which side, −1 or 1
    double beta = 0.0;         ///< slip: β
    double friction = 0.0;     ///< of tangents: μ
  };

  /// Column j of W, with C and springs on its diagonal, over all rows.
  const double* column(int j) noexcept;
  void fill_column(int j) noexcept;
  /// out += W x, for an x that is mostly zero.
  void add_product(std::span<const double> x, double* out) noexcept;
  /// Springs of `share` of each row's compliance, at rest at `centre`.
  void set_springs(double share, std::span<const double> centre) noexcept;
  /// δ' of lambda_ with springs, and its residual; the true residual; false if something is not finite.
  bool evaluate() noexcept;
  Residual residual() const noexcept;
  /// Every row's state, and the step of the fixed ones.
  void classify() noexcept;
  void classify_contact(const Constraint& c) noexcept;
  void classify_tangents(const Constraint& c, double normal_force) noexcept;
  /// The linear system of the rows that are not fixed.
  void assemble() noexcept;
  void assemble_tangent(int at) noexcept;
  bool step() noexcept;

  const ConstraintProblem* problem_ = nullptr;
  bool pyramid_ = false;
  int most_rows_ = 0, rows_ = 0;
  double share_ = 0.0;
  double metres_ = 0.0, sprung_metres_ = 0.0, most_force_ = 0.0;
  std::vector<double> W_, A_;        ///< rows² each; of W only the columns that are known
  std::vector<std::uint8_t> known_;  ///< columns of W
  std::vector<double> own_;          ///< W's diagonal without springs
  std::vector<double> centre_, lambda_, delta_, step_, pushed_, rhs_;
  std::vector<Row> row_;
  std::vector<std::int32_t> active_;  ///< rows that are not fixed
};

/// Factors the column-major n×n matrix `A` in place, P A = L U with partial pivoting, and solves for `x`, in place.
/// False, and A and x destroyed, if a pivot is zero or not finite. Allocates nothing.
bool solve_general(Eigen::Map<Eigen::MatrixXd>& A, Eigen::Map<Eigen::VectorXd>& x) noexcept;

}  // namespace palpate
