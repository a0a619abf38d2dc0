#include <cmath>

#include "cells.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/mesh_holes.h"
#include "palpate/geometry/volume_file.h"
#include "palpate/scene/body.h"
#include "with_place.h"

namespace palpate {
namespace {

void place_mesh(const Pose& pose, std::vector<Vec3>& vertices) {
  for (Vec3& v : vertices) v = pose.rotation * v + pose.position;
}

ContactShape make_rigid_contact(const SceneRigid& r, const MassProperties& mass) {
  using As = SceneRigid::Contact;
  const auto* box = std::get_if<BoxShape>(&r.shape.kind);
  const auto* sphere = std::get_if<SphereShape>(&r.shape.kind);
  As as = r.contact;
  if (as == As::kAuto) {
    as = As::kMesh;
    if (box) as = As::kBox;
    if (sphere) as = As::kSphere;
    if (std::holds_alternative<CylinderShape>(r.shape.kind) || std::holds_alternative<CapsuleShape>(r.shape.kind))
      as = As::kHull;
  }
  ContactShape out;
  const Vec3 middle = -mass.centre;
  if (as == As::kHull) out.kind = ContactShape::Hull{};
  if (as == As::kMesh) out.kind = ContactShape::Surface{};
  if (as == As::kBox) out.kind = ContactShape::Box{.size = box->size, .pose = {middle, Quat::Identity()}};
  if (as == As::kSphere) out.kind = ContactShape::Sphere{.radius = sphere->radius, .position = middle};
  return out;
}

std::unique_ptr<FemBody> make_soft(const SceneSoft& s, const Pose& pose, const std::string& scene_file) {
  using Model = SceneSoft::Model;
  const std::span<const Material> materials(&s.material, 1);
  FemSettings fem;
  fem.max_rows = s.max_rows;
  fem.single_precision_error = s.single_precision_error;
  if (s.model == Model::kHexes) {
    HexGrid grid;
    TriangleMesh surface;
    if (const auto* box = std::get_if<BoxShape>(&s.shape->kind)) {
      grid = make_hex_grid(box->size, count_cells(box->size, s.cell));
    } else {
      surface = make_surface(*s.shape, scene_file);
      grid = make_voxels(TriangleTree(surface), {.cell = s.cell});
    }
    auto body = std::make_unique<CorotationalHexes>(grid, materials, surface, CorotationalHexSettings{.fem = fem});
    // Cells lie along the axes; the body as a whole may not: its start is a rigid motion of its rest shape.
    std::vector<Vec3> x(body->rest_positions().begin(), body->rest_positions().end());
    place_mesh(pose, x);
    body->set_positions(x);
    return body;
  }
  TetMesh mesh =
      s.shape ? make_shape_tets(*s.shape, s.cell, scene_file) : load_volume(resolve_file(s.volume, scene_file)).mesh;
  place_mesh(pose, mesh.vertices);
  if (s.model == Model::kTets)
    return std::make_unique<CorotationalTets>(mesh, materials, CorotationalTetSettings{.fem = fem});
  NonlinearTetSettings settings;
  settings.fem = fem;
  settings.model =
      s.model == Model::kNeoHookean ? HyperelasticModel::kStableNeoHookean : HyperelasticModel::kStVenantKirchhoff;
  return std::make_unique<NonlinearTets>(mesh, materials, settings);
}

/// Adds the body of each kind.
struct AddBody {
  World& world;
  const SceneBody& body;
  const std::string& scene_file;
  const Pose pose{body.position, rotation_from_vector(body.rotation)};
  const std::string name = name_of(body);

  void operator()(const SceneStatic& s) const {
    TriangleMesh mesh = make_surface(s.shape, scene_file);
    place_mesh(pose, mesh.vertices);
    world.add({name, TriangleTree(std::move(mesh)), body.friction});
  }

  void operator()(const ScenePlane& s) const {
    ContactShape shape;
    const Vec3 normal = (pose.rotation * s.normal).normalized();
    shape.kind = ContactShape::Plane{.normal = normal, .offset = normal.dot(pose.position)};
    shape.friction = body.friction;
    world.add({name, nullptr, shape});
  }

  void operator()(const SceneRigid& r) const {
    RigidBodySettings s;
    s.surface = make_surface(r.shape, scene_file);
    const MeshReport report = check_mesh(s.surface);
    if (report.non_manifold_edges > 0)
      fail_input("a rigid body needs a closed surface; of this one, {}", describe_crowded_edges(s.surface));
    if (!report.closed)
      fail_input("a rigid body needs a closed surface; this one has {}; \"repair\": true in a mesh shape fills them",
                 describe_holes(find_holes(s.surface)));
    s.mass = compute_mass_properties(s.surface, r.density);
    s.velocity = {r.velocity, r.spin};
    s.damping = r.damping;
    ContactShape contact = make_rigid_contact(r, s.mass);
    contact.friction = body.friction;
    const SceneCopies& c = r.copies;
    const bool one = c.x * c.y * c.z == 1;
    int n = 0;
    for (int y = 0; y < c.y; ++y) {
      for (int z = 0; z < c.z; ++z) {
        for (int x = 0; x < c.x; ++x) {
          s.pose = pose;
          s.pose.position += pose.rotation * Vec3(x * c.spacing.x(), y * c.spacing.y(), z * c.spacing.z());
          world.add({one ? name : fmt::format("{} {}", name, ++n), std::make_unique<RigidBody>(s), contact});
        }
      }
    }
  }

