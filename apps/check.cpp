#include <nlohmann/json.hpp>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/methods/registry.h"
#include "palpate/record/metrics.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

struct CheckCommand {
  std::string scene;
  bool schema = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

std::string describe_tool(const ToolSettings& tool) {
  switch (tool.kind) {
    case ToolSettings::Kind::kPoint:
      return fmt::format("point of {}", format_quantity(1e3 * tool.mass, "g"));
    case ToolSettings::Kind::kRigid:
      return fmt::format("rigid body of {}", format_quantity(1e3 * tool.mass, "g"));
    case ToolSettings::Kind::kChain:
      return fmt::format("chain of {} beams, {} long", tool.beams, format_quantity(tool.length, "m"));
    case ToolSettings::Kind::kSoft:
      return fmt::format("soft body held within {}", format_quantity(tool.hold_radius, "m"));
    case ToolSettings::Kind::kFingers:
      return fmt::format("{} finger{}", tool.fingers.size(), tool.fingers.size() == 1 ? "" : "s");
  }
  return {};
}

const char* kind_of(const WorldBody& body) {
  if (!body.body) return "plane";
  if (body.body->block_count() == 0) return "static";
  if (body.shape.kind == ContactShape::Kind::kChain) return "chain";
  return body.body->block_count() <= 2 ? "rigid" : "soft";
}

/// Bodies that are not static surfaces, the tool excepted. Static surfaces follow them in a world's list.
std::span<const WorldBody> other_bodies(const World& world) {
  const std::size_t count =
      world.is_static() ? world.bodies().size() : world.bodies().size() - world.static_surfaces().size();
  return world.bodies().first(count);
}

/// Past the last of the numbered copies ("cube 1", "cube 2", …) that begin at `first`.
std::size_t end_of_copies(std::span<const WorldBody> bodies, std::size_t first) {
  const auto stem = [](const std::string& name) { return name.substr(0, name.find_last_not_of("0123456789") + 1); };
  std::size_t next = first + 1;
  const std::string& name = bodies[first].name;
  while (stem(name) != name && next < bodies.size() && stem(bodies[next].name) == stem(name)) ++next;
  return next;
}

void print_text(const Scene& scene, const World& world, const Device& device,
                const std::vector<std::string>& warnings) {
  fmt::print("scene   {}{}{}\n", scene.name, scene.description.empty() ? "" : ": ", scene.description);
  fmt::print("method  {} ({})\n", scene.method, find_method(scene.method).description);
  fmt::print("rates   fast {:.4g} Hz, slow {:.4g} Hz, latency {}, {} s\n", 1.0 / scene.run.dt,
             1.0 / scene.run.slow_period, format_quantity(scene.run.latency, "s"), scene.run.seconds);
  fmt::print("tool    {}, coupling {} N/m, {} N·s/m\n", describe_tool(scene.tool), scene.tool.coupling.stiffness,
             scene.tool.coupling.damping);
  fmt::print("hand    {} ({})\n", scene.hand, device.info().name);
  for (const StaticSurface& body : world.static_surfaces()) {
    fmt::print("body    {}: static, friction {}; {}\n", body.name, body.friction,
               check_mesh(body.surface.mesh()).describe());
  }
  const std::span<const WorldBody> others = other_bodies(world);
  for (std::size_t i = 0; i < others.size();) {
    const WorldBody& body = others[i];
    const std::size_t next = end_of_copies(others, i);
    if (static_cast<int>(i) != world.tool()) {
      const std::string name = next > i + 1 ? fmt::format("{} … {}", body.name, others[next - 1].name) : body.name;
      fmt::print("body    {}: {}, friction {}; {} unknowns, surface of {} triangles{}\n", name, kind_of(body),
                 body.shape.friction, body.body ? 3 * body.body->block_count() : 0,
                 body.body ? body.body->surface().triangles.size() : 0, next > i + 1 ? " each" : "");
    }
    i = next;
  }
  for (const Joint& joint : world.joints()) fmt::print("joint   {}\n", joint.name);
  for (const std::string& warning : warnings) fmt::print("warning {}\n", warning);
  fmt::print("valid\n");
}

void print_json(const Scene& scene, const World& world, const std::vector<std::string>& warnings) {
  Json bodies = Json::array();
  for (const StaticSurface& body : world.static_surfaces()) {
    const MeshReport report = check_mesh(body.surface.mesh());
    bodies.push_back({{"name", body.name},
                      {"type", "static"},
                      {"friction", body.friction},
                      {"vertices", report.vertices},
                      {"triangles", report.triangles},
                      {"closed", report.closed},
                      {"shortest_edge", report.shortest_edge},
                      {"longest_edge", report.longest_edge}});
  }
  for (const WorldBody& body : other_bodies(world)) {
    if (world.tool() >= 0 && &body == &world.bodies()[static_cast<std::size_t>(world.tool())]) continue;
    bodies.push_back({{"name", body.name},
                      {"type", kind_of(body)},
                      {"friction", body.shape.friction},
                      {"unknowns", body.body ? 3 * body.body->block_count() : 0},
                      {"triangles", body.body ? body.body->surface().triangles.size() : 0}});
  }
  const Json out = {{"valid", true},
                    {"scene", scene.name},
                    {"method", scene.method},
                    {"dt", scene.run.dt},
                    {"slow_period", scene.run.slow_period},
                    {"latency", scene.run.latency},
                    {"seconds", scene.run.seconds},
                    {"hand", scene.hand},
                    {"bodies", std::move(bodies)},
                    {"joints", world.joints().size()},
                    {"warnings", warnings}};
  fmt::print("{}\n", out.dump(2));
}

int check_command(const CheckCommand& options) {
  if (options.schema) {
    fmt::print("{}", make_scene_schema());
    return kDone;
  }
  if (options.scene.empty()) {
    fmt::print("built-in scenes:\n");
    for (const BuiltinScene& scene : builtin_scenes()) {
      fmt::print("  {:<14} {}\n", scene.name, load_builtin_scene(scene.name).description);
    }
    return kDone;
  }
  const Scene scene = find_scene(options.scene);
  World world = make_world(scene);
  const std::unique_ptr<Device> device = scene.make_device();
  const std::vector<std::string> warnings = find_warnings(scene, *device);
  options.json ? print_json(scene, world, warnings) : print_text(scene, world, *device, warnings);
  return kDone;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command = app.add_subcommand("check", "validate a scene and say what is in it");
  command->add_option("SCENE", options->scene, "scene file or built-in scene; none: list the built-in ones");
  command->add_flag("--schema", options->schema, "print the JSON Schema of scene files");
  command->add_flag("--json", options->json, "as JSON");
  command->footer(
      "Example: palpate check scenes/organ.json\nExits with 2 and says where and what, if the scene is not valid.");
  command->callback([options, &action] { action = [options] { return check_command(*options); }; });
}

}  // namespace palpate
