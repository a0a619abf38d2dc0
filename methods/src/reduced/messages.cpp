#include "reduced/messages.h"

#include "palpate/bodies/fem_body.h"

namespace palpate::reduced {

bool is_reduced(const World& world, int body) {
  return !world.is_tool(body) && dynamic_cast<const FemBody*>(world.body(body)) != nullptr;
}

Layout::Layout(const World& world) {
  const auto count = static_cast<int>(world.bodies().size());
  for (int i = 0; i < count; ++i) {
    if (!world.body(i) || is_reduced(world, i)) continue;
    whole.push_back(i);
    feedback_numbers += as_size(world.body(i)->state_size());
  }
  for (int i = 0; i < count; ++i) {
    if (!is_reduced(world, i)) continue;
    soft.push_back(i);
    const auto vertices = static_cast<int>(world.body(i)->surface().positions.size());
    const int nodes = dynamic_cast<const FemBody&>(*world.body(i)).node_count();
    reduced.emplace_back(vertices, nodes, model_numbers, feedback_numbers);
    model_numbers += reduced.back().model_size();
    feedback_numbers += reduced.back().feedback_size();
  }
}

}  // namespace palpate::reduced
