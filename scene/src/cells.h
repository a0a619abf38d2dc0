#pragma once

#include <array>

#include "palpate/core/math.h"

namespace palpate {

/// How many cells of about that edge fill a block [m].
std::array<int, 3> count_cells(const Vec3& size, double cell);

}  // namespace palpate
