#pragma once

#include <array>
#include <cstdint>

#include "../point_world.h"

namespace palpate::limited {

/// The contact model of `limited`: a patch of triangles around the proxy, each a geometrically limited constraint, how
/// their vertices answer to forces, and the region that they cover. Plain data of fixed size.
/// The feedback is PointFeedback.
///
/// Where Knott & Kuhlen give each constraint its own rows of A_ψ and A_τ, the vertices have theirs: three rows each of
/// C = h A(dt)⁻¹. Every row of the paper's two matrices is a weighted sum of them, with weights that follow the proxy
/// over the triangle, and they are fewer (half as many vertices as triangles).
struct LimitedPatch {
  static constexpr int kMaxTriangles = 4096;
  static constexpr int kMaxVertices = 3072;
  static constexpr int kMaxMoving = 72;  ///< vertices with compliance; others of moving bodies stand still in a tick
  static constexpr int kRows = 3 * kMaxMoving;

  struct Triangle {
    std::array<std::int16_t, 3> vertex;     ///< of this patch, counter-clockwise seen from free space
    std::array<std::int16_t, 3> neighbour;  ///< across the edge from corner i to the next; −1: none in the patch
    std::int16_t moving = 0;                ///< 1: of a body that moves
    std::int16_t compliant = 0;             ///< 1: and all its vertices have compliance
    std::int64_t id = -1;                   ///< the same from model to model
    Vec3 normal;                            ///< unit
    double friction = 0.0;
    double depth = 0.0;  ///< d: how far below it reaches [m]
  };

  MessageHeader header;
  Vec3 centre;             ///< of the trusted box [m]
  double half_edge = 0.0;  ///< of the trusted box [m]: nothing outside of it is known
  double skin = 0.0;       ///< distance that the proxy keeps from every surface, so that rounding cannot cross it [m]
  std::int32_t triangles = 0;
  std::int32_t vertices = 0;
  std::int32_t moving = 0;    ///< vertices with compliance; they are the first
  std::int32_t moves = 0;     ///< 1: there are triangles of bodies that move
  std::int32_t overflow = 0;  ///< 1: there were more triangles within the radius; the box is smaller for it
  std::array<Triangle, kMaxTriangles> triangle;
  std::array<Vec3, kMaxTriangles> middle;    ///< of each triangle's bounding sphere [m]
  std::array<double, kMaxTriangles> extent;  ///< its radius [m]
  std::array<Vec3, kMaxVertices> position;   ///< [m]
  std::array<double, kRows * kRows> C;       ///< [m/N], columns of 3 · moving rows one after the other
};

/// Below this sine of the angle between two faces they count as one plane.
inline constexpr double kFlat = 1e-7;

/// Neither triangle reaches, by its middle, in front of the other: both can be faces of one convex body (Knott &
/// Kuhlen 2015, section 3.4).
inline bool are_mutually_convex(const LimitedPatch& patch, std::int32_t a, std::int32_t b) noexcept {
  const auto i = as_size(a), j = as_size(b);
  const Vec3 apart = patch.middle[j] - patch.middle[i];
  const double flat = kFlat * apart.norm();
  return patch.triangle[i].normal.dot(apart) <= flat && -patch.triangle[j].normal.dot(apart) <= flat;
}

}  // namespace palpate::limited
