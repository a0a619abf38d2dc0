#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/haptics/device.h"
#include "palpate/methods/method.h"
#include "palpate/record/recording.h"
#include "palpate/runtime/run.h"
#include "palpate/scene/body.h"
#include "palpate/scene/hand.h"
#include "palpate/scene/held_tool.h"
#include "palpate/scene/tool.h"
#include "palpate/world/world.h"

namespace palpate {

/// Where a scene was read. It does not count in comparisons, and is not written.
struct SceneSource {
  std::string file{};  ///< as given; mesh files are relative to its folder
  std::string text{};  ///< of the file, whole; empty if a program made the scene
  friend bool operator==(const SceneSource&, const SceneSource&) noexcept { return true; }
};

/// A scene: plain data, made by reading a file or by a program. Worlds, devices and methods are made from it, any
/// number of times; files are written from it. A default one equals what a file says that leaves everything out that
/// may be. Everything is in SI and in the world frame (x to the right, y up, z towards the user) unless a member says
/// otherwise.
///
/// Thread: a scene is for set-up, and belongs to one thread at a time. What is made from it does not refer to it.
struct Scene {
  SceneSource source{};
  std::string schema{};  ///< "$schema": where an editor finds the schema of scene files
  std::string name{};    ///< the file's stem where the file gives none
  std::string description{};
  MethodSettings methods{};
  RunSettings run{};
  WorldSettings world{};
  std::vector<SceneBody> bodies{};
  std::vector<SceneJoint> joints{};
  std::vector<HeldTool> tools = std::vector<HeldTool>(1);  ///< 1 to kMaxTools
  bool operator==(const Scene&) const = default;

  /// The first tool, of most scenes the only one.
  HeldTool& first() noexcept { return tools.front(); }
  const HeldTool& first() const noexcept { return tools.front(); }
};

/// Sets the slow period [s], and with it what follows from it unless a file says otherwise: the latency is one slow
/// period, and a model is stale two later, for every tool.
void set_slow_period(Scene& scene, double slow_period) noexcept;

/// Reads and checks a scene file. Errors are InputError and name file, line, JSON path, value and what is allowed.
Scene load_scene(const std::string& file);
/// Reads and checks a scene from text. `file` is for messages, and mesh files are relative to its folder.
Scene parse_scene(std::string text, const std::string& file);
/// Reads and checks a scene that comes from elsewhere and must not make this machine read its files: a scene that names
/// any file is refused.
Scene parse_lone_scene(std::string text, const std::string& file);

/// The text of a scene file that is read as an equal scene, bit for bit. What has its standard value is left out; there
/// are no comments in it, whatever was in the file that the scene was read from.
std::string write_scene(const Scene& scene);
/// Writes the same text to a stream, for messages of tests and debuggers.
std::ostream& operator<<(std::ostream& out, const Scene& scene);

/// The scene as it must be to mean the same in another file: its relative file names begin at that file's folder.
Scene move_scene(Scene scene, const std::string& file);

/// The scene format as a JSON Schema, made from the same description that reads and writes; schema/scene.schema.json.
std::string make_scene_schema();

/// Checks a scene that a program made or changed against the description that files are read by. Throws InputError.
void validate(const Scene& scene);

/// The body of that name. Throws InputError.
SceneBody& find_body(Scene& scene, std::string_view name);

/// The body of that name, which must be of that kind: `find_body<SceneSoft>(scene, "organ").material`.
template <typename Kind>
Kind& find_body(Scene& scene, std::string_view name) {
  return std::get<Kind>(find_body(scene, name).kind);
}

/// What a world may have besides what its scene says.
struct WorldExtras {
  std::function<void(World&)> add_bodies{};  ///< after the scene's own, before the tools
  std::vector<Pose> starts{};                ///< of the first tools; the others start where the scene's devices do
};

/// Makes the world with all bodies, joints and tools, and prepares it; world.tools() has as many entries as the scene
/// has tools. Fingers are no bodies of the world, nor are points if all else is static. Throws InputError.
World make_world(const Scene& scene, const WorldExtras& extras = {});

/// Makes what moves a tool, the first unless said otherwise; a new one each time. Throws InputError.
std::unique_ptr<Device> make_device(const Scene& scene, std::size_t tool = 0);

/// Makes what the hand holds, with its surfaces. Throws InputError.
ToolSettings make_tool_settings(const Scene& scene, std::size_t tool = 0);

/// The header of a recording of this scene, in which all tools run with `method`, or each with its own if that is
/// empty. The scene's text in it is the file's, or what write_scene() writes if the scene is no longer what the file
/// says, so that a replay finds the scene that was run.
RecordingHeader make_recording_header(const Scene& scene, const std::string& method, bool lockstep);

/// Resets the world and makes the named method on it for its only or first tool, starting where the device is. Throws
/// InputError if the method cannot work on this world.
Method make_method(const Scene& scene, std::string_view name, World& world, Device& device);

/// Why that method cannot be the one of all tools of the scene; empty if it can. The world is reset.
std::string refuse_method(const Scene& scene, std::string_view name, World& world);

/// Resets the world and makes a method for every tool: the named one, or each tool's own if `name` is empty. `devices`
/// are the tools', in their order. Throws InputError if one cannot work on this world, or if they cannot share it.
std::vector<Method> make_methods(const Scene& scene, const std::string& name, World& world,
                                 std::span<Device* const> devices);
/// The same on the world as it is, for devices that are in these states: those of a run that has begun must not be
/// asked for another time. Bodies must be as at the start, but for the tools, which are where their devices have them.
std::vector<Method> make_methods_at(const Scene& scene, const std::string& name, World& world,
                                    std::span<const DeviceState> starts);

/// Plain sentences about what is legal but probably not meant: a coupling stiffer than passive, and the like.
std::vector<std::string> find_warnings(const Scene& scene, const Device& device, std::size_t tool = 0);

}  // namespace palpate
