#include "palpate/scene/scene.h"

#include <filesystem>
#include <fstream>
#include <ostream>

#include "describe.h"
#include "json_value.h"
#include "palpate/core/error.h"
#include "palpate/methods/registry.h"
#include "scene_fields.h"
#include "with_place.h"

namespace palpate {
namespace {

/// A scene is written by people; a file above this size is something else [bytes].
constexpr std::uintmax_t kMaxFileSize = 16u << 20;

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

void set_slow_period(RunSettings& run, double slow_period) noexcept {
  run.slow_period = slow_period;
  run.latency = slow_period;
  run.safety.stale_after = run.latency + 2.0 * slow_period;
}

RunSettings make_standard_run() noexcept {
  RunSettings run;
  set_slow_period(run, run.slow_period);
  return run;
}

Scene parse_scene(std::string text, const std::string& file) {
  Scene scene = read_scene(std::move(text), file);
  make_device(scene);  // a path that cannot be gone, or a recording that is not there, is an error of the file
  return scene;
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

ToolSettings make_tool_settings(const Scene& scene) {
  return make_tool_settings(scene.tool, scene.source.file);
}

std::unique_ptr<Device> make_device(const Scene& scene) {
  return make_device(scene.hand, scene.source.file);
}

RecordingHeader make_recording_header(const Scene& scene, const std::string& method, bool lockstep) {
  const SceneSource& source = scene.source;
  const bool as_read = !source.text.empty() && read_scene(source.text, source.file) == scene;
  RecordingHeader header;
  header.scene_name = scene.name;
  header.scene = as_read ? source.text : write_scene(scene);
  header.method = method;
  header.lockstep = lockstep;
  header.dt = scene.run.dt;
  header.slow_period = scene.run.slow_period;
  header.latency = scene.run.extra_latency + (lockstep ? scene.run.latency : 0.0);
  return header;
}

World make_world(const Scene& scene, const WorldExtras& extras) {
  validate(scene);
  World world(scene.world);
  for (const SceneBody& body : scene.bodies) add_body(world, body, scene.source.file);
  if (extras.add_bodies) extras.add_bodies(world);
  const bool point = std::holds_alternative<ScenePointTool>(scene.tool.kind);
  const bool fingers = std::holds_alternative<SceneFingersTool>(scene.tool.kind);
  if (point ? !world.is_static() : !fingers) {
    const Pose start = extras.start ? *extras.start : make_device(scene)->read(0.0).pose;
    with_place(scene.tool.place, [&] { add_tool(world, make_tool_settings(scene), start); });
  }
  for (const SceneJoint& joint : scene.joints) add_joint(world, joint);
  world.prepare();
  return world;
}

Method make_method(const Scene& scene, std::string_view name, World& world, Device& device) {
  const MethodInfo& info = find_method(name);
  ToolSettings tool = make_tool_settings(scene);
  if (const std::string reason = info.refuse(world, tool); !reason.empty())
    fail_input("{}: method {} cannot be used here: {}", scene.source.file, name, reason);
  world.reset();
  return info.make({world, std::move(tool), scene.run.dt, scene.run.slow_period, device.read(0.0), scene.methods});
}

std::vector<std::string> find_warnings(const Scene& scene, const Device& device) {
  std::vector<std::string> warnings;
  if (auto warning = find_coupling_warning(scene.tool.coupling, device.info(), scene.run.dt)) {
    warnings.push_back(std::move(*warning));
  }
  return warnings;
}

}  // namespace palpate
