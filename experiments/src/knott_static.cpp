#include <fmt/format.h>

#include <cmath>

#include "experiments.h"
#include "knott_scenes.h"
#include "palpate/methods/limited_settings.h"
#include "palpate/record/metrics.h"
#include "palpate/scene/builtin.h"

// Knott & Kuhlen 2015, section 5.1, on static meshes: the sine surface (Fig. 5, top), the rocker arm, and the rigid
// statue (Fig. 8).
namespace palpate {
namespace {

/// A part of an experiment on a mesh that does not move.
void add_on_mesh(const std::string& part, Scene scene, const KnottMesh& mesh, const SweepSettings& sweep,
                 const ExperimentOptions& options, ExperimentResult& out) {
  add_sweep(scene, TriangleTree(mesh.mesh), sweep);
  const auto add_static = [&](World& world) { world.add({scene.name, TriangleTree(mesh.mesh), kKnottFriction}); };
  World world = make_world(scene, {.add_bodies = add_static});
  add_knott_comparison(part, scene, world, {.performance = true}, options, out);
}

void describe(const Scene& scene, const KnottMesh& mesh, ExperimentResult& out) {
  out.notes = mesh.notes;
  out.report.title = scene.name;
  out.report.paragraphs = {scene.description, fmt::format("{}{}{} triangles.", mesh.file, mesh.file.empty() ? "" : ": ",
                                                          mesh.mesh.triangles.size())};
}

/// RMS of the force above 40 Hz [N] on the sine surface of `cell`-sized squares [m], as the paper's form asks for it,
/// after the start-up. The hand crosses a square of a millimetre at 100 Hz, the sine itself at 4 Hz.
double measure_bumps(double cell, const ExperimentOptions& options) {
  Scene scene = load_builtin_scene("sine-static");
  std::get<SineShape>(find_body<SceneStatic>(scene, "sine surface").shape.kind).cell = cell;
  auto& limited = scene.methods.get<LimitedSettings>("limited");
  limited.look_ahead = limited.blend = false;
  World world = make_world(scene);
  SceneRunOptions once;
  once.method = "limited";
  once.control.stop = options.stop;
  const SceneRun run = run_scene(scene, world, once);
  double squares = 0.0;
  for (const int axis : {0, 1, 2}) {
    std::vector<double> force;
    for (const TickRow& row : run.data.ticks) {
      if (row.time > 0.2) force.push_back(row.wanted.force[axis]);
    }
    squares += std::pow(compute_rms_above(force, scene.run.dt, 40.0), 2);
  }
  return std::sqrt(squares);
}

}  // namespace

ExperimentResult run_knott_sine_static(const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("sine-static");
  World world = make_world(scene);
  ExperimentResult out;
  out.report.title = scene.name;
  out.report.paragraphs = {scene.description};
  add_knott_comparison("", scene, world, {.performance = true}, options, out);
  out.claims.push_back({"as in the paper: bumps of the force on squares of 0.5 mm, of those on squares of 1 mm",
                        "\"slight bumps … get smaller with a higher resolution\"",
                        measure_bumps(0.0005, options) / measure_bumps(0.001, options), 0.75,
                        MeasuredClaim::Relation::kAtMost, ""});
  return out;
}

ExperimentResult run_knott_rocker_arm(const ExperimentOptions& options) {
  const KnottMesh mesh = load_or_make(
      "rocker-arm.obj", 0.15,
      {.kind = TorusShape{.major_radius = 0.05, .minor_radius = 0.02, .around = 96, .around_tube = 48}}, options);
  const BoundingBox box = compute_bounding_box(mesh.mesh.vertices);
  SweepSettings sweep;
  sweep.from = box.center().x() - 0.4 * box.size().x();
  sweep.to = box.center().x() + 0.4 * box.size().x();
  sweep.through.z() = box.center().z() + 0.2 * box.size().z();
  const Scene scene = make_knott_scene("knott-rocker-arm", "A static rocker arm, swept across by the hand.", 2.0);
  ExperimentResult out;
  describe(scene, mesh, out);
  add_on_mesh("", scene, mesh, sweep, options, out);
  return out;
}

ExperimentResult run_knott_fertility_rigid(const ExperimentOptions& options) {
  const Statue statue = load_statue(options);
  const Scene scene = make_knott_scene(
      "knott-fertility-rigid",
      "The rigid statue, upright, swept across its top by the hand, and from its side onto the base and back.", 2.0);
  ExperimentResult out;
  describe(scene, statue, out);
  add_on_mesh("over its top", scene, statue, sweep_over_top(statue, 0.42), options, out);
  add_on_mesh("onto its base", scene, statue, sweep_onto_base(statue), options, out);
  return out;
}

}  // namespace palpate
