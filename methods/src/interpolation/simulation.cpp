#include "interpolation/simulation.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"
#include "palpate/methods/interpolation_settings.h"

namespace palpate::interpolation {
namespace {

/// The stable step is looked up again after so many integration steps: elements stretch meanwhile, by less than the
/// margin, and looking costs as much as a step.
constexpr int kReviewEvery = 8;
/// A node that is faster has left the range in which anything is soft [m/s].
constexpr double kSaneSpeed = 1e3;

double combine_friction(double a, double b) noexcept {
  if (std::isnan(a)) return std::isnan(b) ? 0.0 : b;
  return std::isnan(b) ? a : std::sqrt(a * b);
}

/// Explicit integration needs the elements, which Body does not show; asked once, at set-up.
NonlinearTets* as_soft(Body* body) noexcept {
  return dynamic_cast<NonlinearTets*>(body);
}

}  // namespace

std::string refuse_simulation(const World& world, const ToolSettings& tool) {
  if (tool.bends()) return "the hand must hold fingers, a rigid tool or a ball, not what bends";
  if (tool.is<HeldPoint>() && !(tool.radius() > 0.0))
    return "a point without a radius meets no node; give the tool one";
  if (!world.joints().empty()) return "there are joints, which it does not simulate";
  int soft = 0;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    const WorldBody& b = world.bodies()[i];
    if (!b.body || world.is_tool(static_cast<int>(i)) || b.body->block_count() == 0) continue;
    const NonlinearTets* tets = as_soft(b.body.get());
    if (!tets)
      return fmt::format("\"{}\" is not a soft body of model st_venant_kirchhoff or neo_hookean, which is all it moves",
                         b.name);
    if (tets->patch_count() > 0)
      return fmt::format("\"{}\" is nearly incompressible; its poisson_ratio may be up to 0.4", b.name);
    if (tets->has_stiffness_damping())
      return fmt::format("\"{}\" has stiffness_damping, which explicit integration has not; use mass_damping", b.name);
    ++soft;
  }
  return soft > 0 ? "" : "there is no soft body";
}

Simulation::Simulation(const MethodContext& c, std::vector<Finger> fingers)
    : settings_(c.settings.get<InterpolationSettings>("interpolation")), finger_shapes_(std::move(fingers)) {
  for (std::size_t i = 0; i < finger_shapes_.size(); ++i) {
    proxies_.push_back(make_finger_proxy(finger_shapes_[i], static_cast<int>(i), c.tool.friction));
    proxies_.back().move_to(compute_finger_pose(finger_shapes_[i], c.start));
    if (!(proxies_.back().radius > 0.0))
      fail_input("interpolation: finger {} has radius {} m; allowed: above 0, or a shape", i, proxies_.back().radius);
  }
  motions_.resize(finger_shapes_.size());
  for (const StaticSurface& s : c.world.static_surfaces()) proxies_.push_back(make_surface_proxy(s));
  for (std::size_t i = 0; i < c.world.bodies().size(); ++i) {
    WorldBody& b = c.world.bodies()[i];
    const auto* plane = b.shape.as<ContactShape::Plane>();
    if (!b.body && plane) proxies_.push_back(make_plane_proxy(*plane, b.shape.friction));
    NonlinearTets* body = c.world.is_tool(static_cast<int>(i)) ? nullptr : as_soft(b.body.get());
    if (!body) continue;
    softs_.push_back({body, ExplicitTets(*body, settings_.linear_strain), {}, b.shape.friction, 0.0, {}, {}});
    Soft& soft = softs_.back();
    // Every vertex of the surface is a node of its own.
    std::vector<BlockRows::Entry> entries(as_size(body->max_row_entries()));
    std::vector<bool> seen(as_size(body->node_count()), false);
    const BodySurface surface = body->surface();
    for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
      for (int corner = 0; corner < 3; ++corner) {
        body->compute_point_row({static_cast<std::int32_t>(t), Vec3::Unit(corner), Vec3::Zero()}, Vec3::UnitX(),
                                entries);
        const auto hit = std::find_if(entries.begin(), entries.end(), [](const auto& e) { return e.value.x() == 1.0; });
        if (hit != entries.end()) seen[as_size(hit->block)] = true;
      }
    }
    soft.lightest = std::numeric_limits<double>::infinity();
    for (int n = 0; n < body->node_count(); ++n) {
      if (!seen[as_size(n)]) continue;
      soft.nodes.push_back(n);
      soft.lightest = std::min(soft.lightest, soft.tets.mass(n));
    }
    soft.held.reserve(kMaxNodeContacts * soft.nodes.size());
  }
  for (Soft& soft : softs_) soft.clearances.resize(soft.nodes.size() * proxies_.size());
}

