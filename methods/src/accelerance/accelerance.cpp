#include "accelerance/accelerance.h"

#include "accelerance/halves.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

Method make(const MethodContext& context, accelerance::Exchange exchange) {
  const AcceleranceSettings& s = context.settings.accelerance;
  if (!(s.reach > 0.0 && s.reach <= 10.0)) fail_input("accelerance: reach = {} m; allowed: above 0, up to 10", s.reach);
  if (s.max_neighbours < 1 || s.max_neighbours > AcceleranceSettings::kMostNeighbours)
    fail_input("accelerance: max_neighbours = {}; allowed: 1 to {}", s.max_neighbours,
               AcceleranceSettings::kMostNeighbours);
  if (!(s.test_force > 0.0)) fail_input("accelerance: test_force = {} N; allowed: above 0", s.test_force);
  if (s.max_bodies < 1) fail_input("accelerance: max_bodies = {}; allowed: at least 1", s.max_bodies);
  if (!(s.tolerance > 0.0)) fail_input("accelerance: tolerance = {} m; allowed: above 0", s.tolerance);
  if (s.max_iterations < 1) fail_input("accelerance: max_iterations = {}; allowed: at least 1", s.max_iterations);
  return {layout_of<accelerance::Model>(), layout_of<accelerance::Feedback>(),
          accelerance::make_slow_half(context, exchange), accelerance::make_fast_half(context)};
}

}  // namespace

Method make_accelerance(const MethodContext& context) {
  return make(context, accelerance::Exchange::kStates);
}

Method make_impulse(const MethodContext& context) {
  return make(context, accelerance::Exchange::kImpulses);
}

std::string refuse_accelerance(const World& world, const ToolSettings& tool) {
  if (tool.kind == ToolSettings::Kind::kChain)
    return "the hand must hold a point, a rigid tool or fingers, not a chain";
  if (tool.kind == ToolSettings::Kind::kRigid && !tool.convex) return "the pointer must be convex";
  if (world.is_static()) return "nothing in the world can move";
  for (const WorldBody& b : world.bodies()) {
    if (b.body && b.body->block_count() > 2) return "all bodies must be rigid, and \"" + b.name + "\" is not";
  }
  for (const Joint& j : world.joints()) {
    if (world.tool() >= 0 && (j.body_a == world.tool() || j.body_b == world.tool()))
      return "nothing may be tied to the tool";
  }
  return {};
}

}  // namespace palpate
