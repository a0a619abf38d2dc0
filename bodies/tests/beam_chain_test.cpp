#include "palpate/bodies/beam_chain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "palpate/testing/dense_algebra.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::beam_chain_test {
namespace {

constexpr double kNu = 0.3;

std::vector<Vec3> straight(double length, int beams) {
  std::vector<Vec3> points;
  for (int i = 0; i <= beams; ++i) points.emplace_back(length * i / beams, 0, 0);
  return points;
}

/// A steel-like wire: 0.2 m, radius 1 mm.
BeamChainSettings wire(int beams, double length = 0.2) {
  BeamChainSettings s;
  s.rest = make_chain_poses(straight(length, beams));
  s.section = make_round_section(0.001, kNu);
  s.material.young_modulus = 2e9;
  s.material.poisson_ratio = kNu;
  s.material.density = 7800;
  return s;
}

void clamp(BeamChain& chain, int node) {
  chain.prescribe(2 * node, Vec3::Zero());
  chain.prescribe(2 * node + 1, Vec3::Zero());
}

void step(BeamChain& chain, double h) {
  std::vector<Vec3> dv(as_size(chain.block_count()));
  ASSERT_TRUE(chain.linearise({&h, 1}));
  chain.compute_free_motion(0, dv);
  chain.advance(h, dv);
}

/// Newton's method for the static problem: steps so long that inertia counts for nothing, from rest each time.
void settle(BeamChain& chain, int iterations) {
  const std::vector<Vec3> rest(as_size(chain.block_count()), Vec3::Zero());
  for (int i = 0; i < iterations; ++i) {
    chain.set_velocities(rest);
    step(chain, 1e4);
  }
  chain.set_velocities(rest);
}

/// Every node at random, strained by about `amount` relative to the beams' length.
void disturb(BeamChain& chain, double amount, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, amount);
  const double length = (chain.node_pose(1).position - chain.node_pose(0).position).norm();
  for (int n = 0; n < chain.node_count(); ++n) {
    Pose pose = chain.node_pose(n);
    pose.position += length * Vec3(normal(random), normal(random), normal(random));
    pose.rotation = rotation_from_vector(Vec3(normal(random), normal(random), normal(random))) * pose.rotation;
    chain.set_node_pose(n, pose);
  }
}

void move_rigidly(BeamChain& chain, const Pose& by) {
  for (int n = 0; n < chain.node_count(); ++n) {
    const Pose& p = chain.node_pose(n);
    chain.set_node_pose(n, {by.rotation * p.position + by.position, by.rotation * p.rotation});
  }
}

/// Moves one of the 6n coordinates: a translation, or a world-frame rotation.
void nudge(BeamChain& chain, int coordinate, double by) {
  const int node = coordinate / 6, axis = coordinate % 3;
  Pose pose = chain.node_pose(node);
  if (coordinate % 6 < 3) {
    pose.position[axis] += by;
  } else {
    pose.rotation = rotation_from_vector(by * Vec3::Unit(axis)) * pose.rotation;
  }
  chain.set_node_pose(node, pose);
}

Eigen::VectorXd forces_of(const BeamChain& chain) {
  std::vector<Vec3> f(as_size(chain.block_count()));
  chain.compute_elastic_forces(f);
  return Eigen::Map<Eigen::VectorXd>(f[0].data(), static_cast<Eigen::Index>(3 * f.size()));
}

BeamChain make_arc() {  // curved at rest
  BeamChainSettings s = wire(6);
  std::vector<Vec3> points;
  for (int i = 0; i <= 6; ++i) points.emplace_back(0.1 * std::sin(0.2 * i), 0.1 * (1 - std::cos(0.2 * i)), 0.01 * i);
  s.rest = make_chain_poses(points);
  return BeamChain(s);
}

