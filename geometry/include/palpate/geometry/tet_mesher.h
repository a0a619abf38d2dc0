#pragma once

#include "palpate/geometry/shapes.h"
#include "palpate/geometry/tet_mesh.h"
#include "palpate/geometry/triangle_tree.h"

namespace palpate {

/// Fills the inside of a shape with tets of nearly equal size: f < 0 is inside, `box` holds all of it, `cell` [m] is
/// the edge of the lattice's cubes (12 tets each, edges of 0.87 and 1 cell).
///
/// Isosurface stuffing (Labelle & Shewchuk 2007, "Isosurface stuffing: fast tetrahedral meshes with good dihedral
/// angles", the uniform variant): tets of a body-centred cubic lattice; lattice points too near to the surface move
/// onto it, the other tets that the surface crosses are cut by a few stencils. The paper proves dihedral angles of
/// 10.7° to 164.8°. Where we depart from it:
///  - cut points are roots of f on the edges, to 1e-7 cell if f is a distance, not one linear interpolation;
///  - quadrangles are divided by where their cuts are, not by edge colour alone, with thresholds that suit that. The
///    proof does not cover this; the tests assert the paper's bounds for smooth shapes and for random fields, where 12°
///    to 157° was seen over three million tets, and 16° to 150° for organ and figure;
///  - at the end, where parts of the solid only touch at an edge or a vertex, the tets that meet there are removed, so
///    that the boundary is a closed manifold.
///
/// Features thinner than about a cell are lost, sharp edges off the lattice are blunted within a cell; the volume of a
/// smooth shape converges with cell². The same input gives the same bits. Throws InputError if the cell is not
/// positive, the lattice would have more than 3e7 points, f is not finite, the shape leaves the box, or nothing is
/// inside.
TetMesh make_tets(const ImplicitFunction& f, const BoundingBox& box, double cell);

/// The same for the inside of a surface, and thin parts are kept (decision 26): where they would be lost, cells are
/// halved, as often as it takes, up to four times the tets that an even lattice has in and around the shape (and 40,000
/// more). Surfaces that lose nothing get the even lattice. Tets of the finer parts have dihedral angles of 7° to 163°
/// on the shapes that were tried; on surfaces that pass through themselves 3° to 168°.
///
/// Inside is where the surface wraps around a point, so parts may overlap or pass through each other. What is lost
/// nevertheless compare_solid() tells (solid_fit.h). Throws also if the surface is not closed and consistently oriented
/// outward; if nothing is left, says which cell to try.
TetMesh make_tets(const TriangleTree& surface, double cell);

}  // namespace palpate
