#include "palpate/world/world.h"

#include <algorithm>

#include "palpate/bodies/static_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "step_data.h"

// Set-up and state; the step is in step.cpp.
namespace palpate {
namespace {

bool has_frames(const Body* body, const BodyPoint& point, std::span<BlockRows::Entry> scratch) {
  return !body || body->block_count() == 0 || body->compute_turn_row(point, Vec3::UnitX(), scratch) > 0;
}

}  // namespace

World::World(const WorldSettings& settings) : settings_(settings) {}
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
    if (body < 0 || body >= static_cast<int>(bodies_.size()) || !bodies_[as_size(body)].body)
      fail_input("joint \"{}\": {} is body {}; allowed: 0 to {}, and not a plane", joint.name, end, body,
                 static_cast<int>(bodies_.size()) - 1);
    return bodies_[as_size(body)].body.get();
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
  if (!(joint.clearance >= 0.0) || !std::isfinite(joint.clearance))
    fail_input("joint \"{}\": clearance = {} m; allowed: from 0", joint.name, joint.clearance);
  const bool tie = joint.kind == Joint::Kind::kBall || joint.kind == Joint::Kind::kFixed;
  const bool deforms = a->block_count() > 2 || (b && b->block_count() > 2);
  joint.collide = joint.collide && tie && deforms && b;
  if (b && !joint.collide) ignore_contacts(joint.body_a, joint.body_b);
  joints_.push_back(std::move(joint));
  return static_cast<int>(joints_.size()) - 1;
}

void World::ignore_contacts(int a, int b) {
  ignored_.emplace_back(a, b);
}

void World::prepare() {
  if (is_static() || step_) return;
  for (const StaticSurface& s : statics_) {
    ContactShape shape;
    shape.kind = ContactShape::Surface{.two_sided = !check_mesh(s.surface.mesh()).closed};
    shape.friction = s.friction;
    add({s.name, std::make_unique<StaticBody>(s.surface.mesh()), shape});
  }
  step_ = std::make_unique<StepData>(settings_, bodies_, joints_, ignored_);
  save_state(start_);
}

World World::make_twin(const WorldSettings& settings, const BodyTwin& make_body,
                       std::span<const std::pair<int, int>> ignored) const {
  World twin(settings);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const WorldBody& b = bodies_[i];
    WorldBody& other = twin.bodies_.emplace_back();  // not add(), which would give weight to tools that have none
    other = {b.name, b.body ? make_body(static_cast<int>(i), *b.body) : nullptr, b.shape};
    twin.movable_ += other.body && other.body->block_count() > 0 ? 1 : 0;
  }
  twin.joints_ = joints_;
  twin.ignored_ = ignored_;
  twin.ignored_.insert(twin.ignored_.end(), ignored.begin(), ignored.end());
  twin.tools_ = tools_;
  twin.prepare();
  return twin;
}

const ContactMemory& World::memory() const noexcept {
  static const ContactMemory kNothing;
  return step_ ? step_->last : kNothing;
}

BoundingBox World::swept_box(int body) const noexcept {
  return step_ ? step_->swept_box(body) : BoundingBox{};
}

void World::set_memory(const ContactMemory& memory) {
  if (!step_) return;
  step_->last = memory;
  step_->holds_places = true;
}

Vec3 World::compute_contact_force(int body) const noexcept {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < memory().contacts.size(); ++i) {
    if (memory().contacts[i].body_a == body) sum += memory().contact_forces[i];
    if (memory().contacts[i].body_b == body) sum -= memory().contact_forces[i];
  }
  return sum;
}

void World::save_state(WorldState& out) const {
  std::size_t size = 0;
  for (const WorldBody& b : bodies_) size += b.body ? as_size(b.body->state_size()) : 0;
  out.bodies.resize(size);
  std::span<double> rest = out.bodies;
  for (const WorldBody& b : bodies_) {
    if (!b.body) continue;
    b.body->save_state(rest);
    rest = rest.subspan(as_size(b.body->state_size()));
  }
  out.memory = memory();
}

void World::restore_state(const WorldState& state) {
  std::span<const double> rest = state.bodies;
  for (const WorldBody& b : bodies_) {
    if (!b.body) continue;
    b.body->restore_state(rest.first(as_size(b.body->state_size())));
    rest = rest.subspan(as_size(b.body->state_size()));
  }
  if (step_) step_->last = state.memory;
}

void World::reset() {
  restore_state(start_);
  if (step_) step_->holds_places = false;
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
