#include "palpate/methods/tool.h"

#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

WorldBody make_point(const ToolSettings& s, const Pose& start) {
  WorldBody out;
  // The contact problem of a point without mass is that of its coupling alone; a body needs some.
  constexpr double kLeastMass = 1e-6;
  out.body = std::make_unique<Particle>(std::max(s.mass, kLeastMass), start.position);
  out.shape.kind = ContactShape::Kind::kPoint;
  out.shape.radius = s.radius;
  return out;
}

WorldBody make_rigid(const ToolSettings& s, const Pose& start, bool with_surface) {
  RigidBodySettings rigid;
  if (with_surface) rigid.surface = s.surface;
  rigid.mass = compute_mass_properties(s.surface, 1.0);
  rigid.mass.inertia *= s.mass / rigid.mass.mass;
  rigid.mass.mass = s.mass;
  rigid.pose = start;
  WorldBody out;
  out.body = std::make_unique<RigidBody>(rigid);
  out.shape.kind = s.convex ? ContactShape::Kind::kHull : ContactShape::Kind::kSurface;
  return out;
}

WorldBody make_chain(const ToolSettings& s, const Pose& start) {
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
  out.shape.kind = ContactShape::Kind::kChain;
  return out;
}

}  // namespace

WorldBody make_tool(const ToolSettings& settings, const Pose& start, const Vec3& gravity, bool with_surface) {
  WorldBody tool;
  switch (settings.kind) {
    case ToolSettings::Kind::kPoint:
      tool = make_point(settings, start);
      break;
    case ToolSettings::Kind::kRigid:
      tool = make_rigid(settings, start, with_surface);
      break;
    case ToolSettings::Kind::kChain:
      tool = make_chain(settings, start);
      break;
  }
  tool.name = "tool";
  tool.shape.friction = settings.friction;
  // A point or rigid tool is weightless in the hand: its weight would only be a bias. A wire hangs by its own.
  tool.body->set_gravity(settings.kind == ToolSettings::Kind::kChain ? gravity : Vec3(Vec3::Zero()));
  return tool;
}

int add_tool(World& world, const ToolSettings& settings, const Pose& start) {
  WorldBody tool = make_tool(settings, start, world.settings().gravity);
  Body& body = *tool.body;
  const int index = world.add(std::move(tool));
  if (settings.kind != ToolSettings::Kind::kChain) body.set_gravity(Vec3::Zero());
  world.set_tool(index);
  return index;
}

}  // namespace palpate
