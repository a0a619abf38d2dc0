#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "palpate/geometry/tet_mesh.h"

namespace palpate {

/// How the shapes of a mesh's tets are spread; complements the extremes of TetMeshReport.
struct TetQuality {
  static constexpr int kBins = 18;
  std::array<int, kBins> dihedral_histogram{};  ///< the six angles of every tet, in bins of 10°
  double mean_smallest_dihedral_deg = 0.0;      ///< over the tets, of the smallest of each
  /// Circumradius over shortest edge: √6/4 = 0.612 for a regular tet; large for needles, though not for slivers.
  double mean_radius_edge = 0.0, worst_radius_edge = 0.0;
  /// Longest edge over smallest height, such that a regular tet has 1: large for whatever is thin.
  double mean_aspect = 0.0, worst_aspect = 0.0;
};

/// For meshes that TetMeshReport::is_clean() holds of.
TetQuality compute_tet_quality(const TetMesh& mesh);

/// Regions that occur and the number of tets in each, in order of region; one entry, 0, if the mesh has no regions.
std::vector<std::pair<std::int32_t, int>> count_regions(const TetMesh& mesh);

}  // namespace palpate
