#include "solid_surface.h"

namespace palpate {

void drop_inner_vertices(const std::vector<Vec3>& solid, SolidSurface& surface) {
  std::vector<std::int32_t> vertex_of(solid.size(), -1);
  for (const auto& triangle : surface.mesh.triangles) {
    for (const std::int32_t i : triangle) vertex_of[i] = 0;
  }
  for (std::size_t i = 0; i < vertex_of.size(); ++i) {
    if (vertex_of[i] < 0) continue;
    vertex_of[i] = static_cast<std::int32_t>(surface.node.size());
    surface.node.push_back(static_cast<std::int32_t>(i));
    surface.mesh.vertices.push_back(solid[i]);
  }
  for (auto& triangle : surface.mesh.triangles) {
    for (std::int32_t& i : triangle) i = vertex_of[i];
  }
}

}  // namespace palpate
