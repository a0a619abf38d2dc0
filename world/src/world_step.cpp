#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "palpate/world/world.h"

// The step of a world, in the order of docs/design.md, "Mechanics shared by all".
namespace palpate {
bool World::step(double h, StepReport& report) {
  if (!step_once(h, report, settings_.max_turn)) {
    const double turn = compute_largest_turn();
    if (!(turn > settings_.max_turn)) return false;
    constexpr int kMaxParts = 16;
    const int parts = static_cast<int>(std::min<double>(kMaxParts, std::ceil(turn / settings_.max_turn)));
    for (int i = 0; i < parts; ++i) {
      if (!step_once(h / parts, report, std::numeric_limits<double>::infinity())) return false;
    }
  }
  return true;
}

/// False, and nothing moved, if a system could not be factored or if a body in contact would turn more than `max_turn`.
bool World::step_once(double h, StepReport& report, double max_turn) {
  {
    const StageTimer timer(report, Stage::kFree);
    if (!compute_free_motion({&h, 1})) return false;
  }
  if (!solve_contacts(report)) return false;
  if (!contacts_.empty() && compute_largest_turn() > max_turn) return false;
  const StageTimer timer(report, Stage::kCorrect);
  advance();
  return true;
}

bool World::solve_contacts(StepReport& report) {
  // Each round adds what the one before ran into. Two are enough for a fold, three for a corner.
  // In a pile of more than a few contacts, which needs all of the solver's iterations at once, the rounds together take
  // at most half as many again.
  constexpr int kMaxRounds = 3;
  constexpr std::size_t kFewContacts = 64;
  SolverSettings settings = step_solver();
  int iterations_left = settings.max_iterations + settings.max_iterations / 2;
  report.iterations = 0;
  {
    const StageTimer timer(report, Stage::kDetect);
    find_contacts();
  }
  for (int round = 0;; ++round) {
    {
      const StageTimer timer(report, Stage::kCompliance);
      assemble_rows();
      if (!assemble_compliance()) return false;
    }
    {
      const StageTimer timer(report, Stage::kSolve);
      const SolveReport solved = solve(settings);
      report.residual = solved.residual.metres;
      report.residual_force = solved.residual.newtons;
      report.converged = solved.converged;
      report.iterations += solved.iterations;
      iterations_left -= solved.iterations;
      if (contacts_.size() > kFewContacts) settings.max_iterations = std::min(settings.max_iterations, iterations_left);
    }
    {
      const StageTimer timer(report, Stage::kCorrect);
      compute_changes();
    }
    const StageTimer timer(report, Stage::kDetect);
    if (round == kMaxRounds || settings.max_iterations <= 0 || !add_missed_contacts()) break;
  }
  report.penetration = found_.deepest;
  report.contacts = static_cast<std::int32_t>(
      std::count_if(contact_forces_.begin(), contact_forces_.end(), [](const Vec3& f) { return f.x() > 0.0; }));
  report.overflow = found_.overflow;
  return true;
}

/// Of the rigid bodies that touch something, in the step to come [rad].
double World::compute_largest_turn() const noexcept {
  double largest = 0.0;
  const auto look = [&](std::int32_t i) {
    const Moving& m = moving_[static_cast<std::size_t>(i)];
    if (m.side.kind != ConstraintSide::Kind::kLight || m.change.size() < 2) return;
    const std::span<const Vec3> v = bodies_[static_cast<std::size_t>(i)].body->velocities();
    largest = std::max(largest, h_ * (v[1] + m.change[1]).norm());
  };
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    if (!(contact_forces_[k].x() > 0.0)) continue;
    look(contacts_[k].body_a);
    look(contacts_[k].body_b);
  }
  return largest;
}

bool World::compute_free_motion(std::span<const double> time_steps) {
  if (!begin_free_motion(time_steps)) return false;
  if (time_steps.size() < 2) return finish_free_motion(0);
  struct Task {
    World& world;
    bool good;
    static void run(void* self) noexcept {
      Task& task = *static_cast<Task*>(self);
      task.good = task.world.finish_free_motion(1);
    }
  };
  Task second{*this, false};
  if (second_) second_->start(&Task::run, &second);
  bool good = finish_free_motion(0);
  for (int which = 2; which < static_cast<int>(time_steps.size()); ++which) good = good && finish_free_motion(which);
  if (second_) {
    second_->wait();
  } else {
    Task::run(&second);
  }
  return good && second.good;
}

