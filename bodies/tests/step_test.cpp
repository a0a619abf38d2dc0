#include "disturbed.h"
#include "palpate/bodies/static_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/testing/dense_algebra.h"
#include "palpate/testing/realtime_guard.h"

// The step that all bodies share: systems, boundaries, compliance, conservation.
namespace palpate::step_test {
namespace {

using namespace testing;

class Step : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, Step, kAllModels, name_of);

Eigen::MatrixXd make_dense(const BlockRows& J, int blocks) {
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(J.rows(), 3 * blocks);
  for (int r = 0; r < J.rows(); ++r) {
    for (const BlockRows::Entry& e : J.row(r)) dense.block<1, 3>(r, 3 * e.block) += e.value.transpose();
  }
  return dense;
}

/// Zeroes what a prescribed node must not feel and makes its diagonal 1.
void fix(const FemBody& body, Eigen::MatrixXd& A, Eigen::MatrixXd& J) {
  for (int i = 0; i < body.node_count(); ++i) {
    if (!body.is_prescribed(i)) continue;
    A.middleRows<3>(3 * i).setZero();
    A.middleCols<3>(3 * i).setZero();
    A.block<3, 3>(3 * i, 3 * i).setIdentity();
    J.middleCols<3>(3 * i).setZero();
  }
}

// Everything a step computes against the dense system of the header's equation, for two time steps at once.
TEST_P(Step, AgreesWithTheDenseSystem_ForBothTimeSteps) {
  const BlockOptions o = damped();
  auto body = make_block(GetParam(), o);
  disturb(*body);
  const double steps[] = {kFast, kSlow};
  ASSERT_TRUE(body->linearise(steps));
  const BlockRows rows = make_rows(*body, 20);
  const int n = body->node_count();
  for (int which = 0; which < 2; ++which) {
    const double h = steps[which], beta = o.material.stiffness_damping;
    Eigen::MatrixXd A = dense_system(*body, h, beta), J = make_dense(rows, n);
    // f + hKv, built from its parts.
    const Eigen::VectorXd v = flat(body->velocities());
    Eigen::VectorXd b = flat(elastic_forces(*body)) - (h + beta) * body->stiffness().make_dense() * v;
    Eigen::VectorXd known = Eigen::VectorXd::Zero(3 * n);
    for (int i = 0; i < n; ++i) {
      b.segment<3>(3 * i) += body->masses()[i] * body->gravity() + body->external_forces()[i] -
                             o.material.mass_damping * body->masses()[i] * body->velocities()[i];
      if (body->is_prescribed(i)) known.segment<3>(3 * i) = body->prescribed_velocity(i) - body->velocities()[i];
    }
    b -= A * known;
    fix(*body, A, J);
    for (int i = 0; i < n; ++i) {
      if (body->is_prescribed(i)) b.segment<3>(3 * i) = known.segment<3>(3 * i);
    }
    const Eigen::MatrixXd inverse = solve_definite(A, Eigen::MatrixXd::Identity(3 * n, 3 * n));

    std::vector<Vec3> dv(as_size(n));
    body->compute_free_motion(which, dv);
    const Eigen::VectorXd expected = inverse * b;
    EXPECT_LT((flat(dv) - expected).norm(), 1e-9 * expected.norm());

    Eigen::MatrixXd W = Eigen::MatrixXd::Zero(20, 20);
    ASSERT_TRUE(body->add_compliance(which, rows, W));
    const Eigen::MatrixXd W_expected = h * J * inverse * J.transpose();
    EXPECT_LT((W - W_expected).norm(), 1e-9 * W_expected.norm());

    const Eigen::VectorXd lambda = Eigen::VectorXd::LinSpaced(20, -1.0, 2.0);
    body->compute_correction(which, rows, std::span(lambda.data(), 20), dv);
    const Eigen::VectorXd correction = inverse * (J.transpose() * lambda);
    EXPECT_LT((flat(dv) - correction).norm(), 1e-9 * correction.norm());
    EXPECT_EQ(dv[5], Vec3(0.0, 0.0, 0.0));
  }
}

TEST_P(Step, TwoTimeStepsAtOnceGiveTheBitsOfEachAlone) {
  auto body = make_block(GetParam(), damped());
  disturb(*body);
  const double steps[] = {kFast, kSlow};
  std::vector<Vec3> both(as_size(body->node_count())), alone = both;
  for (int which = 0; which < 2; ++which) {
    ASSERT_TRUE(body->linearise(steps));
    body->compute_free_motion(which, both);
    ASSERT_TRUE(body->linearise(std::span(&steps[which], 1)));
    body->compute_free_motion(0, alone);
    EXPECT_EQ(both, alone);
  }
}

// Two ways to one compliance: of all rows at once, and of some rows solved for by themselves. Both are backward stable,
// so that they differ by rounding times the condition of A(h), here some thousands. What is asked of no fresh row
// stays.
TEST_P(Step, FreshRowsByThemselvesGiveTheirPartOfTheCompliance) {
  auto body = make_block(GetParam(), damped());
  disturb(*body);
  const double steps[] = {kFast, kSlow};
  ASSERT_TRUE(body->linearise(steps));
  constexpr int kRows = 120;
  const BlockRows J = make_rows(*body, kRows);
  std::vector<std::int32_t> fresh = {3, 4, 5, 119};
  for (std::int32_t r = 60; r < 90; r += 2) fresh.push_back(r);
  std::ranges::sort(fresh);
  const auto is_fresh = [&](int r) { return std::ranges::binary_search(fresh, r); };
  for (int which = 0; which < 2; ++which) {
    Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(kRows, kRows), part = whole;
    ASSERT_TRUE(body->add_compliance(which, J, whole));
    ASSERT_TRUE(body->add_fresh_compliance(which, J, fresh, part));
    EXPECT_EQ(part, part.transpose());
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kRows; ++c) {
        if (!is_fresh(r) && !is_fresh(c)) whole(r, c) = 0.0;
      }
    }
    EXPECT_GT(whole.norm(), 0.0);
    EXPECT_LT((part - whole).norm(), 1e-11 * whole.norm());
  }
}

