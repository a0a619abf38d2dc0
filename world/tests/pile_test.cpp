#include "bricks.h"

// Things upon things.
namespace palpate::pile_test {
namespace {

using namespace testing;
constexpr double kStep = 0.01;
/// How deep bodies may overlap: what linearised gaps leave when boxes turn and slide. Documented in docs/world.md.
constexpr double kSlop = 5e-4;

TEST(Stack, OfTenCubesStandsStillForAMinute) {
  World world;
  add_plane(world, 0.5);
  std::vector<int> cubes;
  for (int i = 0; i < 10; ++i) {
    BrickOptions o;
    o.pose.position = Vec3(0.0, 0.05 + 0.1 * i, 0.0);
    cubes.push_back(add_brick(world, o));
  }
  world.prepare();
  std::vector<Vec3> start;
  for (const int c : cubes) start.push_back(position_of(world, c));
  const Course course = run(world, 60.0, kStep);
  for (std::size_t i = 0; i < cubes.size(); ++i) EXPECT_LT((position_of(world, cubes[i]) - start[i]).norm(), 1e-5) << i;
  EXPECT_LT(course.deepest, 1e-5);
  // The lowest carries all ten.
  EXPECT_NEAR(world.compute_contact_force(cubes[0]).y(), 1.0 * kGravity, 1e-3 * kGravity);
}

TEST(Pyramid, Of55CubesStands) {
  World world;
  add_plane(world, 0.6);
  std::vector<int> cubes;
  for (int layer = 0; layer < 10; ++layer) {
    for (int i = 0; i < 10 - layer; ++i) {
      BrickOptions o;
      o.friction = 0.6;
      o.pose.position = Vec3(0.11 * i + 0.055 * layer, 0.05 + 0.1 * layer, 0.0);
      cubes.push_back(add_brick(world, o));
    }
  }
  world.prepare();
  std::vector<Vec3> start;
  for (const int c : cubes) start.push_back(position_of(world, c));
  const Course course = run(world, 5.0, kStep);
  for (std::size_t i = 0; i < cubes.size(); ++i) EXPECT_LT((position_of(world, cubes[i]) - start[i]).norm(), 1e-4) << i;
  EXPECT_LT(course.deepest, kSlop);
}

TEST(Pile, Of80CubesSettles) {
  World world;
  const int floor = add_plane(world, 0.5);
  std::vector<int> cubes;
  for (int i = 0; i < 80; ++i) {
    BrickOptions o;
    const int x = i % 4, z = i / 4 % 4, y = i / 16;
    o.pose.position = Vec3(0.16 * x + 0.03 * (y % 2), 0.1 + 0.17 * y, 0.16 * z - 0.02 * (y % 3));
    o.pose.rotation = rotation_from_vector(Vec3(0.1 * (i % 7), 0.2 * (i % 5), 0.05 * (i % 3)));
    cubes.push_back(add_brick(world, o));
  }
  world.prepare();
  const Course course = run(world, 3.5, kStep);
  EXPECT_LT(course.deepest, 4.0 * kSlop);  // while they tumble
  const Course rest = run(world, 0.5, kStep);
  EXPECT_LT(rest.deepest, kSlop);
  const double kinetic = world.compute_energy().kinetic;
  EXPECT_LT(kinetic, 80.0 * 0.5 * 1e-2 * 1e-2);  // below 1 cm/s on average
  // At rest the floor carries them all.
  EXPECT_NEAR(-world.compute_contact_force(floor).y(), 80.0 * kGravity, 0.02 * 80.0 * kGravity);
  for (const int c : cubes) EXPECT_GT(position_of(world, c).y(), 0.04);
}

// Free frictionless collisions keep momentum, linear and angular; and no energy comes from nowhere.
TEST(Collision, KeepsMomentumAndGivesNoEnergy) {
  WorldSettings settings;
  settings.gravity = Vec3::Zero();
  World world(settings);
  for (int i = 0; i < 12; ++i) {
    BrickOptions o;
    o.friction = 0.0;
    o.density = 500.0 + 100.0 * i;
    o.pose.position = Vec3(0.2 * (i % 3), 0.21 * (i / 3 % 2), 0.19 * (i / 6));
    o.pose.rotation = rotation_from_vector(Vec3(0.3 * i, 0.1, 0.7));
    o.velocity.linear = Vec3(0.2, 0.1, 0.1) - 0.8 * o.pose.position;
    o.velocity.angular = Vec3(0.5, 0.1 * i, -0.3);
    add_brick(world, o);
  }
  world.prepare();
  const BodyMomentum before = world.compute_momentum();
  double energy = world.compute_energy().kinetic;
  const double first = energy;
  int touched = 0;
  for (int i = 0; i < 400; ++i) {
    StepReport report;
    ASSERT_TRUE(world.step(0.005, report));
    touched += report.contacts > 0;
    const double now = world.compute_energy().kinetic;
    EXPECT_LT(now, energy + 1e-3 * first) << i;
    energy = now;
  }
  EXPECT_GT(touched, 20);
  const BodyMomentum after = world.compute_momentum();
  EXPECT_LT((after.linear - before.linear).norm(), 1e-12);
  EXPECT_LT((after.angular - before.angular).norm(), 1e-3 * first);
}

}  // namespace
}  // namespace palpate::pile_test