TEST(BeamChain, RigidMotionOfAnySizeStrainsNothing) {
  BeamChain chain = make_arc();
  const double scale = 2e9 * M_PI * 1e-6;  // EA
  for (const double angle : {0.1, 1.0, 3.0}) {
    move_rigidly(chain, {Vec3(3, -2, 1), rotation_from_vector(angle * Vec3(0.6, 0, 0.8))});
    // Rounding of coordinates of some metres against beams of 20 mm: strains of 1e-14.
    EXPECT_LT(forces_of(chain).norm(), 1e-12 * scale);
    EXPECT_LT(chain.compute_elastic_energy(), 1e-24 * scale);
  }
}

TEST(BeamChain, ForcesAreTheGradientOfTheEnergy) {
  for (const double amount : {0.001, 0.1, 0.4}) {
    BeamChain chain = make_arc();
    disturb(chain, amount, 1);
    const Eigen::VectorXd f = forces_of(chain);
    const double eps = 1e-6;
    for (int c = 0; c < f.size(); ++c) {
      const double unit = c % 6 < 3 ? 0.02 : 1.0;  // a beam's length, a radian
      nudge(chain, c, eps * unit);
      const double up = chain.compute_elastic_energy();
      nudge(chain, c, -2 * eps * unit);
      const double down = chain.compute_elastic_energy();
      nudge(chain, c, eps * unit);
      const double slope = (up - down) / (2 * eps * unit);
      // Second-order differences: eps² of the third derivative, and rounding of E over eps.
      EXPECT_NEAR(-f[c], slope, 1e-6 * f.lpNorm<Eigen::Infinity>() / (c % 6 < 3 ? 1.0 : 50.0) + 1e-8 * std::abs(slope))
          << amount << " " << c;
    }
  }
}

TEST(BeamChain, StiffnessIsTheGradientOfTheForcesWhereThereIsNoStress) {
  BeamChain chain = make_arc();
  move_rigidly(chain, {Vec3(0.3, 0, 0), rotation_from_vector(Vec3(0.5, -1.2, 0.8))});
  const Eigen::MatrixXd K = chain.make_dense_stiffness();
  EXPECT_LT((K - K.transpose()).norm(), 1e-12 * K.norm());
  for (int c = 0; c < K.cols(); ++c) {
    const double eps = 1e-6 * (c % 6 < 3 ? 0.02 : 1.0);
    nudge(chain, c, eps);
    const Eigen::VectorXd up = forces_of(chain);
    nudge(chain, c, -2 * eps);
    const Eigen::VectorXd down = forces_of(chain);
    nudge(chain, c, eps);
    const Eigen::VectorXd column = -(up - down) / (2 * eps);
    EXPECT_LT((column - K.col(c)).norm(), 1e-6 * K.col(c).norm()) << c;
  }
}

TEST(BeamChain, StiffnessIsPositiveSemidefiniteHoweverStrained) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    BeamChain chain = make_arc();
    disturb(chain, 0.5, seed);
    const Eigen::VectorXd values = testing::compute_eigenvalues(chain.make_dense_stiffness());
    EXPECT_GT(values.minCoeff(), -1e-10 * values.maxCoeff());
  }
}

// The element carries Timoshenko's exact stiffness, so one beam is as good as fifty.
TEST(BeamChain, CantileverIsTimoshenkosWithAnyNumberOfBeams) {
  const double L = 0.05, P = 1e-3;  // stocky enough for shear to count: 4 % of the deflection below
  const BeamSection round = make_round_section(0.01, kNu);
  for (const int beams : {1, 2, 10, 50}) {
    BeamChainSettings s = wire(beams, L);
    s.section = round;
    BeamChain chain(s);
    clamp(chain, 0);
    chain.external_forces()[as_size(2 * beams)] = Vec3(0, -P, 0);
    settle(chain, 3);
    const double E = 2e9, G = E / (2 * (1 + kNu));
    const double bending = P * L * L * L / (3 * E * round.inertia_z),
                 shear = P * L / (round.shear_factor * G * round.area);
    EXPECT_GT(shear / bending, 0.02);
    EXPECT_NEAR(-chain.node_pose(beams).position.y() / (bending + shear), 1.0, 1e-8) << beams;
  }
}

