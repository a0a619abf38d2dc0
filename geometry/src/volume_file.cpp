#include "palpate/geometry/volume_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tet_edit.h"
#include "volume_readers.h"

namespace palpate {
namespace {

const std::vector<std::string_view> kEndings = {".msh", ".vtk", ".vtu", ".node", ".ele"};

RawVolume read_raw(const std::filesystem::path& path, const std::string& ending) {
  const std::string name = path.string();
  if (ending == ".node" || ending == ".ele") {
    std::filesystem::path node = path, ele = path;
    // Keep what was given, which may be in capitals, and derive the other one.
    if (ending == ".node") ele.replace_extension(".ele");
    if (ending == ".ele") node.replace_extension(".node");
    const std::string node_bytes = read_file_bytes(node), ele_bytes = read_file_bytes(ele);
    return read_tetgen(node.string(), node_bytes, ele.string(), ele_bytes);
  }
  const std::string bytes = read_file_bytes(path);
  if (ending == ".msh") return read_gmsh(name, bytes);
  if (ending == ".vtk") return read_vtk_volume(name, bytes);
  return read_vtu(name, bytes);
}

void drop_collapsed_and_duplicates(TetMesh& mesh, VolumeRepair& repair) {
  struct Key {
    std::array<std::int32_t, 4> corners;
    std::size_t tet;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  keys.reserve(mesh.tets.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    keys.push_back({mesh.tets[t], t});
    std::sort(keys.back().corners.begin(), keys.back().corners.end());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> keep(mesh.tets.size(), true);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto& corners = keys[k].corners;
    if (std::adjacent_find(corners.begin(), corners.end()) != corners.end()) {
      keep[keys[k].tet] = false;
      ++repair.dropped_collapsed;
    } else if (k > 0 && corners == keys[k - 1].corners) {
      keep[keys[k].tet] = false;
      ++repair.dropped_duplicates;
    }
  }
  if (repair.dropped_collapsed + repair.dropped_duplicates > 0) keep_tets(mesh, keep);
}

void turn_inverted(TetMesh& mesh, VolumeRepair& repair) {
  const auto& x = mesh.vertices;
  for (auto& tet : mesh.tets) {
    if (compute_tet_volume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) >= 0.0) continue;
    std::swap(tet[2], tet[3]);
    ++repair.turned_tets;
  }
}

/// Names the first tet that check_tet_mesh() finds flat.
[[noreturn]] void fail_flat(const std::string& name, const TetMesh& mesh, int flat) {
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    TetMesh one;
    for (const std::int32_t i : mesh.tets[t]) one.vertices.push_back(mesh.vertices[i]);
    one.tets = {{0, 1, 2, 3}};
    if (check_tet_mesh(one).flat_tets == 0) continue;
    const Vec3 p = 0.25 * (one.vertices[0] + one.vertices[1] + one.vertices[2] + one.vertices[3]);
    fail_input(
        "{}: {} of {} tets have no volume, the first at ({:.4g}, {:.4g}, {:.4g}) m; the four corners of a tet "
        "must not lie in one plane",
        name, flat, mesh.tets.size(), p.x(), p.y(), p.z());
  }
  fail_input("{}: {} tets have no volume", name, flat);
}

}  // namespace

bool VolumeRepair::changed() const noexcept {
  return turned_tets + dropped_collapsed + dropped_duplicates + dropped_vertices + straightened_tets +
             skipped_elements >
         0;
}

std::string VolumeRepair::describe() const {
  std::string text;
  const auto add = [&](int count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(turned_tets, "inverted tets turned");
  add(dropped_collapsed, "collapsed tets dropped");
  add(dropped_duplicates, "duplicate tets dropped");
  add(dropped_vertices, "unused vertices dropped");
  add(straightened_tets, "curved tets straightened");
  add(skipped_elements, "points, lines and faces skipped");
  return text;
}

LoadedVolume load_volume(const std::filesystem::path& path, const VolumeFileOptions& options) {
  const std::string name = path.string();
  if (!(options.scale > 0.0) || !std::isfinite(options.scale)) {
    fail_input("{}: scale {}; it must be finite and positive", name, options.scale);
  }
  RawVolume raw = read_raw(path, read_ending(path, kEndings));
  LoadedVolume loaded{std::move(raw.mesh), {}, raw.repair, std::move(raw.format), std::move(raw.hexes)};
  TetMesh& mesh = loaded.mesh;
  for (Vec3& p : mesh.vertices) {
    p *= options.scale;
    // Cubes of lengths must stay finite too.
    if (!(p.cwiseAbs().maxCoeff() < 1e100))
      fail_input("{}: a coordinate is {} m; allowed are up to 1e100", name, p.cwiseAbs().maxCoeff());
  }
  if (!loaded.hexes.empty()) {
    if (!mesh.tets.empty())
      fail_input("{}: {} hexahedra beside {} tetrahedra; allowed are files of one kind", name, loaded.hexes.size(),
                 mesh.tets.size());
    if (!options.allow_hexes)
      fail_input("{}: holds {} hexahedra; tetrahedra are needed here, which palpate mesh SURFACE --tets CELL makes",
                 name, loaded.hexes.size());
    return loaded;
  }
  drop_collapsed_and_duplicates(mesh, loaded.repair);
  if (mesh.tets.empty()) {
    fail_input("{}: no tetrahedra{}", name,
               raw.repair.skipped_elements > 0 ? "; it holds only points, lines or faces" : "");
  }
  turn_inverted(mesh, loaded.repair);
  loaded.repair.dropped_vertices = drop_unused_vertices(mesh);
  loaded.report = check_tet_mesh(mesh);
  if (loaded.report.flat_tets > 0) fail_flat(name, mesh, loaded.report.flat_tets);
  return loaded;
}

double compute_volume(const std::vector<Vec3>& x, const std::vector<std::array<std::int32_t, 8>>& hexes) noexcept {
  // From corner 0 to corner 7 along the axes in each order, and the order's sign.
  constexpr int kPaths[6][3] = {{1, 3, 1}, {2, 6, 1}, {4, 5, 1}, {2, 3, -1}, {4, 6, -1}, {1, 5, -1}};
  double sum = 0.0;
  for (const auto& hex : hexes) {
    for (const auto& [i, j, sign] : kPaths)
      sum += sign * compute_tet_volume(x[as_size(hex[0])], x[as_size(hex[as_size(i)])], x[as_size(hex[as_size(j)])],
                                       x[as_size(hex[7])]);
  }
  return sum;
}

bool holds_volume(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (ending == ".vtk") return find_vtk_dataset(read_file_bytes(path)) == "UNSTRUCTURED_GRID";
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

}  // namespace palpate
