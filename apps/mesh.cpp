#include <nlohmann/json.hpp>

#include "command.h"
#include "palpate/geometry/mesh_file.h"
#include "palpate/record/metrics.h"

namespace palpate {
namespace {

struct MeshCommand {
  std::string file;
  std::string output;
  double scale = 1.0;
  bool json = false;
};

void print_json(const LoadedMesh& loaded, const std::string& file) {
  const MeshReport& r = loaded.report;
  const auto vec = [](const Vec3& v) { return nlohmann::ordered_json{v.x(), v.y(), v.z()}; };
  const nlohmann::ordered_json out = {{"file", file},
                                      {"vertices", r.vertices},
                                      {"triangles", r.triangles},
                                      {"edges", r.edges},
                                      {"boundary_edges", r.boundary_edges},
                                      {"non_manifold_edges", r.non_manifold_edges},
                                      {"components", r.components},
                                      {"closed", r.closed},
                                      {"genus", r.genus},
                                      {"volume", r.volume},
                                      {"min", vec(r.box.lower)},
                                      {"max", vec(r.box.upper)},
                                      {"shortest_edge", r.shortest_edge},
                                      {"mean_edge", r.mean_edge},
                                      {"longest_edge", r.longest_edge},
                                      {"repaired", loaded.repair.describe()}};
  fmt::print("{}\n", out.dump(2));
}

int mesh_command(const MeshCommand& options) {
  MeshFileOptions file_options;
  file_options.scale = options.scale;
  const LoadedMesh loaded = load_mesh(options.file, file_options);
  if (!options.output.empty()) {
    make_parent_folder(options.output);
    write_mesh(options.output, loaded.mesh);
  }
  if (options.json) {
    print_json(loaded, options.file);
    return kDone;
  }
  const MeshReport& r = loaded.report;
  const Vec3 size = r.box.upper - r.box.lower;
  fmt::print("{}: {}\n", options.file, r.describe());
  fmt::print("size    {} × {} × {}\n", format_quantity(size.x(), "m"), format_quantity(size.y(), "m"),
             format_quantity(size.z(), "m"));
  fmt::print("edges   {} shortest, {} mean, {} longest\n", format_quantity(r.shortest_edge, "m"),
             format_quantity(r.mean_edge, "m"), format_quantity(r.longest_edge, "m"));
  if (loaded.repair.changed()) fmt::print("repair  {}\n", loaded.repair.describe());
  if (!options.output.empty()) fmt::print("written {}\n", options.output);
  return kDone;
}

}  // namespace

void add_mesh(CLI::App& app, Action& action) {
  auto options = std::make_shared<MeshCommand>();
  CLI::App* command = app.add_subcommand("mesh", "look at, check and convert a surface mesh");
  command->add_option("FILE", options->file, "OBJ, STL, PLY or OFF")->required();
  command->add_option("-o,--output", options->output, "write the checked mesh; the ending names the format");
  command->add_option("--scale", options->scale, "metres in one unit of the file")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "as JSON");
  command->footer("Example: palpate mesh statue.off --scale 0.001 --output statue.ply");
  command->callback([options, &action] { action = [options] { return mesh_command(*options); }; });
}

}  // namespace palpate
