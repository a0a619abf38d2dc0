#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// A solid of tetrahedra. A tet (a, b, c, d) has positive volume: (b − a) · ((c − a) × (d − a)) > 0.
struct TetMesh {
  std::vector<Vec3> vertices;                     ///< [m]
  std::vector<std::array<std::int32_t, 4>> tets;  ///< indices into `vertices`
  std::vector<std::int32_t> regions;              ///< material region of each tet, ≥ 0; empty means all 0
};

/// Signed volume [m³].
double compute_tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) noexcept;

/// Sum of the tets' signed volumes [m³].
double compute_volume(const TetMesh& mesh) noexcept;

/// A box with edges `size` [m], centred at the origin, of cells[0] × cells[1] × cells[2] cells of five tets: one in the
/// middle and four at alternate corners. Neighbouring cells are mirror images, so the diagonals of their faces match.
/// The vertices run x fastest, then y, then z; the five tets of a cell follow each other. Throws InputError.
TetMesh make_tet_block(const Vec3& size, const std::array<int, 3>& cells);

/// The boundary of a solid of tets or hexes.
struct SolidSurface {
  TriangleMesh mesh;                  ///< outward; its vertices are the boundary's only, in the order of the solid's
  std::vector<std::int32_t> node;     ///< of each surface vertex: index into the solid's vertices
  std::vector<std::int32_t> element;  ///< of each triangle: the tet or hex that it bounds
};

/// The faces that belong to one tet only, in the order of their tets. O(n log n).
SolidSurface extract_surface(const TetMesh& mesh);

/// What a tet mesh is like. Tets with an index out of range, a repeated index or a vertex that is not finite are
/// counted and left out of the rest.
struct TetMeshReport {
  int vertices = 0;
  int tets = 0;
  int not_finite_vertices = 0;
  int out_of_range_tets = 0;  ///< with an index below 0 or past the last vertex
  int collapsed_tets = 0;     ///< with a repeated index
  int inverted_tets = 0;      ///< of negative volume
  int flat_tets = 0;          ///< of no volume within rounding: |V| ≤ 2^-48 of the cube of the longest edge
  int unused_vertices = 0;
  double volume = 0.0;  ///< [m³]
  double smallest_volume = 0.0, largest_volume = 0.0;
  /// Mean ratio 12 (3V)^(2/3) / Σ l² (Liu & Joe 1994): 1 for a regular tet, 0 for a flat one.
  double worst_quality = 0.0, mean_quality = 0.0;
  double smallest_dihedral_deg = 0.0, largest_dihedral_deg = 0.0;

  /// Fit for simulation: nothing broken, flat or inverted.
  bool is_clean() const noexcept;
  /// One line for people.
  std::string describe() const;
};

TetMeshReport check_tet_mesh(const TetMesh& mesh);

}  // namespace palpate
