#pragma once

#include <vector>

#include "palpate/constraints/solver.h"

namespace palpate {

/// Solves islands, bodies that no constraint joins to the others, one by one: each stops when it is done, is small
/// enough for what costs more than linearly, and is mixed with nothing that it has no part in. Twenty stacks on a table
/// are twenty problems. Problems with dense bodies, and single islands, go to the inner solver as they are.
class IslandSolver final : public ConstraintSolver {
 public:
  explicit IslandSolver(std::unique_ptr<ConstraintSolver> inner) : inner_(std::move(inner)) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  void reserve(int rows, int dense_rows, int light_bodies) override;
  /// The report's iterations are those of the island with the most.
  SolveReport solve(const ConstraintProblem& problem, const SolverSettings& settings,
                    std::span<double> lambda) noexcept override;

 private:
  std::int32_t find_root(std::int32_t body) noexcept;
  int find_islands(const ConstraintProblem& problem) noexcept;
  void fill_part(const ConstraintProblem& problem, std::span<const std::int32_t> constraints,
                 std::span<const double> lambda) noexcept;

  std::unique_ptr<ConstraintSolver> inner_;
  ConstraintProblem part_;
  std::vector<double> part_lambda_;
  std::vector<std::int32_t> parent_;   ///< of each light body, towards its island's root
  std::vector<std::int32_t> island_;   ///< of each root; −1: not numbered yet
  std::vector<std::int32_t> place_;    ///< of each light body in its part; −1: none yet
  std::vector<std::int32_t> sorted_;   ///< constraints by island
  std::vector<std::int32_t> begin_;    ///< of each island in sorted_, and the end
  std::vector<std::int32_t> belongs_;  ///< island of each constraint
};

}  // namespace palpate
