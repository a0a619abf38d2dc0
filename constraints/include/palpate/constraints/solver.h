#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "palpate/constraints/problem.h"

namespace palpate {

struct SolverSettings {
  double tolerance = 1e-9;    ///< converged when no row is off by more than this [m]
  int max_iterations = 1000;  ///< sweeps (or the solver's own unit of work)
  double max_seconds = 0.0;   ///< stops when this much time has passed; 0: no limit. Breaks repeatability
  bool pyramid = false;  ///< friction by |λ_t1| ≤ μ λ_n and |λ_t2| ≤ μ λ_n, a pyramid around the cone, instead of it
};

/// How good a λ is: the worst row's. A row's residual is how far its λ is from the nearest one that its δ asks for (the
/// natural map, λ − P(λ − δ'/w), w the row's own compliance W_ii + C): in newtons as it is, in metres times w.
///
/// P clamps a normal to λ_n ≥ 0, a bounded row to its bounds, and the tangents of a contact, as one vector with one w
/// (their mean), to the disk of radius μ λ_n of the present λ_n; of the pyramid, each tangent by itself. It vanishes
/// where and only where Coulomb's law holds, as the natural map of De Saxcé's form (δ_n + μ|δ_t|, δ_t) on the cone
/// does, but that one mixes the distance slipped into the normal row, where a metre no longer means a metre of gap. A
/// row that no force moves (w = 0) counts in metres if it is violated, and not in newtons. Infinite if not finite.
struct Residual {
  double metres = 0.0;
  double newtons = 0.0;
};

struct SolveReport {
  Residual residual;
  int iterations = 0;
  bool converged = false;  ///< residual.metres ≤ tolerance
};

/// Solves a ConstraintProblem: the seam at which solvers look alike. λ comes in as the first guess (zeros, or the last
/// step's for a warm start; what is not finite counts as zero) and leaves as the answer, always finite: zeros if the
/// problem was not. Real-time once reserve() had room: bounded by max_iterations, no
/// allocation, no exception. Thread: one at a time.
class ConstraintSolver {
 public:
  virtual ~ConstraintSolver() = default;
  virtual std::string_view name() const noexcept = 0;
  /// Room for problems of at most so many rows, dense bodies' rows together, and light bodies.
  virtual void reserve(int rows, int dense_rows, int light_bodies) = 0;
  /// Solves it. If the problem is larger than reserved, the report says that it did not converge and λ is unchanged.
  virtual SolveReport solve(const ConstraintProblem& problem, const SolverSettings& settings,
                            std::span<double> lambda) noexcept = 0;
};

/// Projected Gauss–Seidel over whole constraints: each is solved exactly for its own rows (3×3 with the exact cone).
/// An iteration is a sweep. Linear convergence, slow where many contacts share a stiff body or a stack is high.
std::unique_ptr<ConstraintSolver> make_gauss_seidel();

/// The same sweeps, accelerated: mixed with the last few (Anderson), and where they are still slow and the problem has
/// at most 256 rows, semismooth Newton on the full matrix. Both take the place of the nonsmooth conjugate gradient
/// (Silcowitz, Niebe & Erleben 2010), which was measured to need two to four times the sweeps. An iteration is a sweep
/// or what costs as much: a step of Newton of which m of n rows bear counts as m³/3n². Bodies that no constraint joins to
/// others are solved apart, as by the direct solver.
std::unique_ptr<ConstraintSolver> make_accelerated_solver();

/// Semismooth Newton from the start, on the full matrix of a problem of any size (memory grows with rows²), down to
/// rounding; accelerated sweeps between attempts where it wanders: the oracle. An iteration is a step or a sweep.
std::unique_ptr<ConstraintSolver> make_direct_solver();

/// For ticks, whose first guess is the last tick's answer: the accelerated solver with Newton after ten sweeps where up
/// to 48 rows of the guess bear. Who touches and who slips changes little from tick to tick, so that a few steps with
/// the few rows that bear are enough where sweeps over all of them take hundreds. Where more bear, sweeps come first.
std::unique_ptr<ConstraintSolver> make_tick_solver();

/// The residual of any λ, by definition: not the solver's own bookkeeping. `scratch` has room for the problem's rows.
Residual compute_residual(const ConstraintProblem& problem, std::span<const double> lambda, bool pyramid,
                          std::span<double> scratch) noexcept;

}  // namespace palpate
