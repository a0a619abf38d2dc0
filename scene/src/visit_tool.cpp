#include "palpate/core/error.h"
#include "visit_body.h"

namespace palpate {
namespace {

void visit_chain_tool(Fields& f, ToolSettings& tool) {
  tool.kind = ToolSettings::Kind::kChain;
  tool.radius = 0.001;
  tool.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1500.0};
  f.number({.name = "length", .doc = "of the chain", .unit = "m"}, tool.length, {0.0, 10.0, true});
  f.integer({.name = "beams", .doc = "of the chain"}, tool.beams, {1, 1000});
  f.number({.name = "radius", .doc = "of the round section", .unit = "m"}, tool.radius, {0.0, 1.0, true});
  f.object({.name = "material", .doc = "elastic, with Rayleigh damping"},
           [&](Fields& o) { visit_material(o, tool.material); });
}

void visit_soft_tool(Fields& f, const std::string& scene_file, Scene& scene) {
  ToolSettings& tool = scene.tool;
  tool.kind = ToolSettings::Kind::kSoft;
  tool.material = {.young_modulus = 1e5, .poisson_ratio = 0.35, .density = 1000.0};
  auto shape = std::make_shared<SceneShape>();
  double cell = 0.01;
  Vec3 offset = Vec3::Zero();
  f.object({.name = "shape", .doc = "closed; a box becomes a regular block", .required = true},
           [&](Fields& o) { visit_shape(o, scene_file, *shape); });
  f.vector({.name = "offset", .doc = "from the handle to the shape's origin", .unit = "m"}, offset);
  f.number({.name = "cell", .doc = "edge of the cells that fill the shape", .unit = "m"}, cell, kLength);
  f.number({.name = "hold_radius", .doc = "nodes within this distance of the handle are held", .unit = "m"},
           tool.hold_radius, kLength);
  f.object({.name = "material", .doc = "elastic, with Rayleigh damping"},
           [&](Fields& o) { visit_material(o, tool.material); });
  scene.add_tool_shapes = [shape, cell, offset](ToolSettings& made) {
    made.volume = make_shape_tets(*shape, cell);
    for (Vec3& x : made.volume.vertices) x += offset;
  };
}

void visit_finger_pose(Fields& f, const Field& field, Pose& pose) {
  f.object(field, [&](Fields& o) {
    o.vector({.name = "position", .doc = "in the handle's frame", .unit = "m"}, pose.position);
    visit_rotation(o, pose.rotation);
  });
}

void visit_fingers(Fields& f, const std::string& scene_file, Scene& scene) {
  ToolSettings& tool = scene.tool;
  tool.kind = ToolSettings::Kind::kFingers;
  std::vector<SceneShape> shapes;
  f.list({.name = "fingers", .doc = "one to ten", .required = true}, kMaxFingers, [&](Fields& o) {
    Finger finger;
    o.number({.name = "radius", .doc = "of a ball, if there is no shape", .unit = "m"}, finger.radius, {0.0, 1.0});
    shapes.emplace_back();
    o.object({.name = "shape", .doc = "convex, around the finger's origin"},
             [&](Fields& s) { visit_shape(s, scene_file, shapes.back()); });
    visit_finger_pose(o, {.name = "open", .doc = "where it is when the hand is open"}, finger.open);
    finger.closed = finger.open;
    visit_finger_pose(o, {.name = "closed", .doc = "where it is when the hand is closed; default: as open"},
                      finger.closed);
    tool.fingers.push_back(finger);
  });
  if (!f.place().empty() && tool.fingers.empty()) fail_input("{}: fingers is empty; allowed: 1 to 10", f.place());
  scene.add_tool_shapes = [shapes](ToolSettings& made) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (shapes[i].make_surface) made.fingers[i].surface = shapes[i].make_surface();
  };
}

}  // namespace

void visit_tool(Fields& f, const std::string& scene_file, Scene& scene) {
  ToolSettings& tool = scene.tool;
  const Range mass{0.0, 10.0};
  const auto visit_mass = [&](Fields& k) {
    k.number({.name = "mass", .doc = "of the proxy", .unit = "kg"}, tool.mass, mass);
  };
  f.kind({{"point", "a point mass on a virtual coupling",
           [&](Fields& k) {
             tool.kind = ToolSettings::Kind::kPoint;
             visit_mass(k);
             k.number({.name = "radius", .doc = "among moving bodies it touches as a ball of this radius", .unit = "m"},
                      tool.radius, {0.0, 1.0});
           }},
          {"rigid", "a rigid body in six degrees of freedom",
           [&](Fields& k) {
             tool.kind = ToolSettings::Kind::kRigid;
             tool.mass = 0.05;
             auto shape = std::make_shared<SceneShape>();
             k.object({.name = "shape", .doc = "closed, around the handle", .required = true},
                      [&](Fields& o) { visit_shape(o, scene_file, *shape); });
             k.number({.name = "mass", .doc = "of the tool", .unit = "kg"}, tool.mass, {0.0, 10.0, true});
             k.boolean({.name = "convex", .doc = "touches as the convex hull of its shape"}, tool.convex);
             scene.add_tool_shapes = [shape](ToolSettings& made) { made.surface = shape->make_surface(); };
           }},
          {"chain", "a chain of beams held by its first end, hanging down: needle, wire, thread",
           [&](Fields& k) { visit_chain_tool(k, tool); }},
          {"soft", "finite elements, held by those near the handle",
           [&](Fields& k) { visit_soft_tool(k, scene_file, scene); }},
          {"fingers", "pointers without mass that are where the hand has them: fingertips, a gripper's jaws",
           [&](Fields& k) { visit_fingers(k, scene_file, scene); }}});
  f.number({.name = "friction", .doc = "Coulomb coefficient; default: that of what it touches"}, tool.friction,
           {0.0, 100.0});
  f.object({.name = "coupling", .doc = "spring and damper between handle and tool"}, [&](Fields& c) {
    c.number({.name = "stiffness", .doc = "of the spring", .unit = "N/m"}, tool.coupling.stiffness, {0.0, 1e6, true});
    c.number({.name = "damping", .doc = "of the damper", .unit = "N·s/m"}, tool.coupling.damping, {0.0, 1e4});
    c.number({.name = "rotational_stiffness", .doc = "of the rotational spring", .unit = "N·m/rad"},
             tool.coupling.rotational_stiffness, {0.0, 1e4});
    c.number({.name = "rotational_damping", .doc = "of the rotational damper", .unit = "N·m·s/rad"},
             tool.coupling.rotational_damping, {0.0, 1e3});
  });
}

}  // namespace palpate
