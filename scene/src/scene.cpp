#include "palpate/scene/scene.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "describe.h"
#include "json_value.h"
#include "palpate/core/error.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"
#include "scene_fields.h"
#include "with_place.h"

namespace palpate {
namespace {

/// A scene is written by people, but for meshes in it; a file above this size is something else [bytes].
constexpr std::uintmax_t kMaxFileSize = 64u << 20;

std::string read_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail_input("{}: no such file", file);
  if (!std::filesystem::is_regular_file(status)) fail_input("{}: not a file", file);
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (!error && size > kMaxFileSize) fail_input("{}: {} bytes; a scene file has at most {}", file, size, kMaxFileSize);
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) fail_input("{}: cannot be read", file);
  return text;
}

/// The file without a look at what else it names.
Scene read_scene(std::string text, const std::string& file) {
  Scene scene;
  scene.source = {file, std::move(text)};
  read_fields(parse_json(scene.source.text, file), file, [&](Fields& f) { describe(f, scene); });
  return scene;
}

}  // namespace

HandGuards make_standard_guards(const RunSettings& run) noexcept {
  HandGuards guards;
  guards.safety.stale_after = run.latency + 2.0 * run.slow_period;
  return guards;
}

void set_slow_period(Scene& scene, double slow_period) noexcept {
  scene.run.slow_period = slow_period;
  scene.run.auto_period = false;
  scene.run.latency = slow_period;
  for (HeldTool& tool : scene.tools)
    tool.guards.safety.stale_after = make_standard_guards(scene.run).safety.stale_after;
}

Scene parse_scene(std::string text, const std::string& file) {
  Scene scene = read_scene(std::move(text), file);
  // A path that cannot be gone, or a recording that is not there, is an error of the file.
  for (std::size_t i = 0; i < scene.tools.size(); ++i) make_device(scene, i);
  return scene;
}

Scene parse_lone_scene(std::string text, const std::string& file) {
  Scene scene = read_scene(text, file);
  change_files([&](Fields& f) { describe(f, scene); },
               [&](const std::string& name) {
                 fail_input(
                     "{}: names the file {}; here a scene stands alone: give the mesh as data, or run the scene "
                     "from where its files are",
                     file, quote_for_message(name));
               });
  return parse_scene(std::move(text), file);
}

Scene load_scene(const std::string& file) {
  return parse_scene(read_file(file), file);
}

std::string write_scene(const Scene& scene) {
  Scene copy = scene;
  return write_fields([&](Fields& f) { describe(f, copy); });
}

std::ostream& operator<<(std::ostream& out, const Scene& scene) {
  return out << write_scene(scene);
}

Scene move_scene(Scene scene, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path from = fs::path(scene.source.file).parent_path(), to = fs::path(file).parent_path();
  change_files([&](Fields& f) { describe(f, scene); },
               [&](std::string& name) {
                 if (name.starts_with("data:") || fs::path(name).is_absolute()) return;
                 const fs::path target = fs::absolute(from / name).lexically_normal();
                 name = target.lexically_relative(fs::absolute(to).lexically_normal()).generic_string();
               });
  scene.source = {file, ""};
  return scene;
}

std::string make_scene_schema() {
  Scene scene;
  return describe_fields("Palpate scene", [&](Fields& f) { describe(f, scene); });
}

void validate(const Scene& scene) {
  check_settings(scene.source.file.empty() ? scene.name : scene.source.file, scene);
}

