#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "palpate/geometry/triangle_tree.h"

namespace palpate {

/// A body that never moves: its surface, in the world frame, and how it rubs.
struct StaticSurface {
  std::string name;
  TriangleTree surface;
  double friction = 0.0;  ///< Coulomb coefficient μ
};

/// Where a segment first meets a body.
struct WorldHit {
  SegmentHit hit;
  std::int32_t body = -1;
};

/// The point of all surfaces nearest to a query.
struct WorldClosest {
  ClosestPoint closest;
  Vec3 normal = Vec3::UnitY();  ///< unit, outward, of the face, edge or vertex that the point lies on
  double signed_distance = std::numeric_limits<double>::infinity();  ///< [m], negative inside
  std::int32_t body = -1;
};

/// All bodies. Built at set-up, then const: queries are noexcept, allocate nothing and may run in any thread.
class World {
 public:
  void add(StaticSurface body) { bodies_.push_back(std::move(body)); }
  std::span<const StaticSurface> bodies() const noexcept { return bodies_; }

  /// The first surface that the segment a→b crosses, from either side.
  bool find_first_hit(const Vec3& a, const Vec3& b, WorldHit& out) const noexcept;
  /// The nearest surface point within `max_distance` [m] of p.
  bool find_closest(const Vec3& p, double max_distance, WorldClosest& out) const noexcept;

 private:
  std::vector<StaticSurface> bodies_;
};

}  // namespace palpate
