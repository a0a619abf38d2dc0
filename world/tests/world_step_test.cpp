#include "bricks.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/testing/realtime_guard.h"

// The step as a whole, in a world of every kind of body.
namespace palpate::world_step_test {
namespace {

using namespace testing;

/// A soft block on a floor, cubes on it, and a wire tied to the uppermost cube.
World make_mixed_world(const std::array<int, 3>& cells = {4, 2, 4}) {
  World world;
  add_plane(world, 0.5);
  const Material material{.young_modulus = 5e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 2.0};
  TetMesh mesh = make_tet_block(Vec3(0.16, 0.06, 0.16), cells);
  for (Vec3& v : mesh.vertices) v.y() += 0.0301;
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = 0.5;
  world.add({"soft", std::make_unique<CorotationalTets>(mesh, std::span(&material, 1)), shape});
  int top = -1;
  for (int i = 0; i < 3; ++i) {
    BrickOptions o;
    o.size = Vec3::Constant(0.05);
    o.pose.position = Vec3(0.002 * i, 0.0855 + 0.0502 * i, 0.001 * i);
    top = add_brick(world, o);
  }
  BeamChainSettings chain;
  std::vector<Vec3> points;
  const Vec3 knot = position_of(world, top) + Vec3(0.0, 0.025, 0.0);
  for (int i = 0; i <= 6; ++i) points.push_back(knot + Vec3(0.02 * i, 0.0, 0.0));
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(0.001, 0.3);
  chain.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 2.0};
  shape.kind = ContactShape::Chain{};
  const int wire = world.add({"wire", std::make_unique<BeamChain>(chain), shape});
  const auto body = [&](int i) { return world.bodies()[as_size(i)].body.get(); };
  Joint j = make_joint(Joint::Kind::kBall, body(wire), body(top), {knot, Quat::Identity()});
  j.body_a = wire;
  j.body_b = top;
  world.add(std::move(j));
  world.prepare();
  return world;
}

/// The contacts that a step of 10 ms would have.
std::vector<Contact> find_contacts(World& world) {
  StepReport report;
  std::optional<FreeMotion> free = begin_step(world, {.h = 0.01}, report);
  const FoundContacts found = std::move(*free).find_contacts(report);
  return {found.contacts().begin(), found.contacts().end()};
}

/// A step up to its compliance, with those contacts.
StepProblem assemble(World& world, const StepRequest& request) {
  const std::vector<Contact> contacts = find_contacts(world);
  StepReport report;
  std::optional<FreeMotion> free = begin_step(world, request, report);
  return std::move(*std::move(*free).keep_contacts(contacts).assemble(report));
}

Eigen::MatrixXd full_matrix(const ConstraintProblem& problem) {
  Eigen::MatrixXd W(problem.rows(), problem.rows());
  problem.assemble_dense(W);
  return W;
}

void expect_same(const ConstraintProblem& a, const ConstraintProblem& b) {
  ASSERT_EQ(a.rows(), b.rows());
  EXPECT_EQ(full_matrix(a), full_matrix(b));
  for (int r = 0; r < a.rows(); ++r) EXPECT_EQ(a.delta_free()[r], b.delta_free()[r]) << r;
}

// Two ways to one problem: at the second time step of a pair, and at that time step alone; for a block that is factored
// in one thread, and for one in two.
TEST(SecondTimeStep, GivesTheProblemOfAStepOfThatLength) {
  for (const std::array<int, 3>& cells : {std::array{4, 2, 4}, std::array{8, 4, 8}}) {
    World world = make_mixed_world(cells), other = make_mixed_world(cells);
    EXPECT_EQ(world.bodies()[1].body->allows_two_threads(), cells[0] > 4);
    run(world, 0.1, 0.01);
    run(other, 0.1, 0.01);
    const StepProblem both = assemble(world, {.h = 0.02, .tick = 0.001});
    const StepProblem alone = assemble(other, {.h = 0.001});
    ConstraintProblem second, first;
    ASSERT_TRUE(both.compute_problem(1, -1, second));
    ASSERT_GT(second.rows(), 30);
    expect_same(second, alone.problem());
    ASSERT_TRUE(both.compute_problem(0, -1, first));
    expect_same(first, both.problem());
  }
}

/// Keeps the two problems of a step.
class Problems final : public StepReader {
 public:
  ConstraintProblem step, tick;
  bool solve(const StepProblem& problem, std::vector<double>&) override {
    problem.compute_problem(0, -1, step);
    return false;
  }
  void read_solved(const SolvedStep& solved, StepReport&) override { solved.compute_problem(1, -1, tick); }
};

// Beside the contacts, in a second thread, the tick's free motion is the same to the bit.
TEST(SecondTimeStep, IsTheSameBesideTheStepAsAfterIt) {
  World world = make_mixed_world({8, 4, 8}), other = make_mixed_world({8, 4, 8});
  run(world, 0.1, 0.01);
  run(other, 0.1, 0.01);
  Problems beside;
  StepReport report;
  ASSERT_TRUE(run_step(world, {.h = 0.02, .tick = 0.001}, report, &beside));
  std::optional<FreeMotion> free = begin_step(other, {.h = 0.02, .tick = 0.001}, report);
  ASSERT_TRUE(free);
  std::optional<StepProblem> problem = std::move(*free).find_contacts(report).assemble(report);
  ASSERT_TRUE(problem);
  SolverSettings settings = problem->solver_settings();
  std::optional<SolvedStep> solved = std::move(*problem).solve(settings, report);
  while (std::optional<FoundContacts> missed = solved->find_missed(report)) {
    std::optional<StepProblem> again = std::move(*missed).assemble(report);
    solved = std::move(*again).solve(settings, report);
  }
  ConstraintProblem after;
  ASSERT_TRUE(solved->compute_problem(0, -1, after));
  expect_same(beside.step, after);
  ASSERT_TRUE(solved->compute_problem(1, -1, after));
  expect_same(beside.tick, after);
}

/// A jelly that is thrown onto a floor and has far more contacts there than a step finds at first.
World make_jelly_world() {
  World world;
  add_plane(world, 0.5);
  const Material material{.young_modulus = 300.0, .poisson_ratio = 0.4, .density = 1000.0, .mass_damping = 2.0};
  TetMesh mesh = make_tet_block(Vec3(0.1, 0.1, 0.1), {7, 7, 7});
  const Quat turn(Eigen::AngleAxisd(0.4, Vec3(1.0, 0.2, 0.5).normalized()));
  for (Vec3& v : mesh.vertices) v = turn * v + Vec3(0.0, 0.09, 0.0);
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = 0.5;
  auto jelly = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
  jelly->set_velocities(std::vector<Vec3>(as_size(jelly->block_count()), Vec3(0.2, -0.5, 0.1)));
  world.add({"jelly", std::move(jelly), shape});
  world.prepare();
  return world;
}

/// Compares the problem of each round with the same computed anew.
class Rounds final : public StepReader {
 public:
  int later = 0, equal = 0;
  double worst = 0.0;  ///< difference of W, relative to its norm
  void begin_step() { first_ = true; }
  bool solve(const StepProblem& problem, std::vector<double>&) override {
    ConstraintProblem anew;
    EXPECT_TRUE(problem.compute_problem(0, -1, anew));
    const Eigen::MatrixXd W = full_matrix(problem.problem()), expected = full_matrix(anew);
    EXPECT_EQ(W, W.transpose());
    worst = std::max(worst, (W - expected).norm() / expected.norm());
    if (first_) {
      EXPECT_EQ(W, expected);
    } else {
      ++later;
      equal += W == expected ? 1 : 0;
    }
    first_ = false;
    return false;
  }

