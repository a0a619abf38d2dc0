#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "palpate/haptics/coupling.h"
#include "palpate/methods/tool.h"
#include "palpate/scene/body.h"

// What the hand of a scene holds, as data: plain values, for any thread that has them for itself.
namespace palpate {

/// A point mass on a virtual coupling.
struct ScenePointTool {
  double mass = 0.001;  ///< of the proxy [kg]; that of Knott & Kuhlen 2015
  double radius = 0.0;  ///< it touches as a ball of this radius [m]
  bool operator==(const ScenePointTool&) const = default;
};

/// A rigid body in six degrees of freedom.
struct SceneRigidTool {
  SceneShape shape{};          ///< closed
  Vec3 offset = Vec3::Zero();  ///< from the handle to the shape's origin [m]
  double mass = 0.05;          ///< [kg]
  bool convex = true;          ///< touches as the convex hull of its shape
  bool operator==(const SceneRigidTool&) const = default;
};

/// A chain of beams held by its first end, hanging down: needle, wire, thread.
struct SceneChainTool {
  double length = 0.2;  ///< [m]
  int beams = 10;
  double radius = 0.001;  ///< of the round section [m]
  Material material = kWire;
  bool operator==(const SceneChainTool&) const = default;
};

/// A body of finite elements, held by those near the handle.
struct SceneSoftTool {
  SceneShape shape{};          ///< closed; a box becomes a regular block
  Vec3 offset = Vec3::Zero();  ///< from the handle to the shape's origin [m]
  double cell = 0.01;          ///< edge of the cells that fill the shape [m]
  double hold_radius = 0.01;   ///< nodes within this distance of the handle are held [m]
  Material material = kRubber;
  bool operator==(const SceneSoftTool&) const = default;
};

/// A pose in the handle's frame.
struct ScenePose {
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 rotation = Vec3::Zero();  ///< axis times angle [rad]
  bool operator==(const ScenePose&) const = default;
};

/// A pointer without mass on the handle; as Finger.
struct SceneFinger {
  double radius = 0.01;               ///< of a ball, if there is no shape [m]
  std::optional<SceneShape> shape{};  ///< convex, around the finger's origin
  ScenePose open{};                   ///< where it is when the hand is open
  std::optional<ScenePose> closed{};  ///< where it is when the hand is closed; none: as open
  bool operator==(const SceneFinger&) const = default;
};

/// Pointers without mass that are where the hand has them: fingertips, a gripper's jaws.
struct SceneFingersTool {
  std::vector<SceneFinger> fingers{};  ///< one to kMaxFingers
  bool operator==(const SceneFingersTool&) const = default;
};

/// What one hand holds, how it rubs, and the coupling by which it hangs on the handle.
struct SceneTool {
  std::variant<ScenePointTool, SceneRigidTool, SceneChainTool, SceneSoftTool, SceneFingersTool> kind{};
  std::optional<double> friction{};    ///< Coulomb coefficient μ; none: that of what it touches
  VirtualCouplingSettings coupling{};  ///< between handle and tool
  SourcePlace place{};
  bool operator==(const SceneTool&) const = default;
};

/// What scene files call its kind: "point", "rigid", …
std::string_view kind_name(const SceneTool& tool) noexcept;

/// The tool with its surfaces made. Throws InputError.
ToolSettings make_tool_settings(const SceneTool& tool, const std::string& scene_file);

}  // namespace palpate