TEST(BeamChain, TorsionIsSaintVenants) {
  BeamChain chain(wire(10));
  clamp(chain, 0);
  const double T = 1e-4;
  chain.external_forces()[21] = Vec3(T, 0, 0);
  settle(chain, 3);
  const double G = 2e9 / (2 * (1 + kNu)), J = M_PI / 2 * 1e-12;
  const Vec3 turn = rotation_vector(chain.node_pose(10).rotation);
  EXPECT_NEAR(turn.x() / (T * 0.2 / (G * J)), 1.0, 1e-9);
}

// Bathe & Bolourchi 1979: a cantilever bent to an eighth of a circle (radius 100, section 1 × 1, E = 1e7, ν = 0),
// pushed out of its plane at the tip. Published tip positions for P = 600 differ by half a per cent of the way:
// (15.9, 47.2, 53.4) by Bathe & Bolourchi, (15.79, 47.23, 53.37) by Simo & Vu-Quoc 1986, (15.61, 46.84, 53.71) by
// Crisfield 1990.
TEST(BeamChain, FortyFiveDegreeBendIsThePublishedOne) {
  const int beams = 32;
  BeamChainSettings s;
  std::vector<Vec3> points;
  for (int i = 0; i <= beams; ++i) {
    const double a = M_PI / 4 * i / beams;
    points.emplace_back(100 * (1 - std::cos(a)), 100 * std::sin(a), 0);
  }
  s.rest = make_chain_poses(points);
  s.section = make_rectangular_section(1.0, 1.0, 0.0);
  s.material = {1e7, 0.0, 1000.0, 0.0, 0.0};
  BeamChain chain(s);
  clamp(chain, 0);
  for (int load = 1; load <= 40; ++load) {
    chain.external_forces()[2 * beams] = Vec3(0, 0, 15.0 * load);
    settle(chain, load == 40 ? 60 : 8);
  }
  const Vec3 tip = chain.node_pose(beams).position;
  const double spread = (Vec3(15.79, 47.23, 53.37) - Vec3(15.61, 46.84, 53.71)).norm();
  EXPECT_LT((tip - Vec3(15.79, 47.23, 53.37)).norm(), spread) << tip.transpose();
  EXPECT_LT((tip - Vec3(15.61, 46.84, 53.71)).norm(), 0.25 * spread + 0.02) << tip.transpose();
}

// A moment M = 2π EI/L rolls a straight beam up into a full circle.
TEST(BeamChain, EndMomentRollsTheBeamIntoACircle) {
  const int beams = 20;
  BeamChain chain(wire(beams));
  clamp(chain, 0);
  const double EI = 2e9 * M_PI / 4 * 1e-12;
  for (int i = 1; i <= 40; ++i) {
    chain.external_forces()[2 * beams + 1] = Vec3(0, 0, 2 * M_PI * EI / 0.2 * i / 40.0);
    settle(chain, 10);
  }
  settle(chain, 50);
  EXPECT_LT(chain.node_pose(beams).position.norm(), 1e-3 * 0.2) << chain.node_pose(beams).position.transpose();
}

