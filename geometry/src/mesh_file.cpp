#include "palpate/geometry/mesh_file.h"

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "mesh_readers.h"

namespace palpate {
namespace {

const std::vector<std::string_view> kEndings = {".obj", ".stl", ".ply", ".off"};

std::string read_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (std::find(kEndings.begin(), kEndings.end(), ending) == kEndings.end()) {
    const std::string_view near = nearest_word(ending, kEndings);
    fail_input("{}: unknown ending {}; known are {}{}{}{}", path.string(), quote_for_message(ending),
               join_words(kEndings), near.empty() ? "" : " (did you mean ", near, near.empty() ? "" : "?)");
  }
  return ending;
}

std::string read_bytes(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) fail_input("{}: no such file", path.string());
  if (std::filesystem::is_directory(path, error)) fail_input("{}: a folder; a mesh file is needed", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_input("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail_input("{}: cannot be read: {}", path.string(), std::strerror(errno));
  if (bytes.empty()) fail_input("{}: the file is empty", path.string());
  // Every vertex and corner takes a byte or more, so below this all counts fit their 32 bits.
  if (bytes.size() > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    fail_input("{}: {} bytes; allowed are up to 2 GiB", path.string(), bytes.size());
  }
  return bytes;
}

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

std::string format_off(const TriangleMesh& mesh) {
  return fmt::format("OFF\n{} {} 0\n", mesh.vertices.size(), mesh.triangles.size()) + format_body(mesh);
}

std::string format_ply(const TriangleMesh& mesh) {
  return fmt::format(
             "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n"
             "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
             mesh.vertices.size(), mesh.triangles.size()) +
         format_body(mesh);
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

LoadedMesh load_mesh(const std::filesystem::path& path, const MeshFileOptions& options) {
  const std::string name = path.string();
  if (!(options.scale > 0.0) || !std::isfinite(options.scale)) {
    fail_input("{}: scale {}; it must be finite and positive", name, options.scale);
  }
  const std::string ending = read_ending(path);
  const std::string bytes = read_bytes(path);
  LoadedMesh loaded;
  if (ending == ".obj") loaded.mesh = read_obj(name, bytes);
  if (ending == ".stl") loaded.mesh = read_stl(name, bytes);
  if (ending == ".ply") loaded.mesh = read_ply(name, bytes);
  if (ending == ".off") loaded.mesh = read_off(name, bytes);
  // Scaled before the repair, which also finds what overflowed.
  for (Vec3& p : loaded.mesh.vertices) p *= options.scale;
  loaded.repair = repair_mesh(loaded.mesh, options.repair, name);
  loaded.report = check_mesh(loaded.mesh);
  return loaded;
}

void write_mesh(const std::filesystem::path& path, const TriangleMesh& mesh) {
  const std::string ending = read_ending(path);
  const std::string bytes = ending == ".obj"   ? format_obj(mesh)
                            : ending == ".stl" ? format_stl(mesh)
                            : ending == ".ply" ? format_ply(mesh)
                                               : format_off(mesh);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) fail_input("{}: cannot be written: {}", path.string(), std::strerror(errno));
}

}  // namespace palpate
