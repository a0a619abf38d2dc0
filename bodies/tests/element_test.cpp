#include <Eigen/LU>

#include "models.h"
#include "palpate/testing/dense_algebra.h"

namespace palpate::element_test {
namespace {

using namespace testing;

class Element : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, Element, kAllModels, name_of);

const Mat3 kStretch = (Mat3() << 1.08, 0.05, -0.02, 0.03, 0.95, 0.04, -0.01, 0.02, 1.04).finished();
const Mat3 kTurn = rotation_from_vector(Vec3(1.1, -2.0, 0.7)).toRotationMatrix();

double volume_of(const BlockOptions& o) {
  return o.size.prod();
}

/// Energy density of a model under a homogeneous deformation, from its textbook formula.
double density(Model model, const Material& m, const Mat3& F) {
  const double lambda = m.lame_lambda(), mu = m.lame_mu();
  const Mat3 C = F.transpose() * F;
  if (is_green(model)) {
    const Mat3 E = 0.5 * (C - Mat3::Identity());
    return mu * E.squaredNorm() + 0.5 * lambda * E.trace() * E.trace();
  }
  if (is_neo_hookean(model)) {
    const double mu_s = 4.0 / 3.0 * mu, lambda_s = lambda + 5.0 / 6.0 * mu, a = 1.0 + 0.75 * mu_s / lambda_s;
    const auto psi = [&](double trace, double J) {
      return 0.5 * mu_s * (trace - 3.0) + 0.5 * lambda_s * (J - a) * (J - a) - 0.5 * mu_s * std::log(trace + 1.0);
    };
    return psi(C.trace(), F.determinant()) - psi(3.0, 1.0);
  }
  const Vec3 strain = compute_eigenvalues(C).cwiseSqrt().array() - 1.0;
  return mu * strain.squaredNorm() + 0.5 * lambda * strain.sum() * strain.sum();
}

// The patch test: a homogeneous deformation of an irregular mesh is in equilibrium inside, and costs what it should.
TEST_P(Element, PassesThePatchTest) {
  const BlockOptions o{.cells = {4, 3, 3}};
  auto body = make_block(GetParam(), o);
  map_affinely(*body, kTurn * kStretch, Vec3(0.3, 0.2, -0.1));
  // Rounding of coordinates of size 0.4 m over cells of 0.03 m, times E times a face of a cell.
  const double tolerance = 100.0 * kEps * (0.4 / 0.03) * o.material.young_modulus * 1e-3;
  const std::vector<Vec3> f = elastic_forces(*body);
  double largest_outside = 0.0;
  for (int i = 0; i < body->node_count(); ++i) {
    const bool inner = (body->rest_positions()[i].cwiseAbs().array() < 0.499 * o.size.array()).all();
    if (inner) {
      EXPECT_LT(f[i].norm(), tolerance);
    } else {
      largest_outside = std::max(largest_outside, f[i].norm());
    }
  }
  EXPECT_GT(largest_outside, 1e-3);
  const double energy = volume_of(o) * density(GetParam(), o.material, kStretch);
  EXPECT_NEAR(body->compute_elastic_energy(), energy, 1e-11 * energy);
}

// The other direction: with the boundary held in a homogeneous deformation, disturbed inner nodes find it again.
TEST_P(Element, InnerNodesFindTheHomogeneousDeformation) {
  auto body = make_block(GetParam(), {.cells = {3, 3, 3}});
  map_affinely(*body, kStretch);
  const std::vector<Vec3> truth(body->positions().begin(), body->positions().end());
  const std::vector<Vec3> noise = random_vectors(body->node_count(), 0.002, 3);
  std::vector<Vec3> x = truth;
  for (int i = 0; i < body->node_count(); ++i) {
    const bool inner = (body->rest_positions()[i].cwiseAbs().array() < Eigen::Array3d(0.059, 0.049, 0.039)).all();
    if (inner) x[i] += noise[i];
    if (!inner) body->prescribe(i, Vec3::Zero());
  }
  body->set_positions(x);
  settle(*body, 40);  // the corotational stiffness is not the exact derivative: linear convergence
  for (int i = 0; i < body->node_count(); ++i) EXPECT_LT((body->positions()[i] - truth[i]).norm(), 1e-9);
}

TEST_P(Element, RigidMotionOfAnySizeIsFree) {
  const BlockOptions o;
  auto body = make_block(GetParam(), o);
  map_affinely(*body, kTurn, Vec3(3.0, -8.0, 5.0));
  // Coordinates of 10 m are rounded to 10 ε; over a cell of 0.04 m that is a strain of 250 ε, times a few.
  const double strain = 2000.0 * kEps;
  for (const Vec3& f : elastic_forces(*body)) EXPECT_LT(f.norm(), strain * o.material.young_modulus * 0.1 * 0.1);
  // Quadratic in the strain; the neo-Hookean energy is a difference of terms of the size of E V, each rounded.
  const double rounding = is_neo_hookean(GetParam()) ? 10.0 * kEps : strain * strain;
  EXPECT_LT(std::abs(body->compute_elastic_energy()), rounding * o.material.young_modulus * volume_of(o));

  // Nor does stiffness damping brake the turning body: K₊ v vanishes for v = ω × x.
  std::vector<Vec3> v;
  for (const Vec3& x : body->positions()) v.push_back(Vec3(0.5, 2.0, -1.0).cross(x));
  body->set_velocities(v);
  const double h = 0.01;
  ASSERT_TRUE(body->linearise(std::span(&h, 1)));
  Eigen::VectorXd Kv(3 * body->node_count());
  body->stiffness().multiply(flat(v), Kv);
  EXPECT_LT(Kv.cwiseAbs().maxCoeff(), 10.0 * strain * o.material.young_modulus * 0.1 * 0.1);
}

// The control: the same stiffness without the rotation, linear strain, feels a turn of half a radian as a strain.
TEST_P(Element, LinearStrainIsNotFreeOfRotation) {
  const BlockOptions o;
  auto body = make_block(GetParam(), o);
  const double h = 0.01;
  ASSERT_TRUE(body->linearise(std::span(&h, 1)));
  map_affinely(*body, rotation_from_vector(Vec3(0.0, 0.5, 0.0)).toRotationMatrix());
  Eigen::VectorXd f(3 * body->node_count());
  body->stiffness().multiply(flat(body->positions()) - flat(body->rest_positions()), f);
  EXPECT_GT(f.cwiseAbs().maxCoeff(), 0.01 * o.material.young_modulus * 0.04 * 0.05);
}

// Central differences along random directions: truncation (ε/cell)² ~ 1e-9, rounding 1e-16/1e-6 of the energy.
TEST_P(Element, ForceIsMinusTheGradientOfTheEnergy) {
  for (const double poisson : {0.0, 0.3, 0.49}) {
    BlockOptions o;
    o.material.poisson_ratio = poisson;
    auto body = make_block(GetParam(), o);
    map_affinely(*body, kTurn * kStretch);
    // Hexes only for affine deformations, see their header; the others for any.
    if (GetParam() != Model::kHexes) displace(*body, random_vectors(body->node_count(), 0.008, 5));
    const std::vector<Vec3> f = elastic_forces(*body);
    for (unsigned seed = 0; seed < 5; ++seed) {
      const std::vector<Vec3> d = random_vectors(body->node_count(), 1.0, 100 + seed);
      const double eps = 1e-6;
      displace(*body, d, eps);
      const double plus = body->compute_elastic_energy();
      displace(*body, d, -2.0 * eps);
      const double minus = body->compute_elastic_energy();
      displace(*body, d, eps);
      const double force = flat(f).dot(flat(d));
      EXPECT_NEAR(force, -(plus - minus) / (2.0 * eps), 1e-6 * flat(f).norm());
    }
  }
}

// Hexes under a deformation that is not affine: what the force misses of the gradient is of second order.
TEST(CorotationalHexes, ForceErrorIsOfSecondOrderInTheBending) {
  auto body = make_block(Model::kHexes);
  const std::vector<Vec3> shape = random_vectors(body->node_count(), 0.01, 5);
  const std::vector<Vec3> d = random_vectors(body->node_count(), 1.0, 9);
  const auto error = [&](double amplitude) {
    map_affinely(*body, kTurn);
    displace(*body, shape, amplitude);
    const double force = flat(elastic_forces(*body)).dot(flat(d)), eps = 1e-7;
    displace(*body, d, eps);
    const double plus = body->compute_elastic_energy();
    displace(*body, d, -2.0 * eps);
    return std::abs(force + (plus - body->compute_elastic_energy()) / (2.0 * eps));
  };
  const double order = std::log2(error(0.2) / error(0.1));
  EXPECT_NEAR(order, 2.0, 0.3);
}

// Stiffness against differences of the force. Corotational bodies neglect the change of rotation: exact at rest, turned
// or not. The nonlinear ones, not projected, in any state.
TEST_P(Element, StiffnessIsMinusTheGradientOfTheForce) {
  BlockOptions o;
  o.project = false;
  o.material.density = 1e5;  // heavy, so that A(h) is definite even where K is not
  auto body = make_block(GetParam(), o);
  const bool nonlinear = is_nonlinear(GetParam());
  map_affinely(*body, nonlinear ? Mat3(kTurn * kStretch) : kTurn);
  if (nonlinear) displace(*body, random_vectors(body->node_count(), 0.008, 5));
  const double h = 1e-5;
  ASSERT_TRUE(body->linearise(std::span(&h, 1)));
  const Eigen::MatrixXd K = body->stiffness().make_dense();
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::vector<Vec3> d = random_vectors(body->node_count(), 1.0, 200 + seed);
    const double eps = 1e-7;
    displace(*body, d, eps);
    const std::vector<Vec3> plus = elastic_forces(*body);
    displace(*body, d, -2.0 * eps);
    const std::vector<Vec3> minus = elastic_forces(*body);
    displace(*body, d, eps);
    const Eigen::VectorXd expected = -(flat(plus) - flat(minus)) / (2.0 * eps), Kd = K * flat(d);
    // Truncation (ε/cell)² ~ 1e-11; rounding of forces 1e-16 · E · 0.1 m² / ε ~ 1e-6 of K d ~ E · 0.1 m.
    EXPECT_LT((Kd - expected).norm(), 2e-6 * Kd.norm());
  }
}

