#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

struct MeshFileOptions {
  /// Metres in one unit of the file: mesh files do not say (0.001 for millimetres). Finite and positive.
  double scale = 1.0;
  RepairOptions repair;
};

struct LoadedMesh {
  TriangleMesh mesh;
  MeshReport report;  ///< of the mesh as returned
  MeshRepair repair;  ///< what was done to it
};

/// Reads a triangle mesh, checks, repairs (see repair_mesh) and scales it. The ending tells the format:
///   .obj  v and f lines; texture, normals, groups and materials are skipped
///   .stl  ASCII or binary
///   .ply  ASCII or binary of either byte order, any extra properties
///   .off  also COFF, NOFF, STOFF with comments; not binary OFF
///   .vtk  legacy, POLYDATA, ASCII or binary; not triangle strips
/// Polygons become fans, which is right where they are convex. Coordinates are read in double precision.
///
/// Palpate reads these itself: mesh files often come from elsewhere, so every byte is checked, and nothing is rounded
/// to float on the way.
///
/// Throws InputError naming the file and, for text, the line: missing, not readable, unknown ending, cut short, not
/// of that format, numbers not finite, indices out of range, empty, and what repair_mesh() refuses.
LoadedMesh load_mesh(const std::filesystem::path& path, const MeshFileOptions& options = {});

/// The same of a file's content; `name` tells the format by its ending, and stands in messages.
LoadedMesh parse_mesh(const std::string& name, std::string_view bytes, const MeshFileOptions& options = {});

/// Writes `mesh` in the format that the ending names (.obj, .stl, .ply, .off, .vtk), coordinates such that reading
/// gives the same bits; only .stl (binary) rounds to float and forgets which triangles share a vertex. Throws
/// InputError if the ending is unknown or the file cannot be written.
void write_mesh(const std::filesystem::path& path, const TriangleMesh& mesh);

/// The content of an .off file, which is read as the same bits.
std::string format_off(const TriangleMesh& mesh);

}  // namespace palpate
