#include "explicit_newmark.h"
#include "models.h"
#include "palpate/testing/dense_algebra.h"

namespace palpate::newmark_test {
namespace {

using namespace testing;

TetMesh make_one_tet() {
  TetMesh mesh;
  mesh.vertices = {Vec3(0, 0, 0), Vec3(0.1, 0, 0.01), Vec3(0.02, 0.09, 0), Vec3(0.01, 0.02, 0.08)};
  mesh.tets = {{0, 1, 2, 3}};
  return mesh;
}

const Material kSoft{.young_modulus = 1e4, .poisson_ratio = 0.3};

/// Largest displacement after so many steps from a disturbance of 10⁻⁹ m, small enough for the body to stay linear.
double grow(NonlinearTets& body, double dt, int steps) {
  std::vector<Vec3> x(body.rest_positions().begin(), body.rest_positions().end());
  body.set_positions(x);
  stop(body);
  displace(body, random_vectors(body.node_count(), 1e-9, 3));
  ExplicitNewmark newmark(body);
  for (int i = 0; i < steps; ++i) newmark.step(dt);
  return (flat(body.positions()) - flat(body.rest_positions())).cwiseAbs().maxCoeff();
}

// Above 2/ω the fastest mode grows by a factor 1 + √(8ε) a step at a relative excess ε: over 400 steps at 1 % by e^90;
// it is let grow to where it must have left the linear range. Below, all modes are bounded by a multiple of their
// start.
TEST(ExplicitNewmark, OneTet_IsStableJustBelowTheElementsStep_AndNotAbove) {
  for (const HyperelasticModel model : {HyperelasticModel::kStVenantKirchhoff, HyperelasticModel::kStableNeoHookean}) {
    NonlinearTetSettings settings;
    settings.model = model;
    NonlinearTets body(make_one_tet(), std::span(&kSoft, 1), settings);
    const double critical = body.compute_stable_step();
    EXPECT_LT(grow(body, 0.999 * critical, 2000), 1e-7);
    EXPECT_GT(grow(body, 1.01 * critical, 60), 1e-6);
  }
}

// The same with mass damping: γ = ½ makes the limit independent of it.
TEST(ExplicitNewmark, MassDampingDoesNotLowerTheCriticalStep) {
  Material damped = kSoft;
  damped.mass_damping = 50.0;
  NonlinearTets body(make_one_tet(), std::span(&damped, 1));
  const double critical = body.compute_stable_step();
  EXPECT_LT(grow(body, 0.999 * critical, 2000), 1e-7);
  EXPECT_GT(grow(body, 1.02 * critical, 200), 1e-6);
}

// On a mesh the element bound is safe, and the true limit is 2/ω of the assembled body; patched or not.
TEST(ExplicitNewmark, Block_BlowsUpJustAboveTwoOverOmega) {
  for (const double poisson : {0.3, 0.49}) {
    for (const HyperelasticModel model :
         {HyperelasticModel::kStVenantKirchhoff, HyperelasticModel::kStableNeoHookean}) {
      NonlinearTetSettings settings;
      settings.model = model;
      Material material = kSoft;
      material.poisson_ratio = poisson;
      NonlinearTets body(make_tet_block(Vec3(0.1, 0.1, 0.1), {2, 2, 2}), std::span(&material, 1), settings);
      EXPECT_EQ(body.patch_count(), poisson > 0.4 ? 8 : 0);
      const double h = 0.01;
      ASSERT_TRUE(body.linearise(std::span(&h, 1)));
      Eigen::MatrixXd K = body.stiffness().make_dense();
      for (int i = 0; i < body.node_count(); ++i) {
        K.middleRows<3>(3 * i) /= std::sqrt(body.masses()[i]);
        K.middleCols<3>(3 * i) /= std::sqrt(body.masses()[i]);
      }
      const Eigen::VectorXd squares = compute_eigenvalues(K);
      const double critical = 2.0 / std::sqrt(squares[squares.size() - 1]), bound = body.compute_stable_step();
      RecordProperty("true_over_bound", std::to_string(critical / bound));
      EXPECT_LE(bound, critical * (1.0 + 1e-12));
      EXPECT_GT(bound, 0.5 * critical);
      EXPECT_LT(grow(body, 0.995 * critical, 2000), 1e-6);
      EXPECT_FALSE(grow(body, 1.01 * critical, 200) < 1e-6);  // by then it may have overflowed
    }
  }
}

/// Largest departure of the energy from its start over a swing of a free, strongly deformed block.
double energy_error(Model model, double dt) {
  auto body = make_block(model);
  map_affinely(*body, Vec3(1.2, 0.9, 0.95).asDiagonal());
  const double start = body->compute_energy().total();
  ExplicitNewmark newmark(*body);
  double worst = 0.0;
  for (double t = 0.0; t < 0.04; t += dt) {
    newmark.step(dt);
    worst = std::max(worst, std::abs(body->compute_energy().total() - start));
  }
  return worst / start;
}

TEST(ExplicitNewmark, KeepsEnergyToSecondOrder) {
  for (const Model model : {Model::kGreenTets, Model::kNeoHookeanTets, Model::kPatchedGreenTets,
                            Model::kPatchedNeoHookeanTets, Model::kTets}) {
    const double coarse = energy_error(model, 4e-4), fine = energy_error(model, 2e-4);
    EXPECT_LT(coarse, 0.05);
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.25) << static_cast<int>(model);
  }
}

TEST(ExplicitNewmark, KeepsBothMomentaExactly) {
  for (const Model model : {Model::kGreenTets, Model::kNeoHookeanTets, Model::kPatchedGreenTets,
                            Model::kPatchedNeoHookeanTets, Model::kTets, Model::kPatchedTets}) {
    auto body = make_block(model);
    map_affinely(*body, Vec3(1.1, 0.95, 1.0).asDiagonal());
    std::vector<Vec3> v;
    for (const Vec3& x : body->positions()) v.push_back(Vec3(0.3, 0.1, -0.2) + Vec3(5.0, -3.0, 8.0).cross(x));
    body->set_velocities(v);
    const BodyMomentum before = body->compute_momentum();
    ExplicitNewmark newmark(*body);
    for (int i = 0; i < 300; ++i) newmark.step(3e-4);
    const BodyMomentum after = body->compute_momentum();
    // Rounding of 300 steps.
    EXPECT_LT((after.linear - before.linear).norm(), 300.0 * 10.0 * kEps * before.linear.norm());
    EXPECT_LT((after.angular - before.angular).norm(), 300.0 * 100.0 * kEps * before.angular.norm());
  }
}

// A falling body: u = ½ g t² exactly, since the scheme integrates constant accelerations without error; with damping
// the speed approaches g/α.
TEST(ExplicitNewmark, FallsAsItMust) {
  auto body = make_block(Model::kGreenTets);
  body->set_gravity(Vec3(0.0, -9.81, 0.0));
  ExplicitNewmark newmark(*body);
  for (int i = 0; i < 100; ++i) newmark.step(1e-3);
  for (int i = 0; i < body->node_count(); ++i) {
    EXPECT_NEAR((body->positions()[i] - body->rest_positions()[i])[1], -0.5 * 9.81 * 0.01, 1e-12);
  }
  BlockOptions o;
  o.material.mass_damping = 20.0;
  body = make_block(Model::kGreenTets, o);
  body->set_gravity(Vec3(0.0, -9.81, 0.0));
  ExplicitNewmark damped(*body);
  for (int i = 0; i < 1000; ++i) damped.step(1e-3);
  EXPECT_NEAR(body->velocities()[0][1], -9.81 / 20.0, 1e-6);
}

TEST(ExplicitNewmark, MovesPrescribedNodesAsTold) {
  auto body = make_block(Model::kGreenTets);
  body->prescribe(0, Vec3(0.1, 0.0, 0.0));
  ExplicitNewmark newmark(*body);
  for (int i = 0; i < 50; ++i) newmark.step(2e-4);
  EXPECT_NEAR(body->positions()[0][0] - body->rest_positions()[0][0], 0.001, 1e-15);
  EXPECT_EQ(body->velocities()[0], Vec3(0.1, 0.0, 0.0));
}

}  // namespace
}  // namespace palpate::newmark_test
