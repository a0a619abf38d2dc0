#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "palpate/core/math.h"

namespace palpate {

/// A contact of a point, linearised: the point must stay where normal·x ≥ offset.
struct ContactPlane {
  Vec3 normal = Vec3::UnitY();  ///< unit, into free space
  double offset = 0.0;          ///< [m]
  double friction = 0.0;        ///< Coulomb coefficient μ
};

/// Most planes that settle_on_planes() looks at; a point in space is held by three.
inline constexpr std::size_t kMaxPlanes = 4;

/// Where a point comes to rest on planes, and how hard it presses on each.
struct PlaneContact {
  Vec3 position = Vec3::Zero();  ///< [m]
  /// λ_n of each plane over the point's isotropic stiffness [m]; 0 where it does not touch.
  std::array<double, kMaxPlanes> load{};
  int active = 0;        ///< planes with load > 0
  bool feasible = true;  ///< false: no point satisfies all planes to rounding; position = anchor
};

/// Solves the contact problem of one point with Coulomb friction on at most kMaxPlanes planes (more are ignored).
///
///   min ½|x − target|²  subject to  normal_i·x ≥ offset_i,   |λ_t| ≤ μ λ_n,   λ_t against the sliding
///
/// This is one backward-Euler step of docs/design.md, A(h) Δv = f + hKv + Jᵀλ, for a particle whose A is a multiple of
/// the identity (any isotropic spring, damper and mass): `target` is its free motion, λ = A (x − target)/h.
/// `anchor` is where the sliding starts, normally the point's last position. On one plane the law is exact; where two
/// planes meet in a crease friction acts along the crease with the summed loads of the frictionless problem (the
/// split of loads with friction across the crease has no unique answer); three planes hold the point.
/// Wait-free, bounded, allocates nothing.
PlaneContact settle_on_planes(std::span<const ContactPlane> planes, const Vec3& anchor, const Vec3& target) noexcept;

}  // namespace palpate
