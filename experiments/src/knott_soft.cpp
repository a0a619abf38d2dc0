#include <fmt/format.h>

#include <cmath>

#include "experiments.h"
#include "knott_scenes.h"
#include "palpate/bodies/corotational_hexes.h"
#include "palpate/geometry/shapes.h"

// Knott & Kuhlen 2015, section 5.1, on hexahedral finite elements with an embedded surface: the sine surface in a soft
// block held at its left and right side (Figs. 5 and 7), and the soft statue (Fig. 9), with its performance (Fig. 10).
namespace palpate {
namespace {

/// The paper gives no material.
constexpr Material kSineMaterial{
    .young_modulus = 4e5, .poisson_ratio = 0.35, .density = 1000.0, .mass_damping = 5.0, .stiffness_damping = 0.005};
constexpr Material kStatueMaterial{
    .young_modulus = 6e5, .poisson_ratio = 0.35, .density = 1000.0, .mass_damping = 5.0, .stiffness_damping = 0.005};

/// A statue that gives way so far that a slow loop can be seen to be late.
constexpr double kSofterYoung = 6e4;

/// Asked for the soft statue.
constexpr std::size_t kStatueHexes = 2000;

struct SoftBody {
  HexGrid grid;
  TriangleMesh surface;
  Material material;
  std::function<bool(const Vec3&)> is_fixed;
};

/// No scene file can ask for this body: its grid and its surface are made by hand.
void add_soft_body(World& world, const std::string& name, const SoftBody& soft) {
  CorotationalHexSettings settings;
  settings.fem.max_rows = 240;
  settings.fem.single_precision_error = 1e-3;
  auto hexes = std::make_unique<CorotationalHexes>(soft.grid, std::span(&soft.material, 1), soft.surface, settings);
  for (int n = 0; n < hexes->node_count(); ++n) {
    if (soft.is_fixed(hexes->rest_positions()[as_size(n)])) hexes->prescribe(n, Vec3::Zero());
  }
  hexes->leave_out_prescribed();
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = kKnottFriction;
  world.add({name, std::move(hexes), shape});
}

/// A part of an experiment on a soft body.
void add_on_soft(const std::string& part, Scene scene, const SoftBody& soft, const SweepSettings& sweep,
                 const KnottLimits& limits, const ExperimentOptions& options, ExperimentResult& out) {
  if (options.stopped()) return;
  add_sweep(scene, TriangleTree(soft.surface), sweep);
  World world = make_world(scene, {.add_bodies = [&](World& w) { add_soft_body(w, scene.name, soft); }});
  add_knott_comparison(part, scene, world, limits, options, out);
}

void describe(const Scene& scene, const SoftBody& soft, ExperimentResult& out) {
  out.report.title = scene.name;
  out.report.paragraphs = {
      scene.description, fmt::format("{} hexes, {} nodes, an embedded surface of {} triangles.", soft.grid.hexes.size(),
                                     soft.grid.vertices.size(), soft.surface.triangles.size())};
}

/// A block whose top is the sine surface, closed: soft bodies need an inside.
TriangleMesh make_sine_block(const SineSurface& sine, double bottom) {
  TriangleMesh mesh = make_sine_surface(sine);
  const int nz = static_cast<int>(std::ceil(sine.size_z / sine.cell - 1e-9));
  const auto count = static_cast<std::int32_t>(mesh.vertices.size());
  const int nx = count / (nz + 1) - 1;
  const auto at = [&](int i, int k) { return i * (nz + 1) + k; };
  for (std::int32_t v = 0; v < count; ++v)
    mesh.vertices.emplace_back(mesh.vertices[as_size(v)].x(), bottom, mesh.vertices[as_size(v)].z());
  const std::size_t top = mesh.triangles.size();
  for (std::size_t t = 0; t < top; ++t) {
    const auto& c = mesh.triangles[t];
    mesh.triangles.push_back({c[0] + count, c[2] + count, c[1] + count});
  }
  const auto add_side = [&](int a, int b) {  // of the top, from left to right seen from outside
    mesh.triangles.push_back({a, a + count, b + count});
    mesh.triangles.push_back({a, b + count, b});
  };
  for (int i = 0; i < nx; ++i) {
    add_side(at(i, nz), at(i + 1, nz));
    add_side(at(i + 1, 0), at(i, 0));
  }
  for (int k = 0; k < nz; ++k) {
    add_side(at(nx, k + 1), at(nx, k));
    add_side(at(0, k), at(0, k + 1));
  }
  return mesh;
}

/// Voxels of the largest cell, from `cell` [m] down in steps of one percent, that makes at least `count` of them.
HexGrid make_voxels_of(const TriangleMesh& mesh, std::size_t count, double cell) {
  const TriangleTree tree(mesh);
  for (;; cell *= 0.99) {
    HexGrid grid = make_voxels(tree, {.cell = cell});
    if (grid.hexes.size() >= count) return grid;
  }
}

}  // namespace

ExperimentResult run_knott_sine_soft(const ExperimentOptions& options) {
  SoftBody soft;
  const Vec3 size(0.15, 0.025, 0.02);
  soft.grid = make_hex_grid(size, options.choose<std::array<int, 3>>({30, 5, 4}, {15, 3, 2}));
  // From y = −18.5 mm to 6.5 mm, so that the sine lies in it.
  for (Vec3& v : soft.grid.vertices) v.y() -= 0.006;
  soft.grid.origin.y() -= 0.006;
  soft.surface =
      make_sine_block({.amplitude = 0.005, .wavelength = 0.025, .size_x = 0.15, .size_z = 0.02, .cell = 0.002}, -0.018);
  soft.material = kSineMaterial;
  soft.is_fixed = [size](const Vec3& p) { return std::abs(p.x()) > 0.5 * size.x() - 1e-6; };
  SweepSettings sweep;
  sweep.from = -0.06;
  sweep.to = 0.06;
  sweep.depth = 0.002;
  sweep.smoothing = 0.001;
  const Scene scene = make_knott_scene("knott-sine-soft",
                                       "The sine surface in a soft block (E = 400 kPa) held at its left and right "
                                       "side; a fast swipe over it, 2 mm below where it was.",
                                       2.0);
  ExperimentResult out;
  describe(scene, soft, out);
  add_on_soft("", scene, soft, sweep, {.soft = true}, options, out);
  return out;
}

ExperimentResult run_knott_fertility_soft(const ExperimentOptions& options) {
  const Statue statue = load_statue(options);
  const BoundingBox box = compute_bounding_box(statue.mesh.vertices);
  SoftBody soft;
  soft.surface = statue.mesh;
  soft.grid = make_voxels_of(statue.mesh, options.choose<std::size_t>(kStatueHexes, 120), options.choose(0.0071, 0.02));
  soft.material = kStatueMaterial;
  const double base = box.lower.y() + 0.1 * box.size().y();
  soft.is_fixed = [base](const Vec3& p) { return p.y() < base; };
  SoftBody softer = soft;
  softer.material.young_modulus = kSofterYoung;
  SweepSettings top = sweep_over_top(statue, options.choose(0.42, 0.1)), down = sweep_onto_base(statue);
  top.depth = down.depth = 0.002;
  if (options.quick) down.back = false;
  const Scene scene = make_knott_scene("knott-fertility-soft",
                                       "The soft statue, upright, held by its whole base (the lowest tenth): swept "
                                       "across its top, and from its side onto the base and back. Of 600 kPa, and of "
                                       "60 kPa.",
                                       2.0);
  ExperimentResult out;
  out.notes = statue.notes;
  describe(scene, soft, out);
  add_on_soft("600 kPa, over its top", scene, soft, top, {.soft = true, .performance = true, .time_series = true},
              options, out);
  add_on_soft("600 kPa, onto its base", scene, soft, down, {.soft = true}, options, out);
  add_on_soft("60 kPa, over its top", scene, softer, top, {.soft = true, .performance = true}, options, out);
  add_on_soft("60 kPa, onto its base", scene, softer, down, {.soft = true}, options, out);
  if (!statue.file.empty()) out.report.paragraphs.push_back(fmt::format("Mesh: {}.", statue.file));
  if (options.quick) return out;
  out.claims.push_back({"hexes of the soft statue", "asked: 2,000", static_cast<double>(soft.grid.hexes.size()),
                        static_cast<double>(kStatueHexes), MeasuredClaim::Relation::kAtLeast, ""});
  return out;
}

}  // namespace palpate
