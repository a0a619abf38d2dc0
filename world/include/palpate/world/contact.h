#pragma once

#include <cstdint>

#include "palpate/bodies/body.h"
#include "palpate/core/math.h"

namespace palpate {

/// Two bodies that touch or may touch within this step.
///
/// Body a must not go below body b: with the feet moving, the gap is (p_a − p_b)·normal, and it may not become
/// negative.
struct Contact {
  std::int32_t body_a = -1;  ///< of the world
  std::int32_t body_b = -1;
  BodyPoint foot_a, foot_b;  ///< the material points that touch
  /// Where they are now [m]: Body::compute_point() of the feet, but for particles and sheets with a radius. These touch
  /// with a point that far from the foot, which moves as the foot does.
  Vec3 point_a = Vec3::Zero();
  Vec3 point_b = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::UnitY();  ///< unit, from b to a
  double gap = 0.0;             ///< [m], negative: they overlap
  double friction = 0.0;        ///< Coulomb coefficient μ of the pair
  std::uint64_t id = 0;         ///< the same from step to step for the same pair of features
};

}  // namespace palpate
