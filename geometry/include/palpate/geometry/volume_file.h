#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "palpate/geometry/hex_grid.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

struct VolumeFileOptions {
  /// Metres in one unit of the file: mesh files do not say (0.001 for millimetres). Finite and positive.
  double scale = 1.0;
  bool allow_hexes = false;  ///< a file of hexahedra is read too, into LoadedVolume::hexes
};

/// What load_volume() did to the tets of a file.
struct VolumeRepair {
  int turned_tets = 0;         ///< of negative volume: two corners swapped
  int dropped_collapsed = 0;   ///< tets that name a node twice; their neighbours still share the remaining face
  int dropped_duplicates = 0;  ///< tets of the same four nodes as an earlier one
  int dropped_vertices = 0;    ///< nodes of no tet
  int straightened_tets = 0;   ///< tets of higher order, of which the corners stay
  int skipped_elements = 0;    ///< points, lines, triangles and quadrangles

  bool changed() const noexcept;
  /// One line for people, naming only what was done; empty if nothing was.
  std::string describe() const;
};

struct LoadedVolume {
  TetMesh mesh;
  TetMeshReport report;  ///< of the mesh as returned
  VolumeRepair repair;   ///< what was done to it
  std::string format;    ///< for people: "Gmsh 4.1", "VTU", …
  /// Of a file of hexahedra, which has no tets: corners by bits (x 1, y 2, z 4), into the mesh's vertices.
  std::vector<std::array<std::int32_t, 8>> hexes;
};

/// Sum of the hexahedra's volumes [m³], each divided into six tets.
double compute_volume(const std::vector<Vec3>& vertices,
                      const std::vector<std::array<std::int32_t, 8>>& hexes) noexcept;

/// Reads a mesh of tetrahedra, checks, repairs and scales it. The ending tells the format:
///   .msh         Gmsh ASCII, versions 1 ($NOD), 2.0–2.2 and 4.1
///   .vtk         VTK legacy unstructured grid, ASCII or binary, cells as before and since version 5.1
///   .vtu         VTK XML unstructured grid: ASCII, base64 or appended (raw or base64), uncompressed or zlib, 32- or
///                64-bit headers, either byte order, any number of pieces
///   .node, .ele  TetGen: either names both; numbered from 0 or 1
///
/// Tets become positively oriented. Regions come from the physical group (Gmsh; the elementary entity if no tet has a
/// group), the first attribute (TetGen), or the cell data named region, material, gmsh:physical, medit:ref or the like
/// (VTK). Without any, regions is empty. Elements of lower dimension are skipped and counted.
///
/// Throws InputError naming the file and the line (text) or byte (binary): missing, not readable, unknown ending or
/// version, binary Gmsh, cut short, counts that do not fit, numbers not finite, indices out of range, hexahedra (but
/// see the options) and other solids that are not tets, regions that are not whole numbers ≥ 0, no tets, and tets
/// without volume (as TetMeshReport::flat_tets): dropping one would part its neighbours, and keeping it makes every
/// stiffness singular.
LoadedVolume load_volume(const std::filesystem::path& path, const VolumeFileOptions& options = {});

/// True if `path` is to be read by load_volume(), false if by load_mesh(): by its ending, and for .vtk by its header.
bool holds_volume(const std::filesystem::path& path);

/// Values at the vertices, to be written along.
struct PointField {
  std::string name;            ///< as ParaView shows it
  int components = 1;          ///< 1 a scalar, 3 a vector
  std::vector<double> values;  ///< components · vertices
};

struct VolumeWriteOptions {
  bool ascii = false;  ///< text where the format has both (.vtu, .vtk); by default binary: smaller, and the same bits
  std::vector<PointField> point_fields;  ///< of .vtu and .vtk; Gmsh files go without
};

/// Writes `mesh` in the format that the ending names: .vtu (base64 or ASCII), .vtk (legacy 3.0), .msh (Gmsh 2.2 ASCII).
/// Reading gives the same bits. Regions go along as cell data `region` or as physical group. Throws InputError if the
/// ending is unknown, a field has the wrong length, or the file cannot be written.
void write_volume(const std::filesystem::path& path, const TetMesh& mesh, const VolumeWriteOptions& options = {});

/// Writes the filled cells as hexahedra, .vtu or .vtk, with `fill` and, if there are any, `region` as cell data.
void write_volume(const std::filesystem::path& path, const HexGrid& grid, const VolumeWriteOptions& options = {});

}  // namespace palpate
