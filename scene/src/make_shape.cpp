#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cells.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/geometry/tet_mesher.h"
#include "palpate/scene/shape.h"
#include "palpate/scene/warnings.h"
#include "with_place.h"

namespace palpate {
namespace {

struct MakeSurface {
  const std::string& scene_file;

  TriangleMesh operator()(const BoxShape& s) const { return make_box(s.size, s.cells); }
  TriangleMesh operator()(const SphereShape& s) const { return make_sphere(s.radius, s.subdivisions); }
  TriangleMesh operator()(const CylinderShape& s) const { return make_cylinder(s.radius, s.height, s.around, s.along); }
  TriangleMesh operator()(const CapsuleShape& s) const { return make_capsule(s.radius, s.length, s.around); }
  TriangleMesh operator()(const TorusShape& s) const {
    return make_torus(s.major_radius, s.minor_radius, s.around, s.around_tube);
  }
  TriangleMesh operator()(const SineShape& s) const {
    return make_sine_surface(
        {.amplitude = s.amplitude, .wavelength = s.wavelength, .size_x = s.size_x, .size_z = s.size_z, .cell = s.cell});
  }
  TriangleMesh operator()(const OrganShape& s) const { return make_organ(s.size, s.resolution); }
  TriangleMesh operator()(const FigureShape& s) const { return make_figure(s.size, s.resolution); }
  TriangleMesh operator()(const MeshShape& s) const {
    MeshFileOptions options;
    options.scale = s.scale;
    options.repair.fill_holes = s.repair;
    if (!s.data.empty()) return parse_mesh("data.off", s.data, options).mesh;
    return load_mesh(resolve_file(s.file, scene_file), options).mesh;
  }
};

}  // namespace

std::string_view kind_name(const SceneShape& shape) noexcept {
  constexpr std::string_view kNames[] = {"box",  "sphere", "cylinder", "capsule", "torus",
                                         "sine", "organ",  "figure",   "mesh"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(SceneShape::kind)>);
  return kNames[shape.kind.index()];
}

TriangleMesh make_surface(const SceneShape& shape, const std::string& scene_file) {
  return with_place(shape.place, [&] { return std::visit(MakeSurface{scene_file}, shape.kind); });
}

std::array<int, 3> count_cells(const Vec3& size, double cell) {
  std::array<int, 3> out;
  for (int k = 0; k < 3; ++k) out[as_size(k)] = std::max(1, static_cast<int>(std::lround(size[k] / cell)));
  return out;
}

TetMesh make_shape_tets(const SceneShape& shape, double cell, const std::string& scene_file) {
  if (const auto* box = std::get_if<BoxShape>(&shape.kind))
    return make_tet_block(box->size, count_cells(box->size, cell));
  TriangleMesh surface = make_surface(shape, scene_file);
  const double size = compute_bounding_box(surface.vertices).size().maxCoeff();
  try {
    return make_tets(TriangleTree(std::move(surface)), cell);
  } catch (const InputError& error) {
    const auto* file = std::get_if<MeshShape>(&shape.kind);
    const std::string large = file ? describe_large_mesh(size, *file) : "";
    if (large.empty()) throw;
    fail_input("{}. The mesh is {}", error.what(), large);
  }
}

std::string describe_large_mesh(double size, const MeshShape& mesh) {
  if (!(size > kLargestUsual)) return "";
  return fmt::format("{:.4g} m large: is {} in millimetres? Then write \"scale\": {:g} beside \"file\"", size,
                     quote_for_message(mesh.file), 0.001 * mesh.scale);
}

std::string data_folder() {
  const char* folder = std::getenv("PALPATE_DATA");
  return folder ? folder : "";
}

std::optional<std::string> find_data(std::string_view name) {
  if (data_folder().empty()) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(data_folder()) / name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path.string();
}

std::string resolve_file(const std::string& name, const std::string& scene_file) {
  if (!name.starts_with("data:")) return (std::filesystem::path(scene_file).parent_path() / name).string();
  if (data_folder().empty())
    fail_input("{} is in the folder of real meshes, which is not known; set the environment's PALPATE_DATA to it",
               quote_for_message(name));
  return (std::filesystem::path(data_folder()) / name.substr(5)).string();
}

}  // namespace palpate