bool World::begin_free_motion(std::span<const double> time_steps) noexcept {
  h_ = time_steps[0];
  other_h_ = time_steps.size() > 1 ? time_steps[1] : 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (moving_[i].free.empty() || moving_[i].absent) continue;
    Body& body = *bodies_[i].body;
    if (!body.begin_linearise(time_steps)) return false;
    if (body.allows_two_threads()) continue;
    for (int which = 0; which < static_cast<int>(time_steps.size()); ++which) {
      if (!finish_free_motion(i, which)) return false;
    }
  }
  return true;
}

bool World::finish_free_motion(int which) noexcept {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (moving_[i].free.empty() || moving_[i].absent || !bodies_[i].body->allows_two_threads()) continue;
    if (!finish_free_motion(i, which)) return false;
  }
  return true;
}

bool World::finish_free_motion(std::size_t i, int which) noexcept {
  Moving& m = moving_[i];
  Body& body = *bodies_[i].body;
  if (!body.factor(which)) return false;
  if (which > 1) return true;
  body.compute_free_motion(which, which == 0 ? m.free : m.other_free);
  if (m.side.kind == ConstraintSide::Kind::kLight)
    body.compute_response(which, which == 0 ? m.response : m.other_response);
  return true;
}

void World::find_contacts() {
  bearing_.clear();
  for (std::size_t i = 0; i < last_.contacts.size(); ++i) {
    if (!last_.contact_forces[i].isZero(0.0)) bearing_.push_back(last_.contacts[i].id);
  }
  std::sort(bearing_.begin(), bearing_.end());
  found_ = finder_->find(h_, free_changes_, contacts_, bearing_);
  trim_contacts();
  note_feet();
}

void World::note_feet() {
  foot_offsets_.clear();
  for (const Contact& c : contacts_) foot_offsets_.push_back(c.gap - compute_foot_gap(c));
}

/// True if there were any that the world did not know of.
bool World::add_missed_contacts() {
  finder_->find_overlaps_ahead(h_, changes_, ahead_);
  const auto is_known = [&](const Contact& c) {
    return std::any_of(contacts_.begin(), contacts_.end(), [&](const Contact& x) { return x.id == c.id; });
  };
  std::erase_if(ahead_, is_known);
  const std::size_t room = contacts_.capacity() - contacts_.size();
  if (ahead_.size() > room) ahead_.resize(room);
  if (ahead_.empty()) return false;
  remember();  // forces found so far, for the next guess
  contacts_.insert(contacts_.end(), ahead_.begin(), ahead_.end());
  const auto order = [](const Contact& c) { return std::tuple(c.body_a, c.body_b, c.id); };
  std::sort(contacts_.begin(), contacts_.end(),
            [&](const Contact& x, const Contact& y) { return order(x) < order(y); });
  trim_contacts();
  note_feet();
  return true;
}

/// Along the normal, between the feet as they are now [m].
double World::compute_foot_gap(const Contact& c) const noexcept {
  const Body* a = bodies_[static_cast<std::size_t>(c.body_a)].body.get();
  const Body* b = bodies_[static_cast<std::size_t>(c.body_b)].body.get();
  return c.normal.dot((a ? a->compute_point(c.foot_a) : c.point_a) - (b ? b->compute_point(c.foot_b) : c.point_b));
}

void World::keep_contacts() {
  for (std::size_t i = 0; i < contacts_.size(); ++i)
    contacts_[i].gap = foot_offsets_[i] + compute_foot_gap(contacts_[i]);
}

/// Bodies of many unknowns have room for so many rows: beyond that their widest gaps go.
void World::trim_contacts() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (moving_[i].side.kind != ConstraintSide::Kind::kDense) continue;
    const auto body = static_cast<std::int32_t>(i);
    const auto of_body = [&](const Contact& c) { return c.body_a == body || c.body_b == body; };
    int room = bodies_[i].body->max_rows();
    for (const Joint& j : joints_) room -= j.body_a == body || j.body_b == body ? 16 : 0;
    const auto allowed = static_cast<std::ptrdiff_t>(std::max(0, room / 3));
    auto surplus = std::count_if(contacts_.begin(), contacts_.end(), of_body) - allowed;
    if (surplus <= 0) continue;
    found_.overflow = true;
    for (; surplus > 0; --surplus) {
      auto widest = contacts_.end();
      for (auto c = contacts_.begin(); c != contacts_.end(); ++c) {
        if (of_body(*c) && (widest == contacts_.end() || c->gap > widest->gap)) widest = c;
      }
      contacts_.erase(widest);
    }
  }
}

