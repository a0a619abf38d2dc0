#include "jacobian/neighbours.h"

#include <algorithm>
#include <tuple>

#include "jacobian/halves.h"
#include "palpate/bodies/rigid_body.h"

namespace palpate::jacobian {
namespace {

/// Bodies that are further away than this, counted in contacts, are all as far.
constexpr int kMostRings = 16;
/// A contact that the step leaves nearer than this is about to bear [m].
constexpr double kNear = 5e-4;

}  // namespace

bool Neighbours::are_rigid(const World& world, int tool) {
  if (world.tools().size() > 1) return false;
  for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i) {
    const Body* body = world.body(i);
    if (body && body->block_count() > 0 && i != tool && !dynamic_cast<const RigidBody*>(body)) return false;
  }
  return true;
}

void Neighbours::begin(const SolvedStep& step) {
  of_light_.clear();
  for (int i = 0; i < static_cast<int>(world_.bodies().size()); ++i) {
    const Body* body = world_.body(i);
    if (!body || body->block_count() == 0) continue;
    const ConstraintSide side = step.side(i);
    if (side.kind != ConstraintSide::Kind::kLight) continue;
    if (as_size(side.body) >= of_light_.size()) of_light_.resize(as_size(side.body) + 1, -1);
    if (i != tool_) of_light_[as_size(side.body)] = i;
  }
  rings_.assign(world_.bodies().size(), kMostRings);
  rings_[as_size(tool_)] = 0;
  const auto moves = [&](std::int32_t body) {
    return body >= 0 && world_.body(body) && world_.body(body)->block_count() > 0;
  };
  bool changed = true;
  for (int round = 0; changed && round < kMostRings; ++round) {
    changed = false;
    for (const Contact& c : step.contacts()) {
      if (!moves(c.body_a) || !moves(c.body_b)) continue;
      int &a = rings_[as_size(c.body_a)], &b = rings_[as_size(c.body_b)];
      if (std::abs(a - b) <= 1) continue;
      (a < b ? b : a) = std::min(a, b) + 1;
      changed = true;
    }
  }
}

void Neighbours::list_contacts(const SolvedStep& step, std::size_t room, std::vector<std::pair<double, int>>& out) {
  near_.clear();
  const auto contacts = step.contacts();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    if (c.body_a == tool_ || c.body_b == tool_) continue;
    const int constraint = step.first_contact() + static_cast<int>(i);
    const auto row = as_size(step.problem().constraints()[as_size(constraint)].first_row);
    const double force = step.lambda()[row];
    if (!(force > 0.0) && !(step.problem().delta_free()[row] < kNear)) continue;
    const auto ring = [&](std::int32_t body) { return body < 0 ? kMostRings : rings_[as_size(body)]; };
    const int nearest = std::min(ring(c.body_a), ring(c.body_b));
    if (nearest < kMostRings) near_.emplace_back(nearest, -force, constraint);
  }
  std::sort(near_.begin(), near_.end());
  if (near_.size() > room) near_.resize(room);
  for (const auto& [ring, force, constraint] : near_) out.emplace_back(0.0, constraint);
}

template <typename Velocity>
double Neighbours::sum(const SolvedStep& step, const RowRef& row, const Velocity& velocity) const {
  const ConstraintProblem& problem = step.problem();
  const Constraint& c = problem.constraints()[as_size(row.constraint)];
  double out = 0.0;
  for (const ConstraintSide* side : {&c.a, &c.b}) {
    if (side->kind != ConstraintSide::Kind::kLight) continue;
    const int body = of_light_[as_size(side->body)];
    if (body >= 0) out += light_row(problem, row, side->body).dot(velocity(body));
  }
  return out;
}

double Neighbours::rate(const SolvedStep& step, const RowRef& row) const {
  return sum(step, row, [&](int body) {
    return Vec6(read_blocks(world_.body(body)->velocities()) + read_blocks(step.change(body)));
  });
}

double Neighbours::fall(const SolvedStep& step, const RowRef& row) const {
  return step.h() * sum(step, row, [&](int body) { return read_blocks(step.free_change(body)); });
}

}  // namespace palpate::jacobian