 private:
  bool first_ = true;
};

// A round that finds more contacts keeps the compliance of those that it knows. What it then has is that of all of them
// computed anew, to rounding times the condition of A(h); and it does keep some, or all would be equal to the bit.
TEST(LaterRounds, HaveTheComplianceOfARoundThatComputesAllAnew) {
  World world = make_jelly_world();
  Rounds rounds;
  StepReport report;
  for (int i = 0; i < 30; ++i) {
    rounds.begin_step();
    ASSERT_TRUE(run_step(world, {.h = 0.02}, report, &rounds)) << i;
  }
  EXPECT_GT(rounds.later, 10);
  EXPECT_LT(rounds.equal, rounds.later);
  EXPECT_LT(rounds.worst, 1e-11);
}

// What a body left out does not bring is its own: W without it and its own W are the whole.
TEST(BodyLeftOut, TakesItsComplianceAndItsMotionAlong) {
  World world = make_mixed_world();
  run(world, 0.1, 0.01);
  const StepProblem step = assemble(world, {.h = 0.02, .tick = 0.001});
  ConstraintProblem whole, rest;
  ASSERT_TRUE(step.compute_problem(1, -1, whole));
  for (const int left_out : {1, 2, 5}) {  // soft, light, chain
    ASSERT_TRUE(step.compute_problem(1, left_out, rest));
    const ConstraintSide& side = step.side(left_out);
    Eigen::MatrixXd own = Eigen::MatrixXd::Zero(whole.rows(), whole.rows());
    if (side.kind == ConstraintSide::Kind::kDense) {
      const auto rows = whole.dense_row_map(side.body);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < rows.size(); ++k)
          own(rows[i], rows[k]) = whole.dense_compliance(side.body)(static_cast<int>(i), static_cast<int>(k));
      }
    } else {
      std::vector<std::pair<int, int>> places;  // row, place
      for (const Constraint& c : whole.constraints()) {
        for (const ConstraintSide* s : {&c.a, &c.b}) {
          if (s->kind != side.kind || s->body != side.body) continue;
          for (int r = 0; r < c.rows; ++r) places.emplace_back(c.first_row + r, s->first + r);
        }
      }
      for (const auto& [i, p] : places) {
        for (const auto& [k, q] : places) own(i, k) += whole.light_J(p).dot(whole.light_Y(q));
      }
    }
    EXPECT_GT(own.norm(), 0.0);
    EXPECT_LT((full_matrix(rest) + own - full_matrix(whole)).norm(), 1e-12 * own.norm());
    for (const Constraint& c : rest.constraints()) {
      const bool gone = c.a.kind == ConstraintSide::Kind::kNone && c.b.kind == ConstraintSide::Kind::kNone;
      if (gone) {
        EXPECT_EQ(full_matrix(rest).row(c.first_row).norm(), 0.0);
      }
    }
  }
}

