#include <cmath>

#include "bricks.h"
#include "palpate/core/error.h"

// Springs that press on bodies from outside.
namespace palpate::spring_test {
namespace {

using testing::add_brick;
using testing::add_plane;
using testing::rigid;

World make_floating(double density) {
  WorldSettings s;
  s.gravity = Vec3::Zero();
  s.solver.tolerance = 1e-12;
  World world(s);
  add_brick(world, {.density = density});
  world.prepare();
  return world;
}

/// On the left face of the brick, pressing along +x.
SpringContact make_spring(const World& world, double depth, double friction = 0.0) {
  SpringContact s;
  s.body = 0;
  s.foot = rigid(world, 0).find_point(Vec3(-0.05, 0.0, 0.0));
  s.normal = Vec3::UnitX();
  s.place = Vec3(-0.05 + depth, 0.0, 0.0);
  s.stiffness = 1000.0;
  s.damping = 5.0;
  s.friction = friction;
  return s;
}

// x⁺ = x + h v⁺, m (v⁺ − v)/h = −k (x⁺ − w⁺) − b (v⁺ − ẇ), solved by hand; from nearly free to nearly rigid.
TEST(Spring, StepIsBackwardEulerAtAnyStiffness) {
  for (const double density : {0.1, 10.0, 1e5}) {
    World world = make_floating(density);
    const double m = rigid(world, 0).mass();
    SpringContact s = make_spring(world, 0.003);
    s.velocity = Vec3(0.2, 0.0, 0.0);
    world.set_springs({&s, 1});
    StepReport report;
    for (const double h : {0.05, 0.01}) {
      const double v = rigid(world, 0).velocities()[0].x();
      const double x = rigid(world, 0).centre_pose().position.x() - 0.05 - world.springs()[0].place.x();
      const double force = (-s.stiffness * (x + h * (v - 0.2)) - s.damping * (v - 0.2)) /
                           (1.0 + (s.stiffness * h * h + s.damping * h) / m);
      ASSERT_TRUE(world.step(h, report));
      EXPECT_NEAR(world.compute_spring_force(0).x(), std::max(0.0, force), 1e-8 * std::abs(force));
      EXPECT_NEAR(rigid(world, 0).velocities()[0].x(), v + h * std::max(0.0, force) / m, 1e-9);
    }
  }
}

TEST(Spring, NeverPulls) {
  World world = make_floating(100.0);
  SpringContact s = make_spring(world, -0.002);
  s.velocity = Vec3(-0.5, 0.0, 0.0);
  world.set_springs({&s, 1});
  StepReport report;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.step(0.02, report));
  EXPECT_EQ(rigid(world, 0).velocities()[0], Vec3(Vec3::Zero()));
}

// Sideways it holds as a spring does, up to μ times the push, which opposes the way that the body slides.
TEST(Spring, SidewaysForceEndsAtCoulombsLimit) {
  for (const double sideways : {2e-5, 1.0}) {
    World world = make_floating(1e6);
    SpringContact s = make_spring(world, 0.001, 0.5);
    s.place.y() = sideways;
    world.set_springs({&s, 1});
    StepReport report;
    ASSERT_TRUE(world.step(1e-4, report));
    const Vec3 force = world.compute_spring_force(0);
    EXPECT_NEAR(force.x(), 1.0, 1e-3);  // a ton does not move in 0.1 ms
    EXPECT_NEAR(force.y(), std::min(1000.0 * sideways, 0.5 * force.x()), 1e-4);
  }
}

// A brick on a table, pressed: the table bears weight and push, and contacts are found and counted as before.
TEST(Spring, ContactsBearThePush) {
  World world;
  add_brick(world, {.pose = {Vec3(0.0, 0.05, 0.0), Quat::Identity()}});
  add_plane(world, 0.5);
  world.prepare();
  SpringContact s;
  s.body = 0;
  s.foot = rigid(world, 0).find_point(Vec3(0.01, 0.1, 0.0));
  s.normal = -Vec3::UnitY();
  s.place = Vec3(0.01, 0.099, 0.0);
  s.stiffness = 5000.0;
  world.set_springs({&s, 1});
  StepReport report;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.step(0.02, report));
  double borne = 0.0;
  for (const Vec3& f : world.contact_forces()) borne += f.x();
  EXPECT_EQ(world.contacts().size(), 4u);
  EXPECT_NEAR(world.compute_spring_force(0).y(), -5.0, 1e-4);
  EXPECT_NEAR(borne, rigid(world, 0).mass() * testing::kGravity + 5.0, 1e-4);
}

TEST(Spring, ResetTakesThemAwayAndWrongOnesAreRefused) {
  World world = make_floating(100.0);
  SpringContact s = make_spring(world, 0.01);
  world.set_springs({&s, 1});
  world.reset();
  EXPECT_TRUE(world.springs().empty());
  s.body = 1;
  EXPECT_THROW(world.set_springs({&s, 1}), InputError);
  s.body = 0;
  s.stiffness = 0.0;
  EXPECT_THROW(world.set_springs({&s, 1}), InputError);
}

}  // namespace
}  // namespace palpate::spring_test
