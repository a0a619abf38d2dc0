#include "live.h"

#include <fmt/format.h>

#include <algorithm>

namespace palpate::live {
namespace {

bool is_soft(const Body* body) noexcept {
  return dynamic_cast<const FemBody*>(body) != nullptr;
}

}  // namespace

Layout::Layout(const ToolInWorld& where) {
  const World& world = where.world;
  for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i) {
    const Body* body = world.body(i);
    if (!body || body->block_count() == 0) continue;
    if (i == where.body() || !is_soft(body)) {
      whole.push_back(i);
      state_numbers += as_size(body->state_size());
      continue;
    }
    soft.push_back(i);
    at.emplace_back(body->block_count(), model_numbers);
    model_numbers += at.back().size();
  }
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
  for (const Joint& j : world.joints()) {
    for (const int end : {j.body_a, j.body_b}) {
      if (end >= 0 && is_soft(world.body(end))) return "something soft is tied";
    }
  }
  for (int i = 0; i < static_cast<int>(world.bodies().size()); ++i) {
    const Body* body = world.body(i);
    if (body && i != where.body() && !is_soft(body) && body->block_count() > 2)
      return "something moves that is neither soft nor rigid";
  }
  if (Layout(where).whole.size() > kMaxWhole + 1) return fmt::format("more than {} rigid bodies move", kMaxWhole);
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
