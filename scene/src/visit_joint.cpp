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

}  // namespace palpate
