#include <benchmark/benchmark.h>

#include "../methods/src/accelerance/response.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"

// Accelerances of some bodies of a block of eighty cubes: test simulations beside the direct way, both on a world that
// has settled.
namespace palpate {
namespace {

World make_block_of_cubes() {
  WorldSettings settings;
  settings.solver.tolerance = 1e-5;
  World world(settings);
  ContactShape shape;
  shape.kind = ContactShape::Plane{};
  shape.friction = 0.5;
  world.add({"floor", nullptr, shape});
  shape.kind = ContactShape::Box{.size = Vec3::Constant(0.04)};
  RigidBodySettings cube;
  cube.surface = make_box(Vec3::Constant(0.04), 1);
  cube.mass = compute_mass_properties(cube.surface, 600.0);
  for (int i = 0; i < 80; ++i) {
    cube.pose.position = Vec3(0.041 * (i % 5), 0.02 + 0.04 * (i / 20), 0.041 * (i / 5 % 4));
    world.add({"cube", std::make_unique<RigidBody>(cube), shape});
  }
  world.prepare();
  for (int i = 0; i < 20; ++i) {
    StepReport report;
    world.step(0.05, report);
  }
  return world;
}

/// Neighbours, and 1: test simulations, 0: directly.
void accelerance_of_cubes(benchmark::State& state) {
  World world = make_block_of_cubes();
  const accelerance::JointFrames joints(world);
  accelerance::Response response(world, joints, 0.05);
  std::vector<std::int32_t> bodies;
  std::vector<accelerance::Response::TestPoint> points;
  for (std::int32_t i = 0; i < state.range(0); ++i) {
    bodies.push_back(1 + i);
    points.push_back({1 + i, Vec3(-0.02, 0.0, 0.0), 1.0});
  }
  Eigen::MatrixXd A;
  for (auto _ : state) {
    if (state.range(1) == 1) {
      response.compute_by_tests(points, A);
    } else {
      response.try_step(accelerance::Response::Contacts::kFound);
      response.compute_direct(bodies, 64, true, A);
    }
    benchmark::DoNotOptimize(A.data());
  }
}
BENCHMARK(accelerance_of_cubes)
    ->ArgNames({"neighbours", "tests"})
    ->ArgsProduct({{1, 6, 32}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace palpate
