#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "../src/limited/patch_builder.h"
#include "../src/limited/patch_solver.h"
#include "limited_shapes.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/limited_settings.h"
#include "point_rig.h"

// `limited` with a point that has a radius: its middle stays that far from the true surface.
namespace palpate::limited_ball_test {
namespace {

using namespace limited;

constexpr double kRadius = 0.004;
constexpr double kCompliance = 1e-3 / 2.8;  ///< of a point of 1 g on 1000 N/m and 0.8 N·s/m at 1 ms [m/N]
/// The skin that a ball keeps, and what an iterate has left to go [m].
constexpr double kExact = 3e-9;

/// A mesh, a patch of it around a place, and a ball that is dragged about on it, a tick at a time.
struct Ball {
  TriangleTree tree;
  World world;
  std::unique_ptr<LimitedPatch> patch = std::make_unique<LimitedPatch>();
  PatchSolver solver{{.radius = kRadius}};
  Vec3 x;

  Ball(const TriangleMesh& mesh, double friction, const Vec3& centre) : tree(mesh), x(centre) {
    world.add({"mesh", TriangleTree(mesh), friction});
    const MethodContext context{world, {}, 0.001, 0.033, {}};
    PointWorld point(context);
    PatchBuilder builder({}, point, kRadius);
    StepReport report;
    builder.begin(centre, centre, *patch, report);
    builder.finish(*patch, report);
  }

