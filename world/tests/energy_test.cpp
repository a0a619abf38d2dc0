#include <gtest/gtest.h>

#include "bricks.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/geometry/tet_mesher.h"

// Worlds that nobody touches: contact, friction and overlap only ever take energy out of them.
namespace palpate::energy_test {
namespace {

using testing::add_brick;
using testing::add_plane;
using testing::BrickOptions;

int add_soft(World& world, TetMesh mesh, const Vec3& position, double young_modulus) {
  for (Vec3& v : mesh.vertices) v += position;
  const Material material{
      .young_modulus = young_modulus, .poisson_ratio = 0.4, .density = 1000.0, .stiffness_damping = 0.005};
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = 0.3;
  return world.add({"soft", std::make_unique<CorotationalTets>(mesh, std::span(&material, 1)), shape});
}

struct Gains {
  double sum = 0.0;    ///< of all steps that ended with more energy than they began with [J]
  double there = 0.0;  ///< kinetic, elastic, and of height above the floor, at the start [J]
};

/// The floor is at y = 0, where gravitational energy is zero.
Gains leave_alone(World& world, double seconds, double h) {
  Gains out;
  double energy = world.compute_energy().total();
  out.there = energy;
  for (int i = 0; i < static_cast<int>(std::lround(seconds / h)); ++i) {
    StepReport report;
    EXPECT_TRUE(world.step(h, report));
    const double now = world.compute_energy().total();
    out.sum += std::max(0.0, now - energy);
    energy = now;
  }
  return out;
}

class LeftAlone : public ::testing::TestWithParam<double> {};

TEST_P(LeftAlone, StackOfTenGainsNothing) {
  World world;
  add_plane(world, 0.5);
  for (int i = 0; i < 10; ++i) {
    BrickOptions o;
    o.pose.position = Vec3(0.0, 0.05 + 0.1 * i, 0.0);
    add_brick(world, o);
  }
  world.prepare();
  const Gains g = leave_alone(world, 5.0, GetParam());
  EXPECT_LT(g.sum, 1e-4 * g.there);
}

TEST_P(LeftAlone, EightyCubesGainNothing) {
  World world;
  add_plane(world, 0.5);
  for (int i = 0; i < 80; ++i) {
    BrickOptions o;
    o.size = Vec3::Constant(0.04);
    o.density = 600.0;
    o.pose.position = Vec3(0.041 * (i % 5), 0.02 + 0.04 * (i / 20), 0.041 * (i / 5 % 4));
    add_brick(world, o);
  }
  world.prepare();
  const Gains g = leave_alone(world, 5.0, GetParam());
  EXPECT_LT(g.sum, 1e-4 * g.there);
}

TEST_P(LeftAlone, FallingPileGainsNothing) {
  World world;
  add_plane(world, 0.5);
  for (int i = 0; i < 20; ++i) {
    BrickOptions o;
    const int x = i % 2, z = i / 2 % 2, y = i / 4;
    o.pose.position = Vec3(0.16 * x + 0.03 * (y % 2), 0.1 + 0.17 * y, 0.16 * z - 0.02 * (y % 3));
    o.pose.rotation = rotation_from_vector(Vec3(0.1 * (i % 7), 0.2 * (i % 5), 0.05 * (i % 3)));
    add_brick(world, o);
  }
  world.prepare();
  const Gains g = leave_alone(world, 5.0, GetParam());
  EXPECT_LT(g.sum, 1e-4 * g.there);
}

// A ball dropped on a block with another mesh, from a height at which it bounces a little.
TEST_P(LeftAlone, SoftOnSoftGainsNothing) {
  World world;
  add_plane(world, 0.3);
  add_soft(world, make_tet_block(Vec3(0.1, 0.04, 0.1), {5, 2, 5}), Vec3(0.0, 0.0201, 0.0), 1e4);
  add_soft(world, make_tets(TriangleTree(make_sphere(0.02, 6)), 0.01), Vec3(0.003, 0.07, 0.002), 2e4);
  world.prepare();
  const Gains g = leave_alone(world, GetParam() > 0.002 ? 5.0 : 1.5, GetParam());
  EXPECT_LT(g.sum, 1e-4 * g.there);
}

INSTANTIATE_TEST_SUITE_P(Steps, LeftAlone, ::testing::Values(0.001, 0.005, 0.02));

}  // namespace
}  // namespace palpate::energy_test