void Simulation::read_bodies() {
  for (Soft& s : softs_) {
    const NonlinearTets& body = *s.body;
    bool changed = false;
    for (int i = 0; i < body.node_count(); ++i) {
      const auto k = as_size(i);
      s.tets.set_load(i, body.masses()[k] * body.gravity() + body.external_forces()[k]);
      if (body.is_prescribed(i))
        s.tets.prescribe(i, body.prescribed_velocity(i));
      else if (s.tets.is_prescribed(i))
        s.tets.release(i);
      else if (body.velocities()[k] != s.tets.velocity(i))
        changed = true;
      changed = changed || body.positions()[k] != s.tets.position(i);
    }
    if (!changed) continue;
    for (int i = 0; i < body.node_count(); ++i) {
      const auto k = as_size(i);
      s.tets.set_position(i, body.positions()[k]);
      if (!body.is_prescribed(i)) s.tets.set_velocity(i, body.velocities()[k]);
    }
    s.held.clear();
    s.tets.restart();
  }
}

void Simulation::write_bodies() const {
  for (const Soft& s : softs_) {
    std::vector<Vec3> x, v;
    for (int i = 0; i < s.tets.node_count(); ++i) {
      x.push_back(s.tets.position(i));
      v.push_back(s.tets.velocity(i));
    }
    s.body->set_positions(x);
    s.body->set_velocities(v);
  }
}

void Simulation::stop_bodies() {
  for (Soft& s : softs_) {
    const std::vector<Vec3> still(as_size(s.body->node_count()), Vec3::Zero());
    s.body->set_velocities(still);
  }
  read_bodies();
}

void Simulation::save(State& out) const {
  out.tets.resize(softs_.size());
  out.held.resize(softs_.size());
  for (std::size_t i = 0; i < softs_.size(); ++i) {
    softs_[i].tets.save(out.tets[i]);
    out.held[i] = softs_[i].held;
  }
  out.proxies = proxies_;
}

void Simulation::restore(const State& state) {
  for (std::size_t i = 0; i < softs_.size(); ++i) {
    softs_[i].tets.restore(state.tets[i]);
    softs_[i].held = state.held[i];
  }
  proxies_ = state.proxies;
}

/// Of all bodies, with the springs of a penalty at their lightest nodes.
double Simulation::compute_step_limit() const noexcept {
  double limit = std::numeric_limits<double>::infinity();
  for (const Soft& s : softs_) {
    double squared = 4.0 / std::pow(s.tets.compute_stable_step(), 2);
    if (settings_.contact == InterpolationSettings::Contact::kPenalty)
      squared += settings_.penalty_stiffness / s.lightest;
    limit = std::min(limit, 2.0 / std::sqrt(squared));
  }
  return settings_.margin * limit;
}

void Simulation::aim_fingers(const DeviceState& target, double seconds) noexcept {
  for (std::size_t i = 0; i < motions_.size(); ++i) {
    const Pose& now = proxies_[i].pose;
    Pose to = compute_finger_pose(finger_shapes_[i], target);
    if (static_cast<int>(i) == displaced_) to.position += displacement_;
    const Vec3 way = to.position - now.position;
    const Vec3 turn = rotation_vector(to.rotation * now.rotation.conjugate());
    const double speed = way.norm() / seconds;
    const double share = speed > settings_.max_speed ? settings_.max_speed / speed : 1.0;
    motions_[i] = {now, {share / seconds * way, share / seconds * turn}};
    proxies_[i].velocity = motions_[i].velocity;
  }
}

void Simulation::move_fingers(double time) noexcept {
  for (std::size_t i = 0; i < motions_.size(); ++i) {
    const Motion& m = motions_[i];
    proxies_[i].move_to({m.from.position + time * m.velocity.linear,
                         (rotation_from_vector(time * m.velocity.angular) * m.from.rotation).normalized()});
  }
}

void Simulation::add_impulse(int proxy, const Vec3& at, const Vec3& impulse, Felt& felt) const noexcept {
  const Proxy& p = proxies_[as_size(proxy)];
  if (p.finger < 0) return;
  const auto f = as_size(p.finger);
  felt.force[f] -= impulse;
  felt.torque[f] -= (at - p.pose.position).cross(impulse);
}

