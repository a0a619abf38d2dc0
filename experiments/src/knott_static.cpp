#include "experiments.h"
#include "knott_scenes.h"
#include "palpate/geometry/shapes.h"
#include "palpate/scene/builtin.h"

// Knott & Kuhlen 2015, section 5.1, on static meshes: the sine surface (Fig. 5, top), the rocker arm, and the rigid
// statue (Fig. 8).
namespace palpate {
namespace {

SceneBody make_static_body(const std::string& name, TriangleMesh mesh) {
  SceneBody body;
  body.name = name;
  body.kind = "static";
  body.friction = kKnottFriction;
  body.add_to = [mesh = std::move(mesh)](World& world, const SceneBody& b) {
    world.add({b.name, TriangleTree(mesh), b.friction});
  };
  return body;
}

ExperimentResult run_on_mesh(Scene scene, const KnottMesh& mesh, const SweepSettings& sweep, const KnottLimits& limits,
                             const ExperimentOptions& options) {
  add_sweep(scene, TriangleTree(mesh.mesh), sweep);
  scene.bodies.push_back(make_static_body(scene.name, mesh.mesh));
  World world = make_world(scene);
  ExperimentResult out = compare_knott(scene, world, limits, options);
  out.report.paragraphs.push_back(fmt::format("{} {} triangles.", mesh.note, mesh.mesh.triangles.size()));
  return out;
}

TriangleMesh make_rocker_twin() {
  return make_torus(0.05, 0.02, 96, 48);
}

}  // namespace

ExperimentResult run_knott_sine_static(const ExperimentOptions& options) {
  const Scene scene = load_builtin_scene("sine-static");
  World world = make_world(scene);
  return compare_knott(scene, world, {.proxy_on_surface = true, .performance = true}, options);
}

ExperimentResult run_knott_rocker_arm(const ExperimentOptions& options) {
  const KnottMesh mesh = load_or_make("rocker-arm.obj", 0.15, &make_rocker_twin);
  const BoundingBox box = compute_bounding_box(mesh.mesh.vertices);
  SweepSettings sweep;
  sweep.from = box.center().x() - 0.4 * box.size().x();
  sweep.to = box.center().x() + 0.4 * box.size().x();
  sweep.z = box.center().z() + 0.2 * box.size().z();
  return run_on_mesh(make_knott_scene("knott-rocker-arm", "A static rocker arm, swept across by the hand.", 2.0), mesh,
                     sweep, {.proxy_on_surface = true, .performance = true}, options);
}

ExperimentResult run_knott_fertility_rigid(const ExperimentOptions& options) {
  const KnottMesh mesh = load_statue();
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
