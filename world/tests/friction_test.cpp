#include <numbers>

#include "bricks.h"

// Coulomb's law on blocks.
namespace palpate::friction_test {
namespace {

using namespace testing;
constexpr double kStep = 0.002;

/// A block at rest on a slope of `angle`, in contact; a flat one, so that it does not tip.
struct Slope {
  World world;
  int block;
  Vec3 down;  ///< along the slope

  Slope(double angle, double friction, const WorldSettings& settings = {}) : world(settings) {
    const Vec3 normal(std::sin(angle), std::cos(angle), 0.0);
    down = Vec3(std::cos(angle), -std::sin(angle), 0.0);
    add_plane(world, friction, normal);
    BrickOptions o;
    o.size = Vec3(0.2, 0.04, 0.2);
    o.friction = friction;
    o.pose.rotation = Quat::FromTwoVectors(Vec3::UnitY(), normal);
    o.pose.position = 0.02 * normal;
    block = add_brick(world, o);
    world.prepare();
  }
};

TEST(SlidingBlock, SticksBelowTheFrictionAngleAndSlidesAboveIt) {
  const double mu = 0.4;
  Slope below(std::atan(0.99 * mu), mu);
  const Vec3 start = position_of(below.world, below.block);
  run(below.world, 2.0, kStep);
  EXPECT_LT((position_of(below.world, below.block) - start).norm(), 1e-7);
  Slope above(std::atan(1.01 * mu), mu);
  run(above.world, 2.0, kStep);
  EXPECT_GT((position_of(above.world, above.block) - start).norm(), 0.01);
}

// a = g (sin α − μ cos α); velocity is exact for a constant force at any step.
TEST(SlidingBlock, AcceleratesAsCoulombSays) {
  const double mu = 0.3, angle = 0.6;
  Slope slope(angle, mu);
  run(slope.world, 1.0, kStep);
  const double a = kGravity * (std::sin(angle) - mu * std::cos(angle));
  const Vec3 v = slope.world.bodies()[as_size(slope.block)].body->velocities()[0];
  EXPECT_NEAR(v.dot(slope.down), a, 1e-6 * a);
}

// s = v²/(2 μ g), in each of 16 directions: the cone is round. Semi-implicit Euler stops within one step's way of it.
TEST(SlidingBlock, StopsAtCoulombDistanceInEveryDirection) {
  const double mu = 0.25, speed = 1.0;
  const double expected = speed * speed / (2.0 * mu * kGravity);
  for (int i = 0; i < 16; ++i) {
    const double phi = 2.0 * std::numbers::pi * i / 16.0;
    const Vec3 direction(std::cos(phi), 0.0, std::sin(phi));
    World world;
    add_plane(world, mu);
    BrickOptions o;
    o.size = Vec3(0.2, 0.02, 0.2);
    o.friction = mu;
    o.pose.position = Vec3(0.0, 0.01, 0.0);
    o.velocity.linear = speed * direction;
    const int block = add_brick(world, o);
    world.prepare();
    run(world, 1.0, kStep);
    const Vec3 way = position_of(world, block) - o.pose.position;
    EXPECT_NEAR(way.dot(direction), expected, speed * kStep) << i;
    EXPECT_LT(way.cross(direction).norm(), 1e-4 * expected) << i;
    EXPECT_LT(rigid(world, block).velocities()[0].norm(), 1e-8 / kStep) << i;  // the solver's tolerance in a step
  }
}

// In a world whose memory somebody sets, what sticks is held to a place in the material of both sides: if the block is
// put elsewhere between two steps, friction takes it back. 5 µm take 5 µm/h² = 1.25 m/s², of the μg = 4.9 m/s² that it
// has.
TEST(StickingBlock, GoesBackToWhereItWasHeld) {
  for (const double mu : {0.5, 0.0}) {
    World world;
    add_plane(world, mu);
    BrickOptions o;
    o.friction = mu;
    o.pose.position = Vec3(0.0, 0.05, 0.0);
    const int block = add_brick(world, o);
    world.prepare();
    world.set_memory(world.memory());
    run(world, 0.1, kStep);
    Body& body = *world.bodies()[as_size(block)].body;
    const Vec3 held = position_of(world, block), shift(5e-6, 0.0, 0.0);
    std::vector<double> state(as_size(body.state_size()));
    body.save_state(state);
    for (int k = 0; k < 3; ++k) state[as_size(k)] += shift[k];
    body.restore_state(state);
    ASSERT_LT((position_of(world, block) - held - shift).norm(), 1e-12);
    run(world, 0.02, kStep);
    const Vec3 expected = mu > 0.0 ? held : Vec3(held + shift);
    EXPECT_LT((position_of(world, block) - expected).norm(), 1e-8) << mu;
  }
}

// Each step may leave a tangent's δ at the solver's tolerance, here 1.6e-7 m. Held to a place, that does not add up
// over 30,000 steps.
TEST(StickingBlock, DoesNotCreepByTheSolversTolerance) {
  const double mu = 0.4, angle = std::atan(0.8 * mu);
  WorldSettings loose;
  loose.solver = {.tolerance = 1e-6, .max_iterations = 3};
  Slope slope(angle, mu, loose);
  slope.world.set_memory(slope.world.memory());
  run(slope.world, 1.0, kStep);
  const Vec3 start = position_of(slope.world, slope.block);
  run(slope.world, 60.0, kStep);
  EXPECT_LT((position_of(slope.world, slope.block) - start).norm(), 2e-6);
}

// A step begins with the forces of the last one. Its solver here does nothing, so that the guess is what comes out:
// what friction or a contact cannot give is cut off, the rest is as it was.
TEST(RestingBlock, GuessIsOfForcesThatContactsCanGive) {
  const double mu = 0.5;
  WorldSettings settings;
  settings.solver.max_iterations = 0;
  World world(settings);
  add_plane(world, mu);
  BrickOptions o;
  o.friction = mu;
  o.pose.position = Vec3(0.0, 0.05, 0.0);
  add_brick(world, o);
  world.prepare();
  const struct {
    Vec3 last, guess;
  } cases[] = {{Vec3(0.3, 1.0, -0.2), Vec3(0.3, 1.0, -0.2)},
               {Vec3(1.2, 2.0, -1.6), Vec3(0.6, 2.0, -0.8)},
               {Vec3(0.3, -1.0, 0.0), Vec3::Zero()}};
  for (const auto& c : cases) {
    run(world, kStep, kStep);
    ContactMemory memory = world.memory();
    ASSERT_EQ(memory.contacts.size(), 4U);
    const double up = memory.contacts[0].normal.y();
    for (Vec3& force : memory.contact_forces) force = up * c.last;
    world.set_memory(memory);
    run(world, kStep, kStep);
    ASSERT_EQ(world.memory().contacts.size(), 4U);
    for (const Vec3& force : world.memory().contact_forces) EXPECT_LT((up * force - c.guess).norm(), 1e-12);
  }
}

// A block at rest under a push below the limit: contact forces balance weight and push to 1e-6 of the weight.
// The solver's tolerance over W = h²/m = 4e-6 m/N is its error in force.
TEST(PushedBlock, ContactForceBalancesWeightAndPush) {
  WorldSettings settings;
  settings.solver.tolerance = 1e-12;
  World world(settings);
  add_plane(world, 0.5);
  BrickOptions o;
  o.pose.position = Vec3(0.0, 0.05, 0.0);
  const int block = add_brick(world, o);
  world.prepare();
  const Vec3 push(2.0, 0.0, 1.0);
  world.bodies()[as_size(block)].body->external_forces()[0] = push;
  run(world, 1.0, kStep);
  const Vec3 weight(0.0, -1.0 * kGravity, 0.0);
  EXPECT_LT((world.compute_contact_force(block) + weight + push).norm(), 1e-6 * kGravity);
}

}  // namespace
}  // namespace palpate::friction_test