// A clamped and pulled body with and without its prescribed nodes among the unknowns; a node prescribed later is none
// of those left out, and one that is cannot be released.
TEST_P(Step, PrescribedNodesLeftOutChangeNothing) {
  auto whole = make_block(GetParam(), damped()), part = make_block(GetParam(), damped());
  for (FemBody* body : {whole.get(), part.get()}) disturb(*body);
  part->leave_out_prescribed();
  part->release(5);
  ASSERT_TRUE(part->is_prescribed(5));
  const BlockRows J = make_rows(*whole, 20);
  const std::vector<double> lambda(20, 0.01);
  const double steps[] = {kFast, kSlow};
  const auto n = as_size(whole->node_count());
  for (int i = 0; i < 3; ++i) {
    for (FemBody* body : {whole.get(), part.get()}) {
      if (i == 1) body->prescribe(7, Vec3(0.05, 0.0, -0.1));
      if (i == 2) body->release(7);
      ASSERT_TRUE(body->linearise(steps));
    }
    for (int which = 0; which < 2; ++which) {
      std::vector<Vec3> dv[2] = {std::vector<Vec3>(n), std::vector<Vec3>(n)}, correction[2] = {dv[0], dv[1]};
      Eigen::MatrixXd W[2] = {Eigen::MatrixXd::Zero(20, 20), Eigen::MatrixXd::Zero(20, 20)};
      for (const int k : {0, 1}) {
        FemBody& body = k == 0 ? *whole : *part;
        body.compute_free_motion(which, dv[k]);
        ASSERT_TRUE(body.add_compliance(which, J, W[k]));
        body.compute_correction(which, J, lambda, correction[k]);
      }
      EXPECT_LT((flat(dv[1]) - flat(dv[0])).norm(), 1e-10 * flat(dv[0]).norm());
      EXPECT_LT((flat(correction[1]) - flat(correction[0])).norm(), 1e-10 * flat(correction[0]).norm());
      EXPECT_LT((W[1] - W[0]).norm(), 1e-10 * W[0].norm());
      EXPECT_EQ(dv[1][5], part->prescribed_velocity(5) - part->velocities()[5]);
      EXPECT_EQ(correction[1][5], Vec3(0.0, 0.0, 0.0));
      if (which == 1) {
        whole->advance(kSlow, dv[0]);
        part->advance(kSlow, dv[1]);
      }
    }
  }
}