  /// One tick towards `free`.
  const PatchSolution& tick(const Vec3& free) {
    const PatchSolution& s = solver.solve(*patch, x, free, kCompliance);
    EXPECT_TRUE(s.converged) << free.transpose();
    x = s.position;
    return s;
  }
  /// Ticks until the ball rests as near to `target` as it gets.
  const PatchSolution& settle(const Vec3& target) {
    for (int i = 0; i < 400; ++i) tick(x + 0.3 * (target - x));
    return tick(target);
  }
  double distance() const {
    ClosestPoint c;
    tree.find_closest(x, 1.0, c);
    return c.distance;
  }
};

TEST(LimitedBall, RestsOnAPlaneAtItsRadiusWithTheForceOfItsDepth) {
  Ball ball(make_fold(0.0), 0.0, Vec3(0.001, 0.006, 0.002));
  const Vec3 target(0.0052, kRadius - 0.001, 0.0031);
  const PatchSolution& s = ball.settle(target);
  EXPECT_NEAR((ball.x - Vec3(target.x(), kRadius, target.z())).norm(), 0.0, kExact);
  EXPECT_NEAR(kCompliance * s.contact_force.y(), 0.001, kExact);
  EXPECT_NEAR(std::hypot(s.contact_force.x(), s.contact_force.z()), 0.0, 1e-8 / kCompliance);
}

// Nothing that is seen by the ball is a mesh: on a flat one it slides as on a plane, over edges and vertices, in one
// tick each.
TEST(LimitedBall, EdgesOfAFlatMeshDoNotHoldItUp) {
  Ball ball(make_fold(0.0), 0.0, Vec3(-0.004, kRadius, -0.0021));
  for (int i = 0; i < 20; ++i) {
    const Vec3 target(-0.004 + 4e-4 * i, kRadius - 2e-4, -0.0021 + 2e-4 * i);
    ball.tick(target);
    ASSERT_NEAR((ball.x - Vec3(target.x(), kRadius, target.z())).norm(), 0.0, kExact) << i;
  }
}

// Around an edge the middle goes along a round. A hand a millimetre below it, along the faces and around the edge,
// finds the ball right above.
TEST(LimitedBall, GoesOverARidgeOnTheRoundOfItsRadius) {
  const double slope = std::numbers::pi / 4.0;
  Ball ball(make_fold(-slope), 0.0, Vec3(0.0, 0.006, 0.001));
  constexpr double kDepth = 0.001;
  for (int i = -60; i <= 60; ++i) {
    // A face, the round of the edge, the other face.
    const double turn = std::clamp(i / 30.0, -1.0, 1.0) * slope;
    const Vec3 normal(std::sin(turn), std::cos(turn), 0.0), along(std::cos(turn), -std::sin(turn), 0.0);
    const Vec3 foot = 1e-4 * (i - std::clamp(i, -30, 30)) * along + Vec3(0.0, 0.0, 0.001);
    const PatchSolution& s =
        i == -60 ? ball.settle(foot + (kRadius - kDepth) * normal) : ball.tick(foot + (kRadius - kDepth) * normal);
    ASSERT_NEAR((ball.x - foot - kRadius * normal).norm(), 0.0, 2.0 * kExact) << i;
    ASSERT_NEAR(ball.distance(), kRadius, kExact) << i;
    ASSERT_NEAR((kCompliance * s.contact_force - kDepth * normal).norm(), 0.0, 10.0 * kExact) << i;
  }
}

TEST(LimitedBall, LiesInAGrooveOnBothItsSides) {
  const double angle = std::numbers::pi / 6.0;
  Ball ball(make_fold(angle), 0.0, Vec3(0.002, 0.008, 0.001));
  const PatchSolution& s = ball.settle(Vec3(0.0, 0.003, 0.0015));
  EXPECT_NEAR((ball.x - Vec3(0.0, kRadius / std::cos(angle), 0.0015)).norm(), 0.0, 2.0 * kExact);
  EXPECT_EQ(s.contacts, 2);
  EXPECT_NEAR(kCompliance * s.contact_force.y(), kRadius / std::cos(angle) - 0.003, 2.0 * kExact);
}

// On the corner of a box the force goes through the corner.
TEST(LimitedBall, StandsOnACornerAtItsRadius) {
  const Vec3 corner = Vec3::Constant(0.01), out = Vec3(1.0, 1.2, 0.9).normalized();
  Ball ball(make_box(Vec3::Constant(0.02), 2), 0.0, corner + 0.006 * out);
  const PatchSolution& s = ball.settle(corner + 0.003 * out);
  EXPECT_NEAR((ball.x - corner).norm(), kRadius, kExact);
  EXPECT_NEAR((ball.x - corner - kRadius * out).norm(), 0.0, 10.0 * kExact);
  EXPECT_NEAR(s.contact_force.normalized().dot(out), 1.0, 1e-10);
}

TEST(LimitedBall, SlidingForceLiesOnTheCone) {
  constexpr double kFriction = 0.4;
  Ball ball(make_fold(0.0), kFriction, Vec3(0.001, kRadius, 0.002));
  const PatchSolution& s = ball.tick(ball.x + Vec3(1e-3, -1e-3, 0.0));
  EXPECT_NEAR(-s.contact_force.x(), kFriction * s.contact_force.y(), 1e-9 / kCompliance);
  EXPECT_NEAR(ball.x.x(), 0.001 + 1e-3 - kFriction * 1e-3, kExact);
  const PatchSolution& stuck = ball.tick(ball.x + Vec3(2e-4, -1e-3, 0.0));
  EXPECT_NEAR(kCompliance * stuck.contact_force.x(), -2e-4, kExact) << "it sticks";
}

// Hands at random, at up to 1 m/s, in and around shapes with every kind of feature: the ball is never nearer than its
// radius, bears only where it touches, and no force is above the coupling's. A plate of 2 mm is half as thick as the
// ball.
TEST(LimitedBall, RandomHandsNeverGetNearerThanTheRadius) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int shape = 0;
  for (const TriangleMesh& mesh : {make_box(Vec3(0.03, 0.02, 0.04), 3), make_torus(0.02, 0.006, 40, 16),
                                   make_box(Vec3(0.04, 0.002, 0.04), 8), make_sphere(0.015, 6)}) {
    const TriangleTree tree(mesh);
    World world;
    world.add({"mesh", TriangleTree(mesh), 0.2 * shape});
    const Vec3 start(0.0, 0.03, 0.0);
    ToolSettings tool;
    tool.kind = HeldPoint{.radius = kRadius};
    add_tool(world, tool, {start, Quat::Identity()});
    world.prepare();
    Loops loops(world, "limited", tool, at(start), 30);
    Vec3 hand = start, velocity = Vec3::Zero();
    int touched = 0, unsettled = 0;
    for (int i = 0; i < 6000; ++i) {
      velocity +=
          0.05 * Vec3(unit(random), unit(random), unit(random)) - 0.8 * (hand.norm() > 0.025 ? hand : Vec3(0, 0, 0));
      if (velocity.norm() > 1.0) velocity.normalize();
      hand += 0.001 * velocity;
      const TickResult r = loops.tick(hand, velocity);
      ClosestPoint c;
      ASSERT_TRUE(tree.find_closest(r.tool.position, 1.0, c));
      ASSERT_GT(c.distance, kRadius - 1e-9) << "shape " << shape << ", tick " << i;
      ASSERT_GT((r.tool.position - c.point).dot(tree.pseudo_normal(c)), 0.0) << "shape " << shape << ", tick " << i;
      const bool bears = r.wrench.force.norm() > 1e-6;
      touched += bears;
      unsettled += bears && c.distance > kRadius + 1e-7;
    }
    EXPECT_GT(touched, 600) << shape;
    EXPECT_LE(unsettled, touched / 100) << shape;
    if (testing::RealtimeGuard::available()) {
      EXPECT_EQ(loops.violations, 0) << shape;
    }
    ++shape;
  }
}

// On a soft block at rest the force is that of the whole world at the fast rate.
TEST(LimitedBall, SoftBlockAtRestGivesTheTruthsForce) {
  const Vec3 start(0.0, 0.028, 0.0), end(0.0, 0.019, 0.0);
  double forces[2];
  int i = 0;
  for (const char* name : {"reference", "limited"}) {
    World world;
    const Material material{.young_modulus = 2e4, .poisson_ratio = 0.35, .stiffness_damping = 0.01};
    auto block =
        std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.04, 0.04, 0.04), {4, 4, 4}), std::span(&material, 1));
    for (int n = 0; n < block->node_count(); ++n) {
      if (block->positions()[as_size(n)].y() < -0.0199) block->prescribe(n, Vec3::Zero());
    }
    ContactShape surface;
    surface.kind = ContactShape::Surface{};
    world.add({"block", std::move(block), surface});
    ToolSettings tool;
    tool.kind = HeldPoint{.mass = 0.01, .radius = kRadius};
    tool.coupling = {.stiffness = 500.0, .damping = 1.0};
    add_tool(world, tool, {start, Quat::Identity()});
    world.prepare();
    Loops loops(world, name, tool, at(start), 20);
    TickResult r;
    for (int t = 0; t < 900; ++t) {
      const double share = std::min(1.0, t / 200.0);
      r = loops.tick(start + share * (end - start), share < 1.0 ? Vec3((end - start) / 0.2) : Vec3(0.0, 0.0, 0.0));
    }
    forces[i++] = r.wrench.force.y();
  }
  EXPECT_GT(forces[0], 0.3);
  EXPECT_NEAR(forces[1], forces[0], 0.03 * forces[0]);
}

}  // namespace
}  // namespace palpate::limited_ball_test
