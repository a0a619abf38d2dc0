#include <benchmark/benchmark.h>

#include <Eigen/SparseCore>
#include <unsupported/Eigen/IterativeSolvers>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/world/world.h"

// The solvers that Otaduy & Gross 2007, section 6, weigh for the constrained collision response of their block: the
// whole system (eq. 10) by GMRES and MINRES, and the constraints' Schur complement (eq. 11) with its many solutions by
// conjugate gradients and by Cholesky. All to 1e-8; `error` is that of λ against the last, relative.
namespace palpate {
namespace {

constexpr double kStep = 0.02;

/// The block of 2,560 tets under a cylinder of 160 triangles, pressed in, with its rows and systems.
struct Pressed {
  int block = -1, tool = -1;
  World world;             // after the two that its making sets
  BlockRows J;             ///< normals, of the block
  Eigen::MatrixXd J_tool;  ///< the same, of the tool
  Mat6 inverse_A;
  Eigen::VectorXd b;       ///< −(velocities without contact): what λ must undo [m/s]
  Eigen::VectorXd lambda;  ///< the answer

  explicit Pressed(int contacts);
  FemBody& soft() { return static_cast<FemBody&>(*world.bodies()[as_size(block)].body); }
};

World make_world(int contacts, int& block, int& tool) {
  WorldSettings settings;
  settings.contacts.alarm_distance = 0.004;
  settings.contacts.max_contacts_per_soft_pair = contacts;
  World world(settings);
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.4, .density = 1000.0, .stiffness_damping = 0.01};
  CorotationalTetSettings tets;
  tets.fem.max_rows = 240;
  tets.patch_above_poisson = 1.0;
  auto body =
      std::make_unique<CorotationalTets>(make_tet_block(Vec3::Constant(0.1), {8, 8, 8}), std::span(&material, 1), tets);
  for (int n = 0; n < body->node_count(); ++n) {
    if (body->rest_positions()[as_size(n)].y() < -0.0499) body->prescribe(n, Vec3::Zero());
  }
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  block = world.add({"block", std::move(body), shape});
  RigidBodySettings s;
  s.surface = make_cylinder(0.02, 0.12, 40, 1);
  s.mass = compute_mass_properties(s.surface, 100.0);
  s.pose.position = Vec3(0.0, 0.0705, 0.0);
  s.pose.rotation = Quat::FromTwoVectors(Vec3::UnitY(), Vec3::UnitX());
  shape.kind = ContactShape::Hull{};
  tool = world.add({"cylinder", std::make_unique<RigidBody>(s), shape});
  Grip grip;
  grip.stiffness = 1000.0;
  grip.damping = 5.0;
  grip.rotational_stiffness = 5.0;
  grip.rotational_damping = 0.05;
  grip.target = s.pose;
  grip.target.position.y() -= 0.01;
  world.bodies()[as_size(tool)].body->set_grip(grip);
  world.prepare();
  return world;
}

Pressed::Pressed(int contacts) : world(make_world(contacts, block, tool)) {
  for (int i = 0; i < 50; ++i) {
    StepReport report;
    world.step(kStep, report);
  }
  const std::optional<SolvedStep> step = try_step(world, {.request = {.h = kStep}});
  const ConstraintProblem& problem = step->problem();
  const auto n = static_cast<Eigen::Index>(problem.constraints().size());
  J_tool.resize(n, 6);
  b.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Constraint& c = problem.constraints()[as_size(i)];
    const bool tool_is_a = c.a.kind == ConstraintSide::Kind::kLight;
    J_tool.row(i) = problem.light_J((tool_is_a ? c.a : c.b).first);
    J.begin_row();
    for (const BlockRows::Entry& e : step->rows(block).row((tool_is_a ? c.b : c.a).first)) {
      if (!soft().is_prescribed(e.block)) J.add(e.block, e.value);
    }
    b[i] = -(problem.delta_free()[as_size(c.first_row)] - step->contacts()[as_size(i)].gap) / kStep;
  }
  Mat6 response;
  world.bodies()[as_size(tool)].body->compute_response(0, response);
  inverse_A = response / kStep;
}

