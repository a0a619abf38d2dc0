#include "describe.h"

namespace palpate {
namespace {

void describe_point_tool(Fields& f, ScenePointTool& s) {
  const ScenePointTool d;
  f.number({.name = "mass", .doc = "of the proxy", .unit = "kg"}, s.mass, d.mass, {0.0, 10.0});
  f.number({.name = "radius", .doc = "it touches as a ball of this radius", .unit = "m"}, s.radius, d.radius,
           {0.0, 1.0});
}

void describe_offset(Fields& f, Vec3& offset) {
  f.vector({.name = "offset", .doc = "from the handle to the shape's origin", .unit = "m"}, offset, Vec3::Zero());
}

void describe_rigid_tool(Fields& f, SceneRigidTool& s) {
  const SceneRigidTool d;
  describe_shape(f, "closed, around the handle", s.shape);
  describe_offset(f, s.offset);
  f.number({.name = "mass", .doc = "of the tool", .unit = "kg"}, s.mass, d.mass, {0.0, 10.0, true});
  f.boolean({.name = "convex", .doc = "touches as the convex hull of its shape"}, s.convex, d.convex);
}

void describe_chain_tool(Fields& f, SceneChainTool& s) {
  const SceneChainTool d;
  f.number({.name = "length", .doc = "of the chain", .unit = "m"}, s.length, d.length, {0.0, 10.0, true});
  f.integer({.name = "beams", .doc = "of the chain"}, s.beams, d.beams, {1, 1000});
  f.number({.name = "radius", .doc = "of the round section", .unit = "m"}, s.radius, d.radius, {0.0, 1.0, true});
  describe_material(f, "wire_material", s.material, d.material);
}

void describe_soft_tool(Fields& f, SceneSoftTool& s) {
  const SceneSoftTool d;
  describe_shape(f, "closed; a box becomes a regular block", s.shape);
  describe_offset(f, s.offset);
  f.number({.name = "cell", .doc = "edge of the cells that fill the shape", .unit = "m"}, s.cell, d.cell, kLength);
  f.number({.name = "hold_radius", .doc = "nodes within this distance of the handle are held", .unit = "m"},
           s.hold_radius, d.hold_radius, kLength);
  describe_material(f, "rubber_material", s.material, d.material);
}

void describe_pose(Fields& f, ScenePose& pose, const ScenePose& standard) {
  f.vector({.name = "position", .doc = "in the handle's frame", .unit = "m"}, pose.position, standard.position);
  describe_rotation(f, pose.rotation, standard.rotation);
}

void describe_finger(Fields& f, SceneFinger& s) {
  const SceneFinger d;
  f.number({.name = "radius", .doc = "of a ball, if there is no shape", .unit = "m"}, s.radius, d.radius, {0.0, 1.0});
  f.optional({.name = "shape", .doc = "convex, around the finger's origin", .def = "shape"}, s.shape,
             [](Fields& o, SceneShape& shape) { describe(o, shape); });
  f.object({.name = "open", .doc = "where it is when the hand is open", .def = "finger_pose"},
           [&](Fields& o) { describe_pose(o, s.open, d.open); });
  f.optional({.name = "closed", .doc = "where it is when the hand is closed; default: as open", .def = "finger_pose"},
             s.closed, [&](Fields& o, ScenePose& pose) { describe_pose(o, pose, s.open); });
}

void describe_fingers(Fields& f, SceneFingersTool& s) {
  f.list({.name = "fingers", .doc = "one to ten", .required = true, .def = "finger"}, {1, kMaxFingers}, s.fingers,
         describe_finger);
}

}  // namespace

void describe(Fields& f, SceneTool& tool) {
  f.mark(tool.place);
  auto& k = tool.kind;
  f.kind(
      {make_kind<ScenePointTool>("point", "a point mass on a virtual coupling", k, describe_point_tool),
       make_kind<SceneRigidTool>("rigid", "a rigid body in six degrees of freedom", k, describe_rigid_tool),
       make_kind<SceneChainTool>("chain", "a chain of beams held by its first end, hanging down: needle, wire, thread",
                                 k, describe_chain_tool),
       make_kind<SceneSoftTool>("soft", "finite elements, held by those near the handle", k, describe_soft_tool),
       make_kind<SceneFingersTool>(
           "fingers", "pointers without mass that are where the hand has them: fingertips, a gripper's jaws", k,
           describe_fingers)});
  f.optional_number({.name = "friction", .doc = "Coulomb coefficient; default: that of what it touches"}, tool.friction,
                    {0.0, 100.0});
  f.object({.name = "coupling", .doc = "spring and damper between handle and tool", .def = "coupling"},
           [&](Fields& o) { describe(o, tool.coupling); });
}

}  // namespace palpate
