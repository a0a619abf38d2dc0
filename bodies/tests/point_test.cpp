#include "models.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"

// Material points and predicted surfaces, of every kind of body.
namespace palpate::point_test {
namespace {

using namespace testing;

struct Case {
  std::unique_ptr<Body> body;
  BodyPoint point;
};

std::vector<Case> make_cases() {
  std::vector<Case> out;
  const BodyPoint on_triangle = BodyPoint::on_surface(3, Vec3(0.2, 0.5, 0.3));
  for (const Model m : {Model::kTets, Model::kHexes, Model::kNeoHookeanTets})
    out.push_back({make_block(m), on_triangle});
  RigidBodySettings rigid;
  rigid.surface = make_box(Vec3(0.1, 0.2, 0.3), 1);
  rigid.mass = compute_mass_properties(rigid.surface, 1000.0);
  out.push_back({std::make_unique<RigidBody>(rigid), on_triangle});
  out.push_back({std::make_unique<RigidBody>(rigid), BodyPoint::fixed_to(Vec3(0.1, -0.2, 0.05))});
  BeamChainSettings chain;
  const std::vector<Vec3> points = {Vec3(0, 0, 0), Vec3(0.1, 0, 0), Vec3(0.2, 0.05, 0)};
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(0.001, 0.3);
  out.push_back({std::make_unique<BeamChain>(chain), BodyPoint::on_chain(1, 0.7, Vec3(0.0, 0.002, 0.001))});
  out.push_back({std::make_unique<Particle>(0.1, Vec3(1.0, 2.0, 3.0)), BodyPoint::centre()});
  int seed = 1;
  for (Case& c : out) c.body->set_velocities(random_vectors(c.body->block_count(), 1.0, seed++));
  return out;
}

// A row times the velocity is the rate at which the point moves: central difference over ±h, error O(h²).
TEST(BodyPoint, RowGivesTheRateOfItsPosition) {
  const Vec3 direction(0.3, -0.4, 0.8);
  const double h = 1e-5;
  for (Case& c : make_cases()) {
    std::vector<BlockRows::Entry> entries(as_size(c.body->max_row_entries()));
    const int count = c.body->compute_point_row(c.point, direction, entries);
    double speed = 0.0;
    for (int k = 0; k < count; ++k) speed += entries[k].value.dot(c.body->velocities()[entries[k].block]);
    std::vector<double> state(as_size(c.body->state_size()));
    c.body->save_state(state);
    const std::vector<Vec3> none(as_size(c.body->block_count()), Vec3::Zero());
    const std::vector<double> steps = {h};
    ASSERT_TRUE(c.body->linearise(steps));
    c.body->advance(h, none);
    const Vec3 after = c.body->compute_point(c.point);
    c.body->restore_state(state);
    c.body->advance(-h, none);
    const Vec3 before = c.body->compute_point(c.point);
    EXPECT_NEAR(speed, direction.dot(after - before) / (2.0 * h), 1e-8);
  }
}

// To rounding, but for a chain: its prediction leaves out how a node's spin changes within the step, O(h² ω²) of its
// radius of 1 mm.
TEST(PredictedSurface, IsWhereAdvancePutsIt) {
  for (Case& c : make_cases()) {
    const std::vector<double> steps = {0.02};
    ASSERT_TRUE(c.body->linearise(steps));
    const std::vector<Vec3> dv = random_vectors(c.body->block_count(), 0.5, 77);
    std::vector<Vec3> predicted(c.body->surface().positions.size());
    c.body->predict_surface(0.02, dv, predicted);
    c.body->advance(0.02, dv);
    const double tolerance = dynamic_cast<BeamChain*>(c.body.get()) ? 1e-3 * 0.02 * 0.02 * 9.0 : 1e-15;
    for (std::size_t v = 0; v < predicted.size(); ++v)
      EXPECT_LT((predicted[v] - c.body->surface().positions[v]).norm(), tolerance) << v;
  }
}

}  // namespace
}  // namespace palpate::point_test
