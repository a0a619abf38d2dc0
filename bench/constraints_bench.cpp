#include <benchmark/benchmark.h>
#include <btBulletDynamicsCommon.h>

#include <ctime>
#include <memory>
#include <vector>

#include "../constraints/tests/sample_problems.h"
#include "palpate/constraints/solver.h"

// The solvers of the complementarity problem: the price of a sweep, against Bullet's sequential impulses where that is
// installed, and the time to 1e-9 m of each solver.
namespace palpate {
namespace {

using Make = std::unique_ptr<ConstraintSolver> (*)();

std::unique_ptr<ConstraintSolver> ready(Make make, const ConstraintProblem& p) {
  auto solver = make();
  int dense_rows = 0;
  for (int k = 0; k < p.dense_bodies(); ++k) dense_rows += p.dense_rows(k);
  solver->reserve(p.rows(), dense_rows, p.light_bodies());
  return solver;
}

/// Sweeps without regard to convergence, from a λ that 200 sweeps have settled, as in a simulation that starts warm.
/// us_per_sweep contains a share of what is done once a solve: own blocks before, the true residual before and after.
void run_sweeps(benchmark::State& state, const ConstraintProblem& p) {
  constexpr int kSweeps = 50;
  const auto solver = ready(&make_gauss_seidel, p);
  std::vector<double> settled(as_size(p.rows()), 0.0);
  solver->solve(p, {.tolerance = 0.0, .max_iterations = 200}, settled);
  std::vector<double> lambda = settled;
  for (auto _ : state) {
    std::copy(settled.begin(), settled.end(), lambda.begin());
    benchmark::DoNotOptimize(solver->solve(p, {.tolerance = 0.0, .max_iterations = kSweeps}, lambda));
  }
  const double sweeps = static_cast<double>(state.iterations()) * kSweeps;
  const auto rate = benchmark::Counter::kIsRate | benchmark::Counter::kInvert;
  state.counters["us_per_sweep"] = benchmark::Counter(1e-6 * sweeps, rate);
  state.counters["ns_per_contact"] = benchmark::Counter(1e-9 * sweeps * p.rows() / 3, rate);
  state.counters["contacts"] = p.rows() / 3;
}

void BM_SweepDense(benchmark::State& state) {
  ConstraintProblem p;
  samples::fill_feet(p, static_cast<int>(state.range(0)), 0.1, 0.5, 1);
  run_sweeps(state, p);
}
BENCHMARK(BM_SweepDense)->Arg(10)->Arg(25)->Arg(60);

/// Cubes in a wall ten wide.
void BM_SweepLight(benchmark::State& state) {
  ConstraintProblem p;
  samples::fill_wall(p, 10, static_cast<int>(state.range(0)) / 10, 1.0, 0.5, 1);
  run_sweeps(state, p);
}
BENCHMARK(BM_SweepLight)->Arg(80)->Arg(200);

void run_to_tolerance(benchmark::State& state, Make make, const ConstraintProblem& p, int most) {
  const auto solver = ready(make, p);
  std::vector<double> lambda(as_size(p.rows()));
  SolveReport report;
  for (auto _ : state) {
    std::fill(lambda.begin(), lambda.end(), 0.0);
    report = solver->solve(p, {.max_iterations = most}, lambda);
  }
  state.counters["iterations"] = report.iterations;
  state.counters["residual_nm"] = 1e9 * report.residual.metres;
}

/// A stiff body on feet: contacts, and a local give of so many hundredths of the rigid body's.
template <Make make>
void BM_Feet(benchmark::State& state) {
  ConstraintProblem p;
  samples::fill_feet(p, static_cast<int>(state.range(0)), 0.01 * static_cast<double>(state.range(1)), 0.5, 1);
  run_to_tolerance(state, make, p, 50000);
}
BENCHMARK(BM_Feet<&make_gauss_seidel>)->ArgsProduct({{10, 25, 60}, {100, 10}})->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Feet<&make_accelerated_solver>)->ArgsProduct({{10, 25, 60}, {100, 10}})->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Feet<&make_direct_solver>)->ArgsProduct({{10, 25, 60}, {100, 10}})->Unit(benchmark::kMicrosecond);

/// A well-conditioned soft body: what sweeps are good at.
template <Make make>
void BM_Soft(benchmark::State& state) {
  ConstraintProblem p;
  const int contacts = static_cast<int>(state.range(0));
  samples::RandomProblems(5).fill(p, {.contacts = contacts, .dense_bodies = 1, .dense_unknowns = 6 * contacts});
  run_to_tolerance(state, make, p, 10000);
}
BENCHMARK(BM_Soft<&make_gauss_seidel>)->Arg(10)->Arg(25)->Arg(60)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Soft<&make_accelerated_solver>)->Arg(10)->Arg(25)->Arg(60)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Soft<&make_direct_solver>)->Arg(10)->Arg(25)->Arg(60)->Unit(benchmark::kMicrosecond);

/// A wall of cubes, 200 sweeps: which residual they buy.
template <Make make>
void BM_Wall(benchmark::State& state) {
  ConstraintProblem p;
  const auto cubes = static_cast<int>(state.range(0));
  samples::fill_wall(p, 10, cubes / 10, static_cast<double>(state.range(1)), 0.5, 1);
  run_to_tolerance(state, make, p, 200);
}
BENCHMARK(BM_Wall<&make_gauss_seidel>)->ArgsProduct({{80, 200}, {1, 100}})->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Wall<&make_accelerated_solver>)->ArgsProduct({{80, 200}, {1, 100}})->Unit(benchmark::kMicrosecond);

/// The same wall in Bullet, both directions of friction; ns_per_contact is of the iterations alone: the difference
/// between steps with 10 and with 210.
void BM_SweepBullet(benchmark::State& state) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity({0, btScalar(-9.81), 0});
  world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
  const btScalar half = btScalar(0.5);
  btBoxShape cube({half, half, half}), slab({50, 1, 50});
  btVector3 inertia;
  cube.calculateLocalInertia(1, inertia);
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  const auto add = [&](btScalar mass, btCollisionShape& shape, const btVector3& at) {
    bodies.push_back(std::make_unique<btRigidBody>(mass, nullptr, &shape, inertia));
    bodies.back()->setWorldTransform(btTransform(btQuaternion::getIdentity(), at));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  };
  add(0, slab, {0, -1, 0});
  for (int layer = 0; layer < state.range(0) / 10; ++layer) {
    for (int k = 0; k < 10; ++k) add(1, cube, {btScalar(k) + half * btScalar(layer % 2), btScalar(layer) + half, 0});
  }
  const btScalar h = btScalar(0.01);
  for (int i = 0; i < 30; ++i) world.stepSimulation(h, 0, h);
  double contacts = 0.0;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i) {
    contacts += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
  }
  for (auto _ : state) {
    double seconds[2];
    for (const int more : {0, 1}) {
      world.getSolverInfo().m_numIterations = 10 + 200 * more;
      const std::clock_t begin = std::clock();  // the processor's time, as our counters are
      world.stepSimulation(h, 0, h);
      seconds[more] = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    state.SetIterationTime(std::max(0.0, seconds[1] - seconds[0]) / 200.0);
  }
  state.counters["ns_per_contact"] = benchmark::Counter(1e-9 * contacts * static_cast<double>(state.iterations()),
                                                        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["contacts"] = contacts;
  for (const auto& body : bodies) world.removeRigidBody(body.get());
}
BENCHMARK(BM_SweepBullet)->Arg(80)->Arg(200)->UseManualTime()->Iterations(30);

}  // namespace
}  // namespace palpate