TEST_P(Element, StiffnessIsPositiveSemidefinite_HoweverCrushed) {
  auto body = make_block(GetParam());
  for (const double squeeze : {0.6, 0.1, -0.5}) {
    map_affinely(*body, kTurn * Vec3(squeeze, 0.9, 1.0).asDiagonal());
    displace(*body, random_vectors(body->node_count(), 0.02, 11));
    const double h = 0.01;
    ASSERT_TRUE(body->linearise(std::span(&h, 1)));
    const Eigen::MatrixXd K = body->stiffness().make_dense();
    const Eigen::VectorXd eigenvalues = compute_eigenvalues(K);
    EXPECT_GT(eigenvalues[0], -1e-13 * eigenvalues[eigenvalues.size() - 1]);
  }
}

// Without the projection a crushed block has directions of negative stiffness: the control of the test above.
TEST(NonlinearTets, WithoutProjectionCrushedStiffnessIsIndefinite) {
  for (const Model model :
       {Model::kGreenTets, Model::kNeoHookeanTets, Model::kPatchedGreenTets, Model::kPatchedNeoHookeanTets}) {
    auto body = make_block(model, {.project = false});
    map_affinely(*body, Vec3(0.4, 1.0, 1.0).asDiagonal());
    const double h = 0.01;
    body->linearise(std::span(&h, 1));
    const Eigen::MatrixXd K = body->stiffness().make_dense();
    EXPECT_LT(compute_eigenvalues(K)[0], -1.0);
  }
}

