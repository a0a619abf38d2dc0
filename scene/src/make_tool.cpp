#include "palpate/scene/tool.h"
#include "with_place.h"

namespace palpate {
namespace {

Pose make_pose(const ScenePose& pose) {
  return {pose.position, rotation_from_vector(pose.rotation)};
}

struct FillTool {
  ToolSettings& out;
  const std::string& scene_file;

  void operator()(const ScenePointTool& s) const {
    out.kind = ToolSettings::Kind::kPoint;
    out.mass = s.mass;
    out.radius = s.radius;
  }

  void operator()(const SceneRigidTool& s) const {
    out.kind = ToolSettings::Kind::kRigid;
    out.mass = s.mass;
    out.convex = s.convex;
    out.surface = make_surface(s.shape, scene_file);
    if (s.offset.isZero(0.0)) return;  // adding nothing would still change the sign of zeros
    for (Vec3& x : out.surface.vertices) x += s.offset;
  }

  void operator()(const SceneChainTool& s) const {
    out.kind = ToolSettings::Kind::kChain;
    out.length = s.length;
    out.beams = s.beams;
    out.radius = s.radius;
    out.material = s.material;
  }

  void operator()(const SceneSoftTool& s) const {
    out.kind = ToolSettings::Kind::kSoft;
    out.hold_radius = s.hold_radius;
    out.material = s.material;
    out.volume = make_shape_tets(s.shape, s.cell, scene_file);
    for (Vec3& x : out.volume.vertices) x += s.offset;
  }

  void operator()(const SceneFingersTool& s) const {
    out.kind = ToolSettings::Kind::kFingers;
    for (const SceneFinger& finger : s.fingers) {
      Finger made;
      made.radius = finger.radius;
      if (finger.shape) made.surface = make_surface(*finger.shape, scene_file);
      made.open = make_pose(finger.open);
      made.closed = make_pose(finger.closed.value_or(finger.open));
      out.fingers.push_back(std::move(made));
    }
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
  with_place(tool.place, [&] { std::visit(FillTool{out, scene_file}, tool.kind); });
  return out;
}

}  // namespace palpate