void World::assemble_rows() {
  assemble({problem_, h_, 0, -1, true});
}

bool World::assemble_compliance() {
  return fill_compliance({problem_, h_, 0, -1, true});
}

bool World::compute_problem(int which, int without, ConstraintProblem& out) {
  const Assembly to{out, which == 0 ? h_ : other_h_, which, without, false};
  assemble(to);
  return fill_compliance(to);
}

void World::assemble(const Assembly& to) {
  to.problem.clear();
  for (Moving& m : moving_) {
    if (to.rows) m.rows.clear();
    if (m.side.kind == ConstraintSide::Kind::kDense) m.side.body = to.problem.add_dense_body();
    if (m.side.kind == ConstraintSide::Kind::kLight) m.side.body = to.problem.add_light_body();
  }
  const auto body_of = [&](int i) { return i < 0 ? nullptr : bodies_[static_cast<std::size_t>(i)].body.get(); };
  first_of_joint_.clear();
  for (const Joint& j : joints_) {
    first_of_joint_.push_back(static_cast<int>(to.problem.constraints().size()));
    const std::size_t count =
        compute_joint_constraints(j, body_of(j.body_a), body_of(j.body_b), to.h, joint_constraints_);
    for (std::size_t k = 0; k < count; ++k)
      add_constraint_rows(to, joint_constraints_[k], j.body_a, j.point_a, j.body_b);
  }
  for (const SpringContact& s : springs_) add_spring(to, s);
  first_contact_ = static_cast<int>(to.problem.constraints().size());
  JointConstraint contact;
  for (const Contact& c : contacts_) {
    contact.constraint.kind = ConstraintKind::kContact;
    contact.constraint.rows = 3;
    contact.constraint.friction = c.friction;
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    contact.rows[0] = {false, c.normal, settings_.felt_gap(c.gap, to.h)};
    contact.rows[1] = {false, t1, 0.0};
    contact.rows[2] = {false, t2, 0.0};
    contact.points_b[0] = c.foot_b;
    add_constraint_rows(to, contact, c.body_a, c.foot_a, c.body_b);
  }
}

/// Backward Euler of f = −k x − b ẋ as soft rows: δ + C f = 0 with C = 1/(k + b/h), δ = x⁺ less the damper's share of
/// x.
void World::add_spring(const Assembly& to, const SpringContact& spring) {
  JointConstraint rows;
  rows.constraint.kind = ConstraintKind::kContact;
  rows.constraint.rows = 3;
  rows.constraint.friction = spring.friction;
  const double total = spring.stiffness + spring.damping / to.h;
  rows.compliance = 1.0 / total;
  const Body& body = *bodies_[static_cast<std::size_t>(spring.body)].body;
  const Vec3 error =
      spring.stiffness / total * (body.compute_point(spring.foot) - spring.place) - to.h * spring.velocity;
  std::array<Vec3, 3> axes{spring.normal};
  make_tangents(spring.normal, axes[1], axes[2]);
  for (std::size_t r = 0; r < 3; ++r) rows.rows[r] = {false, axes[r], error.dot(axes[r])};
  add_constraint_rows(to, rows, spring.body, spring.foot, -1);
}

