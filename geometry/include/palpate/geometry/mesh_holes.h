#pragma once

#include <string>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// A closed line of edges that have a triangle on one side only.
struct MeshHole {
  std::vector<std::int32_t> loop;  ///< vertices, each once, in the order in which the triangles around run through them
  Vec3 centre = Vec3::Zero();      ///< mean of its vertices [m]
  double diameter = 0.0;           ///< largest distance between two of its vertices along an axis [m]
};

/// All holes of a mesh whose triangles agree (see repair_mesh()), largest first. A line that passes a vertex twice is
/// two holes there. What ends at an edge of three triangles or more has no closed line, and is left out.
std::vector<MeshHole> find_holes(const TriangleMesh& mesh);

/// How many, and of the first few how large and where, in plain words: "1 hole: 12 edges, 0.01 m across, around (0, 0,
/// 0) m".
std::string describe_holes(const std::vector<MeshHole>& holes);

/// Closes the holes and returns how many: the smallest surface of triangles over the line, without new vertices and
/// without an edge that the mesh has already; over lines of more than 400 edges, or where there is none such, triangles
/// to a new vertex at the centre.
int fill_holes(TriangleMesh& mesh);

/// Where two triangles pass through each other that share no edge.
struct SelfIntersection {
  std::int32_t a = 0, b = 0;  ///< triangles
  Vec3 position = Vec3::Zero();
};
/// All of them, in order of `a`. Triangles that only touch, or lie in one plane, do not count.
std::vector<SelfIntersection> find_self_intersections(const TriangleMesh& mesh);

}  // namespace palpate
