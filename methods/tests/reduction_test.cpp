#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <random>

#include "../src/reduced/aged_factors.h"
#include "../src/reduced/choice.h"
#include "../src/reduced/energy_guard.h"
#include "../src/reduced/flat.h"
#include "../src/reduced/reduction.h"
#include "live_rig.h"

// The parts that a model of `reduced` is made by.
namespace palpate::reduction_test {
namespace {

using namespace reduced;
using namespace live_rig;

Eigen::MatrixXd make_random(int rows, int columns, int seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::normal_distribution<double> normal;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&](Eigen::Index, Eigen::Index) { return normal(random); });
}

TEST(VectorChoice, MakesWhatItTakesOrthonormal) {
  const Eigen::MatrixXd C = make_random(40, 20, 1), gram = C.transpose() * C;
  const std::vector<double> rank(20, 1.0);
  const VectorChoice choice(gram, rank, {.must = 4, .most = 12, .least_share = 1e-5});
  ASSERT_EQ(choice.chosen().size(), 12u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(choice.chosen()[as_size(i)], i);
  const Eigen::MatrixXd taken = C(Eigen::all, choice.chosen()), L = choice.factor();
  const Eigen::MatrixXd Phi = L.triangularView<Eigen::Lower>().solve(taken.transpose()).transpose();
  EXPECT_LT((Phi.transpose() * Phi - Eigen::MatrixXd::Identity(12, 12)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(VectorChoice, LeavesOutWhatTheOthersSpan) {
  Eigen::MatrixXd C = make_random(40, 9, 2);
  C.col(3) = C.col(0) - 2.0 * C.col(1);
  C.col(7) = 1e-8 * C.col(8);  // a short vector is as good as a long one
  const VectorChoice choice(C.transpose() * C, std::vector<double>(9, 1.0),
                            {.must = 2, .most = 9, .least_share = 1e-5});
  EXPECT_EQ(choice.chosen().size(), 7u);
  EXPECT_EQ(std::count(choice.chosen().begin(), choice.chosen().end(), 3), 0);
}

TEST(VectorChoice, TakesByRankAndByWhatIsNew) {
  // Three directions, the second one nearly the first.
  Eigen::MatrixXd C = Eigen::MatrixXd::Identity(4, 3);
  C.col(1) = C.col(0) + 0.1 * Eigen::Vector4d::Unit(3);
  const std::vector<double> rank{1.0, 0.9, 0.5};
  const VectorChoice choice(C.transpose() * C, rank, {.must = 0, .most = 2, .least_share = 1e-5});
  EXPECT_EQ(choice.chosen(), (std::vector<int>{0, 2}));
}

/// A soft block that hangs, and A(h)⁻¹ b of it as it is now.
struct Block {
  World world;
  FemBody& body = add_block(world, true, 8e3, 4);

  Eigen::MatrixXd answer(double h, const Eigen::MatrixXd& b) {
    body.linearise({&h, 1});
    Eigen::MatrixXd x = b;
    body.solve(0, x);
    return x;
  }
  void turn(double angle) {
    std::vector<Vec3> places(body.positions().begin(), body.positions().end());
    for (Vec3& p : places) p = Quat(Eigen::AngleAxisd(angle * (p.y() + 0.05) / 0.1, Vec3::UnitY())) * p;
    body.set_positions(places);
  }
};

// Steps ahead need A(h) of a time step that the model has not, with the stiffness that it has.
TEST(Reduction, FactorInsteadOfAnotherIsThatOfItsTimeStep) {
  Block block;
  block.turn(0.3);
  const Eigen::MatrixXd b = make_random(3 * block.body.node_count(), 2, 3), wanted = block.answer(0.02, b);
  block.body.linearise(std::array{0.05, 0.001});
  block.turn(0.1);  // not linearised again
  ASSERT_TRUE(block.body.factor_instead(1, 0.02));
  Eigen::MatrixXd x = b;
  block.body.solve(1, x);
  EXPECT_LT((x - wanted).norm(), 1e-12 * wanted.norm());
}

// The first two models are of the same tick, and the fast loop goes on with the first while the second is made: only
// their numbers tell whose states it speaks of.
TEST(Reduction, StatesAreThoseOfTheModelWithTheirNumber) {
  Block block;
  Reduction reduction(block.body, {.dt = 0.001, .slow_period = 0.05}, nullptr);
  const auto vertices = static_cast<int>(block.body.surface().positions.size());
  const BodyLayout layout(vertices, block.body.node_count(), 0, 0);
  std::array<std::vector<double>, 2> models;
  for (std::size_t k = 0; k < 2; ++k) {
    models[k].assign(layout.model_size(), 0.0);
    Reduction::Distances distances{std::vector(as_size(vertices), 1.0), std::vector(as_size(vertices), 1.0)};
    distances.tools[k == 0 ? 0 : as_size(vertices) / 2] = 0.0;  // so that they differ
    ASSERT_TRUE(reduction.make_model({k + 1, 0, 0.0}, distances, layout.view(models[k].data())));
  }
  std::vector<double> feedback(layout.feedback_size(), 0.0);
  const auto motion = layout.motion(feedback.data());
  const Eigen::VectorXd speed = make_random(kMaxStates, 1, 4);
  std::copy(speed.begin(), speed.end(), motion.speed.begin());
  std::copy_n(block.body.positions().data()->data(), motion.places.size(), motion.places.begin());
  for (std::size_t i = 0; i < motion.turns.size(); i += 9) Eigen::Map<Mat3>(&motion.turns[i]).setIdentity();
  const auto expected = [&](std::size_t k) {
    return Eigen::VectorXd(layout.view(models[k].data()).node_Phi.cast<double>() * speed);
  };
  ASSERT_GT((expected(0) - expected(1)).norm(), 0.1 * expected(0).norm());
  std::uint64_t tick = 1;
  for (const std::size_t k : {0u, 1u, 0u}) {
    reduction.follow({tick++, k + 1, layout.motion(std::as_const(feedback).data())});
    // A model has Φ in single precision.
    EXPECT_LT((flat(block.body.velocities()) - expected(k)).norm(), 1e-5 * expected(k).norm()) << "model " << k + 1;
  }
}

/// The part of a swaying block's velocities that the basis of a model cannot do while that is used, root mean square.
/// The slow period is 0.1 s, and the model, the third one, is of the block as it is let go.
double find_what_a_basis_lacks() {
  constexpr double kPeriod = 0.1, kLate = 0.5 * (kPeriod - kTick);
  WorldSettings settings;
  settings.gravity = Vec3(4.0, -2.0, 0.0);
  World world(settings);
  FemBody& body = add_block(world, true, 700.0, 6);
  world.prepare();
  Reduction reduction(body, {.dt = kTick, .slow_period = kPeriod}, nullptr);
  const auto vertices = static_cast<int>(body.surface().positions.size());
  const BodyLayout layout(vertices, body.node_count(), 0, 0);
  std::vector<double> numbers(layout.model_size(), 0.0);
  const Reduction::Distances far{std::vector(as_size(vertices), 1.0), std::vector(as_size(vertices), 1.0)};
  for (const int k : {0, 1, 3}) {
    if (!reduction.make_model({static_cast<std::uint64_t>(k + 1), 0, k * kLate}, far, layout.view(numbers.data())))
      return 1.0;
    reduction.begin_with(layout.view(std::as_const(numbers).data()));
  }
  const auto model = layout.view(std::as_const(numbers).data());
  const Eigen::MatrixXd Phi = model.node_Phi.leftCols(static_cast<int>(model.states)).cast<double>();
  const Eigen::HouseholderQR<Eigen::MatrixXd> basis(Phi);
  const auto elements = body.make_elastic_forces();
  std::vector<Vec3> forces(as_size(body.node_count()));
  std::vector<Mat3> turned(forces.size());
  double left = 0.0, whole = 0.0;
  StepReport report;
  for (int tick = 1; tick <= 200; ++tick) {
    world.step(kTick, report);
    if (tick < 100 || tick % 5 != 0) continue;
    elements->begin(body.positions());
    elements->add(0, elements->pieces());
    elements->finish(forces);
    elements->compute_turns(0, body.node_count(), turned);
    Eigen::VectorXd velocity = flat(body.velocities());
    turn_nodes(velocity, [&](std::size_t i) { return Mat3(model.turn(static_cast<int>(i)) * turned[i].transpose()); });
    left += (velocity - Phi * basis.solve(velocity)).squaredNorm();
    whole += velocity.squaredNorm();
  }
  return std::sqrt(left / whole);
}

// A body sways a good part of its period while a model of 10 Hz is used, and where its basis lacks a velocity the body
// is held. In steps of 4.2 ms, as here, what is foreseen is off by 0.46 (ωh)²: by 0.3 % at 20 /s, and by 8 % at 100 /s,
// of which there is little. In a quarter of those steps, with three velocities, 2.6 % were missing.
TEST(Reduction, BasisHasTheVelocitiesOfASwayWithinALongPeriod) {
  EXPECT_LT(find_what_a_basis_lacks(), 0.01);
}

TEST(AgedFactors, FactorIsThatOfTheStepInWhichItWasBegun) {
  Block block;
  constexpr double kStep = 0.05, kTickStep = 0.001;
  const double alpha = block.body.damping_masses()[0] / block.body.masses()[0];
  AgedFactors aged(block.body, {{kStep, kTickStep}, alpha, *block.body.uniform_stiffness_damping(), 3});
  Eigen::MatrixXd b = make_random(3 * block.body.node_count(), 2, 3);
  for (int i = 0; i < block.body.node_count(); ++i) {
    if (block.body.is_prescribed(i)) b.middleRows<3>(3 * i).setZero();
  }
  std::vector<Eigen::MatrixXd> truth;
  // The first step makes a factor at once. Then one is begun in the step after the last was done.
  int of = 0, begun = 1, generation = 1, later = 0;
  for (int step = 0; step < 8; ++step) {
    block.turn(0.1);
    truth.push_back(block.answer(kStep, b));
    block.body.begin_linearise({&kStep, 1});
    ASSERT_TRUE(aged.advance(0));
    if (aged.generation(0) > generation) {
      EXPECT_LE(step, begun + 2) << "it takes three steps at most";
      of = begun;
      begun = step + 1;
      generation = aged.generation(0);
    }
    Eigen::MatrixXd x = b;
    aged.solve(0, x);
    EXPECT_LT((x - truth[as_size(of)]).norm(), 1e-3 * x.norm()) << step;
    if (of == step) continue;
    EXPECT_GT((x - truth[as_size(step)]).norm(), 5e-3 * x.norm()) << "or the turn is too small to tell";
    ++later;
  }
  EXPECT_GT(generation, 2);
  EXPECT_GT(later, 3) << "it is spread over steps";
}

TEST(AnswerMemory, ForgetsWhatWasNotLookedForTheLongest) {
  AnswerMemory memory(3, 2);
  memory.answer(memory.add({5, 0, false}, 1)).setConstant(5.0);
  memory.answer(memory.add({6, 0, false}, 1)).setConstant(6.0);
  EXPECT_EQ(memory.find({5, 0, true}), -1) << "what follows on an answer is another";
  ASSERT_GE(memory.find({5, 0, false}), 0);
  memory.answer(memory.add({7, 0, false}, 2)).setConstant(7.0);
  EXPECT_EQ(memory.find({6, 0, false}), -1);
  EXPECT_EQ(memory.answer(memory.find({5, 0, false}))[0], 5.0);
  EXPECT_EQ(memory.generation(memory.find({7, 0, false})), 2);
}

/// A model of three states, of masses about one, two and three times dt.
class ThreeStates {
 public:
  ThreeStates() : numbers_(layout_.model_size(), 0.0) {
    auto model = layout_.view(numbers_.data());
    model.states = 3.0;
    model.K.diagonal().head<3>() = Vec3(0.0, 100.0, 200.0);
  }
  BodyView<const double> view() const { return layout_.view(static_cast<const double*>(numbers_.data())); }
  double compute_kinetic(const Eigen::VectorXd& speed) const {
    Eigen::VectorXd momentum(kMaxStates);
    multiply_mass(view(), kTick, speed, momentum);
    return 0.5 * speed.dot(momentum);
  }

 private:
  BodyLayout layout_{1, 1, 0, 0};
  std::vector<double> numbers_;
};

// What a body has gained beyond the work done to it is owed, and taken out of its motion to the last part.
TEST(EnergyGuard, TakesOutWhatNobodyDid) {
  const ThreeStates model;
  Eigen::VectorXd speed = Eigen::VectorXd::Zero(kMaxStates), direction = speed;
  speed.head<3>() = Vec3(1.0, -2.0, 0.5);
  direction.head<3>() = Vec3(0.2, -1.0, 0.3);
  const double kinetic = model.compute_kinetic(speed), made = 0.1 * kinetic;
  EnergyGuard guard;
  guard.see(5.0, 1.0);
  guard.see(7.0, 3.0);
  EXPECT_EQ(guard.owed(), 0.0) << "work was done";
  EXPECT_FALSE(guard.take_out(model.view(), kTick, direction, speed));
  guard.see(7.0 + made, 3.0);
  EXPECT_NEAR(guard.owed(), made, 1e-15);
  EXPECT_TRUE(guard.take_out(model.view(), kTick, direction, speed));
  EXPECT_NEAR(model.compute_kinetic(speed), kinetic - made, 1e-12 * kinetic);
  EXPECT_NEAR(guard.owed(), 0.0, 1e-15);
  EXPECT_NEAR(guard.taken(), made, 1e-15);
  guard.see(7.0, 3.0);
  EXPECT_NEAR(guard.owed(), 0.0, 1e-15) << "what was taken out is not owed again";
}

// A body is not stopped dead: what motion along the direction does not have comes out of all of it, a little at a look.
TEST(EnergyGuard, TakesNoMoreThanAPartOfAllMotionAtOnce) {
  const ThreeStates model;
  Eigen::VectorXd speed = Eigen::VectorXd::Zero(kMaxStates), none = speed;
  speed.head<3>() = Vec3(1.0, -2.0, 0.5);
  const double kinetic = model.compute_kinetic(speed);
  EnergyGuard guard;
  guard.see(0.0, 0.0);
  guard.see(10.0 * kinetic, 0.0);
  EXPECT_TRUE(guard.take_out(model.view(), kTick, none, speed));
  EXPECT_NEAR(model.compute_kinetic(speed), 0.9 * kinetic, 1e-12 * kinetic);
  EXPECT_NEAR(guard.owed(), 9.9 * kinetic, 1e-12 * kinetic);
}

}  // namespace
}  // namespace palpate::reduction_test
