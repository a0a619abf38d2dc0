#include "palpate/world/world.h"

#include <algorithm>

#include "palpate/bodies/static_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"

// Set-up and state; the step is in world_step.cpp.
namespace palpate {
namespace {

std::unique_ptr<ConstraintSolver> make_solver(const std::string& name) {
  if (name == "gauss_seidel") return make_gauss_seidel();
  if (name == "accelerated") return make_accelerated_solver();
  if (name == "direct") return make_direct_solver();
  fail_input("solver \"{}\"; allowed: gauss_seidel, accelerated, direct", name);
}

bool has_frames(const Body* body, const BodyPoint& point, std::span<BlockRows::Entry> scratch) {
  return !body || body->block_count() == 0 || body->compute_turn_row(point, Vec3::UnitX(), scratch) > 0;
}

}  // namespace

World::World(const WorldSettings& settings) : settings_(settings), solver_(make_solver(settings.solver_name)) {}
World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

int World::add(WorldBody body) {
  if (body.body && body.body->block_count() > 0) {
    ++movable_;
    body.body->set_gravity(settings_.gravity);
  }
  bodies_.push_back(std::move(body));
  return static_cast<int>(bodies_.size()) - 1;
}

int World::add(Joint joint) {
  const auto check = [&](int body, const char* end) {
    if (body < 0 || body >= static_cast<int>(bodies_.size()) || !bodies_[static_cast<std::size_t>(body)].body)
      fail_input("joint \"{}\": {} is body {}; allowed: 0 to {}, and not a plane", joint.name, end, body,
                 static_cast<int>(bodies_.size()) - 1);
    return bodies_[static_cast<std::size_t>(body)].body.get();
  };
  const Body* a = check(joint.body_a, "its first end");
  const Body* b = joint.body_b < 0 ? nullptr : check(joint.body_b, "its second end");
  std::vector<BlockRows::Entry> scratch(64);
  const bool turns =
      joint.kind == Joint::Kind::kFixed || joint.kind == Joint::Kind::kHinge || joint.kind == Joint::Kind::kSlider;
  if (turns && !(has_frames(a, joint.point_a, scratch) && has_frames(b, joint.point_b, scratch)))
    fail_input("joint \"{}\": fixed, hinge and slider need rigid bodies or chains at both ends; tie others by a ball",
               joint.name);
  if (joint.kind == Joint::Kind::kCurve && joint.curve.size() < 2)
    fail_input("joint \"{}\": its curve has {} points; allowed: two or more", joint.name, joint.curve.size());
  if (!(joint.arm > 0.0)) fail_input("joint \"{}\": arm = {} m; allowed: above 0", joint.name, joint.arm);
  if (joint.lower > joint.upper)
    fail_input("joint \"{}\": lower = {} is above upper = {}", joint.name, joint.lower, joint.upper);
  if (joint.body_b >= 0) ignore_contacts(joint.body_a, joint.body_b);
  joints_.push_back(std::move(joint));
  return static_cast<int>(joints_.size()) - 1;
}

void World::ignore_contacts(int a, int b) {
  ignored_.emplace_back(a, b);
}

void World::prepare() {
  if (is_static() || prepared_) return;
  prepared_ = true;
  for (const StaticSurface& s : statics_) {
    ContactShape shape;
    shape.kind = ContactShape::Kind::kSurface;
    shape.two_sided = !check_mesh(s.surface.mesh()).closed;
    shape.friction = s.friction;
    add({s.name, std::make_unique<StaticBody>(s.surface.mesh()), shape});
  }
  finder_ = std::make_unique<ContactFinder>(settings_.contacts);
  moving_.resize(bodies_.size());
  int dense = 0, light = 0, most_entries = 16;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Body* body = bodies_[i].body.get();
    finder_->add(body, bodies_[i].shape);
    if (!body || body->block_count() == 0) continue;
    Moving& m = moving_[i];
    const auto blocks = static_cast<std::size_t>(body->block_count());
    m.free.assign(blocks, Vec3::Zero());
    m.other_free.assign(blocks, Vec3::Zero());
    m.change.assign(blocks, Vec3::Zero());
    most_entries = std::max(most_entries, body->max_row_entries());
    if (!second_ && body->allows_two_threads()) second_ = std::make_unique<SecondThread>();
    if (blocks <= 2) {
      m.side = {ConstraintSide::Kind::kLight, light++, -1};
      light_.push_back(&m);
      continue;
    }
    m.side = {ConstraintSide::Kind::kDense, dense++, -1};
    const int rows = std::min(body->max_rows(), 3 * settings_.contacts.max_contacts);
    most_dense_rows_ = std::max(most_dense_rows_, std::min(rows, 1024));
    m.rows.reserve(std::min(rows, 1024), std::min(rows, 1024) * body->max_row_entries());
    m.lambda.reserve(static_cast<std::size_t>(rows));
  }
  for (const auto& [a, b] : ignored_) finder_->ignore(a, b);
  entries_.resize(static_cast<std::size_t>(most_entries));
  for (std::size_t i = 0; i < bodies_.size(); ++i) free_changes_.emplace_back(moving_[i].free);
  for (const Moving& m : moving_) changes_.emplace_back(m.change);
  reserve_rows(0);
  contacts_.reserve(static_cast<std::size_t>(settings_.contacts.max_contacts));
  ahead_.reserve(contacts_.capacity());
  bearing_.reserve(contacts_.capacity());
  contact_forces_.reserve(contacts_.capacity());
  foot_offsets_.reserve(contacts_.capacity());
  first_of_joint_.reserve(joints_.size());
  save_state(start_);
}

