#pragma once

#include <vector>

#include "palpate/geometry/tet_mesh.h"

namespace palpate {

/// Keeps the tets that `keep` marks, with their regions, in order.
void keep_tets(TetMesh& mesh, const std::vector<bool>& keep);

/// Drops the vertices of no tet and returns how many; the others keep their order.
int drop_unused_vertices(TetMesh& mesh);

}  // namespace palpate
