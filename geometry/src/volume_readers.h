#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mesh_readers.h"
#include "palpate/geometry/tet_mesh.h"
#include "palpate/geometry/volume_file.h"

// One reader for each format of volume meshes. `name` is the file's, for messages; `bytes` its whole content. Each
// checks every index and every number it hands on; what tets are like is checked afterwards, for all alike.
namespace palpate {

struct RawVolume {
  TetMesh mesh;
  std::vector<std::array<std::int32_t, 8>> hexes;  ///< of VTK's formats; corners by bits: x 1, y 2, z 4
  VolumeRepair repair;                             ///< only what was skipped or straightened
  std::string format;
};

RawVolume read_gmsh(const std::string& name, std::string_view bytes);
RawVolume read_vtk_volume(const std::string& name, std::string_view bytes);
RawVolume read_vtu(const std::string& name, std::string_view bytes);
RawVolume read_tetgen(const std::string& node_name, std::string_view node_bytes, const std::string& ele_name,
                      std::string_view ele_bytes);

/// Surfaces of VTK legacy files (POLYDATA); for load_mesh().
TriangleMesh read_vtk_surface(const std::string& name, std::string_view bytes);
/// The DATASET of a VTK legacy file, in capitals; empty if there is none within the first lines.
std::string find_vtk_dataset(std::string_view bytes);

/// Whole content of a file that must exist and not be empty, 2 GiB at most: every node and corner takes a byte or more,
/// so all counts fit their 32 bits.
std::string read_file_bytes(const std::filesystem::path& path);
void write_file_bytes(const std::filesystem::path& path, std::string_view bytes);
/// The file's ending in lower case; throws if it is not one of `known`.
std::string read_ending(const std::filesystem::path& path, const std::vector<std::string_view>& known);

/// Turns a number from a file into a region; −1 if it is not a whole number from 0 to 2^31 − 1.
inline std::int32_t region_from(double value) noexcept {
  return value >= 0.0 && value <= 2147483647.0 && value == std::floor(value) ? static_cast<std::int32_t>(value) : -1;
}

}  // namespace palpate
