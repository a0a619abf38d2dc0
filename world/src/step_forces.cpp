#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "step_data.h"

// Forces of a step, and the motion that they give.
namespace palpate {

SolverSettings StepData::solver_settings() const noexcept {
  constexpr double kFullTolerance = 0.005;  // [s]
  SolverSettings settings = settings_.solver;
  const double part = std::min(1.0, h / kFullTolerance);
  settings.tolerance *= part * part;
  return settings;
}

SolveReport StepData::solve(const SolverSettings& settings) {
  lambda.assign(as_size(problem.rows()), 0.0);
  warm_start();
  const SolveReport report = solver_->solve(problem, settings, lambda);
  read_contact_forces();
  return report;
}

void StepData::take(std::span<const double> forces) {
  lambda.assign(forces.begin(), forces.end());
  read_contact_forces();
}

void StepData::read_contact_forces() {
  contact_forces.clear();
  const auto constraints = problem.constraints().subspan(as_size(first_contact));
  for (const Constraint& c : constraints) contact_forces.push_back(Eigen::Map<const Vec3>(lambda.data() + c.first_row));
}

/// First guess: the last step's forces on contacts that match, turned to the new tangents and no further from the new
/// normals than friction allows.
void StepData::warm_start() {
  const ContactMemory& guess = *guess_;
  const auto joint_rows = first_contact < static_cast<int>(problem.constraints().size())
                              ? as_size(problem.constraints()[as_size(first_contact)].first_row)
                              : lambda.size();
  if (guess.joint_forces.size() == joint_rows)
    std::copy(guess.joint_forces.begin(), guess.joint_forces.end(), lambda.begin());
  match(guess);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (matches_[i] < 0) continue;
    const Vec3& f = guess.contact_forces[as_size(matches_[i])];
    const Contact& c = contacts[i];
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    const int row = problem.constraints()[as_size(first_contact) + i].first_row;
    const double normal = std::max(0.0, f.dot(c.normal)), most = c.friction * normal;
    const double tangent = std::hypot(f.dot(t1), f.dot(t2)), share = tangent > most ? most / tangent : 1.0;
    Eigen::Map<Vec3>(lambda.data() + row) = Vec3(normal, share * f.dot(t1), share * f.dot(t2));
  }
}

void StepData::remember(ContactMemory& out) const {
  const std::size_t contact_rows = 3 * contacts.size();
  out.joint_forces.assign(lambda.begin(), lambda.end() - static_cast<std::ptrdiff_t>(contact_rows));
  out.contacts.assign(contacts.begin(), contacts.end());
  out.contact_forces.resize(contacts.size());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    Vec3 t1, t2;
    make_tangents(contacts[i].normal, t1, t2);
    const Vec3& f = contact_forces[i];
    out.contact_forces[i] = f.x() * contacts[i].normal + f.y() * t1 + f.z() * t2;
  }
}

void StepData::compute_changes() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Moving& m = moving[i];
    if (m.free.empty() || m.absent) continue;
    Body& body = *bodies_[i].body;
    if (m.side.kind == ConstraintSide::Kind::kDense && m.rows.rows() > 0) {
      m.lambda.clear();
      for (const std::int32_t row : problem.dense_row_map(m.side.body)) m.lambda.push_back(lambda[as_size(row)]);
      body.compute_correction(0, m.rows, m.lambda, m.change);
      for (std::size_t b = 0; b < m.free.size(); ++b) m.change[b] += m.free[b];
    } else {
      std::copy(m.free.begin(), m.free.end(), m.change.begin());
    }
  }
  for (const Constraint& c : problem.constraints()) {
    for (const ConstraintSide* side : {&c.a, &c.b}) {
      if (side->kind != ConstraintSide::Kind::kLight) continue;
      Moving& m = *light_[as_size(side->body)];
      Vec6 change = Vec6::Zero();
      for (int r = 0; r < c.rows; ++r)
        change += lambda[as_size(c.first_row + r)] / h * problem.light_Y(side->first + r);
      for (std::size_t b = 0; b < m.change.size(); ++b) m.change[b] += change.segment<3>(3 * static_cast<int>(b));
    }
  }
}

double StepData::compute_largest_turn() const noexcept {
  double largest = 0.0;
  const auto look = [&](std::int32_t i) {
    const Moving& m = moving[as_size(i)];
    if (m.side.kind != ConstraintSide::Kind::kLight || m.change.size() < 2) return;
    const std::span<const Vec3> v = bodies_[as_size(i)].body->velocities();
    largest = std::max(largest, h * (v[1] + m.change[1]).norm());
  };
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    if (!(contact_forces[k].x() > 0.0)) continue;
    look(contacts[k].body_a);
    look(contacts[k].body_b);
  }
  return largest;
}

void StepData::advance() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (!moving[i].free.empty() && !moving[i].absent) bodies_[i].body->advance(h, moving[i].change);
  }
  remember(last);
  // What sticks is held where it was held before, what slips where it has slipped to.
  constexpr double kSticks = 1.0 - 1e-6;
  last.anchors.assign(contacts.size(), Vec3::Constant(std::numeric_limits<double>::quiet_NaN()));
  if (!holds_places) return;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Vec3& f = contact_forces[i];
    const bool sticks = f.x() > 0.0 && f.tail<2>().norm() < kSticks * contacts[i].friction * f.x();
    last.anchors[i] = sticks ? anchors_[i] : compute_foot_distance(contacts[i]);
  }
}

}  // namespace palpate
