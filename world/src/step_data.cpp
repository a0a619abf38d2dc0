#include "step_data.h"

#include <algorithm>

#include "palpate/core/error.h"

// Memory of the steps, and free motion.
namespace palpate {
namespace {

std::unique_ptr<ConstraintSolver> make_solver(const std::string& name) {
  if (name == "gauss_seidel") return make_gauss_seidel();
  if (name == "accelerated") return make_accelerated_solver();
  if (name == "direct") return make_direct_solver();
  if (name == "tick") return make_tick_solver();
  fail_input("solver \"{}\"; allowed: gauss_seidel, accelerated, direct, tick", name);
}

}  // namespace

StepData::StepData(const WorldSettings& settings, std::span<WorldBody> bodies, std::span<const Joint> joints,
                   std::span<const std::pair<int, int>> ignored)
    : moving(bodies.size()),
      settings_(settings),
      bodies_(bodies),
      joints_(joints),
      finder_(settings.contacts),
      solver_(make_solver(settings.solver_name)) {
  int dense = 0, light = 0, most_entries = 16;
  reading_beside_ = true;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body* body = bodies_[i].body.get();
    finder_.add(body, bodies_[i].shape);
    if (!body || body->block_count() == 0) continue;
    Moving& m = moving[i];
    const auto blocks = as_size(body->block_count());
    m.free.assign(blocks, Vec3::Zero());
    m.tick_free.assign(blocks, Vec3::Zero());
    m.change.assign(blocks, Vec3::Zero());
    most_entries = std::max(most_entries, body->max_row_entries());
    if (!second_ && body->allows_two_threads()) second_ = std::make_unique<SecondThread>();
    reading_beside_ = reading_beside_ && (body->surface().triangles.empty() || body->allows_two_threads());
    if (blocks <= 2) {
      m.side = {ConstraintSide::Kind::kLight, light++, -1};
      light_.push_back(&m);
      continue;
    }
    m.side = {ConstraintSide::Kind::kDense, dense++, -1};
    const int rows = std::min(body->max_rows(), 3 * settings_.contacts.max_contacts);
    most_dense_rows_ = std::max(most_dense_rows_, std::min(rows, 1024));
    m.rows.reserve(std::min(rows, 1024), std::min(rows, 1024) * body->max_row_entries());
    m.rows_before.reserve(std::min(rows, 1024), std::min(rows, 1024) * body->max_row_entries());
    m.lambda.reserve(as_size(rows));
  }
  for (const auto& [a, b] : ignored) finder_.ignore(a, b);
  for (const Joint& j : joints_) {
    clear_places_.push_back(j.collide && j.body_b >= 0 ? finder_.keep_clear(j.body_a, j.body_b, j.clearance) : -1);
  }
  entries_.resize(as_size(most_entries));
  for (const Moving& m : moving) {
    free_changes_.emplace_back(m.free);
    changes_.emplace_back(m.change);
  }
  reserve_rows(0);
  contacts.reserve(as_size(settings_.contacts.max_contacts));
  ahead_.reserve(contacts.capacity());
  bearing_.reserve(contacts.capacity());
  contact_forces.reserve(contacts.capacity());
  strains.reserve(contacts.capacity());
  anchors_.reserve(contacts.capacity());
  matches_.reserve(contacts.capacity());
  taken_.reserve(contacts.capacity());
  joint_constraints.reserve(joints_.size());
  for (ContactMemory* memory : {&last, &round_}) {
    memory->contacts.reserve(contacts.capacity());
    memory->contact_forces.reserve(contacts.capacity());
    memory->anchors.reserve(contacts.capacity());
    memory->joint_forces.reserve(lambda.capacity());
  }
}

void StepData::reserve_rows(int further) {
  const int rows = 3 * settings_.contacts.max_contacts + further + 16 * static_cast<int>(joints_.size());
  const auto light = static_cast<int>(light_.size());
  const auto dense = static_cast<int>(std::count_if(
      moving.begin(), moving.end(), [](const Moving& m) { return m.side.kind == ConstraintSide::Kind::kDense; }));
  for (ConstraintProblem* p : {&problem, &problem_before_}) p->reserve(rows, dense, most_dense_rows_, light);
  rows_before_.reserve(as_size(most_dense_rows_));
  fresh_rows_.reserve(as_size(most_dense_rows_));
  solver_->reserve(rows, 2 * rows, light);
  lambda.reserve(as_size(rows));
  further_room_ = further;
}

void StepData::check(const StepRequest& request) const {
  if (!(request.h > 0.0) || !(request.tick >= 0.0))
    fail_input("step of {} s with a tick of {} s; allowed: above 0, from 0", request.h, request.tick);
  for (const int body : request.absent) {
    if (body < 0 || body >= static_cast<int>(moving.size()))
      fail_input("step without body {}; allowed: 0 to {}", body, static_cast<int>(moving.size()) - 1);
    const auto is_end = [&](const Joint& j) { return j.body_a == body || j.body_b == body; };
    if (std::any_of(joints_.begin(), joints_.end(), is_end))
      fail_input("step without \"{}\": a joint holds that body", bodies_[as_size(body)].name);
  }
}

void StepData::set_absent(std::span<const int> absent) {
  for (std::size_t i = 0; i < moving.size(); ++i) {
    Moving& m = moving[i];
    const bool is_absent = std::find(absent.begin(), absent.end(), static_cast<int>(i)) != absent.end();
    if (is_absent == m.absent) continue;
    m.absent = is_absent;
    for (std::vector<Vec3>* v : {&m.free, &m.tick_free, &m.change}) std::fill(v->begin(), v->end(), Vec3::Zero());
    finder_.set_absent(static_cast<int>(i), is_absent);
  }
}

bool StepData::begin_free_motion(const StepRequest& request) {
  check(request);
  ++number;
  h = request.h;
  tick = request.tick;
  elapsed_ = request.elapsed;
  guess_ = &last;
  set_absent(request.absent);
  further_.assign(request.rows.begin(), request.rows.end());
  int further = 0;
  for (const StepRows* rows : further_) further += rows->max_rows();
  if (further > further_room_) reserve_rows(2 * further);
  const std::array<double, 2> both{h, tick};
  const std::span time_steps = std::span(both).first(tick > 0.0 ? 2 : 1);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (moving[i].free.empty() || moving[i].absent) continue;
    Body& body = *bodies_[i].body;
    if (!body.begin_linearise(time_steps)) return false;
    if (body.allows_two_threads()) continue;
    for (int which = 0; which < static_cast<int>(time_steps.size()); ++which) {
      if (!finish_free_motion(i, which)) return false;
    }
  }
  return true;
}

bool StepData::finish_free_motion(int which) noexcept {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (moving[i].free.empty() || moving[i].absent || !bodies_[i].body->allows_two_threads()) continue;
    if (!finish_free_motion(i, which)) return false;
  }
  return true;
}

bool StepData::finish_free_motion(std::size_t i, int which) noexcept {
  Moving& m = moving[i];
  Body& body = *bodies_[i].body;
  if (!body.factor(which)) return false;
  body.compute_free_motion(which, which == 0 ? m.free : m.tick_free);
  if (m.side.kind == ConstraintSide::Kind::kLight)
    body.compute_response(which, which == 0 ? m.response : m.tick_response);
  return true;
}

}  // namespace palpate