// St. Venant–Kirchhoff has another term below J = 0.3: energy, forces and stiffness must agree there too, inside out
// included, and the first two must not jump at the threshold.
TEST(NonlinearTets, CrushedStVenantKirchhoff_ForcesAndStiffnessAreDerivatives) {
  for (const Model model : {Model::kGreenTets, Model::kPatchedGreenTets}) {
    for (const double squeeze : {0.2, -0.1, -1.0}) {
      BlockOptions o;
      o.project = false;
      o.material.density = 1e5;
      auto body = make_block(model, o);
      map_affinely(*body, kTurn * Vec3(squeeze, 1.05, 0.97).asDiagonal());
      displace(*body, random_vectors(body->node_count(), 0.001, 5));
      const double h = 1e-5;
      ASSERT_TRUE(body->linearise(std::span(&h, 1)));
      const Eigen::MatrixXd K = body->stiffness().make_dense();
      const std::vector<Vec3> f = elastic_forces(*body), d = random_vectors(body->node_count(), 1.0, 77);
      const double eps = 1e-7;
      displace(*body, d, eps);
      const double plus = body->compute_elastic_energy();
      const std::vector<Vec3> f_plus = elastic_forces(*body);
      displace(*body, d, -2.0 * eps);
      const double minus = body->compute_elastic_energy();
      const std::vector<Vec3> f_minus = elastic_forces(*body);
      EXPECT_NEAR(flat(f).dot(flat(d)), -(plus - minus) / (2.0 * eps), 1e-6 * flat(f).norm());
      const Eigen::VectorXd expected = -(flat(f_plus) - flat(f_minus)) / (2.0 * eps), Kd = K * flat(d);
      EXPECT_LT((Kd - expected).norm(), 5e-6 * Kd.norm());
    }
  }
}