/// A_u: M/h + αM + (h + β) K₊, fixed nodes as identity.
BlockMatrix make_system(FemBody& soft) {
  BlockMatrix A(soft.stiffness().shared_pattern());
  const BlockPattern& pattern = A.pattern();
  for (int j = 0; j < pattern.blocks(); ++j) {
    for (int k = pattern.column_begin(j); k < pattern.column_begin(j + 1); ++k) {
      const int i = pattern.row(k);
      const bool fixed = soft.is_prescribed(i) || soft.is_prescribed(j);
      A.block(k) = fixed ? Mat3(Mat3::Zero()) : Mat3((kStep + 0.01) * soft.stiffness().block(k));
      if (i == j) A.block(k).diagonal().array() += fixed ? 1.0 : soft.masses()[as_size(j)] / kStep;
    }
  }
  return A;
}

/// Eq. 10 in its symmetric form: [A Jᵀ; J 0] [δv; −λ] = [0; b], tool first.
Eigen::SparseMatrix<double> make_whole(Pressed& p) {
  const BlockMatrix A = make_system(p.soft());
  const BlockPattern& pattern = A.pattern();
  const int soft = pattern.scalars(), rows = static_cast<int>(p.b.size()), at = 6 + soft;
  std::vector<Eigen::Triplet<double>> entries;
  const auto both = [&](int r, int c, double v) {
    entries.emplace_back(r, c, v);
    if (r != c) entries.emplace_back(c, r, v);
  };
  const Mat6 A_tool = p.inverse_A.inverse();
  for (int r = 0; r < 6; ++r) {
    for (int c = 0; c <= r; ++c) both(r, c, A_tool(r, c));
  }
  for (int j = 0; j < pattern.blocks(); ++j) {
    for (int k = pattern.column_begin(j); k < pattern.column_begin(j + 1); ++k) {
      const int i = pattern.row(k);
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < (i == j ? r + 1 : 3); ++c) both(6 + 3 * i + r, 6 + 3 * j + c, A.block(k)(r, c));
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int c = 0; c < 6; ++c) both(at + i, c, p.J_tool(i, c));
    for (const BlockRows::Entry& e : p.J.row(i)) {
      for (int c = 0; c < 3; ++c) both(at + i, 6 + 3 * e.block + c, e.value[c]);
    }
  }
  Eigen::SparseMatrix<double> out(at + rows, at + rows);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

Eigen::VectorXd solve_schur(Pressed& p, Eigen::MatrixXd W) {
  W += p.J_tool * p.inverse_A * p.J_tool.transpose();
  return W.llt().solve(p.b);
}

Eigen::VectorXd solve_by_cholesky(Pressed& p) {
  p.soft().linearise({&kStep, 1});
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(p.b.size(), p.b.size());
  p.soft().add_compliance(0, p.J, W);
  return solve_schur(p, W / kStep);
}

void report(benchmark::State& state, Pressed& p, const Eigen::VectorXd& lambda, double iterations) {
  const Eigen::VectorXd exact = solve_by_cholesky(p);
  state.counters["contacts"] = static_cast<double>(p.b.size());
  state.counters["iterations"] = iterations;
  state.counters["error"] = (lambda - exact).norm() / exact.norm();
}

/// Assembly and factorisation included, because each step has a new matrix; the others get their assembly for nothing.
void response_by_cholesky(benchmark::State& state) {
  Pressed p(static_cast<int>(state.range(0)));
  Eigen::VectorXd lambda;
  for (auto _ : state) lambda = solve_by_cholesky(p);
  report(state, p, lambda, 0.0);
}

template <typename Solver>
void response_of_the_whole(benchmark::State& state) {
  Pressed p(static_cast<int>(state.range(0)));
  const Eigen::SparseMatrix<double> K = make_whole(p);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(K.rows());
  right.tail(p.b.size()) = p.b;
  Eigen::VectorXd lambda;
  double iterations = 0.0;
  for (auto _ : state) {
    Solver solver;
    solver.setTolerance(1e-8);
    solver.setMaxIterations(20000);
    solver.compute(K);
    const Eigen::VectorXd x = solver.solve(right);
    lambda = -x.tail(p.b.size());
    iterations = static_cast<double>(solver.iterations());
  }
  report(state, p, lambda, iterations);
}
using Gmres = Eigen::GMRES<Eigen::SparseMatrix<double>, Eigen::DiagonalPreconditioner<double>>;
using Minres = Eigen::MINRES<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner>;

BENCHMARK(response_by_cholesky)->ArgName("most")->Arg(5)->Arg(10)->Arg(25)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(response_of_the_whole, Minres)->ArgName("most")->Arg(5)->Arg(25)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(response_of_the_whole, Gmres)
    ->ArgName("most")
    ->Arg(5)
    ->Arg(25)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace palpate
