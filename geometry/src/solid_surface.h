#pragma once

#include "palpate/geometry/tet_mesh.h"

namespace palpate {

/// Turns triangles over a solid's vertices into triangles over their own: fills `node` and the mesh's vertices.
void drop_inner_vertices(const std::vector<Vec3>& solid, SolidSurface& surface);

}  // namespace palpate
