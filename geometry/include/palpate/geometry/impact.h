#pragma once

#include <array>

#include "palpate/core/math.h"

namespace palpate {

/// A vertex that goes straight from `start` to `start + motion`.
struct MovingVertex {
  Vec3 start = Vec3::Zero();   ///< [m]
  Vec3 motion = Vec3::Zero();  ///< [m]
};

/// When two moving features first come near, and how they then lie.
struct Impact {
  double time = 0.0;              ///< 0 at the start, 1 at the end of the motion
  Vec3 weights_a = Vec3::Zero();  ///< of a's vertices: a's nearest point then
  Vec3 weights_b = Vec3::Zero();  ///< likewise of b's
  Vec3 normal = Vec3::UnitY();    ///< unit, from b's nearest point to a's then
  double distance = 0.0;          ///< of these points then [m]
};

/// When do two features come within `thickness` of each other?
struct ImpactSettings {
  double thickness = 0.0;  ///< sum of the radii around the features [m], ≥ 0
  /// They count as met from this distance beyond the thickness on [m], > 0: where it is found never later than they
  /// meet, and what passes by at up to this distance may be taken for met.
  double tolerance = 1e-4;
};

/// Additive continuous collision detection (Li, Kaufman & Jiang 2021, "Codimensional incremental potential contact",
/// algorithm 1): moves on by what the distance and the fastest vertex allow, until the features are near or the time is
/// over. No roots, no cases: right for degenerate features too, so segments without length serve as points. The paper
/// stops at a share of the first distance; here at an absolute one, half of which each advance leaves, so that there
/// are at most 2 |motion| / tolerance advances, about ten in practice. Allocates nothing; false for what is not finite.
bool find_impact(const MovingVertex& a, const std::array<MovingVertex, 3>& triangle, const ImpactSettings& settings,
                 Impact& out) noexcept;
bool find_impact(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b,
                 const ImpactSettings& settings, Impact& out) noexcept;

/// True if features that are `distance` [m] apart at the start cannot come near within their motion: find_impact() then
/// finds nothing, and this is quicker.
bool is_out_of_reach(const MovingVertex& a, const std::array<MovingVertex, 3>& triangle, const ImpactSettings& settings,
                     double distance) noexcept;
bool is_out_of_reach(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b,
                     const ImpactSettings& settings, double distance) noexcept;

/// How far the features are apart at the start, at least [m], if they stay farther apart than `distance` [m] all the
/// time, as a few fixed axes show: the face's normal or the edges' common one, and the part of their offset square to
/// the relative motion. A projection on a fixed axis is linear in time, so start and end tell all between. Quick; 0
/// proves nothing.
double find_apart(const MovingVertex& a, const std::array<MovingVertex, 3>& triangle, double distance) noexcept;
double find_apart(const std::array<MovingVertex, 2>& a, const std::array<MovingVertex, 2>& b, double distance) noexcept;

}  // namespace palpate
