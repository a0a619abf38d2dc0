#include "palpate/core/error.h"
#include "visit_body.h"

namespace palpate {
namespace {

void visit_axis(Fields& f, Joint& j, bool turns) {
  const std::string_view unit = turns ? "rad" : "m";
  f.number({.name = "lower", .doc = "least angle or way; default: none", .unit = unit}, j.lower, kAnyNumber);
  f.number({.name = "upper", .doc = "largest angle or way; default: none", .unit = unit}, j.upper, kAnyNumber);
  f.number({.name = "stiffness", .doc = "of a spring about or along the axis", .unit = turns ? "N·m/rad" : "N/m"},
           j.stiffness, {0.0, 1e9});
  f.number({.name = "damping", .doc = "of a damper", .unit = turns ? "N·m·s/rad" : "N·s/m"}, j.damping, {0.0, 1e9});
  f.number({.name = "rest", .doc = "where the spring pulls to", .unit = unit}, j.rest, kAnyNumber);
  f.number({.name = "max_drive", .doc = "most torque or force of motor and dry friction", .unit = turns ? "N·m" : "N"},
           j.max_drive, {0.0, 1e9});
  f.number({.name = "speed", .doc = "that the motor keeps; 0: dry friction", .unit = turns ? "rad/s" : "m/s"}, j.speed,
           {-1e6, 1e6});
}

}  // namespace

void visit_joint(Fields& f, SceneJoint& joint) {
  joint.place = f.place();
  Joint& j = joint.joint;
  const auto is = [&j](Joint::Kind kind) { j.kind = kind; };
  f.kind({
      {"ball", "two points coincide: also ties ends, and points to surfaces", [&](Fields&) { is(Joint::Kind::kBall); }},
      {"fixed", "no relative motion", [&](Fields&) { is(Joint::Kind::kFixed); }},
      {"hinge", "turns about its axis",
       [&](Fields& k) {
         is(Joint::Kind::kHinge);
         visit_axis(k, j, true);
       }},
      {"slider", "slides along its axis",
       [&](Fields& k) {
         is(Joint::Kind::kSlider);
         visit_axis(k, j, false);
       }},
      {"curve", "a point of a slides along a line of points of b",
       [&](Fields& k) {
         is(Joint::Kind::kCurve);
         k.list({.name = "points", .doc = "of the line, in the world, two or more", .required = true}, 1000,
                [&](Fields& o) {
                  joint.curve.emplace_back(Vec3::Zero());
                  o.vector({.name = "position", .doc = "where", .unit = "m", .required = true}, joint.curve.back());
                });
         visit_axis(k, j, false);
       }},
      {"box", "a point of a stays in a box of the world",
       [&](Fields& k) {
         is(Joint::Kind::kBox);
         Vec3 lower = Vec3::Constant(-1.0), upper = Vec3::Constant(1.0);
         k.vector({.name = "min", .doc = "lowest corner", .unit = "m", .required = true}, lower);
         k.vector({.name = "max", .doc = "highest corner", .unit = "m", .required = true}, upper);
         j.box_lower = lower;
         j.box_upper = upper;
       }},
  });
  f.text({.name = "name", .doc = "for messages"}, j.name);
  f.text({.name = "a", .doc = "name of the first body, or \"tool\"", .required = true}, joint.a);
  f.text({.name = "b", .doc = "name of the second body; default: the world"}, joint.b);
  f.vector({.name = "position", .doc = "of the joint at the start", .unit = "m"}, joint.position);
  f.vector({.name = "axis", .doc = "of hinge and slider"}, joint.axis);
  f.number({.name = "arm", .doc = "length that weighs angles against distances, about the bodies' size", .unit = "m"},
           j.arm, {0.0, 1e3, true});
  if (!f.place().empty() && !(joint.axis.norm() > 1e-9)) fail_input("{}: axis has no length", f.place());
  if (j.name.empty()) j.name = joint.b.empty() ? joint.a : joint.a + " to " + joint.b;
}

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
             scene.make_tool_surface = [shape] { return shape->make_surface(); };
           }},
          {"chain", "a chain of beams held by its first end, hanging down: needle, wire, thread", [&](Fields& k) {
             tool.kind = ToolSettings::Kind::kChain;
             tool.radius = 0.001;
             tool.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1500.0};
             k.number({.name = "length", .doc = "of the chain", .unit = "m"}, tool.length, {0.0, 10.0, true});
             k.integer({.name = "beams", .doc = "of the chain"}, tool.beams, {1, 1000});
             k.number({.name = "radius", .doc = "of the round section", .unit = "m"}, tool.radius, {0.0, 1.0, true});
             k.object({.name = "material", .doc = "elastic, with Rayleigh damping"},
                      [&](Fields& o) { visit_material(o, tool.material); });
           }}});
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
