#include "palpate/bodies/elastic_forces.h"
#include "models.h"

namespace palpate::testing {
namespace {

class ElasticForcesOf : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, ElasticForcesOf, kAllModels, name_of);

// However the pieces are shared out, and wherever the body itself is meanwhile.
TEST_P(ElasticForcesOf, PiecesAddUpToTheForcesAndEnergyOfTheBody) {
  const std::unique_ptr<FemBody> body = make_block(GetParam(), {.cells = {4, 3, 3}});
  const std::unique_ptr<ElasticForces> pieces = body->make_elastic_forces();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-0.005, 0.005);
  const std::vector<Vec3> rest(body->positions().begin(), body->positions().end());
  std::vector<Vec3> places(rest), expected(rest.size()), forces(rest.size());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < rest.size(); ++i)
      places[i] = rest[i] + Vec3(uniform(random), uniform(random), uniform(random));
    body->set_positions(places);
    body->compute_elastic_forces(expected);
    const double energy = body->compute_elastic_energy();
    body->set_positions(rest);
    pieces->begin(places);
    for (int at = 0; at < pieces->pieces();) {
      const int end = std::min<int>(pieces->pieces(), at + 1 + static_cast<int>(random() % 5));
      pieces->add(at, end);
      at = end;
    }
    EXPECT_NEAR(pieces->finish(forces), energy, 1e3 * kEps * energy);
    double largest = 0.0;
    for (const Vec3& f : expected) largest = std::max(largest, f.norm());
    ASSERT_GT(largest, 1e-3) << "it is deformed";
    for (std::size_t i = 0; i < rest.size(); ++i) ASSERT_LT((forces[i] - expected[i]).norm(), 1e3 * kEps * largest);
  }
}

// A body that is turned as a whole stores nothing, and all of its nodes have turned as it has.
TEST_P(ElasticForcesOf, TurnedBodyHasTurnedNodesAndNoEnergy) {
  const std::unique_ptr<FemBody> body = make_block(GetParam(), {.cells = {4, 3, 3}});
  const std::unique_ptr<ElasticForces> pieces = body->make_elastic_forces();
  const Mat3 R = Eigen::AngleAxisd(2.1, Vec3(1.0, -2.0, 0.5).normalized()).toRotationMatrix();
  std::vector<Vec3> places(body->positions().begin(), body->positions().end()), forces(places);
  for (Vec3& x : places) x = R * x + Vec3(0.1, 0.2, -0.3);
  pieces->begin(places);
  pieces->add(0, pieces->pieces());
  EXPECT_LT(pieces->finish(forces), 1e-12);
  std::vector<Mat3> turns(places.size());
  pieces->compute_turns(0, body->node_count(), turns);
  // Elements' rotations are kept in single precision.
  for (const Mat3& turn : turns) EXPECT_LT((turn - R).norm(), 1e-6);
}

}  // namespace
}  // namespace palpate::testing
