#include "describe.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

void describe_static(Fields& f, SceneStatic& s) {
  describe_shape(f, "its surface", s.shape);
}

void describe_plane(Fields& f, ScenePlane& s) {
  f.vector({.name = "normal", .doc = "out of the solid"}, s.normal, ScenePlane{}.normal);
  f.require(s.normal.norm() > 1e-9, "normal has no length");
}

void describe_copies(Fields& f, SceneCopies& s) {
  constexpr Range kCount{1, 100};
  const SceneCopies d;
  f.integer({.name = "x", .doc = "bodies along x"}, s.x, d.x, kCount);
  f.integer({.name = "y", .doc = "bodies along y"}, s.y, d.y, kCount);
  f.integer({.name = "z", .doc = "bodies along z"}, s.z, d.z, kCount);
  f.vector({.name = "spacing", .doc = "from one to the next", .unit = "m"}, s.spacing, d.spacing);
}

void describe_rigid(Fields& f, SceneRigid& s) {
  using As = SceneRigid::Contact;
  const SceneRigid d;
  describe_shape(f, "its surface, closed", s.shape);
  f.number({.name = "density", .doc = "ρ", .unit = "kg/m³"}, s.density, d.density, {0.0, 1e5, true});
  f.choice<As>(
      {.name = "contact",
       .doc = "how it touches: as the shape itself (box, sphere), the hull of its surface, or the surface (mesh); "
              "auto: box and sphere as such, cylinder and capsule as hull, others as mesh"},
      s.contact, d.contact,
      {{"auto", As::kAuto}, {"box", As::kBox}, {"sphere", As::kSphere}, {"hull", As::kHull}, {"mesh", As::kMesh}});
  const bool fits = (s.contact != As::kBox || std::holds_alternative<BoxShape>(s.shape.kind)) &&
                    (s.contact != As::kSphere || std::holds_alternative<SphereShape>(s.shape.kind));
  f.require(fits, fmt::format("contact \"{}\" needs a shape of that type, not \"{}\"",
                              s.contact == As::kBox ? "box" : "sphere", kind_name(s.shape)));
  f.vector({.name = "velocity", .doc = "of its centre at the start", .unit = "m/s"}, s.velocity, d.velocity);
  f.vector({.name = "spin", .doc = "angular velocity at the start", .unit = "rad/s"}, s.spin, d.spin);
  f.number({.name = "damping", .doc = "α: force −αMv", .unit = "1/s"}, s.damping, d.damping, {0.0, 1e4});
  f.object({.name = "copies", .doc = "a grid of the same body"}, [&](Fields& o) { describe_copies(o, s.copies); });
}

void describe_soft(Fields& f, SceneSoft& s) {
  using Model = SceneSoft::Model;
  const SceneSoft d;
  f.optional({.name = "shape",
              .doc = "closed; a box becomes a regular block, others are filled with elements",
              .def = "shape"},
             s.shape, [](Fields& o, SceneShape& shape) { describe(o, shape); });
  f.text({.name = "volume", .doc = "a file of tetrahedra instead of a shape: Gmsh, VTK, VTU or TetGen", .file = true},
         s.volume, d.volume);
  f.require(s.shape.has_value() == s.volume.empty(), "give one of shape and volume");
  f.choice<Model>({.name = "model",
                   .doc = "corotational tets, corotational hexes with the shape's surface embedded, or nonlinear tets"},
                  s.model, d.model,
                  {{"tets", Model::kTets},
                   {"hexes", Model::kHexes},
                   {"neo_hookean", Model::kNeoHookean},
                   {"st_venant_kirchhoff", Model::kStVenantKirchhoff}});
  f.require(s.volume.empty() || s.model != Model::kHexes,
            "a volume file has tets; allowed models: tets, neo_hookean, st_venant_kirchhoff");
  f.number({.name = "cell", .doc = "edge of the cells that fill the shape", .unit = "m"}, s.cell, d.cell, kLength);
  describe_material(f, "material", s.material, d.material);
  f.list({.name = "fixed", .doc = "nodes in these boxes, in the world, do not move", .def = "box_region"}, {0, 100},
         s.fixed, [](Fields& o, SceneBoxRegion& box) {
           o.vector({.name = "min", .doc = "lowest corner", .unit = "m", .required = true}, box.min, Vec3::Zero());
           o.vector({.name = "max", .doc = "highest corner", .unit = "m", .required = true}, box.max, Vec3::Zero());
         });
  f.boolean({.name = "self_contact", .doc = "touches itself"}, s.self_contact, d.self_contact);
  f.integer({.name = "max_rows", .doc = "room for constraint rows, three a contact"}, s.max_rows, d.max_rows,
            {3, 10000});
  f.number(
      {.name = "single_precision_error",
       .doc = "what answers within a tick may be computed in single precision, in half the time, while its relative "
              "error is surely below this; 0: never"},
      s.single_precision_error, d.single_precision_error, {0.0, 0.1});
}

void describe_chain(Fields& f, SceneChain& s) {
  using Clamp = SceneChain::Clamp;
  const SceneChain d;
  f.vector({.name = "from", .doc = "first end, in the body's frame", .unit = "m"}, s.from, d.from);
  f.vector({.name = "to", .doc = "other end", .unit = "m"}, s.to, d.to);
  f.integer({.name = "beams", .doc = "between them"}, s.beams, d.beams, {1, 1000});
  f.number({.name = "radius", .doc = "of the round section", .unit = "m"}, s.radius, d.radius, {0.0, 1.0, true});
  describe_material(f, "wire_material", s.material, d.material);
  f.choice<Clamp>({.name = "clamp", .doc = "ends that do not move"}, s.clamp, d.clamp,
                  {{"none", Clamp::kNone}, {"start", Clamp::kStart}, {"end", Clamp::kEnd}, {"both", Clamp::kBoth}});
}

