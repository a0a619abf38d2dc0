#include "palpate/geometry/mesh_file.h"

#include <array>
#include <cmath>
#include <iterator>

#include "volume_readers.h"

namespace palpate {
namespace {

const std::vector<std::string_view> kEndings = {".obj", ".stl", ".ply", ".off", ".vtk"};

std::string format_obj(const TriangleMesh& mesh) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  for (const Vec3& p : mesh.vertices) fmt::format_to(to, "v {} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [i, j, k] : mesh.triangles) fmt::format_to(to, "f {} {} {}\n", i + 1, j + 1, k + 1);
  return fmt::to_string(out);
}

/// The part that OFF and ASCII PLY have in common.
std::string format_body(const TriangleMesh& mesh) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  for (const Vec3& p : mesh.vertices) fmt::format_to(to, "{} {} {}\n", p.x(), p.y(), p.z());
  for (const auto& [i, j, k] : mesh.triangles) fmt::format_to(to, "3 {} {} {}\n", i, j, k);
  return fmt::to_string(out);
}

std::string format_ply(const TriangleMesh& mesh) {
  return fmt::format(
             "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n"
             "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
             mesh.vertices.size(), mesh.triangles.size()) +
         format_body(mesh);
}

std::string format_vtk(const TriangleMesh& mesh) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "# vtk DataFile Version 3.0\nPalpate\nASCII\nDATASET POLYDATA\nPOINTS {} double\n",
                 mesh.vertices.size());
  for (const Vec3& p : mesh.vertices) fmt::format_to(to, "{} {} {}\n", p.x(), p.y(), p.z());
  fmt::format_to(to, "POLYGONS {} {}\n", mesh.triangles.size(), 4 * mesh.triangles.size());
  for (const auto& [i, j, k] : mesh.triangles) fmt::format_to(to, "3 {} {} {}\n", i, j, k);
  return fmt::to_string(out);
}

std::string format_stl(const TriangleMesh& mesh) {
  std::string out(80, ' ');
  const auto append = [&](const void* data, std::size_t size) { out.append(static_cast<const char*>(data), size); };
  const auto count = static_cast<std::uint32_t>(mesh.triangles.size());
  append(&count, sizeof count);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 n = compute_unit_normal(mesh, static_cast<std::int32_t>(t));
    const auto& triangle = mesh.triangles[t];
    for (const Vec3& p : {n, mesh.vertices[triangle[0]], mesh.vertices[triangle[1]], mesh.vertices[triangle[2]]}) {
      const Eigen::Vector3f q = p.cast<float>();
      append(q.data(), 3 * sizeof(float));
    }
    out.append(2, '\0');
  }
  return out;
}

}  // namespace

std::string format_off(const TriangleMesh& mesh) {
  return fmt::format("OFF\n{} {} 0\n", mesh.vertices.size(), mesh.triangles.size()) + format_body(mesh);
}

LoadedMesh load_mesh(const std::filesystem::path& path, const MeshFileOptions& options) {
  read_ending(path, kEndings);
  return parse_mesh(path.string(), read_file_bytes(path), options);
}

LoadedMesh parse_mesh(const std::string& name, std::string_view bytes, const MeshFileOptions& options) {
  if (!(options.scale > 0.0) || !std::isfinite(options.scale)) {
    fail_input("{}: scale {}; it must be finite and positive", name, options.scale);
  }
  const std::string ending = read_ending(name, kEndings);
  LoadedMesh loaded;
  if (ending == ".obj") loaded.mesh = read_obj(name, bytes);
  if (ending == ".stl") loaded.mesh = read_stl(name, bytes);
  if (ending == ".ply") loaded.mesh = read_ply(name, bytes);
  if (ending == ".off") loaded.mesh = read_off(name, bytes);
  if (ending == ".vtk") loaded.mesh = read_vtk_surface(name, bytes);
  // Scaled before the repair, which also finds what overflowed.
  for (Vec3& p : loaded.mesh.vertices) p *= options.scale;
  loaded.repair = repair_mesh(loaded.mesh, options.repair, name);
  loaded.report = check_mesh(loaded.mesh);
  return loaded;
}

void write_mesh(const std::filesystem::path& path, const TriangleMesh& mesh) {
  const std::string ending = read_ending(path, kEndings);
  write_file_bytes(path, ending == ".obj"   ? format_obj(mesh)
                         : ending == ".stl" ? format_stl(mesh)
                         : ending == ".ply" ? format_ply(mesh)
                         : ending == ".vtk" ? format_vtk(mesh)
                                            : format_off(mesh));
}

}  // namespace palpate
