#pragma once

#include "palpate/geometry/convex_shape.h"

namespace palpate {

/// Nearest or deepest points of two convex solids by Bullet's GJK and EPA. In a's frame.
struct ConvexGjk {
  Vec3 normal = Vec3::UnitY();                    ///< unit, from b to a
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  ///< [m]
  /// False where the algorithm gave up or was degenerate.
  bool compute(const ConvexShape& a, const ConvexShape& b, const Pose& X_AB) noexcept;
};

}  // namespace palpate