TEST_P(Step, RestoredStateRepeatsTheSameBits) {
  auto body = make_block(GetParam(), damped());
  disturb(*body);
  std::vector<double> saved(as_size(body->state_size())), first = saved, second = saved;
  body->save_state(saved);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(step(*body, kSlow));
  body->save_state(first);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(step(*body, kFast));
  body->restore_state(saved);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(step(*body, kSlow));
  body->save_state(second);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, saved);
}

/// A block of two materials, softer below; any further materials are of regions that no element has.
CorotationalTets make_two_regions(std::span<const Material> materials) {
  TetMesh mesh = make_tet_block(Vec3(0.1, 0.1, 0.1), {2, 2, 2});
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) mesh.regions.push_back(static_cast<int>(t / 20));
  return CorotationalTets(mesh, materials);
}

// Elements of different β take another path through the assembly; given the same β it must come to the same.
TEST(Regions, DampingByElementAgreesWithUniformDamping) {
  for (const double poisson : {0.3, 0.45}) {
    const Material soft{.young_modulus = 1e4, .poisson_ratio = poisson, .stiffness_damping = 0.004};
    Material stiff = soft, unused = soft;
    stiff.young_modulus = 3e4;
    unused.stiffness_damping = 0.5;
    const Material same[] = {soft, stiff}, other[] = {soft, stiff, unused};
    CorotationalTets uniform = make_two_regions(same), apart = make_two_regions(other);
    for (FemBody* body : {static_cast<FemBody*>(&uniform), static_cast<FemBody*>(&apart)}) {
      body->set_velocities(random_vectors(body->node_count(), 0.5, 4));
      ASSERT_TRUE(step(*body, kSlow));
    }
    for (int i = 0; i < uniform.node_count(); ++i) {
      EXPECT_LT((uniform.velocities()[i] - apart.velocities()[i]).norm(), 1e-12);
    }
  }
}

// Blocks to which two materials contribute: K₊ against differences of the forces about the turned rest shape, and the
// same bits for a time step whether it is the first of a linearise() or not.
TEST(Regions, SharedBlocksAddUp) {
  const Material materials[] = {{.young_modulus = 1e4, .poisson_ratio = 0.3, .stiffness_damping = 0.004},
                                {.young_modulus = 3e4, .poisson_ratio = 0.1, .stiffness_damping = 0.004}};
  CorotationalTets body = make_two_regions(materials);
  map_affinely(body, rotation_from_vector(Vec3(0.4, -1.0, 0.3)).toRotationMatrix());
  const double steps[] = {kFast, kSlow};
  std::vector<Vec3> second(as_size(body.node_count())), alone = second;
  body.set_velocities(random_vectors(body.node_count(), 0.5, 4));
  ASSERT_TRUE(body.linearise(steps));
  body.compute_free_motion(1, second);
  ASSERT_TRUE(body.linearise(std::span(&kSlow, 1)));
  body.compute_free_motion(0, alone);
  EXPECT_EQ(second, alone);

  const std::vector<Vec3> d = random_vectors(body.node_count(), 1.0, 9);
  Eigen::VectorXd Kd(3 * body.node_count());
  body.stiffness().multiply(flat(d), Kd);
  const double eps = 1e-7;
  displace(body, d, eps);
  const std::vector<Vec3> plus = elastic_forces(body);
  displace(body, d, -2.0 * eps);
  const Eigen::VectorXd expected = (flat(elastic_forces(body)) - flat(plus)) / (2.0 * eps);
  EXPECT_LT((Kd - expected).norm(), 2e-6 * Kd.norm());
}