void Simulation::collide_body(Soft& soft, double dt, Felt& felt) noexcept {
  // Ours slows nodes down that would come in within the next step, and pushes out what is in. The paper's lets depth
  // be, and must: a node on its way out would keep the acceleration that sent it.
  const bool ours = settings_.contact == InterpolationSettings::Contact::kInelastic;
  const CollisionRules rules{settings_.contact, dt, ours ? settings_.push_out_speed : 0.0, settings_.penalty_stiffness};
  const double skin = ours ? settings_.max_speed * dt : 0.0;
  soft.held.clear();
  std::array<NodeContact, kMaxNodeContacts> contacts;
  for (std::size_t k = 0; k < soft.nodes.size(); ++k) {
    const int n = soft.nodes[k];
    Clearance* memory = &soft.clearances[k * proxies_.size()];
    if (soft.tets.is_prescribed(n)) continue;
    const Vec3 x = soft.tets.position(n);
    std::size_t count = 0;
    for (std::size_t p = 0; p < proxies_.size() && count < contacts.size(); ++p) {
      Touch touch;
      if (proxies_[p].is_far(x, skin) || !find_touch(proxies_[p], x, skin, touch, memory[p])) continue;
      contacts[count++] = {static_cast<int>(p), combine_friction(proxies_[p].friction, soft.friction), touch};
    }
    if (count == 0) continue;
    NodeState node{soft.tets.mass(n),     soft.tets.damping(n),      soft.tets.force(n),
                   soft.tets.velocity(n), soft.tets.acceleration(n), x};
    collide(rules, proxies_, node, {contacts.data(), count});
    soft.tets.set_velocity(n, node.velocity);
    soft.tets.set_acceleration(n, node.acceleration);
    for (const NodeContact& c : std::span(contacts).first(count)) {
      felt.penetration = std::max(felt.penetration, -c.touch.gap);
      if (c.before.squaredNorm() + c.after.squaredNorm() == 0.0) continue;
      add_impulse(c.proxy, x, 0.5 * dt * c.before, felt);
      if (proxies_[as_size(c.proxy)].finger >= 0) ++felt.contacts;
      soft.held.push_back({n, c.proxy, c.after});
    }
  }
}

void Simulation::add_end_forces(Felt& felt) const noexcept {
  felt.force.fill(Vec3::Zero());
  felt.torque.fill(Vec3::Zero());
  for (const Soft& s : softs_) {
    for (const Held& h : s.held) add_impulse(h.proxy, s.tets.position(h.node), h.force, felt);
  }
}

Felt Simulation::advance(const DeviceState& target, double seconds) {
  Felt felt;
  felt.force.fill(Vec3::Zero());
  felt.torque.fill(Vec3::Zero());
  aim_fingers(target, seconds);
  double done = 0.0, dt = 0.0;
  int left = 0;
  while (felt.steps == 0 || left > 0) {
    if (felt.steps % kReviewEvery == 0) {
      const double limit = settings_.time_step > 0.0 ? settings_.time_step : compute_step_limit();
      if (felt.steps == 0 || dt > limit) {
        // Equal steps to the end, as the paper's collisions want them; shorter from here on if elements have stretched.
        const double wanted = std::ceil((seconds - done) / limit * (1.0 - 1e-9));
        felt.behind = !(wanted <= settings_.max_steps - felt.steps);
        left = felt.behind ? settings_.max_steps - felt.steps : std::max(1, static_cast<int>(wanted));
        dt = felt.behind ? limit : (seconds - done) / left;
        if (!std::isfinite(dt) || left == 0) break;
      }
    }
    for (Soft& s : softs_) {
      for (const Held& h : s.held) add_impulse(h.proxy, s.tets.position(h.node), 0.5 * dt * h.force, felt);
      s.tets.advance(dt);
    }
    done += dt;
    ++felt.steps;
    --left;
    move_fingers(done);
    felt.contacts = 0;
    felt.penetration = 0.0;
    for (Soft& s : softs_) collide_body(s, dt, felt);
  }
  felt.finite = felt.steps > 0;
  for (const Soft& s : softs_) {
    for (int i = 0; i < s.tets.node_count(); ++i) {
      const bool sane = s.tets.velocity(i).squaredNorm() < kSaneSpeed * kSaneSpeed && s.tets.position(i).allFinite();
      felt.finite = felt.finite && sane;
    }
  }
  if (!felt.finite) return felt;
  if (settings_.force == InterpolationSettings::Force::kEnd) {
    add_end_forces(felt);
  } else {
    for (Vec3& f : felt.force) f /= done;
    for (Vec3& t : felt.torque) t /= done;
  }
  return felt;
}

}  // namespace palpate::interpolation
