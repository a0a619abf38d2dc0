#include "palpate/constraints/point_on_planes.h"

#include <gtest/gtest.h>

#include <random>

namespace palpate::point_on_planes_test {
namespace {

Vec3 random_unit(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Vec3(normal(random), normal(random), normal(random)).normalized();
}

TEST(PointOnPlanes, FreePointGoesToItsTarget) {
  const ContactPlane floor{Vec3::UnitY(), 0.0, 0.5};
  const PlaneContact c = settle_on_planes({&floor, 1}, Vec3(0, 1, 0), Vec3(1, 0.5, 0));
  EXPECT_EQ(c.position, Vec3(1, 0.5, 0));
  EXPECT_EQ(c.active, 0);
}

// The optimality conditions of min ½|x − target|² are sufficient, so meeting them proves the solution.
TEST(PointOnPlanes, FrictionlessSolutionMeetsTheOptimalityConditions) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  int pressed[4] = {};
  for (int trial = 0; trial < 20000; ++trial) {
    std::array<ContactPlane, kMaxPlanes> planes;
    const std::size_t n = 1 + as_size(trial % 4);
    // All contain the origin strictly, so a solution exists.
    for (std::size_t i = 0; i < n; ++i) planes[i] = {random_unit(random), -0.1 - 0.1 * uniform(random), 0.0};
    const Vec3 target = 2.0 * Vec3(uniform(random), uniform(random), uniform(random));
    const PlaneContact c = settle_on_planes({planes.data(), n}, Vec3::Zero(), target);
    ASSERT_TRUE(c.feasible);
    Vec3 push = Vec3::Zero();
    int active = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double gap = planes[i].normal.dot(c.position) - planes[i].offset;
      EXPECT_GE(gap, -1e-13);
      EXPECT_GE(c.load[i], 0.0);
      // Condition number of up to three random normals: rounding times at most about 1e4 in 20,000 draws.
      EXPECT_LE(c.load[i] * std::abs(gap), 1e-11);
      push += c.load[i] * planes[i].normal;
      active += c.load[i] > 0.0;
    }
    EXPECT_LT((c.position - target - push).norm(), 1e-11);
    EXPECT_EQ(c.active, active);
    ++pressed[active];
  }
  for (const int count : pressed) EXPECT_GT(count, 100);  // every number of active planes really occurred
}

TEST(PointOnPlanes, FrictionHoldsBelowTheConeAndSlidesOnItAbove) {
  for (int k = 0; k < 16; ++k) {  // isotropic: the same in every direction
    const double angle = k * M_PI / 8.0;
    const Vec3 along(std::cos(angle), 0.0, std::sin(angle));
    const ContactPlane floor{Vec3::UnitY(), 0.0, 0.3};
    const double depth = 0.01;
    const Vec3 held =
        settle_on_planes({&floor, 1}, Vec3::Zero(), 0.299 * depth * along - depth * Vec3::UnitY()).position;
    EXPECT_LT(held.norm(), 1e-17);
    const Vec3 target = 0.5 * depth * along - depth * Vec3::UnitY();
    const Vec3 slid = settle_on_planes({&floor, 1}, Vec3::Zero(), target).position;
    EXPECT_LT((slid - 0.2 * depth * along).norm(), 1e-16);  // (0.5 − μ) depth
    const Vec3 force = slid - target;                       // λ over the stiffness
    EXPECT_NEAR(force.cross(Vec3::UnitY()).norm() / force.y(), 0.3, 1e-12);
  }
}

TEST(PointOnPlanes, CreaseFrictionActsAlongTheCreaseWithBothLoads) {
  // A right-angled groove along z, its sides at 45°: each load is depth/√2, so the grip is μ √2 depth.
  const double s = std::sqrt(0.5);
  const std::array<ContactPlane, 2> groove = {ContactPlane{Vec3(s, s, 0), 0.0, 0.2},
                                              ContactPlane{Vec3(-s, s, 0), 0.0, 0.2}};
  const double depth = 0.01;
  const Vec3 slid = settle_on_planes(groove, Vec3::Zero(), Vec3(0, -depth, 0.01)).position;
  EXPECT_NEAR(slid.z(), 0.01 - 0.2 * std::sqrt(2.0) * depth, 1e-15);
  const Vec3 held = settle_on_planes(groove, Vec3::Zero(), Vec3(0, -depth, 0.0028)).position;
  EXPECT_NEAR(held.z(), 0.0, 1e-16);
}

TEST(PointOnPlanes, ContradictoryPlanesLeaveThePointWhereItWas) {
  const std::array<ContactPlane, 2> slit = {ContactPlane{Vec3::UnitY(), 1.0, 0.0},
                                            ContactPlane{-Vec3::UnitY(), 1.0, 0.0}};
  const PlaneContact c = settle_on_planes(slit, Vec3(1, 2, 3), Vec3::Zero());
  EXPECT_FALSE(c.feasible);
  EXPECT_EQ(c.position, Vec3(1, 2, 3));
}

}  // namespace
}  // namespace palpate::point_on_planes_test