void World::add_constraint_rows(const Assembly& to, const JointConstraint& what, int body_a, const BodyPoint& point_a,
                                int body_b) {
  Constraint c = what.constraint;
  const auto side_of = [&](int body) {
    return body < 0 || body == to.without ? ConstraintSide{} : moving_[static_cast<std::size_t>(body)].side;
  };
  c.a = side_of(body_a);
  c.b = side_of(body_b);
  const int index = to.problem.add_constraint(c);  // before the span below: it may move the constraints
  const Constraint& added = to.problem.constraints()[static_cast<std::size_t>(index)];
  for (int r = 0; r < added.rows; ++r) {
    const JointRow& row = what.rows[static_cast<std::size_t>(r)];
    for (const int body : {body_a, body_b}) {
      if (to.rows && side_of(body).kind == ConstraintSide::Kind::kDense)
        moving_[static_cast<std::size_t>(body)].rows.begin_row();
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
double World::fill_side(const Assembly& to, const ConstraintSide& side, int offset, int body, const BodyPoint& point,
                        const JointRow& what, double scale) {
  if (side.kind == ConstraintSide::Kind::kNone) return 0.0;
  Moving& m = moving_[static_cast<std::size_t>(body)];
  const Body& b = *bodies_[static_cast<std::size_t>(body)].body;
  const int count = what.turn ? b.compute_turn_row(point, scale * what.direction, entries_)
                              : b.compute_point_row(point, scale * what.direction, entries_);
  const auto entries = std::span(entries_).first(static_cast<std::size_t>(count));
  const std::span<const Vec3> v = b.velocities();
  const std::span<const Vec3> free = to.which == 0 ? m.free : m.other_free;
  double speed = 0.0;
  for (const BlockRows::Entry& e : entries) {
    const auto block = static_cast<std::size_t>(e.block);
    speed += e.value.dot(v[block] + free[block]);
  }
  if (side.kind == ConstraintSide::Kind::kDense) {
    if (to.rows) {
      for (const BlockRows::Entry& e : entries) m.rows.add(e.block, e.value);
    }
  } else {
    ConstraintProblem::Vec6 J = ConstraintProblem::Vec6::Zero();
    for (const BlockRows::Entry& e : entries) J.segment<3>(3 * e.block) += e.value;
    to.problem.light_J(side.first + offset) += J;
    to.problem.light_Y(side.first + offset).noalias() += (to.which == 0 ? m.response : m.other_response) * J;
  }
  return to.h * speed;
}

bool World::fill_compliance(const Assembly& to) {
  to.problem.prepare_dense();
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Moving& m = moving_[i];
    if (m.side.kind != ConstraintSide::Kind::kDense || m.rows.rows() == 0 || static_cast<int>(i) == to.without)
      continue;
    auto W = to.problem.dense_compliance(m.side.body);
    if (!bodies_[i].body->add_compliance(to.which, m.rows, W)) return false;
  }
  return true;
}

SolverSettings World::step_solver() const noexcept {
  constexpr double kFullTolerance = 0.005;  // [s]
  SolverSettings settings = settings_.solver;
  const double part = std::min(1.0, h_ / kFullTolerance);
  settings.tolerance *= part * part;
  return settings;
}

SolveReport World::solve(const SolverSettings& settings) {
  lambda_.assign(static_cast<std::size_t>(problem_.rows()), 0.0);
  warm_start();
  const SolveReport report = solver_->solve(problem_, settings, lambda_);
  read_contact_forces();
  return report;
}

void World::impose(std::span<const double> lambda) {
  lambda_.assign(lambda.begin(), lambda.end());
  read_contact_forces();
}

void World::read_contact_forces() {
  contact_forces_.clear();
  const auto constraints = problem_.constraints().subspan(static_cast<std::size_t>(first_contact_));
  for (const Constraint& c : constraints)
    contact_forces_.push_back(Eigen::Map<const Vec3>(lambda_.data() + c.first_row));
}

Vec3 World::compute_spring_force(std::size_t spring) const noexcept {
  const std::size_t constraint = static_cast<std::size_t>(first_contact_) - springs_.size() + spring;
  const double* lambda = lambda_.data() + problem_.constraints()[constraint].first_row;
  Vec3 t1, t2;
  make_tangents(springs_[spring].normal, t1, t2);
  return lambda[0] * springs_[spring].normal + lambda[1] * t1 + lambda[2] * t2;
}

/// First guess: the last step's forces, turned to the new tangents, of contacts with the same identity; where a feature
/// changed its name (which corner of two cubes face to face lies on which is a matter of rounding), of the last contact
/// of that pair at the same place. Both lists are ordered by bodies and identity.
void World::warm_start() {
  const auto joint_rows =
      first_contact_ < static_cast<int>(problem_.constraints().size())
          ? static_cast<std::size_t>(problem_.constraints()[static_cast<std::size_t>(first_contact_)].first_row)
          : lambda_.size();
  if (last_.joint_forces.size() == joint_rows)
    std::copy(last_.joint_forces.begin(), last_.joint_forces.end(), lambda_.begin());
  const double near = settings_.contacts.alarm_distance * settings_.contacts.alarm_distance;
  std::size_t begin = 0, end = 0;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& c = contacts_[i];
    const auto pair_of = [](const Contact& x) { return std::pair(x.body_a, x.body_b); };
    if (i == 0 || pair_of(contacts_[i - 1]) != pair_of(c)) {
      for (begin = end; begin < last_.contacts.size() && pair_of(last_.contacts[begin]) < pair_of(c);) ++begin;
      for (end = begin; end < last_.contacts.size() && pair_of(last_.contacts[end]) == pair_of(c);) ++end;
    }
    std::size_t match = end;
    double least = near;
    for (std::size_t k = begin; k < end; ++k) {
      const double distance =
          last_.contacts[k].id == c.id ? -1.0 : (last_.contacts[k].point_a - c.point_a).squaredNorm();
      if (distance < least) {
        least = distance;
        match = k;
      }
    }
    if (match == end) continue;
    const Vec3& f = last_.contact_forces[match];
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    const int row = problem_.constraints()[static_cast<std::size_t>(first_contact_) + i].first_row;
    Eigen::Map<Vec3>(lambda_.data() + row) = Vec3(std::max(0.0, f.dot(c.normal)), f.dot(t1), f.dot(t2));
  }
}

void World::remember() {
  const std::size_t contact_rows = 3 * contacts_.size();
  last_.joint_forces.assign(lambda_.begin(), lambda_.end() - static_cast<std::ptrdiff_t>(contact_rows));
  last_.contacts.assign(contacts_.begin(), contacts_.end());
  last_.contact_forces.resize(contacts_.size());
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    Vec3 t1, t2;
    make_tangents(contacts_[i].normal, t1, t2);
    const Vec3& f = contact_forces_[i];
    last_.contact_forces[i] = f.x() * contacts_[i].normal + f.y() * t1 + f.z() * t2;
  }
}

