#pragma once

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// Parts solids that touch along an edge, so that of its four triangles (or more) each has one neighbour there: each
/// solid gets a vertex of its own in the middle of the edge. Returns how many edges were parted. Edges at which
/// triangles do not enclose solids by turns (a wall inside, a sheet that ends there) stay as they are.
int part_crowded_edges(TriangleMesh& mesh);

}  // namespace palpate
