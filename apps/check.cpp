#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "palpate/core/error.h"
#include "palpate/experiments/advise.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/methods/registry.h"
#include "palpate/record/metrics.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/warnings.h"
#include "text_file.h"

namespace palpate {
namespace {

struct CheckCommand {
  std::string scene;
  bool schema = false;
  bool json = false;
  std::optional<std::string> write;  ///< file; "-": standard output
};

using Json = nlohmann::ordered_json;

struct DescribeTool {
  std::string operator()(const ScenePointTool& t) const {
    return fmt::format("point of {}", format_quantity(1e3 * t.mass, "g"));
  }
  std::string operator()(const SceneRigidTool& t) const {
    return fmt::format("rigid body of {}", format_quantity(1e3 * t.mass, "g"));
  }
  std::string operator()(const SceneChainTool& t) const {
    return fmt::format("chain of {} beams, {} long", t.beams, format_quantity(t.length, "m"));
  }
  std::string operator()(const SceneSoftTool& t) const {
    return fmt::format("soft body held within {}", format_quantity(t.hold_radius, "m"));
  }
  std::string operator()(const SceneFingersTool& t) const {
    return fmt::format("{} finger{}", t.fingers.size(), t.fingers.size() == 1 ? "" : "s");
  }
};

/// A distance from a body, or how deep in it.
std::string format_distance(double distance, const std::string& body) {
  return fmt::format("{} {} \"{}\"", format_quantity(std::abs(distance), "m"), distance < 0.0 ? "inside" : "from",
                     body);
}

const char* kind_of(const WorldBody& body) {
  if (!body.body) return "plane";
  if (body.body->block_count() == 0) return "static";
  if (body.shape.is<ContactShape::Chain>()) return "chain";
  return body.body->block_count() <= 2 ? "rigid" : "soft";
}

/// Bodies that are not static surfaces, the tool excepted. Static surfaces follow them in a world's list.
std::span<const WorldBody> other_bodies(const World& world) {
  const std::size_t count =
      world.is_static() ? world.bodies().size() : world.bodies().size() - world.static_surfaces().size();
  return world.bodies().first(count);
}

/// Of what can be fixed: how much of it is.
std::string fixed_text(const WorldBody& body) {
  const std::string_view kind = kind_of(body);
  const int fixed = count_fixed(body);
  if (kind == "soft") return fmt::format(", {} fixed node{}", fixed, fixed == 1 ? "" : "s");
  return kind == "chain" && fixed > 0 ? fmt::format(", {} fixed node{}", fixed, fixed == 1 ? "" : "s") : "";
}

/// Past the last of the numbered copies ("cube 1", "cube 2", …) that begin at `first`.
std::size_t end_of_copies(std::span<const WorldBody> bodies, std::size_t first) {
  const auto stem = [](const std::string& name) { return name.substr(0, name.find_last_not_of("0123456789") + 1); };
  std::size_t next = first + 1;
  const std::string& name = bodies[first].name;
  while (stem(name) != name && next < bodies.size() && stem(bodies[next].name) == stem(name)) ++next;
  return next;
}

void print_method(const std::string& method) {
  const bool is_auto = method == kAutoMethod;
  fmt::print("method  {} ({})\n", method, is_auto ? "the best of a short trial" : find_method(method).description);
}

/// What is likely to do best, from what is in the scene; nothing is run.
std::string advice_line(const Scene& scene, World& world, const std::string& given) {
  const std::vector<Suggestion> all = suggest_methods(scene, world);
  if (all.empty() || !all.front().refused.empty()) return "no method but the truth (reference) can work here";
  return fmt::format("likely {}: {}; measured by: palpate advise {}", all.front().method, all.front().reason, given);
}

void print_hand(const Scene& scene, const World& world, std::size_t tool) {
  const std::string_view kind = kind_name(scene.tools[tool].hand);
  const std::string device = make_device(scene, tool)->info().name;
  const Approach a = find_approach(scene, world, tool);
  fmt::print("hand    {}{}", kind, device == kind ? "" : fmt::format(" ({})", device));
  if (!a.body.empty())
    fmt::print("; {} at the start, {} at the nearest, after {:.3g} s", format_distance(a.start, a.start_body),
               format_distance(a.nearest, a.body), a.time);
  fmt::print("\n");
}

/// Several tools are set apart by a line with the name of each.
void print_tools(const Scene& scene, const World& world) {
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const HeldTool& held = scene.tools[i];
    if (scene.tools.size() > 1) {
      fmt::print("tool {}  {}\n", i + 1, held.name);
      print_method(held.method);
    }
    fmt::print("tool    {}, coupling {} N/m, {} N·s/m\n", std::visit(DescribeTool{}, held.tool.kind),
               held.tool.coupling.stiffness, held.tool.coupling.damping);
    print_hand(scene, world, i);
  }
}

void print_text(const Scene& scene, World& world, const std::vector<std::string>& warnings, const std::string& given) {
  fmt::print("scene   {}{}{}\n", scene.name, scene.description.empty() ? "" : ": ", scene.description);
  if (scene.tools.size() == 1) print_method(scene.first().method);
  fmt::print("rates   fast {:.4g} Hz, slow {:.4g} Hz{}, latency {}, {} s\n", 1.0 / scene.run.dt,
             1.0 / scene.run.slow_period,
             scene.run.auto_period ? " in virtual time and as fast as the machine holds in real time" : "",
             format_quantity(scene.run.latency, "s"), scene.run.seconds);
  print_tools(scene, world);
  for (const StaticSurface& body : world.static_surfaces()) {
    fmt::print("body    {}: static, friction {}; {}\n", body.name, body.friction,
               check_mesh(body.surface.mesh()).describe());
  }
  const std::span<const WorldBody> others = other_bodies(world);
  for (std::size_t i = 0; i < others.size();) {
    const WorldBody& body = others[i];
    const std::size_t next = end_of_copies(others, i);
    if (!world.is_tool(static_cast<int>(i))) {
      const std::string name = next > i + 1 ? fmt::format("{} … {}", body.name, others[next - 1].name) : body.name;
      const double mass = compute_mass(body);
      fmt::print("body    {}: {}, friction {}; {}{} unknowns, surface of {} triangles{}{}\n", name, kind_of(body),
                 body.shape.friction, mass > 0.0 ? format_quantity(1e3 * mass, "g") + ", " : "",
                 body.body ? 3 * body.body->block_count() : 0, body.body ? body.body->surface().triangles.size() : 0,
                 next > i + 1 ? " each" : "", fixed_text(body));
    }
    i = next;
  }
  for (const Joint& joint : world.joints()) fmt::print("joint   {}\n", joint.name);
  for (const std::string& warning : warnings) fmt::print("warning {}\n", warning);
  fmt::print("valid\n");
  fmt::print("advice  {}\n", advice_line(scene, world, given));
}

/// Null where there is nothing to come near to.
Json approach_json(const Scene& scene, const World& world, std::size_t tool) {
  const Approach a = find_approach(scene, world, tool);
  if (a.body.empty()) return nullptr;
  return {{"start_distance", a.start},
          {"start_body", a.start_body},
          {"nearest_distance", a.nearest},
          {"nearest_body", a.body},
          {"nearest_time", a.time}};
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
    if (world.is_tool(static_cast<int>(&body - world.bodies().data()))) continue;
    bodies.push_back({{"name", body.name},
                      {"type", kind_of(body)},
                      {"friction", body.shape.friction},
                      {"mass", compute_mass(body)},
                      {"fixed_nodes", count_fixed(body)},
                      {"unknowns", body.body ? 3 * body.body->block_count() : 0},
                      {"triangles", body.body ? body.body->surface().triangles.size() : 0}});
  }
  Json out = {{"valid", true}, {"scene", scene.name}};
  if (scene.tools.size() == 1) out["method"] = scene.first().method;
  out.update({{"dt", scene.run.dt},
              {"slow_period", scene.run.slow_period},
              {"latency", scene.run.latency},
              {"seconds", scene.run.seconds}});
  if (scene.tools.size() == 1) {
    out["hand"] = kind_name(scene.first().hand);
    out["approach"] = approach_json(scene, world, 0);
  } else {
    for (std::size_t i = 0; i < scene.tools.size(); ++i) {
      const HeldTool& held = scene.tools[i];
      out["tools"].push_back({{"name", held.name},
                              {"type", kind_name(held.tool)},
                              {"hand", kind_name(held.hand)},
                              {"method", held.method},
                              {"approach", approach_json(scene, world, i)}});
    }
  }
  out.update({{"bodies", std::move(bodies)}, {"joints", world.joints().size()}, {"warnings", warnings}});
  fmt::print("{}\n", out.dump(2));
}