void describe_axis(Fields& f, SceneJointAxis& s, bool turns) {
  const SceneJointAxis d;
  const std::string_view unit = turns ? "rad" : "m";
  f.number({.name = "lower", .doc = "least angle or way; default: none", .unit = unit}, s.lower, d.lower, kAnyNumber);
  f.number({.name = "upper", .doc = "largest angle or way; default: none", .unit = unit}, s.upper, d.upper, kAnyNumber);
  f.number({.name = "stiffness", .doc = "of a spring about or along the axis", .unit = turns ? "N·m/rad" : "N/m"},
           s.stiffness, d.stiffness, {0.0, 1e9});
  f.number({.name = "damping", .doc = "of a damper", .unit = turns ? "N·m·s/rad" : "N·s/m"}, s.damping, d.damping,
           {0.0, 1e9});
  f.number({.name = "rest", .doc = "where the spring pulls to", .unit = unit}, s.rest, d.rest, kAnyNumber);
  f.number({.name = "max_drive", .doc = "most torque or force of motor and dry friction", .unit = turns ? "N·m" : "N"},
           s.max_drive, d.max_drive, {0.0, 1e9});
  f.number({.name = "speed", .doc = "that the motor keeps; 0: dry friction", .unit = turns ? "rad/s" : "m/s"}, s.speed,
           d.speed, {-1e6, 1e6});
}

void describe_curve(Fields& f, CurveJoint& s) {
  f.list({.name = "points", .doc = "of the line, in the world, two or more", .required = true, .def = "curve_point"},
         {2, 1000}, s.points, [](Fields& o, Vec3& p) {
           o.vector({.name = "position", .doc = "where", .unit = "m", .required = true}, p, Vec3::Zero());
         });
  describe_axis(f, s.axis, false);
}

void describe_box_joint(Fields& f, BoxJoint& s) {
  const BoxJoint d;
  f.vector({.name = "min", .doc = "lowest corner", .unit = "m", .required = true}, s.min, d.min);
  f.vector({.name = "max", .doc = "highest corner", .unit = "m", .required = true}, s.max, d.max);
}

}  // namespace

void describe(Fields& f, SceneBody& body) {
  const SceneBody d;
  f.mark(body.place);
  f.text({.name = "name", .doc = "for joints, messages and plots; default: its shape"}, body.name, d.name);
  auto& k = body.kind;
  f.kind({make_kind<SceneStatic>("static", "never moves", k, describe_static),
          make_kind<ScenePlane>("plane", "a half-space that never moves, through `position`", k, describe_plane),
          make_kind<SceneRigid>("rigid", "moves and turns as a whole", k, describe_rigid),
          make_kind<SceneSoft>("soft", "finite elements", k, describe_soft),
          make_kind<SceneChain>("chain", "beams in a row: wire, thread, needle", k, describe_chain)});
  f.vector({.name = "position", .doc = "of the body's origin", .unit = "m"}, body.position, d.position);
  describe_rotation(f, body.rotation);
  f.number({.name = "friction", .doc = "Coulomb coefficient μ; a pair has the geometric mean of its two"},
           body.friction, d.friction, {0.0, 100.0});
}

void describe(Fields& f, SceneJoint& joint) {
  const SceneJoint d;
  f.mark(joint.place);
  f.text({.name = "name", .doc = "for messages"}, joint.name, d.name);
  auto& k = joint.kind;
  const auto nothing_more = [](Fields&, auto&) {};
  f.kind({make_kind<BallJoint>("ball", "two points coincide: also ties ends, and points to surfaces", k, nothing_more),
          make_kind<FixedJoint>("fixed", "no relative motion", k, nothing_more),
          make_kind<HingeJoint>("hinge", "turns about its axis", k,
                                [](Fields& h, HingeJoint& j) { describe_axis(h, j.axis, true); }),
          make_kind<SliderJoint>("slider", "slides along its axis", k,
                                 [](Fields& h, SliderJoint& j) { describe_axis(h, j.axis, false); }),
          make_kind<CurveJoint>("curve", "a point of a slides along a line of points of b", k, describe_curve),
          make_kind<BoxJoint>("box", "a point of a stays in a box of the world", k, describe_box_joint)});
  f.text({.name = "a", .doc = "name of the first body, or of a tool; one alone is \"tool\"", .required = true}, joint.a,
         d.a);
  f.text({.name = "b", .doc = "name of the second body or tool; default: the world"}, joint.b, d.b);
  f.vector({.name = "position", .doc = "of the joint at the start", .unit = "m"}, joint.position, d.position);
  f.vector({.name = "axis", .doc = "of hinge and slider"}, joint.axis, d.axis);
  f.number({.name = "arm", .doc = "length that weighs angles against distances, about the bodies' size", .unit = "m"},
           joint.arm, d.arm, {0.0, 1e3, true});
  f.boolean({.name = "collide",
             .doc = "a soft body or chain that is tied (ball, fixed) touches what it is tied to, but around the tie"},
            joint.collide, d.collide);
  f.number({.name = "clearance", .doc = "nearer to the tie than this they do not touch", .unit = "m"}, joint.clearance,
           d.clearance, {0.0, 1e3});
  f.require(joint.axis.norm() > 1e-9, "axis has no length");
}

}  // namespace palpate
