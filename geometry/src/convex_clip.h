#pragma once

#include "palpate/geometry/convex_shape.h"

namespace palpate {

/// Corners of a face that are clipped: of a face with more of them every second, every third … counts.
inline constexpr int kMaxCorners = 64;

/// A corner of a face while it is clipped; `edge` labels the edge that leaves it.
struct ClipCorner {
  Vec3 p;
  std::uint32_t label, edge;
};
/// Two convex polygons have no more corners in common than both together.
using ClipPolygon = std::array<ClipCorner, 2 * kMaxCorners>;

/// The same for the same pair of features.
inline std::uint32_t mix_labels(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t h = a * 0x9e3779b1u + b * 0x85ebca77u + 0x165667b1u;
  h ^= h >> 15;
  return h * 0x2c1b3c6du;
}

/// A direction in which a face of one solid is held against another one, in the first one's frame.
struct ClipView {
  int face;
  Vec3 up;  ///< unit, within 90° of the face's normal; gaps are distances along it
};

/// Clips the face of `other` that looks most against `view.up`, of those at its lowest corner, by the reference's face;
/// all in the reference's frame, X_RO the other's pose in it. Writes points on the other solid nearer than `max_gap`
/// [m] and returns how many, at most Manifold::kMaxPoints.
int clip_faces(const ConvexPolyhedron& reference, const ClipView& view, const ConvexPolyhedron& other, const Pose& X_RO,
               double max_gap, ClipPolygon& points) noexcept;

}  // namespace palpate