TEST(NonlinearTets, CrushedStVenantKirchhoff_IsUnchangedAboveItsThreshold_AndContinuousThere) {
  const BlockOptions o;
  auto body = make_block(Model::kGreenTets, o);
  const auto at = [&](double squeeze) {
    map_affinely(*body, Vec3(squeeze, 1.0, 1.0).asDiagonal());
    return std::pair(body->compute_elastic_energy(), elastic_forces(*body));
  };
  const Mat3 above = Vec3(0.31, 1.0, 1.0).asDiagonal();
  const double expected = volume_of(o) * density(Model::kGreenTets, o.material, above);
  EXPECT_NEAR(at(0.31).first, expected, 1e-12 * expected);
  const auto [energy_0, force_0] = at(0.3 - 1e-9);
  const auto [energy_1, force_1] = at(0.3 + 1e-9);
  EXPECT_NEAR(energy_0, energy_1, 1e-8 * energy_1);
  EXPECT_LT((flat(force_0) - flat(force_1)).norm(), 1e-7 * flat(force_1).norm());
  const Mat3 inverted = Vec3(-1.0, 1.0, 1.0).asDiagonal();
  EXPECT_GT(at(-1.0).first, volume_of(o) * density(Model::kGreenTets, o.material, inverted) + 0.1 * expected);
}

// No resultant for any deformation; no moment either, but for hexes, whose header says so.
TEST_P(Element, InternalForcesBalance) {
  const BlockOptions o;
  auto body = make_block(GetParam(), o);
  map_affinely(*body, kTurn * kStretch);
  if (GetParam() != Model::kHexes) displace(*body, random_vectors(body->node_count(), 0.03, 21));
  const std::vector<Vec3> f = elastic_forces(*body);
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  double size = 0.0;
  for (int i = 0; i < body->node_count(); ++i) {
    force += f[i];
    moment += body->positions()[i].cross(f[i]);
    size += f[i].norm();
  }
  EXPECT_LT(force.norm(), 10.0 * kEps * size);
  EXPECT_LT(moment.norm(), 100.0 * kEps * size * 0.1);
}

// Small strain is Hooke's law in all models: a bar pulled to 10⁻⁵ carries E times that, and narrows by ν times it.
TEST_P(Element, SmallStretchObeysHooke) {
  for (const double poisson : {0.0, 0.3, 0.45}) {
    BlockOptions o{.cells = {4, 2, 2}};
    o.material.poisson_ratio = poisson;
    auto body = make_block(GetParam(), o);
    const double e = 1e-5;
    map_affinely(*body, Vec3(1.0 + e, 1.0 - poisson * e, 1.0 - poisson * e).asDiagonal());
    const std::vector<Vec3> f = elastic_forces(*body);
    Vec3 pull = Vec3::Zero(), side = Vec3::Zero();
    for (const int i : nodes_at_side(*body, 0, true)) pull -= f[i];
    for (const int i : nodes_at_side(*body, 1, true)) side -= f[i];
    const double expected = o.material.young_modulus * e * o.size[1] * o.size[2];
    EXPECT_NEAR(pull[0], expected, 10.0 * e * expected);  // second order in the strain
    EXPECT_LT(std::abs(side[1]), 20.0 * e * expected);
  }
}

}  // namespace
}  // namespace palpate::element_test
