#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "palpate/core/math.h"

namespace palpate {

/// A surface of triangles. A triangle names its three vertices counter-clockwise seen from outside.
struct TriangleMesh {
  std::vector<Vec3> vertices;                          ///< [m]
  std::vector<std::array<std::int32_t, 3>> triangles;  ///< indices into `vertices`
};

/// An axis-aligned box; empty (lower > upper) until something is added.
struct BoundingBox {
  Vec3 lower = Vec3::Constant(std::numeric_limits<double>::infinity());   ///< [m]
  Vec3 upper = Vec3::Constant(-std::numeric_limits<double>::infinity());  ///< [m]

  bool is_empty() const noexcept { return !(lower.array() <= upper.array()).all(); }
  Vec3 center() const noexcept { return 0.5 * (lower + upper); }
  Vec3 size() const noexcept { return upper - lower; }
  void add(const Vec3& p) noexcept {
    lower = lower.cwiseMin(p);
    upper = upper.cwiseMax(p);
  }
};

BoundingBox compute_bounding_box(std::span<const Vec3> vertices) noexcept;

/// Twice the triangle's area times its unit normal, by its winding [m²]; zero for a degenerate triangle.
Vec3 compute_area_normal(const Vec3& a, const Vec3& b, const Vec3& c) noexcept;

/// Unit normal of triangle `t` by its winding; zero if the triangle has no area. Any thread, also in a tick.
Vec3 compute_unit_normal(const TriangleMesh& mesh, std::int32_t t) noexcept;

/// Sum of the triangles' areas [m²].
double compute_area(const TriangleMesh& mesh) noexcept;

/// Enclosed volume [m³] by the divergence theorem, positive if a closed mesh is oriented outward. Of an open mesh it
/// is the volume of the cone over it from the centre of its bounding box, and means little.
double compute_volume(const TriangleMesh& mesh) noexcept;

}  // namespace palpate
