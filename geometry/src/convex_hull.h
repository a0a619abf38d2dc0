#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "palpate/core/math.h"

namespace palpate {

/// The hull of `points` as triangles, numbers into them, counter-clockwise seen from outside; none if all lie in a
/// plane. Exact: no point is outside of a triangle, however many lie in one plane or nearly (Quickhull: Barber, Dobkin
/// & Huhdanpaa 1996, with signs of determinants that are right also where rounding would decide them).
std::vector<std::array<std::int32_t, 3>> compute_hull_triangles(std::span<const Vec3> points);

}  // namespace palpate
