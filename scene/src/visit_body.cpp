#include "visit_body.h"

#include <cmath>

#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/tet_mesher.h"
#include "palpate/geometry/volume_file.h"

namespace palpate {
namespace {

void place_mesh(const Pose& pose, std::vector<Vec3>& vertices) {
  for (Vec3& v : vertices) v = pose.rotation * v + pose.position;
}

// Static.

void visit_static(Fields& f, const std::string& scene_file, SceneBody& body) {
  auto shape = std::make_shared<SceneShape>();
  f.object({.name = "shape", .doc = "its surface", .required = true},
           [&](Fields& s) { visit_shape(s, scene_file, *shape); });
  body.kind = "static";
  if (body.name.empty()) body.name = shape->kind;
  body.add_to = [shape](World& world, const SceneBody& b) {
    TriangleMesh mesh = shape->make_surface();
    place_mesh(b.pose, mesh.vertices);
    world.add({b.name, TriangleTree(std::move(mesh)), b.friction});
  };
}

void visit_plane(Fields& f, SceneBody& body) {
  Vec3 normal = Vec3::UnitY();
  f.vector({.name = "normal", .doc = "out of the solid"}, normal);
  if (!f.place().empty() && !(normal.norm() > 1e-9)) fail_input("{}: normal has no length", f.place());
  body.kind = "plane";
  if (body.name.empty()) body.name = "plane";
  body.add_to = [normal](World& world, const SceneBody& b) {
    ContactShape shape;
    shape.kind = ContactShape::Kind::kPlane;
    shape.normal = (b.pose.rotation * normal).normalized();
    shape.offset = shape.normal.dot(b.pose.position);
    shape.friction = b.friction;
    world.add({b.name, nullptr, shape});
  };
}

// Rigid.

struct RigidFields {
  SceneShape shape;
  double density = 1000.0;
  std::string contact = "auto";
  Twist velocity;
  double damping = 0.0;
  std::array<int, 3> count{1, 1, 1};
  Vec3 spacing = Vec3::Constant(0.1);
};

ContactShape make_rigid_contact(const RigidFields& r, const MassProperties& mass) {
  ContactShape out;
  std::string kind = r.contact;
  if (kind == "auto") {
    kind = "mesh";
    if (r.shape.kind == "box" || r.shape.kind == "sphere") kind = r.shape.kind;
    if (r.shape.kind == "cylinder" || r.shape.kind == "capsule") kind = "hull";
  }
  if (kind == "hull") out.kind = ContactShape::Kind::kHull;
  if (kind == "mesh") out.kind = ContactShape::Kind::kSurface;
  if (kind == "box") out.kind = ContactShape::Kind::kBox;
  if (kind == "sphere") out.kind = ContactShape::Kind::kSphere;
  out.size = r.shape.size;
  out.radius = 0.5 * r.shape.size.x();
  out.pose.position = -mass.centre;
  return out;
}

void add_rigid(World& world, const SceneBody& b, const RigidFields& r) {
  RigidBodySettings s;
  s.surface = r.shape.make_surface();
  if (const MeshReport report = check_mesh(s.surface); !report.closed)
    fail_input("a rigid body needs a closed surface; this one has {} open edges", report.boundary_edges);
  s.mass = compute_mass_properties(s.surface, r.density);
  s.velocity = r.velocity;
  s.damping = r.damping;
  const ContactShape contact = [&] {
    ContactShape c = make_rigid_contact(r, s.mass);
    c.friction = b.friction;
    return c;
  }();
  const bool one = r.count[0] * r.count[1] * r.count[2] == 1;
  int n = 0;
  for (int y = 0; y < r.count[1]; ++y) {
    for (int z = 0; z < r.count[2]; ++z) {
      for (int x = 0; x < r.count[0]; ++x) {
        s.pose = b.pose;
        s.pose.position += b.pose.rotation * Vec3(x * r.spacing.x(), y * r.spacing.y(), z * r.spacing.z());
        world.add({one ? b.name : fmt::format("{} {}", b.name, ++n), std::make_unique<RigidBody>(s), contact});
      }
    }
  }
}

void visit_rigid(Fields& f, const std::string& scene_file, SceneBody& body) {
  auto r = std::make_shared<RigidFields>();
  f.object({.name = "shape", .doc = "its surface, closed", .required = true},
           [&](Fields& s) { visit_shape(s, scene_file, r->shape); });
  f.number({.name = "density", .doc = "ρ", .unit = "kg/m³"}, r->density, {0.0, 1e5, true});
  f.choice({.name = "contact",
            .doc = "how it touches: as the shape itself (box, sphere), the hull of its surface, or the surface (mesh); "
                   "auto: box and sphere as such, cylinder and capsule as hull, others as mesh"},
           r->contact, {"auto", "box", "sphere", "hull", "mesh"});
  if (!f.place().empty() && (r->contact == "box" || r->contact == "sphere") && r->contact != r->shape.kind)
    fail_input("{}: contact \"{}\" needs a shape of that type, not \"{}\"", f.place(), r->contact, r->shape.kind);
  f.vector({.name = "velocity", .doc = "of its centre at the start", .unit = "m/s"}, r->velocity.linear);
  f.vector({.name = "spin", .doc = "angular velocity at the start", .unit = "rad/s"}, r->velocity.angular);
  f.number({.name = "damping", .doc = "α: force −αMv", .unit = "1/s"}, r->damping, {0.0, 1e4});
  f.object({.name = "copies", .doc = "a grid of the same body"}, [&](Fields& o) {
    constexpr Range kCount{1, 100};
    o.integer({.name = "x", .doc = "bodies along x"}, r->count[0], kCount);
    o.integer({.name = "y", .doc = "bodies along y"}, r->count[1], kCount);
    o.integer({.name = "z", .doc = "bodies along z"}, r->count[2], kCount);
    o.vector({.name = "spacing", .doc = "from one to the next", .unit = "m"}, r->spacing);
  });
  body.kind = "rigid";
  if (body.name.empty()) body.name = r->shape.kind;
  body.add_to = [r](World& world, const SceneBody& b) { add_rigid(world, b, *r); };
}

// Soft.

struct SoftFields {
  SceneShape shape;
  std::string volume;
  std::string model = "tets";
  double cell = 0.02;
  Material material;
  int max_rows = 240;
  double single_precision_error = 0.0;
  bool self_contact = false;
  std::vector<BoundingBox> fixed;
};

std::array<int, 3> count_cells(const Vec3& size, double cell) {
  std::array<int, 3> out;
  for (int k = 0; k < 3; ++k)
    out[static_cast<std::size_t>(k)] = std::max(1, static_cast<int>(std::lround(size[k] / cell)));
  return out;
}

std::unique_ptr<FemBody> make_soft(const SoftFields& s, const Pose& pose) {
  const std::span<const Material> materials(&s.material, 1);
  FemSettings fem;
  fem.max_rows = s.max_rows;
  fem.single_precision_error = s.single_precision_error;
  const bool block = s.shape.kind == "box" && s.volume.empty();
  if (s.model == "hexes") {
    HexGrid grid;
    TriangleMesh surface;
    if (block) {
      grid = make_hex_grid(s.shape.size, count_cells(s.shape.size, s.cell));
    } else {
      surface = s.shape.make_surface();
      grid = make_voxels(TriangleTree(surface), {.cell = s.cell});
    }
    auto body = std::make_unique<CorotationalHexes>(grid, materials, surface, CorotationalHexSettings{.fem = fem});
    // Cells lie along the axes; the body as a whole may not: its start is a rigid motion of its rest shape.
    std::vector<Vec3> x(body->rest_positions().begin(), body->rest_positions().end());
    place_mesh(pose, x);
    body->set_positions(x);
    return body;
  }
  TetMesh mesh;
  if (!s.volume.empty())
    mesh = load_volume(s.volume).mesh;
  else
    mesh = make_shape_tets(s.shape, s.cell);
  place_mesh(pose, mesh.vertices);
  if (s.model == "tets")
    return std::make_unique<CorotationalTets>(mesh, materials, CorotationalTetSettings{.fem = fem});
  NonlinearTetSettings settings;
  settings.fem = fem;
  settings.model =
      s.model == "neo_hookean" ? HyperelasticModel::kStableNeoHookean : HyperelasticModel::kStVenantKirchhoff;
  return std::make_unique<NonlinearTets>(mesh, materials, settings);
}

void add_soft(World& world, const SceneBody& b, const SoftFields& s) {
  std::unique_ptr<FemBody> body = make_soft(s, b.pose);
  int fixed = 0;
  for (const BoundingBox& box : s.fixed) {
    for (int n = 0; n < body->node_count(); ++n) {
      const Vec3& x = body->positions()[static_cast<std::size_t>(n)];
      if ((x.array() < box.lower.array()).any() || (x.array() > box.upper.array()).any()) continue;
      body->prescribe(n, Vec3::Zero());
      ++fixed;
    }
  }
  if (!s.fixed.empty() && fixed == 0) fail_input("body \"{}\": no node lies in the boxes of fixed", b.name);
  ContactShape shape;
  shape.kind = ContactShape::Kind::kSurface;
  shape.self = s.self_contact;
  shape.friction = b.friction;
  world.add({b.name, std::move(body), shape});
}

void visit_soft(Fields& f, const std::string& scene_file, SceneBody& body) {
  auto s = std::make_shared<SoftFields>();
  f.object({.name = "shape", .doc = "closed; a box becomes a regular block, others are filled with elements"},
           [&](Fields& o) { visit_shape(o, scene_file, s->shape); });
  std::string volume;
  f.text({.name = "volume", .doc = "a file of tetrahedra instead of a shape: Gmsh, VTK, VTU or TetGen"}, volume);
  if (!volume.empty()) s->volume = resolve_file(volume, scene_file);
  if (!f.place().empty() && s->shape.kind.empty() == volume.empty())
    fail_input("{}: give one of shape and volume", f.place());
  f.choice({.name = "model",
            .doc = "corotational tets, corotational hexes with the shape's surface embedded, or nonlinear tets"},
           s->model, {"tets", "hexes", "neo_hookean", "st_venant_kirchhoff"});
  if (!f.place().empty() && !volume.empty() && s->model == "hexes")
    fail_input("{}: a volume file has tets; allowed models: tets, neo_hookean, st_venant_kirchhoff", f.place());
  f.number({.name = "cell", .doc = "edge of the cells that fill the shape", .unit = "m"}, s->cell, kLength);
  f.object({.name = "material", .doc = "elastic, with Rayleigh damping"},
           [&](Fields& o) { visit_material(o, s->material); });
  f.list({.name = "fixed", .doc = "nodes in these boxes, in the world, do not move"}, 100, [&](Fields& o) {
    s->fixed.emplace_back();
    BoundingBox& box = s->fixed.back();
    box.lower = box.upper = Vec3::Zero();
    o.vector({.name = "min", .doc = "lowest corner", .unit = "m", .required = true}, box.lower);
    o.vector({.name = "max", .doc = "highest corner", .unit = "m", .required = true}, box.upper);
  });
  f.boolean({.name = "self_contact", .doc = "touches itself"}, s->self_contact);
  f.integer({.name = "max_rows", .doc = "room for constraint rows, three a contact"}, s->max_rows, {3, 10000});
  f.number(
      {.name = "single_precision_error",
       .doc = "what answers within a tick may be computed in single precision, in half the time, while its relative "
              "error is surely below this; 0: never"},
      s->single_precision_error, {0.0, 0.1});
  body.kind = "soft";
  if (body.name.empty()) body.name = s->shape.kind.empty() ? "soft" : s->shape.kind;
  body.add_to = [s](World& world, const SceneBody& b) { add_soft(world, b, *s); };
}

// Chains.

struct ChainFields {
  Vec3 from = Vec3::Zero(), to = Vec3(0.2, 0.0, 0.0);
  int beams = 10;
  double radius = 0.001;
  Material material{.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1500.0};
  std::string clamp = "none";
};

void add_chain(World& world, const SceneBody& b, const ChainFields& c) {
  std::vector<Vec3> points;
  for (int i = 0; i <= c.beams; ++i) points.push_back(c.from + (c.to - c.from) * i / c.beams);
  place_mesh(b.pose, points);
  BeamChainSettings settings;
  settings.rest = make_chain_poses(points);
  settings.section = make_round_section(c.radius, c.material.poisson_ratio);
  settings.material = c.material;
  auto body = std::make_unique<BeamChain>(settings);
  for (const int block : {0, 1}) {
    if (c.clamp == "start" || c.clamp == "both") body->prescribe(block, Vec3::Zero());
    if (c.clamp == "end" || c.clamp == "both") body->prescribe(2 * c.beams + block, Vec3::Zero());
  }
  ContactShape shape;
  shape.kind = ContactShape::Kind::kChain;
  shape.friction = b.friction;
  world.add({b.name, std::move(body), shape});
}

void visit_chain(Fields& f, SceneBody& body) {
  auto c = std::make_shared<ChainFields>();
  f.vector({.name = "from", .doc = "first end, in the body's frame", .unit = "m"}, c->from);
  f.vector({.name = "to", .doc = "other end", .unit = "m"}, c->to);
  f.integer({.name = "beams", .doc = "between them"}, c->beams, {1, 1000});
  f.number({.name = "radius", .doc = "of the round section", .unit = "m"}, c->radius, {0.0, 1.0, true});
  f.object({.name = "material", .doc = "elastic, with Rayleigh damping"},
           [&](Fields& o) { visit_material(o, c->material); });
  f.choice({.name = "clamp", .doc = "ends that do not move"}, c->clamp, {"none", "start", "end", "both"});
  body.kind = "chain";
  if (body.name.empty()) body.name = "chain";
  body.add_to = [c](World& world, const SceneBody& b) { add_chain(world, b, *c); };
}

}  // namespace

TetMesh make_shape_tets(const SceneShape& shape, double cell) {
  if (shape.kind == "box") return make_tet_block(shape.size, count_cells(shape.size, cell));
  return make_tets(TriangleTree(shape.make_surface()), cell);
}

void visit_body(Fields& f, const std::string& scene_file, SceneBody& body) {
  f.text({.name = "name", .doc = "for joints, messages and plots; default: its shape"}, body.name);
  f.kind({{"static", "never moves", [&](Fields& k) { visit_static(k, scene_file, body); }},
          {"plane", "a half-space that never moves, through `position`", [&](Fields& k) { visit_plane(k, body); }},
          {"rigid", "moves and turns as a whole", [&](Fields& k) { visit_rigid(k, scene_file, body); }},
          {"soft", "finite elements", [&](Fields& k) { visit_soft(k, scene_file, body); }},
          {"chain", "beams in a row: wire, thread, needle", [&](Fields& k) { visit_chain(k, body); }}});
  f.vector({.name = "position", .doc = "of the body's origin", .unit = "m"}, body.pose.position);
  visit_rotation(f, body.pose.rotation);
  f.number({.name = "friction", .doc = "Coulomb coefficient μ; a pair has the geometric mean of its two"},
           body.friction, {0.0, 100.0});
  if (f.place().empty()) return;
  // What goes wrong when the body is made is said with the place that asked for it.
  body.add_to = [add = std::move(body.add_to), place = f.place()](World& world, const SceneBody& b) {
    try {
      add(world, b);
    } catch (const InputError& error) {
      const std::string_view what = error.what();
      if (what.starts_with(place.substr(0, place.find(':')))) throw;  // it names its place already
      fail_input("{}: {}", place, what);
    }
  };
}

}  // namespace palpate
