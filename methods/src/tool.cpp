#include "palpate/methods/tool.h"

#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

WorldBody make_body(const HeldPoint& s, const Pose& start, bool) {
  WorldBody out;
  // The contact problem of a point without mass is that of its coupling alone; a body needs some.
  constexpr double kLeastMass = 1e-6;
  out.body = std::make_unique<Particle>(std::max(s.mass, kLeastMass), start.position);
  out.shape.kind = ContactShape::Point{s.radius};
  return out;
}

WorldBody make_body(const HeldRigid& s, const Pose& start, bool with_surface) {
  RigidBodySettings rigid;
  if (with_surface) rigid.surface = s.surface;
  rigid.mass = compute_mass_properties(s.surface, 1.0);
  rigid.mass.inertia *= s.mass / rigid.mass.mass;
  rigid.mass.mass = s.mass;
  rigid.pose = start;
  WorldBody out;
  out.body = std::make_unique<RigidBody>(rigid);
  if (s.convex)
    out.shape.kind = ContactShape::Hull{};
  else
    out.shape.kind = ContactShape::Surface{};
  return out;
}

WorldBody make_body(const HeldChain& s, const Pose& start, bool) {
  if (s.beams < 1 || s.beams > 1000) fail_input("tool: {} beams; allowed: 1 to 1000", s.beams);
  std::vector<Vec3> points;
  for (int i = 0; i <= s.beams; ++i)
    points.push_back(start.position - start.rotation * Vec3(0.0, s.length * i / s.beams, 0.0));
  BeamChainSettings chain;
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(s.radius, s.material.poisson_ratio);
  chain.material = s.material;
  WorldBody out;
  out.body = std::make_unique<BeamChain>(chain);
  out.shape.kind = ContactShape::Chain{};
  return out;
}

WorldBody make_body(const HeldSoft& s, const Pose& start, bool) {
  TetMesh mesh = s.volume;
  for (Vec3& x : mesh.vertices) x = start.position + start.rotation * x;
  CorotationalTetSettings settings;
  settings.fem.max_rows = 192;
  auto body = std::make_unique<CorotationalTets>(mesh, std::span(&s.material, 1), settings);
  body->set_handle(start, s.hold_radius);
  WorldBody out;
  out.body = std::move(body);
  out.shape.kind = ContactShape::Surface{};
  return out;
}

[[noreturn]] WorldBody make_body(const HeldFingers&, const Pose&, bool) {
  fail_input("tool: fingers are where the hand has them and no body of the world");
}

}  // namespace

Pose compute_finger_pose(const Finger& finger, const DeviceState& hand) noexcept {
  const Vec3 turn = rotation_vector(finger.closed.rotation * finger.open.rotation.conjugate());
  Pose out;
  out.position =
      hand.pose.position +
      hand.pose.rotation * (finger.open.position + hand.grip * (finger.closed.position - finger.open.position));
  out.rotation = hand.pose.rotation * rotation_from_vector(hand.grip * turn) * finger.open.rotation;
  return out;
}

Twist compute_finger_velocity(const Finger& finger, const DeviceState& hand) noexcept {
  const Vec3 turn = rotation_vector(finger.closed.rotation * finger.open.rotation.conjugate());
  const Vec3 arm = compute_finger_pose(finger, hand).position - hand.pose.position;
  Twist out;
  out.angular = hand.velocity.angular + hand.pose.rotation * (hand.grip_rate * turn);
  out.linear = hand.velocity.linear + hand.velocity.angular.cross(arm) +
               hand.pose.rotation * (hand.grip_rate * (finger.closed.position - finger.open.position));
  return out;
}

std::vector<Finger> make_fingers(const ToolSettings& settings) {
  if (settings.bends()) fail_input("tool: what bends is no pointer; hold a point, a rigid body or fingers");
  if (const auto* point = settings.as<HeldPoint>())
    return {{.surface = {}, .radius = point->radius, .open = {}, .closed = {}}};
  if (const auto* rigid = settings.as<HeldRigid>())
    return {{.surface = rigid->surface, .radius = 0.0, .open = {}, .closed = {}}};
  const std::vector<Finger>& fingers = std::get<HeldFingers>(settings.kind).fingers;
  if (fingers.empty() || fingers.size() > kMaxFingers)
    fail_input("tool: {} fingers; allowed: 1 to {}", fingers.size(), kMaxFingers);
  return fingers;
}

WorldBody make_tool(const ToolSettings& settings, const Pose& start, const Vec3& gravity, bool with_surface) {
  WorldBody tool = std::visit([&](const auto& kind) { return make_body(kind, start, with_surface); }, settings.kind);
  tool.name = "tool";
  tool.shape.friction = settings.friction;
  // A point or rigid tool is weightless in the hand: its weight would only be a bias.
  tool.body->set_gravity(settings.bends() ? gravity : Vec3(Vec3::Zero()));
  return tool;
}

int add_tool(World& world, const ToolSettings& settings, const Pose& start) {
  WorldBody tool = make_tool(settings, start, world.settings().gravity);
  Body& body = *tool.body;
  const int index = world.add(std::move(tool));
  if (!settings.bends()) body.set_gravity(Vec3::Zero());
  world.mark_tool(index);
  return index;
}

}  // namespace palpate
