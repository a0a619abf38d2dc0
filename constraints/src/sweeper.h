#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contact_block.h"
#include "own_block.h"
#include "palpate/constraints/problem.h"

namespace palpate {

/// Gauss–Seidel sweeps over a ConstraintProblem: visits the constraints in order, solves each for its own rows with all
/// others held, and keeps the answer of the bodies up to date.
///
///   dense bodies  d_k += W_k(:, rows) Δλ    δ = δ_free + Σ d_k(rows)
///   light bodies  u_k += Y_k(:, rows) Δλ    δ = δ_free + Σ J_k u_k
///
/// λ, d and u are linear in each other, so whoever combines earlier λ linearly may combine d and u likewise instead of
/// computing them anew: state() is all three in one array, λ first. No allocation after reserve().
class Sweeper {
 public:
  void reserve(int rows, int dense_rows, int light_bodies);
  bool fits(const ConstraintProblem& problem) const noexcept;

  /// Takes the problem, which must outlive the sweeps, and the first guess, zero where it is not finite.
  void start(const ConstraintProblem& problem, bool pyramid, std::span<const double> lambda) noexcept;

  /// One sweep. Returns the largest change of a row, Δλ times the row's own compliance [m]: what the constraint was
  /// off by when it was visited. Not a number if a λ was not finite.
  double sweep() noexcept;

  /// d and u from λ anew: removes what rounding has accumulated, or follows a λ set from outside.
  void refresh() noexcept;

  std::span<double> lambda() noexcept { return {state_.data(), rows_}; }
  /// λ, d and u, in one array whose gaps are zero. Largest size for what was reserved: most_state().
  std::span<double> state() noexcept { return {state_.data(), state_size_}; }
  std::size_t most_state() const noexcept { return state_.size(); }

  /// Own compliance of each row, C included [m/N].
  std::span<const double> own_compliance() const noexcept { return {w_.data(), rows_}; }

  /// Largest violation [m] of the contacts that no force moves: no λ has a smaller residual.
  double immovable() const noexcept { return immovable_; }

 private:
  /// Where a constraint's rows are on one of its bodies.
  struct Side {
    ConstraintSide::Kind kind = ConstraintSide::Kind::kNone;
    std::int32_t stride = 0;    ///< dense: length of W's columns
    std::int32_t first = 0;     ///< the rows' place on the body
    double* answer = nullptr;   ///< the body's d or u
    const double* W = nullptr;  ///< dense: W's columns of the constraint's rows
  };

  /// A contact's J and Y of a light body, packed, and turned so that neither product needs a horizontal sum.
  struct LightContact {
    double J[6][3];  ///< column k of J over the three rows; read as four, of which the last goes into the idle lane
    double Y[3][6];  ///< row i of Y
  };

  struct Contact {
    ContactBlock block;
    simd::Double4 delta_free, compliance;
    Side a, b;
    const LightContact* light_a = nullptr;
    const LightContact* light_b = nullptr;
  };

  /// Equality and bounded rows: rarer, so read from the problem.
  struct General {
    OwnBlock inverse = OwnBlock::Zero();
    Side a, b;
  };

  struct Visit {
    ConstraintKind kind;
    std::int32_t constraint, first_row, index;
  };

  Side make_side(const ConstraintSide& side) noexcept;
  const LightContact* add_light(const Side& side) noexcept;
  void add_contact(const Constraint& c, std::int32_t at) noexcept;
  void add_general(const Constraint& c, std::int32_t at) noexcept;
  void push_all(const Constraint& c) noexcept;

  double visit_contact(Contact& c, double* lambda) noexcept;
  double visit_general(const Constraint& c, const General& g, double* lambda) noexcept;
  double answer(const Side& side, int row) const noexcept;
  void push(const Side& side, int row, double change) const noexcept;

  const ConstraintProblem* problem_ = nullptr;
  bool pyramid_ = false;
  double immovable_ = 0.0;
  std::size_t rows_ = 0, dense_begin_ = 0, light_begin_ = 0, state_size_ = 0;
  std::size_t most_rows_ = 0, most_dense_size_ = 0, most_light_bodies_ = 0;
  std::vector<double, Eigen::aligned_allocator<double>> state_;
  std::vector<double> w_;
  std::vector<Visit> visits_;
  std::vector<Contact> contacts_;
  std::vector<LightContact> light_contacts_;
  std::vector<General> generals_;
};

}  // namespace palpate
