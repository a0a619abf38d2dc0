#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "palpate/geometry/tet_mesh.h"
#include "palpate/geometry/triangle_tree.h"

namespace palpate {

/// A solid of equal box-shaped cells of a grid, those that something fills.
struct HexGrid {
  Vec3 origin = Vec3::Zero();            ///< lowest corner of cell (0, 0, 0) [m]
  Vec3 cell = Vec3::Zero();              ///< edges of a cell [m]
  std::array<int, 3> cells = {0, 0, 0};  ///< of the grid along each axis, empty ones included

  std::vector<Vec3> vertices;                      ///< corners of filled cells, x fastest, then y, then z [m]
  std::vector<std::array<std::int32_t, 8>> hexes;  ///< corners of each filled cell by bits: x 1, y 2, z 4; ascending
  std::vector<std::array<std::int32_t, 3>> place;  ///< of each filled cell in the grid
  std::vector<double> fill;                        ///< share of each filled cell's volume that is solid, in (0, 1]
  std::vector<std::int32_t> regions;               ///< material region of each filled cell, ≥ 0; empty means all 0
  std::vector<std::int32_t> hex_at;                ///< of each cell of the grid, x fastest; −1 where it is empty

  /// Filled cell that contains `p`, or −1.
  std::int32_t find_hex(const Vec3& p) const noexcept;
};

/// A box with edges `size` [m] centred at the origin, all cells full. Throws InputError.
HexGrid make_hex_grid(const Vec3& size, const std::array<int, 3>& cells);

struct VoxelSettings {
  double cell = 0.01;       ///< edge of the cubes [m]
  int samples = 4;          ///< along each axis of a cell, 1 to 16: the fill is the share of samples inside
  double least_fill = 0.1;  ///< cells with less have this much, so that no node is all but massless; in (0, 1]
};

/// Cubes around a closed surface oriented outward: every cell that has a sample inside it or a vertex of it. The grid
/// is centred on the surface's box. Throws InputError if a setting is out of range or if the grid would have more than
/// 10⁸ cells.
HexGrid make_voxels(const TriangleTree& surface, const VoxelSettings& settings = {});

/// Points that move with the cells they lie in: point i is Σ weights[c] · corner c of hex[i].
struct TrilinearEmbedding {
  std::vector<std::int32_t> hex;
  std::vector<std::array<double, 8>> weights;  ///< sum to 1; negative ones only outside the cell
};

/// A point in no filled cell hangs on the nearest one, extrapolated.
TrilinearEmbedding embed_points(const HexGrid& grid, std::span<const Vec3> points);

/// The boundary of the filled cells, two triangles a face.
SolidSurface extract_surface(const HexGrid& grid);

}  // namespace palpate