void write_to(const Scene& scene, const std::string& file) {
  if (file == "-") {
    fmt::print("{}", write_scene(scene));
    return;
  }
  write_text_file(file, write_scene(move_scene(scene, file)));
  fmt::print("written {}\n", file);
}

int check_command(const CheckCommand& options) {
  if (options.schema) {
    fmt::print("{}", make_scene_schema());
    return kDone;
  }
  if (options.scene.empty() && options.write) fail_input("--write: give the SCENE to write before it");
  if (options.scene.empty()) {
    fmt::print("built-in scenes:\n");
    for (const BuiltinScene& scene : builtin_scenes()) {
      fmt::print("  {:<14} {}\n", scene.name, load_builtin_scene(scene.name).description);
    }
    return kDone;
  }
  const Scene scene = find_scene(options.scene);
  World world = make_world(scene);
  if (options.write) {
    write_to(scene, *options.write);
    return kDone;
  }
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    for (std::string& warning : find_warnings(scene, *make_device(scene, i), i))
      warnings.push_back(scene.tools.size() == 1 ? std::move(warning) : scene.tools[i].name + ": " + warning);
  }
  for (std::string& warning : find_world_warnings(scene, world)) warnings.push_back(std::move(warning));
  for (std::string& warning : find_method_warnings(scene)) warnings.push_back(std::move(warning));
  options.json ? print_json(scene, world, warnings) : print_text(scene, world, warnings, options.scene);
  return kDone;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command = app.add_subcommand("check", "validate a scene and say what is in it");
  command->add_option("SCENE", options->scene, "scene file or built-in scene; none: list the built-in ones");
  command->add_flag("--schema", options->schema, "print the JSON Schema of scene files");
  command->add_flag("--json", options->json, "as JSON");
  auto file = std::make_shared<std::string>();
  CLI::Option* write = command->add_option(
      "--write", *file,
      "write the scene as it was understood, without comments and without what is as it would be anyway; "
      "FILE, or standard output if there is none or it is -");
  write->expected(0, 1)->option_text("[FILE]")->excludes("--json");
  command->footer(
      "Example: palpate check scenes/organ.json\nExample: palpate check scenes/organ.json --write my-organ.json\n"
      "Exits with 2 and says where and what, if the scene is not valid.");
  command->callback([options, file, write, &action] {
    if (write->count() > 0) options->write = file->empty() ? "-" : *file;
    action = [options] { return check_command(*options); };
  });
}

}  // namespace palpate
