#include "accelerance/response.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace palpate::accelerance {
namespace {

/// Of a held row, over its own answer. The tangent proper has next to none; what the fast loop builds its own contacts
/// on must not be so stiff that rounding decides which way it gives.
constexpr double kLeastCompliance = 1e-7, kLocalCompliance = 1e-4;
/// Friction this near to its limit slips.
constexpr double kSlips = 1e-6;

Vec6 read_blocks(std::span<const Vec3> blocks) noexcept {
  Vec6 out = Vec6::Zero();
  for (std::size_t b = 0; b < blocks.size() && b < 2; ++b) out.segment<3>(3 * static_cast<int>(b)) = blocks[b];
  return out;
}

std::int32_t find_place(std::span<const std::int32_t> bodies, std::int32_t body) noexcept {
  const auto at = std::find(bodies.begin(), bodies.end(), body);
  return at == bodies.end() ? -1 : static_cast<std::int32_t>(at - bodies.begin());
}

}  // namespace

bool Response::try_step(Contacts contacts, const StepRows* rows) {
  TriedStep tried;
  tried.request.h = tried.request.elapsed = h_;
  if (absent_ >= 0) tried.request.absent = {&absent_, 1};
  if (rows) tried.request.rows = {&rows, 1};
  tried.max_iterations = sweeps_;
  // Found anew, its contacts are guesses of what will touch; differences of kept ones are taken.
  if (contacts == Contacts::kKept)
    tried.keep = world_.memory().contacts;
  else if (sweeps_ == 0)
    tried.max_iterations = (world_.settings().solver.max_iterations + 2) / 3;
  step_ = palpate::try_step(world_, tried);
  return step_.has_value();
}

Vec6 Response::acceleration(int body) const {
  return read_blocks(step_->change(body)) / h_;
}

/// The row `along` (normal and two tangents) of a contact holds with a force along `force`; of other constraints
/// only the first components are used, one row at a time.
void Response::add_held(const Constraint& c, const Vec3& along, const Vec3& force, double compliance) {
  const ConstraintProblem& problem = step_->problem();
  HeldRow row;
  double own = 0.0;
  std::size_t side_count = 0;
  for (const ConstraintSide* s : {&c.a, &c.b}) {
    if (s->kind != ConstraintSide::Kind::kLight) continue;
    Vec6 J = Vec6::Zero(), Y = Vec6::Zero();
    for (int r = 0; r < 3; ++r) {
      if (along[r] != 0.0) J += along[r] * problem.light_J(s->first + r);
      if (force[r] != 0.0) Y += force[r] * problem.light_Y(s->first + r);
    }
    row.body[side_count] = s->body;
    row.J[side_count] = J;
    row.Y[side_count] = Y;
    own += std::abs(J.dot(Y));
    ++side_count;
  }
  row.compliance = std::max(compliance, least_compliance_ * own);
  if (side_count > 0 && row.compliance > 0.0) held_.push_back(row);
}

/// One that the fast loop can do, if all that it ties and that moves is among the bodies; else null.
LocalJoint* Response::add_local_joint(std::span<const std::int32_t> bodies, std::size_t joint) {
  const Joint& j = world_.joints()[joint];
  const bool room = local_joints_.size() < as_size(kMaxLocalJoints);
  LocalJoint local{static_cast<std::int32_t>(joint), find_place(bodies, j.body_a), find_place(bodies, j.body_b)};
  const auto stands = [&](std::int32_t body) {
    const Body* b = body < 0 ? nullptr : world_.bodies()[as_size(body)].body.get();
    return !b || b->block_count() == 0;
  };
  const bool both = (local.a >= 0 || stands(j.body_a)) && (local.b >= 0 || stands(j.body_b));
  if (!room || !both || (local.a < 0 && local.b < 0) || !joints_.is_local(local.joint)) return nullptr;
  return &local_joints_.emplace_back(local);
}

void Response::collect_joints(std::span<const std::int32_t> bodies, bool local) {
  const ConstraintProblem& problem = step_->problem();
  const std::span<const double> lambda = step_->lambda();
  local_joints_.clear();
  const std::size_t joints = world_.joints().size();
  for (std::size_t j = 0; j < joints; ++j) {
    LocalJoint* own = local ? add_local_joint(bodies, j) : nullptr;
    std::size_t bounded = 0;
    const ConstraintRange range = step_->constraints_of_joint(j);
    for (int i = range.first; i < range.end; ++i) {
      const Constraint& c = problem.constraints()[as_size(i)];
      const auto row = as_size(c.first_row);
      if (c.kind == ConstraintKind::kBounded) {
        const double force = lambda[row];
        if (own && bounded < LocalJoint::kMaxBounded) {
          own->force[bounded++] = force;
          if (own->a >= 0) local_wrenches_[as_size(own->a)] += force * problem.light_J(c.a.first);
          if (own->b >= 0) local_wrenches_[as_size(own->b)] += force * problem.light_J(c.b.first);
          continue;
        }
        if (!(force > c.lower && force < c.upper)) continue;
      }
      for (int r = 0; r < c.rows; ++r) {
        Constraint one = c;
        for (ConstraintSide* s : {&one.a, &one.b}) s->first += r;
        add_held(one, Vec3::UnitX(), Vec3::UnitX(), problem.compliance()[row + as_size(r)]);
      }
    }
  }
}

