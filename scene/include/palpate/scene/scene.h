#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/haptics/device.h"
#include "palpate/methods/method.h"
#include "palpate/runtime/run.h"
#include "palpate/world/world.h"

namespace palpate {

/// A body of a scene, before it is made.
struct SceneBody {
  std::string name;
  std::string kind;  ///< "static", "plane", "rigid", "soft" or "chain"
  Pose pose;         ///< of the body in the world
  double friction = 0.0;
  std::function<void(World&, const SceneBody&)> add_to;  ///< throws InputError
};

/// What holds bodies of a scene together, before they are made.
struct SceneJoint {
  Joint joint;       ///< its settings; bodies and places are those below
  std::string a, b;  ///< names of bodies; empty b: the world
  Vec3 position = Vec3::Zero();
  Vec3 axis = Vec3::UnitX();
  std::vector<Vec3> curve;
  std::string place;  ///< `file:line: path`, for messages
};

/// A scene file, read and checked. Plain settings: worlds, devices and methods are made from it, any number of times.
struct Scene {
  std::string file;  ///< as given
  std::string text;  ///< of the file, whole: recordings carry it
  std::string name;  ///< the file's stem where the file gives none
  std::string description;
  std::string method = "reference";
  MethodSettings methods;
  RunSettings run;
  WorldSettings world;
  ToolSettings tool;                                   ///< but for the shapes in it:
  std::function<void(ToolSettings&)> add_tool_shapes;  ///< throws InputError
  std::vector<SceneBody> bodies;
  std::vector<SceneJoint> joints;
  std::string hand;                                      ///< kind of the device
  std::function<std::unique_ptr<Device>()> make_device;  ///< a new one each time; throws InputError
};

/// Reads and checks a scene file. Errors are InputError and name file, line, JSON path, value and what is allowed.
Scene load_scene(const std::string& file);
/// The same from text; `file` is for messages and for the folder that mesh files are relative to.
Scene parse_scene(std::string text, const std::string& file);

/// The scene format as a JSON Schema, made from the same description that reads files; schema/scene.schema.json.
std::string make_scene_schema();

/// All bodies, joints and, unless everything is static and the hand holds a point, or the hand has fingers, the tool
/// where the scene's device starts; prepared. Throws InputError.
World make_world(const Scene& scene);

/// Resets the world and makes the named method on it, starting where the device is. Throws InputError if the method
/// cannot work on this world.
Method make_method(const Scene& scene, std::string_view name, World& world, Device& device);

/// Where real meshes are: the environment's PALPATE_DATA, or ../shared/data. Scene files call it "data:".
std::string data_folder();

/// Plain sentences about what is legal but probably not meant: a coupling stiffer than passive, and the like.
std::vector<std::string> find_warnings(const Scene& scene, const Device& device);

}  // namespace palpate
