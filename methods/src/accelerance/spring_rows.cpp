#include "accelerance/spring_rows.h"

namespace palpate::accelerance {

void SpringRows::add_rows(double h, double elapsed, RowSink& sink) const {
  JointConstraint rows;
  rows.constraint.kind = ConstraintKind::kContact;
  rows.constraint.rows = 3;
  for (const SpringContact& s : springs) {
    rows.constraint.friction = s.friction;
    const double total = s.stiffness + s.damping / h;
    rows.compliance = 1.0 / total;
    const Vec3 place = s.place + elapsed * s.velocity;
    const Vec3 error = s.stiffness / total * (world_.body(s.body)->compute_point(s.foot) - place) - h * s.velocity;
    std::array<Vec3, 3> axes{s.normal};
    make_tangents(s.normal, axes[1], axes[2]);
    for (std::size_t r = 0; r < 3; ++r) rows.rows[r] = {false, axes[r], error.dot(axes[r])};
    sink.add(rows, s.body, s.foot, -1);
  }
}

Vec3 SpringRows::compute_force(const SolveResults& step, std::size_t spring) const noexcept {
  const auto constraint = as_size(step.further_constraints().first) + spring;
  const double* lambda = step.lambda().data() + step.problem().constraints()[constraint].first_row;
  Vec3 t1, t2;
  make_tangents(springs[spring].normal, t1, t2);
  return lambda[0] * springs[spring].normal + lambda[1] * t1 + lambda[2] * t2;
}

}  // namespace palpate::accelerance
