#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/geometry/mesh_holes.h"
#include "palpate/geometry/solid_fit.h"
#include "palpate/geometry/tet_mesher.h"
#include "palpate/geometry/tet_quality.h"
#include "palpate/geometry/volume_file.h"
#include "palpate/record/metrics.h"
#include "palpate/scene/warnings.h"

namespace palpate {
namespace {

using Json = nlohmann::ordered_json;

struct MeshCommand {
  std::string file;
  std::string output;
  std::string surface;
  double scale = 1.0;
  double tets = 0.0;    ///< cell [m]; 0: not asked for
  double voxels = 0.0;  ///< the same
  bool fill_holes = false;
  bool ascii = false;
  bool json = false;
};

Json vector_json(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

void print_size(const BoundingBox& box) {
  const Vec3 size = box.size();
  fmt::print("size    {} × {} × {}\n", format_quantity(size.x(), "m"), format_quantity(size.y(), "m"),
             format_quantity(size.z(), "m"));
  fmt::print("from    ({:.4g}, {:.4g}, {:.4g}) m to ({:.4g}, {:.4g}, {:.4g}) m, centre ({:.4g}, {:.4g}, {:.4g}) m\n",
             box.lower.x(), box.lower.y(), box.lower.z(), box.upper.x(), box.upper.y(), box.upper.z(), box.center().x(),
             box.center().y(), box.center().z());
}

/// The box of a mesh, as JSON.
Json box_json(const BoundingBox& box) {
  return {{"min", vector_json(box.lower)}, {"max", vector_json(box.upper)}, {"centre", vector_json(box.center())}};
}

// -- Surfaces

/// What is to be known of a surface before something is made of it.
struct SurfaceFaults {
  std::vector<MeshHole> holes;
  std::vector<SelfIntersection> crossings;
  std::string crowded;  ///< edges of more than two triangles, in words
};

constexpr std::size_t kShownCrossings = 3;

Json faults_json(const SurfaceFaults& f) {
  Json holes = Json::array(), places = Json::array();
  for (const MeshHole& h : f.holes)
    holes.push_back({{"edges", h.loop.size()}, {"diameter", h.diameter}, {"centre", vector_json(h.centre)}});
  for (std::size_t i = 0; i < std::min(f.crossings.size(), kShownCrossings); ++i)
    places.push_back(vector_json(f.crossings[i].position));
  return {{"holes", holes}, {"self_intersections", f.crossings.size()}, {"self_intersections_at", places}};
}

void print_faults(const MeshCommand& options, const SurfaceFaults& f) {
  if (!f.holes.empty())
    fmt::print("holes   {}; closed by: palpate mesh {} --fill-holes -o FILE\n", describe_holes(f.holes), options.file);
  if (!f.crowded.empty()) fmt::print("walls   {}\n", f.crowded);
  if (f.crossings.empty()) return;
  std::string places;
  for (std::size_t i = 0; i < std::min(f.crossings.size(), kShownCrossings); ++i) {
    const Vec3& p = f.crossings[i].position;
    places += fmt::format("{}({:.4g}, {:.4g}, {:.4g})", i == 0 ? "" : ", ", p.x(), p.y(), p.z());
  }
  fmt::print("passes  through itself at {} pair{} of triangles, at {} m{}; tets and voxels can do with that\n",
             f.crossings.size(), f.crossings.size() == 1 ? "" : "s", places,
             f.crossings.size() > kShownCrossings ? " and elsewhere" : "");
}

/// A part of the body larger than this is rather in millimetres.
void print_unit_hint(const MeshCommand& options, const BoundingBox& box) {
  if (box.size().maxCoeff() > kLargestUsual)
    fmt::print("unit    {:.4g} m: in millimetres? Then give --scale {:g}\n", box.size().maxCoeff(),
               0.001 * options.scale);
}

Json surface_json(const MeshReport& r) {
  return {{"vertices", r.vertices},
          {"triangles", r.triangles},
          {"edges", r.edges},
          {"boundary_edges", r.boundary_edges},
          {"non_manifold_edges", r.non_manifold_edges},
          {"components", r.components},
          {"closed", r.closed},
          {"genus", r.genus},
          {"volume", r.volume},
          {"min", vector_json(r.box.lower)},
          {"max", vector_json(r.box.upper)},
          {"centre", vector_json(r.box.center())},
          {"shortest_edge", r.shortest_edge},
          {"mean_edge", r.mean_edge},
          {"longest_edge", r.longest_edge}};
}

void print_surface(const std::string& name, const MeshReport& r) {
  fmt::print("{}: {}\n", name, r.describe());
  print_size(r.box);
  fmt::print("edges   {} shortest, {} mean, {} longest\n", format_quantity(r.shortest_edge, "m"),
             format_quantity(r.mean_edge, "m"), format_quantity(r.longest_edge, "m"));
}

// -- Volumes

Json tets_json(const TetMesh& mesh, const TetMeshReport& r) {
  const TetQuality q = compute_tet_quality(mesh);
  const BoundingBox box = compute_bounding_box(mesh.vertices);
  Json regions = Json::array();
  for (const auto& [region, tets] : count_regions(mesh)) regions.push_back({{"region", region}, {"tets", tets}});
  return {{"vertices", r.vertices},
          {"tets", r.tets},
          {"volume", r.volume},
          {"min", vector_json(box.lower)},
          {"max", vector_json(box.upper)},
          {"centre", vector_json(box.center())},
          {"smallest_volume", r.smallest_volume},
          {"largest_volume", r.largest_volume},
          {"smallest_dihedral_deg", r.smallest_dihedral_deg},
          {"mean_smallest_dihedral_deg", q.mean_smallest_dihedral_deg},
          {"largest_dihedral_deg", r.largest_dihedral_deg},
          {"dihedral_histogram_10_deg", q.dihedral_histogram},
          {"worst_quality", r.worst_quality},
          {"mean_quality", r.mean_quality},
          {"worst_radius_edge", q.worst_radius_edge},
          {"mean_radius_edge", q.mean_radius_edge},
          {"worst_aspect", q.worst_aspect},
          {"mean_aspect", q.mean_aspect},
          {"regions", regions}};
}

void print_histogram(const TetQuality& q) {
  const int most = *std::max_element(q.dihedral_histogram.begin(), q.dihedral_histogram.end());
  for (int bin = 0; bin < TetQuality::kBins; ++bin) {
    const int count = q.dihedral_histogram[bin];
    // A bin that is not empty shows at least one mark: the rare bad angle is what one looks for.
    const int marks = count == 0 ? 0 : std::max(1, static_cast<int>(40.0 * count / most));
    if (count > 0) fmt::print("  {:>3}°–{:>3}°  {:>8}  {}\n", 10 * bin, 10 * bin + 10, count, std::string(marks, '#'));
  }
}

void print_tets(const std::string& name, const TetMesh& mesh, const TetMeshReport& r) {
  const TetQuality q = compute_tet_quality(mesh);
  fmt::print("{}: {} tets, {} vertices, volume {:.4g} m³\n", name, r.tets, r.vertices, r.volume);
  print_size(compute_bounding_box(mesh.vertices));
  const auto regions = count_regions(mesh);
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(regions.size(), kShown); ++i) {
    list += fmt::format("{}{} ({} tets)", i == 0 ? "" : ", ", regions[i].first, regions[i].second);
  }
  if (regions.size() > kShown) list += fmt::format(", {} more", regions.size() - kShown);
  fmt::print("regions {}\n", list);
  fmt::print("volumes {:.3g} m³ smallest, {:.3g} mean, {:.3g} largest\n", r.smallest_volume, r.volume / r.tets,
             r.largest_volume);
  fmt::print(
      "shape   mean ratio {:.3f} worst, {:.3f} mean (1 is regular); aspect {:.3g} worst, {:.3g} mean; radius/edge "
      "{:.3g} "
      "worst, {:.3g} mean\n",
      r.worst_quality, r.mean_quality, q.worst_aspect, q.mean_aspect, q.worst_radius_edge, q.mean_radius_edge);
  fmt::print("angles  dihedral {:.1f}° to {:.1f}°, the smallest of a tet {:.1f}° on average\n", r.smallest_dihedral_deg,
             r.largest_dihedral_deg, q.mean_smallest_dihedral_deg);
  print_histogram(q);
}

// -- What is done

void write_tets(const MeshCommand& options, const TetMesh& mesh) {
  if (!options.output.empty()) {
    require_folder_of(options.output);
    VolumeWriteOptions write;
    write.ascii = options.ascii;
    write_volume(options.output, mesh, write);
  }
  if (!options.surface.empty()) {
    require_folder_of(options.surface);
    write_mesh(options.surface, extract_surface(mesh).mesh);
  }
}

/// The end of every answer.
void finish(const MeshCommand& options, const std::string& repair, Json json) {
  if (options.json) {
    json["repaired"] = repair;
    fmt::print("{}\n", json.dump(2));
    return;
  }
  if (!repair.empty()) fmt::print("repair  {}\n", repair);
  for (const std::string& file : {options.output, options.surface}) {
    if (!file.empty()) fmt::print("written {}\n", file);
  }
}

/// A file of hexahedra is looked at, no more.
int hexes_command(const MeshCommand& options, const LoadedVolume& loaded) {
  if (!options.output.empty() || !options.surface.empty())
    fail_input("{}: holds hexahedra, which are not converted; --output and --surface need tetrahedra", options.file);
  const BoundingBox box = compute_bounding_box(loaded.mesh.vertices);
  const double volume = compute_volume(loaded.mesh.vertices, loaded.hexes);
  Json json = {{"file", options.file},         {"kind", "hexes"},
               {"format", loaded.format},      {"vertices", loaded.mesh.vertices.size()},
               {"hexes", loaded.hexes.size()}, {"volume", volume}};
  json.update(box_json(box));
  if (!options.json) {
    fmt::print("{} ({}): {} hexes, {} vertices, volume {:.4g} m³\n", options.file, loaded.format, loaded.hexes.size(),
               loaded.mesh.vertices.size(), volume);
    print_size(box);
  }
  finish(options, "", std::move(json));
  return kDone;
}

int volume_command(const MeshCommand& options) {
  if (options.tets > 0.0 || options.voxels > 0.0) {
    fail_input("{}: already a volume; --tets and --voxels need a closed surface", options.file);
  }
  const LoadedVolume loaded = load_volume(options.file, {.scale = options.scale, .allow_hexes = true});
  if (!loaded.hexes.empty()) return hexes_command(options, loaded);
  write_tets(options, loaded.mesh);
  Json json;
  if (options.json) {
    json = {{"file", options.file}, {"kind", "volume"}, {"format", loaded.format}};
    json.update(tets_json(loaded.mesh, loaded.report));
  } else {
    print_tets(fmt::format("{} ({})", options.file, loaded.format), loaded.mesh, loaded.report);
  }
  finish(options, loaded.repair.describe(), std::move(json));
  return kDone;
}

/// Makes tets or hexes from the surface; adds to `json` or prints.
void make_solid(const MeshCommand& options, const LoadedMesh& loaded, Json& json) {
  const TriangleTree tree(loaded.mesh);
  double change = 0.0;
  std::string lost, finer;
  if (options.tets > 0.0) {
    const TetMesh mesh = make_tets(tree, options.tets);
    write_tets(options, mesh);
    const TetMeshReport report = check_tet_mesh(mesh);
    const SolidFit fit = compare_solid(tree, extract_surface(mesh).mesh, options.tets);
    change = fit.volume_change;
    lost = fit.describe();
    finer = describe_refinement(tree, mesh.vertices.size(), options.tets);
    if (options.json) {
      json["tets"] = tets_json(mesh, report);
    } else {
      print_tets("tets", mesh, report);
    }
  } else {
    if (loaded.report.non_manifold_edges > 0) fail_input("{}: {}", options.file, describe_crowded_edges(loaded.mesh));
    if (!loaded.report.closed)
      fail_input("{}: the surface is open ({}); --voxels needs a closed one: --fill-holes closes it", options.file,
                 describe_holes(find_holes(loaded.mesh)));
    VoxelSettings settings;
    settings.cell = options.voxels;
    const HexGrid grid = make_voxels(tree, settings);
    double volume = 0.0;
    for (const double fill : grid.fill) volume += fill * grid.cell.prod();
    change = volume / compute_enclosed_volume(loaded.mesh) - 1.0;
    if (!options.output.empty()) {
      require_folder_of(options.output);
      VolumeWriteOptions write;
      write.ascii = options.ascii;
      write_volume(options.output, grid, write);
    }
    if (!options.surface.empty()) {
      require_folder_of(options.surface);
      write_mesh(options.surface, extract_surface(grid).mesh);
    }
    json["hexes"] = {{"hexes", grid.hexes.size()}, {"vertices", grid.vertices.size()}, {"volume", volume}};
    if (!options.json)
      fmt::print("hexes: {} cells, {} vertices, filled {:.4g} m³\n", grid.hexes.size(), grid.vertices.size(), volume);
  }
  json["volume_change"] = change;
  json["warnings"] = Json::array();
  for (const std::string& warning : {lost, finer}) {
    if (!warning.empty()) json["warnings"].push_back(warning);
  }
  if (options.json) return;
  fmt::print("volume  {:+.2f} % of the surface's\n", 100.0 * change);
  for (const std::string& warning : {lost, finer}) {
    if (!warning.empty()) fmt::print("warning {}\n", warning);
  }
}

int surface_command(const MeshCommand& options) {
  const bool solid = options.tets > 0.0 || options.voxels > 0.0;
  if (options.tets > 0.0 && options.voxels > 0.0) fail_input("--tets and --voxels: one of them at a time");
  if (!solid && !options.surface.empty()) {
    fail_input("{}: already a surface; --surface needs a volume, --tets or --voxels (--output converts)", options.file);
  }
  MeshFileOptions file_options;
  file_options.scale = options.scale;
  file_options.repair.fill_holes = options.fill_holes;
  const LoadedMesh loaded = load_mesh(options.file, file_options);
  const SurfaceFaults faults{find_holes(loaded.mesh), find_self_intersections(loaded.mesh),
                             describe_crowded_edges(loaded.mesh)};
  if (!solid && !options.output.empty()) {
    require_folder_of(options.output);
    write_mesh(options.output, loaded.mesh);
  }
  Json json;
  if (options.json) {
    json = {{"file", options.file}, {"kind", "surface"}};
    json.update(surface_json(loaded.report));
    json.update(faults_json(faults));
  } else {
    print_surface(options.file, loaded.report);
    print_faults(options, faults);
    print_unit_hint(options, loaded.report.box);
  }
  if (solid) make_solid(options, loaded, json);
  finish(options, loaded.repair.describe(), std::move(json));
  return kDone;
}

}  // namespace

void add_mesh(CLI::App& app, Action& action) {
  auto options = std::make_shared<MeshCommand>();
  CLI::App* command = app.add_subcommand("mesh", "look at, check, convert and make surface and volume meshes");
  command
      ->add_option("FILE", options->file,
                   "a surface (OBJ, STL, PLY, OFF, VTK) or a volume (Gmsh .msh, VTK, VTU, TetGen)")
      ->required();
  command->add_option("-o,--output", options->output, "write the checked or made mesh; the ending names the format");
  command->add_option("--surface", options->surface, "write the boundary of the volume");
  command->add_option("--tets", options->tets, "make tetrahedra of about this edge [m] from a closed surface")
      ->check(positive_number());
  command->add_option("--voxels", options->voxels, "make cubes of this edge [m] from a closed surface")
      ->check(positive_number());
  command->add_option("--scale", options->scale, "metres in one unit of the file")
      ->check(positive_number())
      ->capture_default_str();
  command->add_flag("--fill-holes", options->fill_holes, "close the holes of a surface");
  command->add_flag("--ascii", options->ascii, "write VTU and VTK as text");
  command->add_flag("--json", options->json, "as JSON");
  command->footer(
      "Example: palpate mesh statue.off --scale 0.001 --fill-holes --output statue.ply\n"
      "         palpate mesh liver.obj --scale 0.03 --tets 0.01 --output liver.vtu");
  command->callback([options, &action] {
    action = [options] { return holds_volume(options->file) ? volume_command(*options) : surface_command(*options); };
  });
}

}  // namespace palpate
