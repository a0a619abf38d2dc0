#include "island_solver.h"

#include <algorithm>
#include <chrono>

namespace palpate {
namespace {

constexpr auto kLight = ConstraintSide::Kind::kLight;

std::size_t at(int i) noexcept {
  return as_size(i);
}

/// A side that can move; null: neither can.
const ConstraintSide* moving_side(const Constraint& c) noexcept {
  return c.a.kind == kLight ? &c.a : c.b.kind == kLight ? &c.b : nullptr;
}

}  // namespace

void IslandSolver::reserve(int rows, int dense_rows, int light_bodies) {
  inner_->reserve(rows, dense_rows, light_bodies);
  part_.reserve(rows, 0, 0, light_bodies);
  part_lambda_.reserve(at(rows));
  for (std::vector<std::int32_t>* v : {&sorted_, &belongs_}) v->resize(std::max(v->size(), at(rows)));
  begin_.resize(std::max(begin_.size(), at(light_bodies) + 2));
  for (std::vector<std::int32_t>* v : {&parent_, &island_, &place_}) v->resize(std::max(v->size(), at(light_bodies)));
}

std::int32_t IslandSolver::find_root(std::int32_t body) noexcept {
  while (parent_[at(body)] != body) body = parent_[at(body)] = parent_[at(parent_[at(body)])];
  return body;
}

/// Sorts the constraints by island, in the order in which they are; those between things that cannot move are one more.
int IslandSolver::find_islands(const ConstraintProblem& problem) noexcept {
  const std::span<const Constraint> constraints = problem.constraints();
  for (std::int32_t b = 0; b < problem.light_bodies(); ++b) parent_[at(b)] = b;
  std::fill_n(island_.begin(), problem.light_bodies(), -1);
  for (const Constraint& c : constraints) {
    if (c.a.kind == kLight && c.b.kind == kLight) parent_[at(find_root(c.a.body))] = find_root(c.b.body);
  }
  int count = 0;
  std::int32_t fixed = -1;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const ConstraintSide* side = moving_side(constraints[i]);
    std::int32_t& island = side ? island_[at(find_root(side->body))] : fixed;
    if (island < 0) island = count++;
    belongs_[i] = island;
  }
  std::fill_n(begin_.begin(), count + 1, 0);
  for (std::size_t i = 0; i < constraints.size(); ++i) ++begin_[at(belongs_[i]) + 1];
  for (int k = 0; k < count; ++k) begin_[at(k) + 1] += begin_[at(k)];
  for (std::size_t i = 0; i < constraints.size(); ++i)
    sorted_[at(begin_[at(belongs_[i])]++)] = static_cast<std::int32_t>(i);
  for (int k = count; k > 0; --k) begin_[at(k)] = begin_[at(k) - 1];
  begin_[0] = 0;
  return count;
}

void IslandSolver::fill_part(const ConstraintProblem& problem, std::span<const std::int32_t> constraints,
                             std::span<const double> lambda) noexcept {
  part_.clear();
  part_lambda_.clear();
  for (const std::int32_t i : constraints) {
    const Constraint& c = problem.constraints()[at(i)];
    for (const ConstraintSide& side : {c.a, c.b}) {
      if (side.kind == kLight && place_[at(side.body)] < 0) place_[at(side.body)] = part_.add_light_body();
    }
  }
  for (const std::int32_t i : constraints) {
    const Constraint& c = problem.constraints()[at(i)];
    Constraint copy = c;
    for (ConstraintSide* side : {&copy.a, &copy.b}) {
      if (side->kind == kLight) side->body = place_[at(side->body)];
    }
    const int index = part_.add_constraint(copy);  // before the span below: it may move the constraints
    const Constraint& added = part_.constraints()[at(index)];
    for (int r = 0; r < c.rows; ++r) {
      part_.delta_free(added.first_row + r) = problem.delta_free()[at(c.first_row + r)];
      part_.compliance(added.first_row + r) = problem.compliance()[at(c.first_row + r)];
      part_lambda_.push_back(lambda[at(c.first_row + r)]);
      for (const auto& [from, to] : {std::pair(&c.a, &added.a), std::pair(&c.b, &added.b)}) {
        if (from->kind != kLight) continue;
        part_.light_J(to->first + r) = problem.light_J(from->first + r);
        part_.light_Y(to->first + r) = problem.light_Y(from->first + r);
      }
    }
  }
  part_.prepare_dense();
}

SolveReport IslandSolver::solve(const ConstraintProblem& problem, const SolverSettings& settings,
                                std::span<double> lambda) noexcept {
  const bool fits = at(problem.rows()) <= sorted_.size() && at(problem.light_bodies()) <= parent_.size();
  if (!fits || problem.dense_bodies() > 0) return inner_->solve(problem, settings, lambda);
  const int islands = find_islands(problem);
  if (islands < 2) return inner_->solve(problem, settings, lambda);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::fill_n(place_.begin(), problem.light_bodies(), -1);
  SolveReport all;
  all.converged = true;
  for (int k = 0; k < islands; ++k) {
    const auto constraints =
        std::span<const std::int32_t>(sorted_).subspan(at(begin_[at(k)]), at(begin_[at(k) + 1] - begin_[at(k)]));
    fill_part(problem, constraints, lambda);
    SolverSettings left = settings;
    if (settings.max_seconds > 0.0) {
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      left.max_seconds = std::max(1e-9, settings.max_seconds - spent);
    }
    const SolveReport one = inner_->solve(part_, left, part_lambda_);
    all.converged = all.converged && one.converged;
    all.iterations = std::max(all.iterations, one.iterations);
    all.residual.metres = std::max(all.residual.metres, one.residual.metres);
    all.residual.newtons = std::max(all.residual.newtons, one.residual.newtons);
    std::size_t next = 0;
    for (const std::int32_t i : constraints) {
      const Constraint& c = problem.constraints()[at(i)];
      for (int r = 0; r < c.rows; ++r) lambda[at(c.first_row + r)] = part_lambda_[next++];
    }
  }
  return all;
}

}  // namespace palpate