void Response::collect_held(std::span<const std::int32_t> bodies, bool local) {
  local_contacts_.clear();
  idle_.clear();
  least_compliance_ = local ? kLocalCompliance : kLeastCompliance;
  local_wrenches_.assign(bodies.size(), Vec6::Zero());
  const auto is_near = [&](std::int32_t body) {
    const Body* b = world_.bodies()[as_size(body)].body.get();
    return !b || b->block_count() == 0 || find_place(bodies, body) >= 0;
  };
  const ConstraintProblem& problem = step_->problem();
  const std::span<const double> lambda = step_->lambda();
  delta_.resize(as_size(problem.rows()));
  problem.compute_delta(lambda, delta_);
  held_.clear();
  collect_joints(bodies, local);
  const auto contacts = problem.constraints().subspan(as_size(step_->first_contact()));
  for (std::size_t index = 0; index < contacts.size(); ++index) {
    const Constraint& c = contacts[index];
    const auto row = as_size(c.first_row);
    const double* l = lambda.data() + row;
    const double C = problem.compliance()[row];
    const Contact& contact = step_->contacts()[index];
    const bool room = local_contacts_.size() < as_size(kMaxLocalContacts);
    if (local && room && is_near(contact.body_a) && is_near(contact.body_b)) {
      // Those that push before those that may: there may be more than there is room for.
      if (l[0] > 0.0)
        add_local(bodies, contact, {l[0], l[1], l[2]});
      else
        idle_.push_back(index);
      continue;
    }
    if (!(l[0] > 0.0)) continue;
    const double limit = c.friction * l[0], rubs = std::hypot(l[1], l[2]);
    if (rubs < (1.0 - kSlips) * limit) {
      for (int r = 0; r < 3; ++r) add_held(c, Vec3::Unit(r), Vec3::Unit(r), C);
    } else if (local && room && is_near(contact.body_a) != is_near(contact.body_b)) {
      add_held(c, Vec3::UnitX(), Vec3::UnitX(), C);
      add_local(bodies, contact, {0.0, l[1], l[2]}, limit);
    } else if (rubs > 0.0) {
      const Vec3 slip(0.0, l[1] / rubs, l[2] / rubs), across(0.0, -slip.z(), slip.y());
      const Vec3 follows = local ? Vec3(Vec3::Zero()) : Vec3(c.friction * slip);
      add_held(c, Vec3::UnitX(), Vec3::UnitX() + follows, C);
      add_held(c, across, across, std::max(C, std::hypot(delta_[row + 1], delta_[row + 2]) / limit));
    } else {
      add_held(c, Vec3::UnitX(), Vec3::UnitX(), C);
    }
  }
}

void Response::add_idle(std::span<const std::int32_t> bodies) {
  const auto nearer = [&](std::size_t i, std::size_t j) { return step_->contacts()[i].gap < step_->contacts()[j].gap; };
  std::stable_sort(idle_.begin(), idle_.end(), nearer);
  for (const std::size_t i : idle_) {
    if (local_contacts_.size() < as_size(kMaxLocalContacts)) add_local(bodies, step_->contacts()[i], Vec3::Zero());
  }
}

/// Of a body at a place, at the end of the tried step [m/s].
Vec3 Response::find_velocity(std::int32_t body, const Vec3& place) const {
  const Body* b = world_.bodies()[as_size(body)].body.get();
  if (!b || b->block_count() == 0) return Vec3::Zero();
  const Vec6 u = read_blocks(b->velocities()) + read_blocks(step_->change(body));
  return u.head<3>() + u.tail<3>().cross(place - b->compute_point({}));
}

void Response::add_local(std::span<const std::int32_t> bodies, const Contact& contact, const Vec3& lambda,
                         double limit) {
  const auto foot_of = [&](std::int32_t body, const BodyPoint& foot, const Vec3& point) {
    const Body* b = world_.bodies()[as_size(body)].body.get();
    return b ? b->compute_point(foot) : point;
  };
  LocalContact c;
  c.a = find_place(bodies, contact.body_a);
  c.b = find_place(bodies, contact.body_b);
  c.foot_a = foot_of(contact.body_a, contact.foot_a, contact.point_a);
  c.foot_b = foot_of(contact.body_b, contact.foot_b, contact.point_b);
  c.normal = contact.normal;
  c.friction = contact.friction;
  c.limit = limit;
  c.offset = contact.gap - c.normal.dot(c.foot_a - c.foot_b);
  Vec3 t1, t2;
  make_tangents(c.normal, t1, t2);
  const Vec3 force = lambda.x() * c.normal + lambda.y() * t1 + lambda.z() * t2;
  c.force = lambda;
  if (c.a < 0) {
    std::swap(c.a, c.b);
    std::swap(c.foot_a, c.foot_b);
    c.normal = -c.normal;
    make_tangents(c.normal, t1, t2);
    c.force = {lambda.x(), -force.dot(t1), -force.dot(t2)};
  }
  if (c.a < 0) return;
  const bool first = contact.body_a == bodies[as_size(c.a)];
  if (c.b < 0) c.drift = find_velocity(first ? contact.body_b : contact.body_a, c.foot_b);
  const Vec3 on_a = c.force.x() * c.normal + c.force.y() * t1 + c.force.z() * t2;
  // Feet were places in the world so far.
  const auto settle = [&](std::int32_t side, Vec3& foot, const Vec3& f) {
    if (side < 0) return;
    const Body& b = *world_.bodies()[as_size(bodies[as_size(side)])].body;
    const Vec3 arm = foot - b.compute_point({});
    local_wrenches_[as_size(side)].head<3>() += f;
    if (b.block_count() > 1) local_wrenches_[as_size(side)].tail<3>() += arm.cross(f);
    foot = b.compute_frame({}).conjugate() * arm;
  };
  settle(c.a, c.foot_a, on_a);
  settle(c.b, c.foot_b, -on_a);
  local_contacts_.push_back(c);
}

