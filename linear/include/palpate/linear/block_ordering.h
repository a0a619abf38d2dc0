#pragma once

#include <cstdint>
#include <vector>

#include "palpate/linear/block_matrix.h"

namespace palpate {

// Elimination orders that keep a Cholesky factor sparse: order[k] is the block eliminated k-th. All work on the graph
// of blocks, a third the size of that of scalars. Set-up only: they allocate. Same pattern, same order, always.

/// Nested dissection (METIS): best for volume meshes. METIS draws from the process's rand(), so calls exclude each
/// other by a mutex and reseed it; `seed` picks one of many orders of about the same quality.
std::vector<int> make_nested_dissection(const BlockPattern& pattern, int seed = 0);

/// Approximate minimum degree: best for small, thin and tree-like bodies.
std::vector<int> make_minimum_degree(const BlockPattern& pattern);

}  // namespace palpate