TEST(BeamChain, FirstFrequenciesOfACantileverAreEulers) {
  const int beams = 40;
  BeamChain chain(wire(beams));
  const double L = 0.2, EI = 2e9 * M_PI / 4 * 1e-12, line = 7800 * M_PI * 1e-6;
  // M from A(h) at two h would do; the lumped masses are simpler: a node has the mass of one beam, the ends half.
  const Eigen::MatrixXd K = chain.make_dense_stiffness().bottomRightCorner(6 * beams, 6 * beams);
  Eigen::VectorXd m(6 * beams);
  for (int n = 0; n < beams; ++n) {
    const double share = (n + 1 == beams ? 0.5 : 1.0) * L / beams;
    m.segment<3>(6 * n).setConstant(share * line);
    m.segment<3>(6 * n + 3) = share * 7800 * M_PI / 4 * 1e-12 * Vec3(2, 1, 1);
  }
  const Eigen::VectorXd scale = m.cwiseSqrt().cwiseInverse();
  const Eigen::VectorXd w2 = testing::compute_eigenvalues(scale.asDiagonal() * K * scale.asDiagonal());
  const double factors[] = {1.8751, 4.6941, 7.8548};
  for (int k = 0; k < 3; ++k) {  // each twice: the section is round
    const double expected = factors[k] * factors[k] / (L * L) * std::sqrt(EI / line);
    // Lumping costs (kL/n)²/24-like terms, rotary inertia and shear less: under 0.5 % for the third.
    EXPECT_NEAR(std::sqrt(w2[2 * k]) / expected, 1.0, 0.005) << k;
    EXPECT_NEAR(std::sqrt(w2[2 * k + 1]) / expected, 1.0, 0.005) << k;
  }
}

TEST(BeamChain, FreeFlightKeepsMomentum) {
  BeamChain chain = make_arc();
  std::vector<Vec3> v(as_size(chain.block_count()));
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (std::size_t b = 0; b < v.size(); ++b)
    v[b] = (b % 2 ? 5.0 : 0.2) * Vec3(normal(random), normal(random), normal(random));
  chain.set_velocities(v);
  const BodyMomentum before = chain.compute_momentum();
  for (int i = 0; i < 1000; ++i) step(chain, 1e-3);
  const BodyMomentum after = chain.compute_momentum();
  EXPECT_LT((after.linear - before.linear).norm(), 1e-9 * before.linear.norm());
}

TEST(BeamChain, EnergyNeverGrowsUnderBackwardEuler) {
  BeamChain chain(wire(10));
  clamp(chain, 0);
  chain.external_forces()[20] = Vec3(0, -0.05, 0.02);
  settle(chain, 20);
  chain.external_forces()[20].setZero();
  double energy = chain.compute_energy().total();
  ASSERT_GT(energy, 0.0);
  for (int i = 0; i < 2000; ++i) {
    step(chain, 1e-3);
    const double now = chain.compute_energy().total();
    EXPECT_LE(now, energy * (1 + 1e-9)) << i;
    energy = now;
  }
}

// A thread so thin that only its tension keeps it straight, pulled hard and plucked: the string term holds the step.
TEST(BeamChain, TautThreadStaysStable) {
  BeamChainSettings s = wire(20);
  s.section = make_round_section(1e-4, kNu);
  BeamChain chain(s);
  clamp(chain, 0);
  chain.external_forces()[40] = Vec3(5.0, 0, 0);
  for (int i = 0; i < 3000; ++i) {
    chain.external_forces()[20] = i < 20 ? Vec3(0, 0.5, 0) : Vec3::Zero();
    step(chain, 1e-3);
  }
  EXPECT_TRUE(chain.node_pose(10).position.allFinite());
  EXPECT_LT(std::abs(chain.node_pose(10).position.y()), 1e-3);
  EXPECT_NEAR(chain.node_pose(20).position.x(), 0.2 * (1 + 5.0 / (2e9 * M_PI * 1e-8)), 1e-4);
}

TEST(BeamChain, SurvivesBeingTiedInKnots) {
  BeamChain chain(wire(20));
  clamp(chain, 0);
  disturb(chain, 3.0, 9);
  for (int i = 0; i < 3000; ++i) step(chain, 1e-3);
  EXPECT_TRUE(forces_of(chain).allFinite());
  EXPECT_LT((chain.node_pose(20).position - chain.node_pose(0).position).norm(), 0.21);
}

