#include <fmt/format.h>

#include "experiments.h"
#include "knott_scenes.h"
#include "palpate/scene/builtin.h"

// Knott & Kuhlen 2015, section 5.1, on static meshes: the sine surface (Fig. 5, top), the rocker arm, and the rigid
// statue (Fig. 8).
namespace palpate {
namespace {

ExperimentResult run_on_mesh(Scene scene, const KnottMesh& mesh, const SweepSettings& sweep, const KnottLimits& limits,
                             const ExperimentOptions& options) {
  add_sweep(scene, TriangleTree(mesh.mesh), sweep);
  scene.bodies.push_back({.name = scene.name, .kind = SceneStatic{mesh.shape}, .friction = kKnottFriction});
  World world = make_world(scene);
  ExperimentResult out = compare_knott(scene, world, limits, options);
  out.notes = mesh.notes;
  out.report.paragraphs.push_back(
      fmt::format("{}{}{} triangles.", mesh.file, mesh.file.empty() ? "" : ": ", mesh.mesh.triangles.size()));
  return out;
}

}  // namespace

ExperimentResult run_knott_sine_static(const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("sine-static");
  World world = make_world(scene);
  return compare_knott(scene, world, {.proxy_on_surface = true, .performance = true}, options);
}

ExperimentResult run_knott_rocker_arm(const ExperimentOptions& options) {
  const KnottMesh mesh = load_or_make(
      "rocker-arm.obj", 0.15,
      {.kind = TorusShape{.major_radius = 0.05, .minor_radius = 0.02, .around = 96, .around_tube = 48}}, options);
  const BoundingBox box = compute_bounding_box(mesh.mesh.vertices);
  SweepSettings sweep;
  sweep.from = box.center().x() - 0.4 * box.size().x();
  sweep.to = box.center().x() + 0.4 * box.size().x();
  sweep.z = box.center().z() + 0.2 * box.size().z();
  return run_on_mesh(make_knott_scene("knott-rocker-arm", "A static rocker arm, swept across by the hand.", 2.0), mesh,
                     sweep, {.proxy_on_surface = true, .performance = true}, options);
}

ExperimentResult run_knott_fertility_rigid(const ExperimentOptions& options) {
  const KnottMesh mesh = load_statue(options);
  const BoundingBox box = compute_bounding_box(mesh.mesh.vertices);
  SweepSettings sweep;
  sweep.from = box.center().x() - 0.42 * box.size().x();
  sweep.to = box.center().x() + 0.42 * box.size().x();
  sweep.z = box.center().z();
  return run_on_mesh(
      make_knott_scene("knott-fertility-rigid", "The rigid statue, swept across its top by the hand.", 2.0), mesh,
      sweep, {.proxy_on_surface = true, .performance = true}, options);
}

}  // namespace palpate
