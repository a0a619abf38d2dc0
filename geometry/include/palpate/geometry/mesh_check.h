#pragma once

#include <string>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// What a mesh is like. Counts are of triangles, vertices or edges as named.
///
/// Triangles with an index out of range, a repeated index or a vertex that is not finite have no place in the surface;
/// they are counted here and left out of all that follows `unused_vertices`.
struct MeshReport {
  int vertices = 0;
  int triangles = 0;
  int not_finite_vertices = 0;
  int out_of_range_triangles = 0;  ///< with an index below 0 or past the last vertex
  int collapsed_triangles = 0;     ///< with a repeated index
  /// Distinct corners, but an area within what rounding of their coordinates can make of none: twice the area at most
  /// 4 · 2^-52 · L · (L + p), L the longest edge and p the largest coordinate.
  int flat_triangles = 0;
  int duplicate_triangles = 0;  ///< same three vertices as an earlier triangle, in any order
  int duplicate_vertices = 0;   ///< same position as an earlier vertex, exactly
  int unused_vertices = 0;

  int edges = 0;
  int boundary_edges = 0;         ///< of one triangle
  int non_manifold_edges = 0;     ///< of three or more
  int inconsistent_edges = 0;     ///< of two triangles that run through it the same way
  int non_manifold_vertices = 0;  ///< whose triangles make more than one fan
  int components = 0;             ///< parts connected through edges
  int euler_characteristic = 0;   ///< vertices − edges + triangles, a vertex counted once for each of its fans
  int genus = -1;                 ///< handles of all components together; −1 unless closed and consistent
  bool closed = false;            ///< every edge has exactly two triangles
  bool consistent = false;        ///< no inconsistent or non-manifold edge
  double volume = 0.0;            ///< [m³], positive if outward; only of a closed mesh, else 0
  BoundingBox box;                ///< of the finite vertices
  double shortest_edge = 0.0;     ///< [m]
  double mean_edge = 0.0;         ///< [m]
  double longest_edge = 0.0;      ///< [m]

  /// Closed, consistent, nothing to repair, and outward: fit for signed distances.
  bool is_clean() const noexcept;
  /// One line for people.
  std::string describe() const;
};

/// Inspects any mesh, however broken. O(n log n).
MeshReport check_mesh(const TriangleMesh& mesh);

/// How many edges have more than two triangles, where, and what to do about it, in plain words; empty if none has.
std::string describe_crowded_edges(const TriangleMesh& mesh);

struct RepairOptions {
  bool refuse_open = false;  ///< an open mesh has no inside; ask for it where one is needed
  /// By default non-manifold edges are reported and kept: closest points and segments need no manifold, and imported
  /// anatomy often has a few. Orientation is not carried across them.
  bool refuse_non_manifold = false;
  bool fill_holes = false;  ///< closes them; see fill_holes(). A guess, so only where it is asked for
};

/// What repair_mesh() did.
struct MeshRepair {
  int merged_vertices = 0;     ///< duplicates replaced by the first of their position
  int dropped_collapsed = 0;   ///< triangles with a repeated index, also those that merging made
  int dropped_duplicates = 0;  ///< triangles
  int dropped_vertices = 0;    ///< unused
  int turned_triangles = 0;    ///< to agree with their neighbours
  int turned_components = 0;   ///< closed parts turned outward as a whole
  int parted_edges = 0;        ///< at which solids touched: each has a vertex of its own in the middle now
  int filled_holes = 0;        ///< if it was asked for

  bool changed() const noexcept;
  /// One line for people, naming only what was done; empty if nothing was.
  std::string describe() const;
};

/// Repairs in place what can be repaired without guessing: merges vertices of exactly equal position, drops collapsed
/// and duplicate triangles and unused vertices, turns triangles to agree within each component (the fewer ones), and
/// turns closed components outward. A closed component that was consistent, points inward and lies inside another one
/// stays: it is a cavity. Edges at which solids touch, of four triangles or more, are parted. Holes are filled if the
/// options say so.
///
/// Flat triangles of three distinct vertices stay: dropping one would open a crack, and queries can do with it.
/// Throws InputError, with `name` in front, for: no triangles (also if none is left), vertices in use that are not
/// finite, indices out of range, surfaces that cannot be oriented (a Möbius strip), and what `options` refuse.
MeshRepair repair_mesh(TriangleMesh& mesh, const RepairOptions& options = {}, const std::string& name = "mesh");

}  // namespace palpate