TEST(BeamChain, ComplianceIsThatOfTheDenseInverseWithBothTimeSteps) {
  BeamChain chain = make_arc();
  disturb(chain, 0.05, 4);
  clamp(chain, 0);
  const std::vector<double> steps = {0.02, 0.001};
  ASSERT_TRUE(chain.linearise(steps));
  const int n = 3 * chain.block_count();
  // Up and down the chain, one row of none of its nodes and one of two places.
  constexpr int kRows = 11;
  BlockRows J;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(kRows, n);
  std::array<BlockRows::Entry, 4> entries;
  const auto add = [&](int r, int beam) {
    const int count =
        chain.compute_point_row({beam, Vec3(0.2, 0.8, 0.0), Vec3(0.001, 0.002, 0.0)}, Vec3(0.3 * r, 1, -0.2), entries);
    for (int i = 0; i < count; ++i) {
      const auto& e = entries[as_size(i)];
      J.add(e.block, e.value);
      if (e.block > 1) dense.block<1, 3>(r, 3 * e.block) += e.value.transpose();
    }
  };
  for (int r = 0; r < kRows; ++r) {
    J.begin_row();
    if (r != 7) add(r, 5 * r % 6);
    if (r == 9) add(r, 0);
  }
  // A(h) Δv = f, column by column, is the body's own solve with unit forces: independent of add_compliance's path.
  for (int k = 0; k < 2; ++k) {
    Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(n, n);
    for (int c = 0; c < n; ++c) {
      BlockRows unit;
      unit.begin_row();
      unit.add(c / 3, Vec3::Unit(c % 3));
      const double one = 1.0;
      std::vector<Vec3> dv(as_size(chain.block_count()));
      chain.compute_correction(k, unit, {&one, 1}, dv);
      inverse.col(c) = Eigen::Map<Eigen::VectorXd>(dv[0].data(), n);
    }
    EXPECT_LT((inverse - inverse.transpose()).norm(), 1e-9 * inverse.norm());
    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(kRows, kRows);
    ASSERT_TRUE(chain.add_compliance(k, J, W));
    const Eigen::MatrixXd expected = steps[as_size(k)] * dense * inverse * dense.transpose();
    EXPECT_LT((W - expected).norm(), 1e-9 * expected.norm());
    // And A⁻¹ itself against a dense A, built from K₊ and the masses.
    Eigen::MatrixXd A = steps[as_size(k)] * chain.make_dense_stiffness();
    const Eigen::MatrixXd check = inverse.bottomRightCorner(n - 6, n - 6);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n - 6, n - 6);
    const Eigen::MatrixXd inertia = testing::solve_definite(check, one) - A.bottomRightCorner(n - 6, n - 6);
    for (int c = 0; c < n - 6; ++c) {
      for (int r = 0; r < n - 6; ++r) {
        if (r / 3 == c / 3) continue;
        EXPECT_NEAR(inertia(r, c), 0.0, 1e-7 * A.norm()) << "only masses are left, block by block";
      }
    }
  }
}

TEST(BeamChain, StepAllocatesNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  BeamChain chain(wire(50));
  clamp(chain, 0);
  std::vector<Vec3> dv(as_size(chain.block_count()));
  BlockRows J;
  J.reserve(3, 3);
  for (int r = 0; r < 3; ++r) {
    J.begin_row();
    J.add(60, Vec3::Unit(r));
  }
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(3, 3);
  const double lambda[3] = {0.1, 0.2, 0.3};
  const double h = 0.001;
  const testing::RealtimeGuard guard;
  for (int i = 0; i < 20; ++i) {
    chain.linearise({&h, 1});
    chain.compute_free_motion(0, dv);
    chain.add_compliance(0, J, W);
    chain.compute_correction(0, J, lambda, dv);
    chain.advance(h, dv);
  }
  EXPECT_EQ(guard.violations().total(), 0);
}

}  // namespace
}  // namespace palpate::beam_chain_test
