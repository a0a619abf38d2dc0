#pragma once

#include <array>

#include "palpate/constraints/point_on_planes.h"
#include "palpate/world/world.h"

namespace palpate {

/// Where a point that wants to go somewhere gets to.
struct SlideResult {
  Vec3 position = Vec3::Zero();  ///< [m]
  double residual = 0.0;         ///< what one more pass would have moved, at most [m]
  int iterations = 0;            ///< segment queries made
  int contacts = 0;              ///< surfaces that hold the point at the end
};

/// Most segment queries in one slide_point(): the bound on a tick's work. A point that needs more stops on its way,
/// outside all surfaces, and goes on in the next tick.
inline constexpr int kMaxSlideQueries = 32;

/// Moves a point from `from` towards `target` as far as surfaces and Coulomb friction let it: the god-object
/// (Zilles & Salisbury 1995) with continuous collision, which is also one backward-Euler step of a particle on an
/// isotropic coupling (see settle_on_planes). On return no surface lies between `from` and `position`.
///
/// The way is a chain of segments, each checked against every surface; a hit adds its plane, and the target becomes
/// the best point on the planes met so far. Planes are forgotten at each new pass, because behind a convex edge the
/// plane of the face before it no longer holds. The point keeps a skin of 1e-10 of the size of its coordinates from
/// each plane: far above rounding, far below anything felt, and free of any absolute length.
/// Wait-free, bounded by kMaxSlideQueries, allocates nothing.
SlideResult slide_point(const World& world, const Vec3& from, const Vec3& target) noexcept;

/// Returns `p`, or where it lies inside a static surface, the nearest point outside it within `max_distance` [m]. World
/// frame. Any thread; allocates nothing, as the tree's queries.
Vec3 push_outside(const World& world, const Vec3& p, double max_distance) noexcept;

}  // namespace palpate