  void operator()(const SceneSoft& s) const {
    std::unique_ptr<FemBody> made = make_soft(s, pose, scene_file);
    int fixed = 0;
    for (const SceneBoxRegion& box : s.fixed) {
      for (int n = 0; n < made->node_count(); ++n) {
        const Vec3& x = made->positions()[as_size(n)];
        if ((x.array() < box.min.array()).any() || (x.array() > box.max.array()).any()) continue;
        made->prescribe(n, Vec3::Zero());
        ++fixed;
      }
    }
    if (!s.fixed.empty() && fixed == 0) fail_input("body \"{}\": no node lies in the boxes of fixed", name);
    ContactShape shape;
    shape.kind = ContactShape::Surface{.self = s.self_contact};
    shape.friction = body.friction;
    world.add({name, std::move(made), shape});
  }

  void operator()(const SceneChain& c) const {
    using Clamp = SceneChain::Clamp;
    std::vector<Vec3> points;
    for (int i = 0; i <= c.beams; ++i) points.push_back(c.from + (c.to - c.from) * i / c.beams);
    place_mesh(pose, points);
    BeamChainSettings settings;
    settings.rest = make_chain_poses(points);
    settings.section = make_round_section(c.radius, c.material.poisson_ratio);
    settings.material = c.material;
    auto made = std::make_unique<BeamChain>(settings);
    for (const int block : {0, 1}) {
      if (c.clamp == Clamp::kStart || c.clamp == Clamp::kBoth) made->prescribe(block, Vec3::Zero());
      if (c.clamp == Clamp::kEnd || c.clamp == Clamp::kBoth) made->prescribe(2 * c.beams + block, Vec3::Zero());
    }
    ContactShape shape;
    shape.kind = ContactShape::Chain{};
    shape.friction = body.friction;
    world.add({name, std::move(made), shape});
  }
};

int find_body(const World& world, const std::string& name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    if (world.bodies()[i].name == name) return static_cast<int>(i);
    if (world.bodies()[i].body) names.emplace_back(world.bodies()[i].name);
  }
  fail_input("no body that moves is called {}; there are: {}{}", quote_for_message(name), join_words(names),
             suggest_word(name, names));
}

/// Puts what each kind of joint has of its own into the world's.
struct FillJoint {
  Joint& joint;
  std::vector<Vec3>& curve;

  void fill_axis(const SceneJointAxis& s) const {
    joint.lower = s.lower;
    joint.upper = s.upper;
    joint.stiffness = s.stiffness;
    joint.damping = s.damping;
    joint.rest = s.rest;
    joint.max_drive = s.max_drive;
    joint.speed = s.speed;
  }
  void operator()(const BallJoint&) const { joint.kind = Joint::Kind::kBall; }
  void operator()(const FixedJoint&) const { joint.kind = Joint::Kind::kFixed; }
  void operator()(const HingeJoint& s) const {
    joint.kind = Joint::Kind::kHinge;
    fill_axis(s.axis);
  }
  void operator()(const SliderJoint& s) const {
    joint.kind = Joint::Kind::kSlider;
    fill_axis(s.axis);
  }
  void operator()(const CurveJoint& s) const {
    joint.kind = Joint::Kind::kCurve;
    curve = s.points;
    fill_axis(s.axis);
  }
  void operator()(const BoxJoint& s) const {
    joint.kind = Joint::Kind::kBox;
    joint.box_lower = s.min;
    joint.box_upper = s.max;
  }
};

}  // namespace

std::string_view kind_name(const SceneBody& body) noexcept {
  constexpr std::string_view kNames[] = {"static", "plane", "rigid", "soft", "chain"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(SceneBody::kind)>);
  return kNames[body.kind.index()];
}

std::string name_of(const SceneBody& body) {
  if (!body.name.empty()) return body.name;
  const SceneShape* shape = nullptr;
  if (const auto* s = std::get_if<SceneStatic>(&body.kind)) shape = &s->shape;
  if (const auto* s = std::get_if<SceneRigid>(&body.kind)) shape = &s->shape;
  if (const auto* s = std::get_if<SceneSoft>(&body.kind); s && s->shape) shape = &*s->shape;
  return std::string(shape ? kind_name(*shape) : kind_name(body));
}

void add_body(World& world, const SceneBody& body, const std::string& scene_file) {
  with_place(body.place, [&] { std::visit(AddBody{world, body, scene_file}, body.kind); });
}

void add_joint(World& world, const SceneJoint& s) {
  with_place(s.place, [&] {
    Joint joint;
    std::vector<Vec3> curve;
    std::visit(FillJoint{joint, curve}, s.kind);
    joint.name = !s.name.empty() ? s.name : s.b.empty() ? s.a : s.a + " to " + s.b;
    joint.arm = s.arm;
    joint.collide = s.collide;
    joint.clearance = s.clearance;
    joint.body_a = find_body(world, s.a);
    joint.body_b = s.b.empty() ? -1 : find_body(world, s.b);
    const auto body_of = [&](int i) { return i < 0 ? nullptr : world.bodies()[as_size(i)].body.get(); };
    const Body* b = body_of(joint.body_b);
    const Pose place{s.position, Quat::FromTwoVectors(Vec3::UnitX(), s.axis)};
    const Joint ends = make_joint(joint.kind, body_of(joint.body_a), b, place);
    joint.point_a = ends.point_a;
    joint.point_b = ends.point_b;
    joint.frame_a = ends.frame_a;
    joint.frame_b = ends.frame_b;
    for (const Vec3& p : curve) joint.curve.push_back(b ? b->find_point(p) : BodyPoint::fixed_to(p));
    world.add(std::move(joint));
  });
}

}  // namespace palpate
