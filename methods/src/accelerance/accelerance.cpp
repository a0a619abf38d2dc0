#include "accelerance/accelerance.h"

#include "accelerance/halves.h"

namespace palpate {
namespace {

Method make(const MethodContext& context, accelerance::Exchange exchange) {
  return {layout_of<accelerance::Model>(), layout_of<accelerance::Feedback>(),
          accelerance::make_slow_half(context, exchange), accelerance::make_fast_half(context), Sharing::kAlone};
}

}  // namespace

Method make_accelerance(const MethodContext& context) {
  return make(context, accelerance::Exchange::kStates);
}

Method make_impulse(const MethodContext& context) {
  return make(context, accelerance::Exchange::kImpulses);
}

std::string refuse_accelerance(const ToolInWorld& c) {
  const World& world = c.world;
  const ToolSettings& tool = c.tool;
  if (tool.bends()) return "the hand must hold a point, a rigid tool or fingers, not a chain or a soft tool";
  if (const auto* rigid = tool.as<HeldRigid>(); rigid && !rigid->convex) return "the pointer must be convex";
  if (world.is_static()) return "nothing in the world can move";
  for (const WorldBody& b : world.bodies()) {
    if (b.body && b.body->block_count() > 2) return "all bodies must be rigid, and \"" + b.name + "\" is not";
  }
  for (const Joint& j : world.joints()) {
    if (c.body() >= 0 && (j.body_a == c.body() || j.body_b == c.body())) return "nothing may be tied to the tool";
  }
  return {};
}

}  // namespace palpate
