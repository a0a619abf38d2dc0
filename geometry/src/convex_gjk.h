#pragma once

#include "palpate/geometry/convex_shape.h"

namespace palpate {

/// The nearest points of two convex solids that are apart, in a's frame (Gilbert, Johnson & Keerthi 1988).
///
/// The difference of two points, so its direction is only known up to their rounding over their distance. To be asked
/// where a separating axis is known; what is in touch has a better axis than this one.
struct ConvexGjk {
  Vec3 normal = Vec3::UnitY();                    ///< unit, from b to a
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  ///< [m]
  double distance = 0.0;                          ///< of these points [m]: not less than that of the solids
  double separation = 0.0;                        ///< along `normal` [m]: not more than that of the solids
  std::uint32_t feature = 0;                      ///< the same for the same vertices

  /// `first`: a direction to begin with. At most kMaxIterations supports.
  void compute(const ConvexPolyhedron& a, const ConvexPolyhedron& b, const Pose& X_AB, const Vec3& first) noexcept;
  static constexpr int kMaxIterations = 100;
};

}  // namespace palpate
