#include "palpate/scene/tool.h"
#include "with_place.h"

namespace palpate {
namespace {

Pose make_pose(const ScenePose& pose) {
  return {pose.position, rotation_from_vector(pose.rotation)};
}

/// What a scene says that the hand holds, as the methods want it: shapes are made.
struct MakeHeld {
  using Held = decltype(ToolSettings::kind);
  const std::string& scene_file;

  Held operator()(const ScenePointTool& s) const { return HeldPoint{.mass = s.mass, .radius = s.radius}; }

  Held operator()(const SceneRigidTool& s) const {
    HeldRigid out{.mass = s.mass, .surface = make_surface(s.shape, scene_file), .convex = s.convex};
    if (s.offset.isZero(0.0)) return out;  // adding nothing would still change the sign of zeros
    for (Vec3& x : out.surface.vertices) x += s.offset;
    return out;
  }

  Held operator()(const SceneChainTool& s) const {
    return HeldChain{.radius = s.radius, .length = s.length, .beams = s.beams, .material = s.material};
  }

  Held operator()(const SceneSoftTool& s) const {
    HeldSoft out{
        .volume = make_shape_tets(s.shape, s.cell, scene_file), .material = s.material, .hold_radius = s.hold_radius};
    for (Vec3& x : out.volume.vertices) x += s.offset;
    return out;
  }

  Held operator()(const SceneFingersTool& s) const {
    HeldFingers out;
    for (const SceneFinger& finger : s.fingers) {
      Finger made;
      made.radius = finger.radius;
      if (finger.shape) made.surface = make_surface(*finger.shape, scene_file);
      made.open = make_pose(finger.open);
      made.closed = make_pose(finger.closed.value_or(finger.open));
      out.fingers.push_back(std::move(made));
    }
    return out;
  }
};

}  // namespace

std::string_view kind_name(const SceneTool& tool) noexcept {
  constexpr std::string_view kNames[] = {"point", "rigid", "chain", "soft", "fingers"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(SceneTool::kind)>);
  return kNames[tool.kind.index()];
}

ToolSettings make_tool_settings(const SceneTool& tool, const std::string& scene_file) {
  ToolSettings out;
  out.coupling = tool.coupling;
  if (tool.friction) out.friction = *tool.friction;
  with_place(tool.place, [&] { out.kind = std::visit(MakeHeld{scene_file}, tool.kind); });
  return out;
}

}  // namespace palpate
