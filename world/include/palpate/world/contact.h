#pragma once

#include <cstdint>

#include "palpate/bodies/body.h"
#include "palpate/core/math.h"

namespace palpate {

/// Two bodies that touch or may touch within a step. Places and directions are in the world frame, as they are when
/// the contact is found, at the start of the step.
///
/// Body a must not go below body b: the gap may not become negative. As bodies move it is
///   gap = normal·(p_a − p_b) + offset,  p_a and p_b being where Body::compute_point() has the feet.
struct Contact {
  std::int32_t body_a = -1;  ///< which of World::bodies()
  std::int32_t body_b = -1;  ///< which of World::bodies()
  BodyPoint foot_a, foot_b;  ///< the material points that touch
  /// Where they touch [m]: at the feet, but for particles and sheets with a radius. These touch with a point that far
  /// from the foot, which moves as the foot does.
  Vec3 point_a = Vec3::Zero();
  Vec3 point_b = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::UnitY();  ///< unit, from b to a
  double gap = 0.0;             ///< [m], negative: they overlap
  double offset = 0.0;          ///< gap less the distance of the feet along the normal [m]
  double friction = 0.0;        ///< Coulomb coefficient μ of the pair
  std::uint64_t id = 0;         ///< the same from step to step for the same pair of features
};

}  // namespace palpate
