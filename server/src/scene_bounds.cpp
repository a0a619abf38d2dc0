#include "scene_bounds.h"

#include <algorithm>
#include <cmath>

#include "opened_file.h"
#include "palpate/core/error.h"

namespace palpate {
namespace scene_bounds {

constexpr double kMaxTriangles = 2.0 * kMaxOpenedTriangles, kMaxCells = 5000.0, kMaxLattice = 2e6, kMaxBodies = 1000.0;

/// About how many triangles a shape has.
struct CountTriangles {
  double operator()(const BoxShape& s) const { return 12.0 * s.cells * s.cells; }
  double operator()(const SphereShape& s) const { return 20.0 * s.subdivisions * s.subdivisions; }
  double operator()(const CylinderShape& s) const { return 2.0 * s.around * (s.along + s.around); }
  double operator()(const CapsuleShape& s) const { return 4.0 * s.around * (s.around + s.length / s.radius); }
  double operator()(const TorusShape& s) const { return 2.0 * s.around * s.around_tube; }
  double operator()(const SineShape& s) const { return 2.0 * (s.size_x / s.cell) * (s.size_z / s.cell); }
  double operator()(const OrganShape& s) const { return 4.0 * s.resolution * s.resolution; }
  double operator()(const FigureShape& s) const { return 4.0 * s.resolution * s.resolution; }
  double operator()(const MeshShape& s) const {
    // A triangle's line has three blanks.
    return static_cast<double>(std::count(s.data.begin(), s.data.end(), ' ')) / 3.0;
  }
};

struct Sum {
  double triangles = 0.0, cells = 0.0, lattice = 0.0, bodies = 0.0;

  void add(const SceneShape& shape) { triangles += std::visit(CountTriangles{}, shape.kind); }
  /// Its surface is made only if that is allowed.
  void add_cells(const SceneShape& shape, double cell) {
    add(shape);
    if (triangles > kMaxTriangles) return;
    const MeshReport report = check_mesh(make_surface(shape, ""));
    cells += report.volume / (cell * cell * cell);
    lattice += (report.box.size() / cell).cwiseMax(1.0).prod();
  }
};

}  // namespace scene_bounds

void check_bounds(const Scene& scene) {
  using namespace scene_bounds;
  Sum sum;
  for (const SceneBody& body : scene.bodies) {
    double count = 1.0;
    if (const auto* s = std::get_if<SceneStatic>(&body.kind)) sum.add(s->shape);
    if (const auto* r = std::get_if<SceneRigid>(&body.kind)) {
      count = static_cast<double>(r->copies.x) * r->copies.y * r->copies.z;
      for (double i = 0; i < std::min(count, kMaxBodies); ++i) sum.add(r->shape);
    }
    if (const auto* s = std::get_if<SceneSoft>(&body.kind); s && s->shape) sum.add_cells(*s->shape, s->cell);
    if (const auto* c = std::get_if<SceneChain>(&body.kind)) sum.cells += c->beams;
    sum.bodies += count;
  }
  for (const HeldTool& held : scene.tools) {
    if (const auto* r = std::get_if<SceneRigidTool>(&held.tool.kind)) sum.add(r->shape);
    if (const auto* s = std::get_if<SceneSoftTool>(&held.tool.kind)) sum.add_cells(s->shape, s->cell);
    if (const auto* c = std::get_if<SceneChainTool>(&held.tool.kind)) sum.cells += c->beams;
    if (const auto* f = std::get_if<SceneFingersTool>(&held.tool.kind)) {
      for (const SceneFinger& finger : f->fingers) {
        if (finger.shape) sum.add(*finger.shape);
      }
    }
  }
  const auto check = [&](double value, double most, const char* what) {
    if (value > most)
      fail_input("{}: about {:.2g} {}; a page may open up to {:.2g}. palpate view takes larger scenes from a file",
                 scene.name, value, what, most);
  };
  check(sum.bodies, kMaxBodies, "bodies");
  check(sum.triangles, kMaxTriangles, "triangles");
  check(sum.cells, kMaxCells, "cells of soft bodies");
  check(sum.lattice, kMaxLattice, "cells around soft bodies");
}

}  // namespace palpate