TEST_P(Step, PrescribedNodesMoveAsTold_AndReleasedOnesAreFree) {
  auto body = make_block(GetParam());
  const Vec3 velocity(0.05, 0.0, -0.02);
  body->prescribe(4, velocity);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(step(*body, kSlow));
  EXPECT_EQ(body->velocities()[4], velocity);
  EXPECT_LT((body->positions()[4] - body->rest_positions()[4] - 0.2 * velocity).norm(), 1e-15);
  // Damped by the scheme, the rest follows.
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(step(*body, kSlow));
  EXPECT_LT((body->velocities()[0] - velocity).norm(), 0.02 * velocity.norm());
  body->release(4);
  body->external_forces()[4] = Vec3(0.0, 0.1, 0.0);
  ASSERT_TRUE(step(*body, kSlow));
  EXPECT_GT(body->velocities()[4][1], 1e-3);
}

// Internal forces have no resultant, implicit or not: momentum grows by m g h a step, and by nothing else.
TEST_P(Step, LinearMomentumIsConservedInFreeFlight) {
  auto body = make_block(GetParam());
  displace(*body, random_vectors(body->node_count(), 0.004, 1));
  body->set_velocities(random_vectors(body->node_count(), 0.5, 2));
  const Vec3 gravity(0.0, -9.81, 0.0);
  body->set_gravity(gravity);
  double mass = 0.0;
  for (const double m : body->masses()) mass += m;
  EXPECT_NEAR(mass, 1000.0 * 0.12 * 0.1 * 0.08, 1e-12);
  const Vec3 before = body->compute_momentum().linear;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(step(*body, kSlow));
  const Vec3 expected = before + mass * 50.0 * kSlow * gravity;
  EXPECT_LT((body->compute_momentum().linear - expected).norm(), 1e-10 * expected.norm());
}

// The turned stiffness does not see a rotation, so a corotational body keeps its spin under backward Euler but for what
// its stretching costs. The exact stiffness of the nonlinear models does: they lose spin, to first order in h.
TEST_P(Step, SpinIsKept_OrLostToFirstOrder) {
  const auto loss = [&](double h) {
    auto body = make_block(GetParam());
    std::vector<Vec3> v;
    for (const Vec3& x : body->positions()) v.push_back(Vec3(0.0, 3.0, 0.0).cross(x));
    body->set_velocities(v);
    const double before = body->compute_momentum().angular.norm();
    for (double t = 0.0; t < 0.1999; t += h) step(*body, h);
    return 1.0 - body->compute_momentum().angular.norm() / before;
  };
  const double coarse = loss(2e-3), fine = loss(1e-3);
  if (is_nonlinear(GetParam())) {
    EXPECT_LT(coarse, 0.01);
    EXPECT_NEAR(std::log2(coarse / fine), 1.0, 0.2);
  } else {
    EXPECT_LT(std::abs(coarse), 1e-5);
  }
}

// Backward Euler without external work: the sum of kinetic and elastic energy only falls. A free body too, as long as
// it turns by little in a step; at h = 0.2 s it would turn by half a radian, more than one linearisation can follow.
TEST_P(Step, EnergyNeverGrows) {
  for (const double h : {kFast, 5e-3, kSlow, 0.2, 10.0}) {
    auto body = make_block(GetParam());
    std::vector<Vec3> displacement = random_vectors(body->node_count(), 0.005, 1);
    if (h >= kSlow) {
      for (const int i : nodes_at_side(*body, 0, false)) {
        body->prescribe(i, Vec3::Zero());
        displacement[i].setZero();
      }
    }
    displace(*body, displacement);
    body->set_velocities(random_vectors(body->node_count(), 0.3, 2));
    double energy = body->compute_energy().total();
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(step(*body, h));
      const double next = body->compute_energy().total();
      // Once at rest, rounding of what was there at the start.
      ASSERT_LE(next, energy + 1e-12) << "h " << h << " step " << i;
      energy = next;
    }
  }
}

