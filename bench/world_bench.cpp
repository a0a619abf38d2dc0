#include <benchmark/benchmark.h>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/world.h"

// A whole step of a world: the soft block under a rigid cylinder, by size and friction.
namespace palpate {
namespace {

/// A block of cells³ cells of five tets, fixed below, with a cylinder of 160 triangles lying across it, held by a hand
/// that presses it 6 mm in and pulls it sideways, so that friction works. 25 contacts at most.
World make_block_under_cylinder(int cells, double friction) {
  WorldSettings settings;
  settings.contacts.alarm_distance = 0.004;
  settings.contacts.max_contacts_per_soft_pair = 25;
  settings.solver.tolerance = 1e-8;
  World world(settings);
  const double size = 0.1;
  TetMesh mesh = make_tet_block(Vec3::Constant(size), {cells, cells, cells});
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.4, .density = 1000.0, .stiffness_damping = 0.01};
  CorotationalTetSettings tets;
  tets.fem.max_rows = 240;
  tets.patch_above_poisson = 1.0;
  auto block = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1), tets);
  for (int n = 0; n < block->node_count(); ++n) {
    if (block->rest_positions()[as_size(n)].y() < -0.499 * size) block->prescribe(n, Vec3::Zero());
  }
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = friction;
  world.add({"block", std::move(block), shape});
  RigidBodySettings tool;
  tool.surface = make_cylinder(0.02, 0.12, 16, 4);  // 2·16·4 + 2·16 = 160 triangles
  tool.mass = compute_mass_properties(tool.surface, 2500.0);
  tool.pose.position = Vec3(0.0, 0.5 * size + 0.0205, 0.0);
  tool.pose.rotation = Quat::FromTwoVectors(Vec3::UnitY(), Vec3::UnitX());
  shape.kind = ContactShape::Hull{};
  const int cylinder = world.add({"cylinder", std::make_unique<RigidBody>(tool), shape});
  Grip grip;
  grip.stiffness = 1000.0;
  grip.damping = 5.0;
  grip.rotational_stiffness = 5.0;
  grip.rotational_damping = 0.05;
  grip.target = tool.pose;
  grip.target.position += Vec3(0.0, -0.0065, 0.002);
  world.bodies()[as_size(cylinder)].body->set_grip(grip);
  world.prepare();
  return world;
}

void soft_block(benchmark::State& state) {
  World world = make_block_under_cylinder(static_cast<int>(state.range(0)), 0.01 * static_cast<double>(state.range(1)));
  const double h = 0.02;
  for (int i = 0; i < 50; ++i) {
    StepReport settle;
    if (!world.step(h, settle)) state.SkipWithError("step failed");
  }
  WorldState start;
  world.save_state(start);
  std::array<double, kStageCount> stages{};
  double contacts = 0.0, iterations = 0.0, residual = 0.0, found = 0.0;
  for (auto _ : state) {
    StepReport report;
    world.step(h, report);
    for (std::size_t s = 0; s + 1 < kStageCount; ++s) stages[s] += report.stage_time[s];
    contacts += report.contacts;
    found += static_cast<double>(world.memory().contacts.size());
    iterations += report.iterations;
    residual = std::max(residual, report.residual);
    state.PauseTiming();
    world.restore_state(start);
    state.ResumeTiming();
  }
  const auto n = static_cast<double>(state.iterations());
  for (std::size_t s = 0; s + 1 < kStageCount; ++s)
    state.counters[std::string(kStageNames[s]) + "_ms"] = 1e3 * stages[s] / n;
  state.counters["active"] = contacts / n;
  state.counters["found"] = found / n;
  state.counters["sweeps"] = iterations / n;
  state.counters["residual"] = residual;
}
BENCHMARK(soft_block)
    ->ArgNames({"cells", "friction_percent"})
    ->ArgsProduct({{8, 10, 16}, {0, 30}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace palpate
