#pragma once

#include <cmath>

#include "palpate/geometry/triangle_mesh.h"

// Shapes that the tests of `limited` share.
namespace palpate {

/// Two rectangles that meet along z at the origin, each rising from it at `angle` [rad]: a valley, or a ridge if
/// negative. 80 mm long, 60 mm wide each, in cells of unequal triangles.
inline TriangleMesh make_fold(double angle) {
  TriangleMesh mesh;
  const double c = std::cos(angle), s = std::sin(angle);
  for (const double x : {-0.06, -0.02, -0.007, 0.0, 0.011, 0.03, 0.06}) {
    for (const double z : {-0.04, -0.013, 0.009, 0.04}) mesh.vertices.emplace_back(c * x, s * std::abs(x), z);
  }
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 3; ++k) {
      const int a = 4 * i + k, b = a + 1, d = a + 4, e = a + 5;
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({b, e, d});
    }
  }
  return mesh;
}

}  // namespace palpate