// A clamped block that falls under gravity settles where gravity is balanced, and loses energy on the way.
TEST_P(Step, SettlesWhereGravityIsBalanced) {
  auto body = make_block(GetParam(), damped());
  body->set_gravity(Vec3(0.0, -9.81, 0.0));
  for (const int i : nodes_at_side(*body, 0, false)) body->prescribe(i, Vec3::Zero());
  const double start = body->compute_energy().total();
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(step(*body, kSlow));
  EXPECT_LT(body->compute_energy().total(), start);
  const std::vector<Vec3> f = elastic_forces(*body);
  for (int i = 0; i < body->node_count(); ++i) {
    if (body->is_prescribed(i)) continue;
    EXPECT_LT((f[i] + body->masses()[i] * body->gravity()).norm(), 1e-6 * body->masses()[i] * 9.81);
  }
}

TEST_P(Step, MassDampingSlowsATranslationByItsOwnLaw) {
  BlockOptions o;
  o.material.mass_damping = 5.0;
  auto body = make_block(GetParam(), o);
  body->set_velocities(std::vector<Vec3>(as_size(body->node_count()), Vec3(1.0, 0.0, 0.0)));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(step(*body, kSlow));
  // v⁺ (1/h + α) = v/h.
  EXPECT_NEAR(body->velocities()[3][0], std::pow(1.0 / (1.0 + 5.0 * kSlow), 10), 1e-12);
}

TEST_P(Step, AllocatesNothing) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  auto body = make_block(GetParam(), damped());
  disturb(*body);
  const BlockRows J = make_rows(*body, 30);
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(30, 30);
  const std::vector<double> lambda(30, 0.01);
  std::vector<Vec3> dv(as_size(body->node_count()));
  std::vector<double> state(as_size(body->state_size()));
  std::vector<BlockRows::Entry> entries(as_size(body->max_row_entries()));
  const double steps[] = {kFast, kSlow};
  RealtimeGuard guard;
  body->save_state(state);
  bool good = true;
  for (int i = 0; i < 3; ++i) {
    good = body->linearise(steps) && good;
    for (int which = 0; which < 2; ++which) {
      body->compute_free_motion(which, dv);
      good = body->add_compliance(which, J, W) && good;
      body->compute_correction(which, J, lambda, dv);
    }
    body->advance(kSlow, dv);
    body->compute_point_row({0, Vec3(0.3, 0.3, 0.4)}, Vec3(0.0, 1.0, 0.0), entries);
    body->compute_energy();
  }
  body->restore_state(state);
  EXPECT_EQ(guard.violations().total(), 0);
  EXPECT_TRUE(good);
}

TEST_P(Step, RefusesWhatItHasNoRoomFor) {
  BlockOptions o;
  o.fem.max_rows = 10;
  auto body = make_block(GetParam(), o);
  const double steps[] = {kFast, kSlow, 0.05};
  EXPECT_FALSE(body->linearise(steps));
  ASSERT_TRUE(body->linearise(std::span(steps, 2)));
  const BlockRows J = make_rows(*body, 11);
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(11, 11);
  EXPECT_FALSE(body->add_compliance(0, J, W));
  EXPECT_EQ(W.norm(), 0.0);
}

TEST(StaticBody, DoesNotMoveOrYield) {
  StaticBody body(make_box(Vec3(1.0, 1.0, 1.0), 1));
  BlockRows J;
  J.begin_row();
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(1, 1);
  EXPECT_TRUE(body.linearise(std::span(&kSlow, 1)));
  EXPECT_TRUE(body.add_compliance(0, J, W));
  EXPECT_EQ(W(0, 0), 0.0);
  EXPECT_EQ(body.surface().triangles.size(), 12u);
  EXPECT_EQ(body.block_count(), 0);
}

}  // namespace
}  // namespace palpate::step_test