void World::compute_changes() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    Moving& m = moving_[i];
    if (m.free.empty() || m.absent) continue;
    Body& body = *bodies_[i].body;
    if (m.side.kind == ConstraintSide::Kind::kDense && m.rows.rows() > 0) {
      m.lambda.clear();
      for (const std::int32_t row : problem_.dense_row_map(m.side.body))
        m.lambda.push_back(lambda_[static_cast<std::size_t>(row)]);
      body.compute_correction(0, m.rows, m.lambda, m.change);
      for (std::size_t b = 0; b < m.free.size(); ++b) m.change[b] += m.free[b];
    } else {
      std::copy(m.free.begin(), m.free.end(), m.change.begin());
    }
  }
  for (const Constraint& c : problem_.constraints()) {
    for (const ConstraintSide* side : {&c.a, &c.b}) {
      if (side->kind != ConstraintSide::Kind::kLight) continue;
      Moving& m = *light_[static_cast<std::size_t>(side->body)];
      ConstraintProblem::Vec6 change = ConstraintProblem::Vec6::Zero();
      for (int r = 0; r < c.rows; ++r)
        change += lambda_[static_cast<std::size_t>(c.first_row + r)] / h_ * problem_.light_Y(side->first + r);
      for (std::size_t b = 0; b < m.change.size(); ++b) m.change[b] += change.segment<3>(3 * static_cast<int>(b));
    }
  }
}

void World::advance() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (!moving_[i].free.empty() && !moving_[i].absent) bodies_[i].body->advance(h_, moving_[i].change);
  }
  for (SpringContact& s : springs_) s.place += h_ * s.velocity;
  remember();
}

const BlockRows& World::rows(int body) const noexcept {
  return moving_[static_cast<std::size_t>(body)].rows;
}

std::span<const Vec3> World::free_change(int body, int which) const noexcept {
  const Moving& m = moving_[static_cast<std::size_t>(body)];
  return which == 0 ? m.free : m.other_free;
}

std::span<const Vec3> World::change(int body) const noexcept {
  return moving_[static_cast<std::size_t>(body)].change;
}

}  // namespace palpate