SceneBody& find_body(Scene& scene, std::string_view name) {
  std::vector<std::string> names;
  for (SceneBody& body : scene.bodies) {
    names.push_back(name_of(body));
    if (names.back() == name) return body;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  fail_input("{}: no body is called {}; there are: {}{}", scene.name, quote_for_message(name), join_words(known),
             suggest_word(name, known));
}

ToolSettings make_tool_settings(const Scene& scene, std::size_t tool) {
  return make_tool_settings(scene.tools.at(tool).tool, scene.source.file);
}

std::unique_ptr<Device> make_device(const Scene& scene, std::size_t tool) {
  return make_device(scene.tools.at(tool).hand, scene.source.file, tool);
}

RecordingHeader make_recording_header(const Scene& scene, const std::string& method, bool lockstep) {
  const SceneSource& source = scene.source;
  const bool as_read = !source.text.empty() && read_scene(source.text, source.file) == scene;
  RecordingHeader header;
  header.scene_name = scene.name;
  header.scene = as_read ? source.text : write_scene(scene);
  header.tools.clear();
  for (const HeldTool& held : scene.tools) header.tools.push_back({held.name, method.empty() ? held.method : method});
  header.lockstep = lockstep;
  header.dt = scene.run.dt;
  header.slow_period = scene.run.slow_period;
  header.latency = scene.run.extra_latency + (lockstep ? scene.run.latency : 0.0);
  return header;
}

namespace {

/// Those that are bodies of the world: fingers are not, and points without a radius only if something else moves.
void add_tools(World& world, const Scene& scene, const std::vector<Pose>& starts) {
  const auto is_body = [](const HeldTool& held) {
    if (const auto* point = std::get_if<ScenePointTool>(&held.tool.kind)) return point->radius > 0.0;
    return !std::holds_alternative<SceneFingersTool>(held.tool.kind);
  };
  const bool moves = !world.is_static() || std::any_of(scene.tools.begin(), scene.tools.end(), is_body);
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const HeldTool& held = scene.tools[i];
    const bool point = std::holds_alternative<ScenePointTool>(held.tool.kind);
    if (!(point ? moves : is_body(held))) {
      world.mark_tool(-1);
      continue;
    }
    const Pose start = i < starts.size() ? starts[i] : make_device(scene, i)->read(0.0).pose;
    const int body = with_place(held.tool.place, [&] { return add_tool(world, make_tool_settings(scene, i), start); });
    world.bodies()[as_size(body)].name = held.name;
  }
}

}  // namespace

World make_world(const Scene& scene, const WorldExtras& extras) {
  validate(scene);
  World world(scene.world);
  for (const SceneBody& body : scene.bodies) add_body(world, body, scene.source.file);
  if (extras.add_bodies) extras.add_bodies(world);
  add_tools(world, scene, extras.starts);
  for (const SceneJoint& joint : scene.joints) add_joint(world, joint);
  world.prepare();
  return world;
}

namespace {

Method make_tool_method(const Scene& scene, const std::string& name, const std::shared_ptr<SharedTick>& shared,
                        World& world, const DeviceState& start, std::size_t tool) {
  return with_place({scene.source.file}, [&] {
    if (name == kAutoMethod) fail_input("method \"auto\" has not been settled: see settle_auto(), or name one");
    const MethodInfo& info = find_method(name);
    return make_method(info, {world, shared ? shared->tools[tool] : make_tool_settings(scene, tool), scene.run.dt,
                              scene.run.slow_period, start, scene.methods, tool, shared});
  });
}

}  // namespace

Method make_method(const Scene& scene, std::string_view name, World& world, Device& device) {
  world.reset();
  return make_tool_method(scene, std::string(name), nullptr, world, device.read(0.0), 0);
}

std::vector<Method> make_methods(const Scene& scene, const std::string& name, World& world,
                                 std::span<Device* const> devices) {
  std::vector<DeviceState> starts;
  for (Device* device : devices) starts.push_back(device->read(0.0));
  world.reset();
  return make_methods_at(scene, name, world, starts);
}

std::vector<Method> make_methods_at(const Scene& scene, const std::string& name, World& world,
                                    std::span<const DeviceState> starts) {
  const auto shared = std::make_shared<SharedTick>();
  for (std::size_t i = 0; i < scene.tools.size(); ++i)
    shared->tools.push_back(with_place({scene.source.file}, [&] { return make_tool_settings(scene, i); }));
  std::vector<Method> out;
  for (std::size_t i = 0; i < scene.tools.size(); ++i)
    out.push_back(make_tool_method(scene, name.empty() ? scene.tools[i].method : name, shared, world, starts[i], i));
  std::vector<const Method*> all;
  for (const Method& method : out) all.push_back(&method);
  with_place({scene.source.file}, [&] { check_sharing(all); });
  return out;
}

std::string refuse_method(const Scene& scene, std::string_view name, World& world) {
  const MethodInfo& info = find_method(name);
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const ToolSettings tool = make_tool_settings(scene, i);
    const std::string reason = info.refuse({world, tool, i});
    if (!reason.empty()) return scene.tools.size() > 1 ? fmt::format("{}: {}", scene.tools[i].name, reason) : reason;
  }
  if (scene.tools.size() == 1) return {};
  std::vector<std::unique_ptr<Device>> own;
  std::vector<Device*> devices;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    own.push_back(make_device(scene, i));
    devices.push_back(own.back().get());
  }
  try {
    make_methods(scene, std::string(name), world, devices);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::vector<std::string> find_warnings(const Scene& scene, const Device& device, std::size_t tool) {
  std::vector<std::string> warnings;
  if (auto warning = find_coupling_warning(scene.tools.at(tool).tool.coupling, device.info(), scene.run.dt)) {
    warnings.push_back(std::move(*warning));
  }
  return warnings;
}

}  // namespace palpate