/// The given ones first, then, ring by ring, what they hold to.
void Response::choose_bodies(std::span<const std::int32_t> bodies, int max_bodies) {
  place_.assign(as_size(step_->problem().light_bodies()), -1);
  chosen_.clear();
  const auto take = [&](std::int32_t light) {
    if (light < 0 || place_[as_size(light)] >= 0) return;
    place_[as_size(light)] = static_cast<std::int32_t>(chosen_.size());
    chosen_.push_back(light);
  };
  for (const std::int32_t b : bodies) take(step_->side(b).body);
  for (std::size_t before = 0; before < chosen_.size();) {
    const auto ring = static_cast<std::int32_t>(before);
    before = chosen_.size();
    for (const HeldRow& row : held_) {
      for (const std::size_t side : {0u, 1u}) {
        if (row.body[0] < 0 || row.body[1] < 0 || static_cast<int>(chosen_.size()) >= max_bodies) continue;
        const std::int32_t place = place_[as_size(row.body[side])];
        if (place >= ring && place < static_cast<std::int32_t>(before)) take(row.body[1 - side]);
      }
    }
  }
}

void Response::fill_system() {
  const auto n = 6 * static_cast<Eigen::Index>(chosen_.size());
  system_.setIdentity(n, n);
  for (const HeldRow& row : held_) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int32_t at = row.body[i] < 0 ? -1 : place_[as_size(row.body[i])];
      if (at < 0) continue;
      const Vec6 Y = row.Y[i] / row.compliance;
      for (std::size_t j = 0; j < 2; ++j) {
        const std::int32_t by = row.body[j] < 0 ? -1 : place_[as_size(row.body[j])];
        if (by >= 0) system_.block<6, 6>(6 * at, 6 * by).noalias() += Y * row.J[j].transpose();
      }
    }
  }
}

void Response::compute_direct(std::span<const std::int32_t> bodies, int max_bodies, bool local, Eigen::MatrixXd& A) {
  const auto n = 6 * static_cast<Eigen::Index>(bodies.size());
  collect_held(bodies, local);
  add_idle(bodies);
  choose_bodies(bodies, max_bodies);
  fill_system();
  right_.setZero(system_.rows(), n);
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    Mat6 R = Mat6::Zero();
    world_.bodies()[as_size(bodies[k])].body->compute_response(0, R);
    right_.block<6, 6>(6 * static_cast<Eigen::Index>(k), 6 * static_cast<Eigen::Index>(k)) = R;
  }
  A = system_.partialPivLu().solve(right_).topRows(n) / (h_ * h_);
  if (local) A = (0.5 * (A + A.transpose())).eval();  // but for rounding it is
}

bool Response::compute_by_tests(std::span<const TestPoint> points, Eigen::MatrixXd& A) {
  const auto n = static_cast<Eigen::Index>(points.size());
  A.setZero(6 * n, 3 * n);
  base_.resize(6, n);
  for (Eigen::Index k = -1; k < n; ++k) {
    for (int axis = 0; axis < (k < 0 ? 1 : 3); ++axis) {
      std::array<Vec3, 2> before{Vec3::Zero(), Vec3::Zero()};
      std::span<Vec3> external;
      if (k >= 0) {
        const TestPoint& p = points[as_size(k)];
        external = world_.bodies()[as_size(p.body)].body->external_forces();
        std::copy(external.begin(), external.end(), before.begin());
        const Vec3 f = p.force * Vec3::Unit(axis);
        external[0] += f;
        if (external.size() > 1) external[1] += p.arm.cross(f);
      }
      const bool done = try_step(Contacts::kKept);
      std::copy_n(before.begin(), external.size(), external.begin());
      if (!done) return false;
      for (Eigen::Index j = 0; j < n; ++j) {
        const Vec6 u = acceleration(points[as_size(j)].body);
        if (k < 0)
          base_.col(j) = u;
        else
          A.block<6, 1>(6 * j, 3 * k + axis) = (u - base_.col(j)) / points[as_size(k)].force;
      }
    }
  }
  return true;
}

}  // namespace palpate::accelerance