void World::reserve_rows(std::size_t springs) {
  const int rows =
      3 * (settings_.contacts.max_contacts + static_cast<int>(springs)) + 16 * static_cast<int>(joints_.size());
  const auto light = static_cast<int>(light_.size());
  const auto dense = static_cast<int>(std::count_if(
      moving_.begin(), moving_.end(), [](const Moving& m) { return m.side.kind == ConstraintSide::Kind::kDense; }));
  problem_.reserve(rows, dense, most_dense_rows_, light);
  solver_->reserve(rows, 2 * rows, light);
  lambda_.reserve(static_cast<std::size_t>(rows));
  springs_.reserve(springs);
}

void World::save_state(WorldState& out) const {
  std::size_t size = 0;
  for (const WorldBody& b : bodies_) size += b.body ? static_cast<std::size_t>(b.body->state_size()) : 0;
  out.bodies.resize(size);
  std::span<double> rest = out.bodies;
  for (const WorldBody& b : bodies_) {
    if (!b.body) continue;
    b.body->save_state(rest);
    rest = rest.subspan(static_cast<std::size_t>(b.body->state_size()));
  }
  out.contacts = last_.contacts;
  out.contact_forces = last_.contact_forces;
  out.joint_forces = last_.joint_forces;
}

void World::restore_state(const WorldState& state) {
  std::span<const double> rest = state.bodies;
  for (const WorldBody& b : bodies_) {
    if (!b.body) continue;
    b.body->restore_state(rest.first(static_cast<std::size_t>(b.body->state_size())));
    rest = rest.subspan(static_cast<std::size_t>(b.body->state_size()));
  }
  last_.contacts = state.contacts;
  last_.contact_forces = state.contact_forces;
  last_.joint_forces = state.joint_forces;
}

void World::reset() {
  restore_state(start_);
  springs_.clear();
  for (std::size_t i = 0; i < moving_.size(); ++i) {
    if (moving_[i].absent) set_absent(static_cast<int>(i), false);
  }
}

void World::set_absent(int body, bool absent) {
  const auto is_end = [&](const Joint& j) { return j.body_a == body || j.body_b == body; };
  if (!prepared_ || body < 0 || body >= static_cast<int>(moving_.size()))
    fail_input("set_absent({}): allowed: bodies 0 to {} of a prepared world", body,
               static_cast<int>(moving_.size()) - 1);
  if (absent && std::any_of(joints_.begin(), joints_.end(), is_end))
    fail_input("set_absent({}): a joint holds that body", body);
  Moving& m = moving_[static_cast<std::size_t>(body)];
  m.absent = absent;
  std::fill(m.free.begin(), m.free.end(), Vec3::Zero());
  std::fill(m.other_free.begin(), m.other_free.end(), Vec3::Zero());
  std::fill(m.change.begin(), m.change.end(), Vec3::Zero());
  finder_->set_absent(body, absent);
}

void World::set_springs(std::span<const SpringContact> springs) {
  const auto is_wrong = [&](const SpringContact& s) {
    return s.body < 0 || s.body >= static_cast<int>(moving_.size()) ||
           moving_[static_cast<std::size_t>(s.body)].free.empty() || !(s.stiffness > 0.0) || !(s.damping >= 0.0);
  };
  if (const auto wrong = std::find_if(springs.begin(), springs.end(), is_wrong); wrong != springs.end())
    fail_input("spring on body {}, stiffness {} N/m, damping {} N·s/m; allowed: a body that can move, above 0, from 0",
               wrong->body, wrong->stiffness, wrong->damping);
  if (springs.size() > springs_.capacity()) reserve_rows(2 * springs.size());
  springs_.assign(springs.begin(), springs.end());
}

BodyEnergy World::compute_energy() const noexcept {
  BodyEnergy sum;
  for (const WorldBody& b : bodies_) {
    if (!b.body) continue;
    const BodyEnergy e = b.body->compute_energy();
    sum.kinetic += e.kinetic;
    sum.elastic += e.elastic;
    sum.gravitational += e.gravitational;
  }
  return sum;
}

BodyMomentum World::compute_momentum() const noexcept {
  BodyMomentum sum;
  for (const WorldBody& b : bodies_) {
    if (!b.body) continue;
    const BodyMomentum m = b.body->compute_momentum();
    sum.linear += m.linear;
    sum.angular += m.angular;
  }
  return sum;
}

}  // namespace palpate
