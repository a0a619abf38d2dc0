#pragma once

#include <cstdint>
#include <vector>

#include "palpate/geometry/tet_mesh.h"

namespace palpate {

/// Groups the tets with wanted[t] into connected patches of one region, `size` tets each where the mesh allows, by
/// greedy growth across faces: always the neighbour that brings the fewest new vertices, then the one nearest to the
/// seed. Remainders of one or two tets join a neighbouring patch. Of make_tet_block() with size 5 the patches are its
/// cells. Returns the patch of each tet, −1 if not wanted.
std::vector<std::int32_t> make_tet_patches(const TetMesh& mesh, const std::vector<bool>& wanted, int size);

}  // namespace palpate
