#include "live.h"

#include <algorithm>

namespace palpate::live {

Layout::Layout(const ToolInWorld& where) {
  const World& world = where.world;
  for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i) {
    const Body* body = world.body(i);
    if (!body || body->block_count() == 0 || i == where.body()) continue;
    soft.push_back(i);
    at.emplace_back(body->block_count(), model_numbers);
    model_numbers += at.back().size();
  }
  tool_numbers = as_size(world.body(where.body())->state_size());
}

SolverSettings tick_solver(const MethodContext& context, double tolerance, int max_iterations) {
  SolverSettings out = context.world.settings().solver;
  const double part = std::min(1.0, context.dt / 0.005);
  out.tolerance = tolerance / (part * part);
  out.max_iterations = max_iterations;
  return out;
}

std::string refuse(const ToolInWorld& where) {
  const World& world = where.world;
  if (where.body() < 0) return kNothingMoves;
  if (world.tools().size() > 1) return "there is more than one tool";
  if (!world.joints().empty()) return "something is tied";
  for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i) {
    const Body* body = world.body(i);
    if (!body || body->block_count() == 0 || i == where.body()) continue;
    if (!dynamic_cast<const FemBody*>(body)) return "something moves that is not soft";
  }
  return {};
}

std::string describe_held(const std::string& reason) {
  return reason.empty() ? "" : "contacts are held until the next model and not live, because " + reason;
}

Method make_method(const MethodContext& context, const LiveSettings& settings) {
  const Layout layout(context.where());
  return {layout.model(), layout.feedback(), make_slow_half(context, settings, layout),
          make_fast_half(context, settings, layout)};
}

}  // namespace palpate::live
