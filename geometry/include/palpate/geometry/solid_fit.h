#pragma once

#include <string>
#include <vector>

#include "palpate/geometry/triangle_tree.h"

namespace palpate {

/// A place of a surface, and how thick the solid is there.
struct SurfaceSample {
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::Zero();    ///< outward, unit
  double thickness = 0.0;        ///< along the normal, to the other side; what is thicker than two cells counts as that
  bool is_sheet = false;         ///< the other side is nearly parallel: a sheet or a rod rather than the rim of a wedge
};

/// Places of a closed surface about a third of a cell apart, or a fortieth of its size where that is less.
std::vector<SurfaceSample> sample_surface(const TriangleTree& surface, double cell);

/// The samples that a solid does not have: they are outside it, farther than three quarters of a cell or, at sheets and
/// rods, than a quarter of the thickness (of a sixteenth of the cell where it is less).
std::vector<SurfaceSample> find_lost(const std::vector<SurfaceSample>& samples, const TriangleTree& boundary,
                                     double cell);

/// What a closed surface goes round, once where it does so several times [m³]. Exact where it goes round everything
/// once; what is not so is counted by a grid of points, to about a percent.
double compute_enclosed_volume(const TriangleMesh& surface);

/// How a solid that was made from a surface differs from it.
struct SolidFit {
  double volume_change = 0.0;      ///< share of what the surface encloses, once where it does so twice; negative: less
  Vec3 lower_loss = Vec3::Zero();  ///< by how much its box ends before the surface's, at the low ends [m]
  Vec3 upper_loss = Vec3::Zero();  ///< at the high ends
  int parts = 0, surface_parts = 0;  ///< components of the boundary and of the surface
  double lost_share = 0.0;           ///< of the surface's samples, as find_lost() says
  Vec3 lost_at = Vec3::Zero();       ///< the one that is farthest from the solid
  double lost_distance = 0.0;        ///< that one's [m]; 0 if none is lost
  double cell = 0.0;                 ///< that the solid was made with [m]
  double better_cell = 0.0;          ///< one that should keep what is lost [m]

  /// Volume within 5 %, extents within a cell, and nothing came apart.
  bool is_close() const noexcept;
  /// What differs and which cell would keep it, in plain words; empty if is_close().
  std::string describe() const;
};

/// `boundary`: of tets or cells made from `surface`, closed; `cell` [m]: that they were made with.
SolidFit compare_solid(const TriangleTree& surface, const TriangleMesh& boundary, double cell);

/// How thick the thin parts of a closed surface are [m]: what a tenth of the places thinner than a cell are thinner
/// than, or of all places where none is; at most two cells.
double find_thickness(const TriangleTree& surface, double cell);

/// Says, in plain words, that the thin parts of a closed surface cost many times the nodes that its cell [m] asks for,
/// and which cell to try; empty if they do not, or if `nodes` (of the solid that make_tets() made) are few anyway.
std::string describe_refinement(const TriangleTree& surface, std::size_t nodes, double cell);

}  // namespace palpate
