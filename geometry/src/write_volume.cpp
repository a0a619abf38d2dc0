#include <array>
#include <iterator>

#include "volume_readers.h"
#include "vtk_writer.h"

namespace palpate {
namespace {

std::string format_gmsh(const TetMesh& mesh) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3& p = mesh.vertices[i];
    fmt::format_to(to, "{} {} {} {}\n", i + 1, p.x(), p.y(), p.z());
  }
  fmt::format_to(to, "$EndNodes\n$Elements\n{}\n", mesh.tets.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& [a, b, c, d] = mesh.tets[t];
    const std::int32_t region = mesh.regions.empty() ? 0 : mesh.regions[t];
    fmt::format_to(to, "{} 4 2 {} {} {} {} {} {}\n", t + 1, region, region, a + 1, b + 1, c + 1, d + 1);
  }
  fmt::format_to(to, "$EndElements\n");
  return fmt::to_string(out);
}

void write_vtk_grid(const std::filesystem::path& path, const std::string& ending, const VtkGrid& grid,
                    const VolumeWriteOptions& options) {
  check_fields(path.string(), grid);
  write_file_bytes(path, ending == ".vtu" ? format_vtu(grid, options.ascii) : format_vtk_legacy(grid, options.ascii));
}

}  // namespace

void write_volume(const std::filesystem::path& path, const TetMesh& mesh, const VolumeWriteOptions& options) {
  const std::string name = path.string();
  const std::string ending = read_ending(path, {".vtu", ".vtk", ".msh"});
  if (!mesh.regions.empty() && mesh.regions.size() != mesh.tets.size()) {
    fail_input("{}: {} regions for {} tets", name, mesh.regions.size(), mesh.tets.size());
  }
  if (ending == ".msh") {
    write_file_bytes(path, format_gmsh(mesh));
    return;
  }
  VtkGrid grid{mesh.vertices, {}, 4, kVtkTet, mesh.regions, {}, options.point_fields};
  if (!mesh.tets.empty()) grid.nodes = {mesh.tets.data()->data(), 4 * mesh.tets.size()};
  write_vtk_grid(path, ending, grid, options);
}

void write_volume(const std::filesystem::path& path, const HexGrid& grid, const VolumeWriteOptions& options) {
  const std::string ending = read_ending(path, {".vtu", ".vtk"});
  // VTK goes around the square where the grid counts by bits.
  constexpr std::array<int, 8> kOrder = {0, 1, 3, 2, 4, 5, 7, 6};
  std::vector<std::int32_t> nodes;
  nodes.reserve(8 * grid.hexes.size());
  for (const auto& hex : grid.hexes) {
    for (const int corner : kOrder) nodes.push_back(hex[corner]);
  }
  write_vtk_grid(path, ending, {grid.vertices, nodes, 8, kVtkHexahedron, grid.regions, grid.fill, options.point_fields},
                 options);
}

}  // namespace palpate
