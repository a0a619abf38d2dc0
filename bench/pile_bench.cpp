#include <benchmark/benchmark.h>
#include <btBulletDynamicsCommon.h>

#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/world.h"

// Cubes dropped in a pile, whole steps, ours beside Bullet's: once settled, with the deepest overlap (mm) and the root
// mean square speed (mm/s) that are left as the measure of how well contacts are solved.
namespace palpate {
namespace {

constexpr double kStep = 0.01, kSize = 0.1, kSettle = 5.0;

Pose start_pose(int i) {
  const int x = i % 4, z = i / 4 % 4, y = i / 16;
  return {Vec3(0.16 * x + 0.03 * (y % 2), 0.1 + 0.17 * y, 0.16 * z - 0.02 * (y % 3)),
          rotation_from_vector(Vec3(0.1 * (i % 7), 0.2 * (i % 5), 0.05 * (i % 3)))};
}

/// Cubes, and the solver's tolerance as a power of ten.
void pile_palpate(benchmark::State& state) {
  WorldSettings settings;
  settings.solver.tolerance = std::pow(10.0, -static_cast<double>(state.range(1)));
  World world(settings);
  ContactShape shape;
  shape.kind = ContactShape::Plane{};
  shape.friction = 0.5;
  world.add({"floor", nullptr, shape});
  shape.kind = ContactShape::Box{.size = Vec3::Constant(kSize)};
  RigidBodySettings cube;
  cube.surface = make_box(Vec3::Constant(kSize), 1);
  cube.mass = compute_mass_properties(cube.surface, 1000.0);
  for (int i = 0; i < state.range(0); ++i) {
    cube.pose = start_pose(i);
    world.add({"cube", std::make_unique<RigidBody>(cube), shape});
  }
  world.prepare();
  for (int i = 0; i < kSettle / kStep; ++i) {
    StepReport report;
    if (!world.step(kStep, report)) return state.SkipWithError("step failed");
  }
  double deepest = 0.0, energy = 0.0, sweeps = 0.0, contacts = 0.0, detect = 0.0, solve = 0.0;
  for (auto _ : state) {
    StepReport report;
    world.step(kStep, report);
    deepest = std::max(deepest, report.penetration);
    energy += world.compute_energy().kinetic;
    sweeps += report.iterations;
    contacts += static_cast<double>(world.memory().contacts.size());
    detect += report.stage_time[as_size(Stage::kDetect)];
    solve += report.stage_time[as_size(Stage::kSolve)];
  }
  const auto n = static_cast<double>(state.iterations());
  state.counters["overlap_mm"] = 1e3 * deepest;
  state.counters["speed_mm_s"] = 1e3 * std::sqrt(2.0 * energy / n / static_cast<double>(state.range(0)));
  state.counters["sweeps"] = sweeps / n;
  state.counters["contacts"] = contacts / n;
  state.counters["detect_us"] = 1e6 * detect / n;
  state.counters["solve_us"] = 1e6 * solve / n;
}
BENCHMARK(pile_palpate)
    ->ArgNames({"cubes", "digits"})
    ->ArgsProduct({{20, 80, 200}, {4, 5, 6, 8}})
    ->Unit(benchmark::kMicrosecond)
    ->MinTime(0.2);

/// Cubes, and the solver's iterations; sleeping switched off.
void pile_bullet(benchmark::State& state) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, -9.81, 0});
  world.getSolverInfo().m_numIterations = static_cast<int>(state.range(1));
  world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
  const double half = 0.5 * kSize;
  btBoxShape cube({half, half, half});
  btStaticPlaneShape floor({0, 1, 0}, 0);
  btVector3 inertia;
  cube.calculateLocalInertia(1, inertia);
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  const auto add = [&](double mass, btCollisionShape& shape, const btTransform& at) {
    bodies.push_back(std::make_unique<btRigidBody>(mass, nullptr, &shape, inertia));
    bodies.back()->setWorldTransform(at);
    bodies.back()->setFriction(std::sqrt(0.5));  // Bullet multiplies the two
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  };
  add(0, floor, btTransform::getIdentity());
  for (int i = 0; i < state.range(0); ++i) {
    const Pose p = start_pose(i);
    add(1, cube,
        btTransform(btQuaternion(p.rotation.x(), p.rotation.y(), p.rotation.z(), p.rotation.w()),
                    btVector3(p.position.x(), p.position.y(), p.position.z())));
  }
  for (int i = 0; i < kSettle / kStep; ++i) world.stepSimulation(kStep, 0, kStep);
  double deepest = 0.0, energy = 0.0, contacts = 0.0;
  for (auto _ : state) {
    world.stepSimulation(kStep, 0, kStep);
    state.PauseTiming();
    for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
      const btPersistentManifold& m = *dispatcher.getManifoldByIndexInternal(i);
      contacts += m.getNumContacts();
      for (int k = 0; k < m.getNumContacts(); ++k)
        deepest = std::max<double>(deepest, -m.getContactPoint(k).getDistance());
    }
    for (const auto& b : bodies) {
      if (b->getInvMass() > 0) energy += 0.5 * b->getLinearVelocity().length2();
    }
    state.ResumeTiming();
  }
  const auto n = static_cast<double>(state.iterations());
  state.counters["overlap_mm"] = 1e3 * deepest;
  state.counters["speed_mm_s"] = 1e3 * std::sqrt(2.0 * energy / n / static_cast<double>(state.range(0)));
  state.counters["contacts"] = contacts / n;
  for (const auto& body : bodies) world.removeRigidBody(body.get());
}
BENCHMARK(pile_bullet)
    ->ArgNames({"cubes", "iterations"})
    ->ArgsProduct({{20, 80, 200}, {10, 50, 200}})
    ->Unit(benchmark::kMicrosecond)
    ->MinTime(0.2);

}  // namespace
}  // namespace palpate