TEST(MixedWorld, ComesToRestAndTheFloorCarriesAll) {
  World world = make_mixed_world();
  run(world, 4.0, 0.01);
  const double weight =
      kGravity * (1000.0 * 0.16 * 0.06 * 0.16 + 3.0 * 1000.0 * std::pow(0.05, 3) + 1000.0 * M_PI * 1e-6 * 0.12);
  double borne = 0.0;
  for (int i = 0; i < 50; ++i) {
    run(world, 0.01, 0.01);
    borne -= world.compute_contact_force(0).y() / 50.0;
  }
  EXPECT_NEAR(borne, weight, 0.01 * weight);
  EXPECT_LT(world.compute_energy().kinetic, 1e-4);
}

TEST(MixedWorld, TwoOfThemGiveTheSameBits) {
  World one = make_mixed_world(), two = make_mixed_world();
  run(one, 0.5, 0.01);
  run(two, 0.5, 0.01);
  WorldState a, b;
  one.save_state(a);
  two.save_state(b);
  EXPECT_EQ(a.bodies, b.bodies);
  EXPECT_EQ(a.memory.joint_forces, b.memory.joint_forces);
}

TEST(MixedWorld, StepsAllocateNothingOnceTheyHaveBeenAsLarge) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  World world = make_mixed_world();
  WorldState state;
  world.save_state(state);
  run(world, 1.0, 0.01);
  world.restore_state(state);
  const RealtimeGuard guard;
  for (int i = 0; i < 50; ++i) {
    StepReport report;
    world.step(0.01, report);
  }
  EXPECT_EQ(guard.violations().allocations, 0);
}

}  // namespace
}  // namespace palpate::world_step_test
