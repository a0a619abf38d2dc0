#include "limited/patch_solver.h"

// The forces of the selected constraints: a small complementarity problem of one point.
namespace palpate::limited {
namespace {

using Triangle = LimitedPatch::Triangle;

}  // namespace

void PatchSolver::add_selected(std::int32_t triangle, const Vec3& x) noexcept {
  if (selected_count_ == kMaxSelected) return;
  for (int k = 0; k < selected_count_; ++k) {
    if (selected_[as_size(k)].triangle == triangle) return;
  }
  const Triangle& t = patch_->triangle[as_size(triangle)];
  Selected& s = selected_[as_size(selected_count_++)];
  s.triangle = triangle;
  s.normal = t.normal;
  make_tangents(t.normal, s.tangent1, s.tangent2);
  s.weights = weights_at(triangle, x);
  s.gap_free = t.normal.dot(free_ - patch_->position[as_size(t.vertex[0])]) - 2.0 * patch_->skin;
  s.lambda.setZero();
}

/// The faces of the trusted box that the free motion leaves it through, without friction.
void PatchSolver::add_box_faces() noexcept {
  for (int axis = 0; axis < 3; ++axis) {
    const double out = free_[axis] - patch_->centre[axis];
    if (std::abs(out) <= patch_->half_edge) continue;
    Selected& s = selected_[as_size(selected_count_++)];
    s.triangle = -1 - axis;
    s.normal = Vec3::Unit(axis) * (out > 0.0 ? -1.0 : 1.0);
    make_tangents(s.normal, s.tangent1, s.tangent2);
    s.weights.setZero();
    s.gap_free = patch_->half_edge - std::abs(out);
    s.lambda.setZero();
  }
}

/// Where the forces of the selected constraints have the point.
Vec3 PatchSolver::compute_next() const noexcept {
  Vec3 next = free_;
  for (int k = 0; k < selected_count_; ++k) {
    const Selected& c = selected_[as_size(k)];
    const Vec3 force = force_of(c);
    next += w_ * force;
    if (c.triangle >= 0) next.noalias() += C_ * force;
  }
  return next;
}

/// λ of the selected constraints; returns the residual [m].
double PatchSolver::solve_forces() noexcept {
  if (selected_count_ == 0) return 0.0;
  problem_.clear();
  const int light = problem_.add_light_body();
  const bool yields = compute_compliance();
  const int dense = yields ? problem_.add_dense_body() : -1;
  for (int k = 0; k < selected_count_; ++k) {
    Selected& s = selected_[as_size(k)];
    Constraint c;
    c.kind = ConstraintKind::kContact;
    c.rows = 3;
    c.friction = s.triangle >= 0 ? patch_->triangle[as_size(s.triangle)].friction : 0.0;
    c.a = {ConstraintSide::Kind::kLight, light, -1};
    if (yields && s.triangle >= 0) c.b = {ConstraintSide::Kind::kDense, dense, -1};
    const auto index = as_size(problem_.add_constraint(c));
    const Constraint& added = problem_.constraints()[index];
    const std::array<Vec3, 3> direction = {s.normal, s.tangent1, s.tangent2};
    for (int r = 0; r < 3; ++r) {
      problem_.light_J(added.a.first + r).head<3>() = direction[as_size(r)];
      problem_.light_Y(added.a.first + r).head<3>() = w_ * direction[as_size(r)];
      problem_.delta_free(added.first_row + r) = r == 0 ? s.gap_free : direction[as_size(r)].dot(free_ - start_);
    }
    for (int j = 0; j < last_count_; ++j) {
      const Selected& last = last_[as_size(j)];
      if (last.triangle == s.triangle) s.lambda = last.lambda;
    }
    Eigen::Map<Vec3>(lambda_.data() + 3 * k) = s.lambda;
  }
  problem_.prepare_dense();
  if (yields) fill_compliance(dense);
  const SolverSettings settings{.tolerance = 0.1 * options_.tolerance, .max_iterations = 1000};
  const SolveReport report = solver_->solve(problem_, settings, std::span(lambda_).first(as_size(problem_.rows())));
  for (int k = 0; k < selected_count_; ++k)
    selected_[as_size(k)].lambda = Eigen::Map<const Vec3>(lambda_.data() + 3 * k);
  return report.residual.metres;
}

/// C where the point stands: of the first selected constraint. Zero, and false, if one of them does not yield.
bool PatchSolver::compute_compliance() noexcept {
  C_.setZero();
  const Selected* first = nullptr;
  for (int k = 0; k < selected_count_; ++k) {
    const Selected& s = selected_[as_size(k)];
    if (s.triangle < 0) continue;
    if (!patch_->triangle[as_size(s.triangle)].compliant) return false;
    if (!first) first = &s;
  }
  if (!first) return false;
  const auto& v = patch_->triangle[as_size(first->triangle)].vertex;
  const int n = 3 * patch_->moving;
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) {
      const double* block = patch_->C.data() + static_cast<std::ptrdiff_t>(n) * 3 * v[as_size(q)] + 3 * v[as_size(p)];
      const double share = first->weights[p] * first->weights[q];
      for (int c = 0; c < 3; ++c) C_.col(c) += share * Eigen::Map<const Vec3>(block + n * c);
    }
  }
  if (C_.allFinite()) return true;
  C_.setZero();
  return false;
}

/// C between all contacts, in their frames.
void PatchSolver::fill_compliance(int dense) noexcept {
  auto W = problem_.dense_compliance(dense);
  const auto frame_of = [](const Selected& s) {
    Mat3 frame;
    frame << s.normal, s.tangent1, s.tangent2;
    return frame;
  };
  int row = 0;
  for (int i = 0; i < selected_count_; ++i) {
    if (selected_[as_size(i)].triangle < 0) continue;
    const Mat3 left = frame_of(selected_[as_size(i)]).transpose() * C_;
    int column = 0;
    for (int j = 0; j < selected_count_; ++j) {
      if (selected_[as_size(j)].triangle < 0) continue;
      W.block<3, 3>(row, column).noalias() = left * frame_of(selected_[as_size(j)]);
      column += 3;
    }
    row += 3;
  }
}

}  // namespace palpate::limited
