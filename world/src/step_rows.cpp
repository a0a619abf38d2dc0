#include "step_data.h"

// The contact problem of a step: rows, compliance and gaps.
namespace palpate {

bool StepData::assemble() {
  const Assembly to{problem, h, 0, -1, true};
  if (is_later_round_) put_round_aside();
  assemble(to);
  const bool good = fill_compliance(to);
  is_later_round_ = false;
  return good;
}

bool StepData::compute_problem(int which, int without, ConstraintProblem& out) {
  const Assembly to{out, which == 0 ? h : tick, which, without, false};
  assemble(to);
  return fill_compliance(to);
}

void StepData::assemble(const Assembly& to) {
  to.problem.clear();
  for (Moving& m : moving) {
    if (to.rows) m.rows.clear();
    if (m.side.kind == ConstraintSide::Kind::kDense) m.side.body = to.problem.add_dense_body();
    if (m.side.kind == ConstraintSide::Kind::kLight) m.side.body = to.problem.add_light_body();
  }
  joint_constraints.clear();
  const auto count_constraints = [&] { return static_cast<int>(to.problem.constraints().size()); };
  for (const Joint& j : joints_) {
    ConstraintRange range{count_constraints(), 0};
    const std::size_t count = compute_joint_constraints(j, body(j.body_a), body(j.body_b), to.h, joint_rows_);
    for (std::size_t k = 0; k < count; ++k) add_constraint_rows(to, joint_rows_[k], j.body_a, j.point_a, j.body_b);
    range.end = count_constraints();
    joint_constraints.push_back(range);
  }
  further_constraints.first = count_constraints();
  assembling_ = &to;
  for (const StepRows* further : further_) further->add_rows(to.h, elapsed_, *this);
  further_constraints.end = first_contact = count_constraints();
  JointConstraint contact;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    contact.constraint.kind = ConstraintKind::kContact;
    contact.constraint.rows = 3;
    contact.constraint.friction = c.friction;
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    contact.rows[0] = {false, c.normal, settings_.felt_gap(c.gap, to.h)};
    contact.rows[1] = {false, t1, t1.dot(strains[i])};
    contact.rows[2] = {false, t2, t2.dot(strains[i])};
    contact.points_b[0] = c.foot_b;
    add_constraint_rows(to, contact, c.body_a, c.foot_a, c.body_b);
  }
}

void StepData::add(const JointConstraint& rows, int body_a, const BodyPoint& point_a, int body_b) {
  add_constraint_rows(*assembling_, rows, body_a, point_a, body_b);
}

void StepData::add_constraint_rows(const Assembly& to, const JointConstraint& what, int body_a,
                                   const BodyPoint& point_a, int body_b) {
  Constraint c = what.constraint;
  const auto side_of = [&](int body) {
    return body < 0 || body == to.without ? ConstraintSide{} : moving[as_size(body)].side;
  };
  c.a = side_of(body_a);
  c.b = side_of(body_b);
  const int index = to.problem.add_constraint(c);  // before the span below: it may move the constraints
  const Constraint& added = to.problem.constraints()[as_size(index)];
  for (int r = 0; r < added.rows; ++r) {
    const JointRow& row = what.rows[as_size(r)];
    for (const int body : {body_a, body_b}) {
      if (to.rows && side_of(body).kind == ConstraintSide::Kind::kDense) moving[as_size(body)].rows.begin_row();
    }
    double delta = row.error;
    delta += fill_side(to, added.a, r, body_a, point_a, row, 1.0);
    delta += fill_side(to, added.b, r, body_b, what.points_b[0], row, what.share - 1.0);
    if (what.share > 0.0) delta += fill_side(to, added.b, r, body_b, what.points_b[1], row, -what.share);
    to.problem.delta_free(added.first_row + r) = delta;
    to.problem.compliance(added.first_row + r) = what.compliance;
  }
}

/// Adds one end's part of a row, times `scale`; returns what the free motion does to it in this step [m].
double StepData::fill_side(const Assembly& to, const ConstraintSide& side, int offset, int index,
                           const BodyPoint& point, const JointRow& what, double scale) {
  if (side.kind == ConstraintSide::Kind::kNone) return 0.0;
  Moving& m = moving[as_size(index)];
  const Body& b = *bodies_[as_size(index)].body;
  const int count = what.turn ? b.compute_turn_row(point, scale * what.direction, entries_)
                              : b.compute_point_row(point, scale * what.direction, entries_);
  const auto entries = std::span(entries_).first(as_size(count));
  const std::span<const Vec3> v = b.velocities();
  const std::span<const Vec3> free = to.which == 0 ? m.free : m.tick_free;
  double speed = 0.0;
  for (const BlockRows::Entry& e : entries) {
    const auto block = as_size(e.block);
    speed += e.value.dot(v[block] + free[block]);
  }
  if (side.kind == ConstraintSide::Kind::kDense) {
    if (to.rows) {
      for (const BlockRows::Entry& e : entries) m.rows.add(e.block, e.value);
    }
  } else {
    Vec6 J = Vec6::Zero();
    for (const BlockRows::Entry& e : entries) J.segment<3>(3 * e.block) += e.value;
    to.problem.light_J(side.first + offset) += J;
    to.problem.light_Y(side.first + offset).noalias() += (to.which == 0 ? m.response : m.tick_response) * J;
  }
  return to.h * speed;
}

bool StepData::fill_compliance(const Assembly& to) {
  to.problem.prepare_dense();
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Moving& m = moving[i];
    if (m.side.kind != ConstraintSide::Kind::kDense || m.rows.rows() == 0 || static_cast<int>(i) == to.without)
      continue;
    if (to.rows && is_later_round_ && keep_compliance(i)) continue;
    auto W = to.problem.dense_compliance(m.side.body);
    if (!bodies_[i].body->add_compliance(to.which, m.rows, W)) return false;
  }
  return true;
}

}  // namespace palpate
