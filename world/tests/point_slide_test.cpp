#include "palpate/world/point_slide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "palpate/geometry/shapes.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::point_slide_test {
namespace {

World world_of(TriangleMesh mesh, double friction = 0.0) {
  World world;
  world.add({"body", TriangleTree(std::move(mesh)), friction});
  return world;
}

void scale(TriangleMesh& mesh, double factor, const Vec3& offset = Vec3::Zero()) {
  for (Vec3& v : mesh.vertices) v = factor * v + offset;
}

Vec3 random_vector(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Vec3(normal(random), normal(random), normal(random));
}

// The skin of slide_point at coordinates of this size, twice over for the push along slanted ways.
double skin(double size) {
  return 4e-10 * size;
}

TEST(SlidePoint, FreePointArrives) {
  const World world = world_of(make_box(Vec3::Constant(0.1), 1));
  const Vec3 target(0.2, 0.3, -0.1);
  EXPECT_EQ(slide_point(world, Vec3(0.2, 0.2, 0.2), target).position, target);
}

TEST(SlidePoint, EndsAtTheClosestPointOfAFaceAnEdgeAndACorner) {
  const World world = world_of(make_box(Vec3::Constant(0.2), 4));
  struct Case {
    Vec3 from, target, expected;
  };
  const Case cases[] = {
      {{0, 0.2, 0}, {0.03, 0.08, 0.02}, {0.03, 0.1, 0.02}},  // on a face, above its target
      {{0.2, 0.09, 0}, {0.05, 0.05, 0}, {0.1, 0.05, 0}},     // from the side
      {{0, 0.2, 0}, {0.2, 0.05, 0}, {0.2, 0.05, 0}},         // across the convex edge, all the way to free space
  };
  for (const Case& c : cases) {
    const SlideResult r = slide_point(world, c.from, c.target);
    EXPECT_LT((r.position - c.expected).norm(), skin(0.2)) << c.target.transpose() << " → " << r.position.transpose();
  }
}

TEST(SlidePoint, RestsInAConcaveCornerOfThreeFaces) {
  // Inside a box seen from within: two-sided surfaces hold from there too.
  const World world = world_of(make_box(Vec3::Constant(0.2), 3));
  const SlideResult r = slide_point(world, Vec3::Zero(), Vec3(0.15, -0.13, 0.12));
  EXPECT_LT((r.position - Vec3(0.1, -0.1, 0.1)).norm(), skin(0.2));
  EXPECT_EQ(r.contacts, 3);
}

// A point drawn about at random, far and near, in and out, never ends up on the other side: from micrometre edges to
// ten metres, and far from the origin.
TEST(SlidePoint, NeverPassesThroughAtAnyScale) {
  for (const double size : {1e-5, 1e-3, 0.1, 10.0, 100.0}) {
    for (const double away : {0.0, 100.0}) {
      TriangleMesh mesh = make_noisy_sphere(1.0, 2000, 0.05, 3);
      const Vec3 offset = away * size * Vec3(1, -0.5, 0.25);
      scale(mesh, size, offset);
      const World world = world_of(std::move(mesh));
      std::mt19937 random(5);
      Vec3 x = offset + size * Vec3(0, 1.5, 0);
      int held = 0;
      for (int i = 0; i < 20000; ++i) {
        const double step = i % 10 == 0 ? 3.0 : 0.05;
        const Vec3 target =
            (i / 100) % 2 ? Vec3(x + step * size * random_vector(random))
                          : Vec3(offset + 0.9 * size * (x - offset + 0.1 * size * random_vector(random)).normalized());
        x = slide_point(world, x, target).position;
        held += (x - target).norm() > 1e-3 * size;
        if (i % 20 == 0) {
          WorldClosest nearest;
          ASSERT_TRUE(world.find_closest(x, 1e9, nearest));
          ASSERT_GT(nearest.signed_distance, 0.0) << "size " << size << " away " << away << " tick " << i;
        }
      }
      EXPECT_GT(held, 5000);  // it really was held back
    }
  }
}

// Without friction the proxy follows the hand round the sphere however fine the mesh: it must not stick.
TEST(SlidePoint, DoesNotStickWithoutFrictionOnHalfAMillionTriangles) {
  const World world = world_of(make_sphere(0.1, 158));
  ASSERT_GT(world.static_surfaces()[0].surface.mesh().triangles.size(), 490000u);
  Vec3 x = slide_point(world, Vec3(0.12, 0, 0), Vec3(0.097, 0, 0)).position;
  double worst = 0.0;
  for (int i = 0; i < 6000; ++i) {
    const double angle = 1e-4 * i / 0.1;
    const Vec3 along(std::cos(angle), 0.6 * std::sin(angle), 0.8 * std::sin(angle));
    x = slide_point(world, x, 0.097 * along).position;
    worst = std::max(worst, (x.normalized() - along).norm() * 0.1);
  }
  // The closest point of a facet lies within half its edge (1 mm/1.6) times depth/radius of the radial one.
  EXPECT_LT(worst, 1e-4);
}

// Dragged along a finely meshed floor, the point lags by μ times its depth, whatever triangle it is on.
TEST(SlidePoint, DragOnAFlatMeshIsCoulombs) {
  SineSurface flat;
  flat.amplitude = 0.0;
  flat.size_x = flat.size_z = 0.2;
  flat.cell = 0.0013;  // never in step with the motion
  const double mu = 0.4, depth = 0.003;
  const World world = world_of(make_sine_surface(flat), mu);
  for (int k = 0; k < 16; ++k) {
    const Vec3 along(std::cos(k * M_PI / 8), 0, std::sin(k * M_PI / 8));
    Vec3 x = slide_point(world, Vec3(0, 0.01, 0), Vec3(0, -depth, 0)).position;
    for (int i = 1; i <= 400; ++i) {
      const Vec3 hand = 1e-4 * i * along - depth * Vec3::UnitY();
      x = slide_point(world, x, hand).position;
      const Vec3 force = x - hand;
      const double sideways = (force - force.y() * Vec3::UnitY()).norm();
      if (1e-4 * i < mu * depth) {
        EXPECT_LT((x - x.y() * Vec3::UnitY()).norm(), 1e-9) << "sticks until the cone is reached";
      } else {
        EXPECT_NEAR(sideways / force.y(), mu, 1e-6);
      }
    }
  }
}

TEST(SlidePoint, IsMonotone_NoTickEndsFartherFromItsTarget) {
  const World world = world_of(make_figure(0.1, 48));
  std::mt19937 random(11);
  Vec3 x(0, 0.15, 0);
  for (int i = 0; i < 20000; ++i) {
    const Vec3 target = Vec3(0, 0.05, 0) + 0.03 * random_vector(random);
    const SlideResult r = slide_point(world, x, target);
    EXPECT_LE((r.position - target).norm(), (x - target).norm() + skin(0.2));
    EXPECT_LE(r.iterations, kMaxSlideQueries);
    x = r.position;
  }
}

TEST(SlidePoint, AllocatesNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  const World world = world_of(make_figure(0.1, 48), 0.3);
  std::mt19937 random(12);
  Vec3 x(0, 0.15, 0);
  const testing::RealtimeGuard guard;
  for (int i = 0; i < 2000; ++i) x = slide_point(world, x, Vec3(0, 0.05, 0) + 0.03 * random_vector(random)).position;
  EXPECT_EQ(guard.violations().total(), 0);
}

TEST(PushOutside, FindsTheNearestWayOut) {
  const World world = world_of(make_box(Vec3::Constant(0.2), 4));
  EXPECT_LT((push_outside(world, Vec3(0.01, 0.09, 0.02), 1.0) - Vec3(0.01, 0.1, 0.02)).norm(), skin(0.2));
  EXPECT_EQ(push_outside(world, Vec3(0.3, 0, 0), 1.0), Vec3(0.3, 0, 0));
}

TEST(World, TakesTheNearerOfTwoBodies) {
  World world;
  TriangleMesh far = make_box(Vec3::Constant(0.1), 1);
  scale(far, 1.0, Vec3(0, -0.2, 0));
  world.add({"far", TriangleTree(far), 0.1});
  world.add({"near", TriangleTree(make_box(Vec3::Constant(0.1), 1)), 0.2});
  WorldHit hit;
  ASSERT_TRUE(world.find_first_hit(Vec3(0.01, 1, 0.02), Vec3(0.01, -1, 0.02), hit));
  EXPECT_EQ(hit.body, 1);
  EXPECT_NEAR(hit.hit.t, 0.475, 1e-12);
  WorldClosest nearest;
  ASSERT_TRUE(world.find_closest(Vec3(0.01, -0.11, 0.02), 1.0, nearest));
  EXPECT_EQ(nearest.body, 0);
  EXPECT_NEAR(nearest.signed_distance, 0.04, 1e-15);
}

}  // namespace
}  // namespace palpate::point_slide_test
