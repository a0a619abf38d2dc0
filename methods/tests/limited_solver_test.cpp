#include <gtest/gtest.h>

#include <cmath>

#include "../src/limited/patch_builder.h"
#include "../src/limited/patch_solver.h"
#include "limited_shapes.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/limited_settings.h"

// One tick of `limited` on patches of static surfaces: laws of the contact, and the failures that the trust regions
// are there for.
namespace palpate::limited_solver_test {
namespace {

using namespace limited;

constexpr double kCompliance = 1e-3 / 2.8;  ///< of a point of 1 g on 1000 N/m and 0.8 N·s/m at 1 ms [m/N]

/// A patch around a point, made as the slow half makes it.
struct Patch {
  World world;
  std::unique_ptr<LimitedPatch> patch = std::make_unique<LimitedPatch>();
  StepReport report;

  Patch(TriangleMesh mesh, double friction, const Vec3& centre, const LimitedSettings& settings = {}) {
    world.add({"mesh", TriangleTree(std::move(mesh)), friction});
    const MethodContext context{world, {}, 0.001, 0.033, {}};
    PointWorld point(context);
    PatchBuilder builder(settings, point);
    builder.begin(centre, centre, *patch, report);
    builder.finish(*patch, report);
  }
};

TriangleMesh join(TriangleMesh a, const TriangleMesh& b, const Vec3& shift) {
  const auto first = static_cast<std::int32_t>(a.vertices.size());
  for (const Vec3& v : b.vertices) a.vertices.push_back(v + shift);
  for (const auto& t : b.triangles) a.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return a;
}

TEST(PatchSolver, PressedOnAFaceGivesTheForceOfItsDepth) {
  Patch p(make_box(Vec3(0.1, 0.1, 0.1), 3), 0.0, Vec3(0.001, 0.05, 0.002));
  PatchSolver solver({});
  const Vec3 start(0.001, 0.05001, 0.002), free(0.0013, 0.0492, 0.0017);
  const PatchSolution& s = solver.solve(*p.patch, start, free, kCompliance);
  ASSERT_TRUE(s.converged);
  // The skin is the only thing between the answer and the plane.
  EXPECT_LT((s.position - Vec3(free.x(), 0.05, free.z())).norm(), 3.0 * p.patch->skin);
  ASSERT_EQ(s.contacts, 1);
  EXPECT_NEAR(s.contact[0].force.y(), (0.05 - free.y()) / kCompliance, 3.0 * p.patch->skin / kCompliance);
  EXPECT_LT(s.iterations, 5);
}

TEST(PatchSolver, SlidingForceLiesOnTheCone) {
  Patch p(make_box(Vec3(0.1, 0.1, 0.1), 3), 0.1, Vec3(0.001, 0.05, 0.002));
  PatchSolver solver({});
  const Vec3 start(0.001, 0.05 + 2.0 * p.patch->skin, 0.002);
  const PatchSolution& s = solver.solve(*p.patch, start, Vec3(0.0015, 0.0495, 0.002), kCompliance);
  ASSERT_EQ(s.contacts, 1);
  EXPECT_NEAR(-s.contact[0].force.x() / s.contact[0].force.y(), 0.1, 1e-9);
  EXPECT_GT(s.position.x(), start.x());
  // Less sideways than the cone: it sticks.
  const PatchSolution& still = solver.solve(*p.patch, start, Vec3(0.00104, 0.0495, 0.002), kCompliance);
  EXPECT_LT((still.position - start).norm(), 1e-11);
}

// In a valley both faces bear: the point ends on the line where they meet, whatever the triangles.
TEST(PatchSolver, SettlesOnTheLineOfAValley) {
  for (const double angle : {0.01, 0.1, 0.5, 1.2}) {
    Patch p(make_fold(angle), 0.0, Vec3(0.0, 0.001, 0.0));
    PatchSolver solver({});
    const PatchSolution& s = solver.solve(*p.patch, Vec3(0.0, 0.0001, 0.001), Vec3(1e-6, -0.0006, 0.0013), kCompliance);
    ASSERT_TRUE(s.converged) << angle;
    // Two planes raised by twice the skin meet that much higher, over the cosine of their slope.
    EXPECT_NEAR(s.position.x(), 0.0, 4.0 * p.patch->skin / std::sin(angle)) << angle;
    EXPECT_NEAR(s.position.y(), 0.0, 4.0 * p.patch->skin / std::cos(angle)) << angle;
    EXPECT_NEAR(s.position.z(), 0.0013, 1e-9) << angle;
    EXPECT_LT(s.iterations, 30) << angle;
    Vec3 force = Vec3::Zero();
    for (int k = 0; k < s.contacts; ++k) force += s.contact[as_size(k)].force;
    EXPECT_LT((force - (s.position - Vec3(1e-6, -0.0006, 0.0013)) / kCompliance).norm(), 1e-6) << angle;
  }
}

// Over a ridge the point follows the surface: half-spaces of the two faces would hold it at the first one's plane.
TEST(PatchSolver, GoesOverARidgeWithoutLeavingIt) {
  for (const double angle : {0.01, 0.1, 0.5}) {
    Patch p(make_fold(-angle), 0.0, Vec3(0.0, 1e-4, 0.0));
    PatchSolver solver({});
    Vec3 x(-0.004 * std::cos(angle), -0.004 * std::sin(angle) + 1e-9, 0.001);
    for (int i = 0; i <= 80; ++i) {
      const double hand_x = -0.004 + 1e-4 * i;
      // The hand half a millimetre inside along the vertical, or less near a sharp ridge.
      const Vec3 hand(hand_x, -std::abs(hand_x) * std::tan(angle) - 0.0003, 0.001);
      x = solver.solve(*p.patch, x, hand, kCompliance).position;
      const double height = x.y() + std::abs(x.x()) * std::tan(angle);
      EXPECT_GT(height, 0.0) << angle << " " << i;
      EXPECT_LT(height * std::cos(angle), 10.0 * p.patch->skin) << angle << " " << i;
    }
    EXPECT_GT(x.x(), 0.003 * std::cos(angle)) << angle;
  }
}

// Knott & Kuhlen 2015, Fig. 4, left: the free motion leads past both faces of something thin. Its solver, started
// there, finds nothing active and is done.
TEST(TrustRegion, InnerOneStopsTunnellingBetweenOpposingFaces) {
  Patch p(make_box(Vec3(0.1, 0.002, 0.1), 6), 0.0, Vec3(0.0, 0.002, 0.0));
  const Vec3 start(0.001, 0.0011, 0.002), free(0.001, -0.0013, 0.002);
  PatchSolver without({.inner_trust = false, .from_free = true, .guard_path = false});
  EXPECT_LT((without.solve(*p.patch, start, free, kCompliance).position - free).norm(), 1e-12);
  PatchSolver with({.inner_trust = true, .from_free = false, .guard_path = false});
  const PatchSolution& s = with.solve(*p.patch, start, free, kCompliance);
  EXPECT_TRUE(s.converged);
  EXPECT_NEAR(s.position.y(), 0.001, 3.0 * p.patch->skin);
}

// Fig. 4, right: resolving the first constraint leads over the second. A floor with a thin wall on it; the point slides
// along the floor and wants to go far to the right.
TEST(TrustRegion, InnerOneStopsTheLeapOverTheSecondConstraint) {
  const TriangleMesh floor = make_box(Vec3(0.1, 0.02, 0.1), 5);
  const TriangleMesh wall = make_box(Vec3(0.0012, 0.01, 0.08), 6);
  Patch p(join(floor, wall, Vec3(0.002, 0.014, 0.0)), 0.0, Vec3(0.0, 0.0105, 0.0));
  // The wall's left face is at x = 1.4 mm, its right one at 2.6 mm; the floor at y = 10 mm.
  const Vec3 start(0.0011, 0.01 + 1e-8, 0.003), free(0.0031, 0.0092, 0.003);
  PatchSolver without({.inner_trust = false, .from_free = false, .guard_path = false});
  EXPECT_GT(without.solve(*p.patch, start, free, kCompliance).position.x(), 0.0026);
  PatchSolver with({.inner_trust = true, .from_free = false, .guard_path = false});
  const PatchSolution& s = with.solve(*p.patch, start, free, kCompliance);
  EXPECT_TRUE(s.converged);
  EXPECT_NEAR(s.position.x(), 0.0014, 1e-8);
  EXPECT_NEAR(s.position.y(), 0.01, 1e-8);
}

// A tip thinner than any step: regions are too shallow to stop the point, the guard of the path does.
TEST(TrustRegion, PathGuardStopsALeapThroughATip) {
  const TriangleMesh wedge{{{-0.05, 0.0, -0.05},
                            {0.0, 0.0, -0.05},
                            {-0.05, -0.02, -0.05},
                            {-0.05, 0.0, 0.05},
                            {0.0, 0.0, 0.05},
                            {-0.05, -0.02, 0.05}},
                           {{0, 3, 4}, {0, 4, 1}, {1, 4, 5}, {1, 5, 2}, {0, 2, 5}, {0, 5, 3}, {0, 1, 2}, {3, 5, 4}}};
  Patch p(wedge, 0.0, Vec3(0.0, 0.001, 0.0));
  PatchSolver solver({});
  const Vec3 start(-0.0002, 0.0003, 0.0), free(-0.0002, -0.0012, 0.0);
  const PatchSolution& s = solver.solve(*p.patch, start, free, kCompliance);
  EXPECT_NEAR(s.position.y(), 0.0, 1e-8);
}

// Nothing outside the box is known, so nothing ends there, and the hand is not to feel it.
TEST(TrustRegion, OuterOneHoldsThePointAndSaysWithWhichForce) {
  LimitedSettings settings;
  settings.max_constraints = 200;
  Patch p(make_sphere(0.05, 60), 0.0, Vec3(0.0, 0.05, 0.0), settings);
  ASSERT_EQ(p.patch->overflow, 1);
  ASSERT_LT(p.patch->half_edge, 0.005);
  PatchSolver solver({});
  Vec3 x(0.0, 0.0501, 0.0);
  PatchSolution s;
  for (int i = 0; i < 20; ++i) {
    s = solver.solve(*p.patch, x, x + Vec3(0.001, -0.0003, 0.0), kCompliance);
    x = s.position;
  }
  EXPECT_NEAR(x.x(), p.patch->half_edge, 1e-9);
  EXPECT_LT(s.trust_force.x(), -1.0);
  EXPECT_GT(s.contacts, 0);
}

TEST(PatchSolver, AnswersNonsenseWithStandingStill) {
  Patch p(make_box(Vec3(0.1, 0.1, 0.1), 3), 0.1, Vec3(0.0, 0.05, 0.0));
  PatchSolver solver({});
  const Vec3 start(0.0, 0.051, 0.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Vec3& free : {Vec3(nan, 0.0, 0.0), Vec3(0.0, std::numeric_limits<double>::infinity(), 0.0)})
    EXPECT_EQ(solver.solve(*p.patch, start, free, kCompliance).position, start);
  const PatchSolution& s = solver.solve(*p.patch, start, Vec3(0.0, 1e200, 0.0), kCompliance);
  EXPECT_TRUE(s.position.allFinite());
  EXPECT_LT((s.position - start).norm(), 0.01);
}

// Regions tile the inside: a point just below the surface of a bumpy shape is some constraint's business, and a few
// ticks with nothing else pulling put it outside. At saddle vertices sharper than any real mesh's a few are missed (2
// of 400 when this was written): there it is the guard of the path that keeps points from getting inside at all.
TEST(PatchSolver, BringsPointsJustInsideBackOut) {
  const TriangleTree tree(make_noisy_sphere(0.03, 600, 0.002, 7));
  int inside = 0, out = 0;
  for (int i = 0; i < 400; ++i) {
    const double a = 2.399963 * i, z = 1.0 - (2.0 * i + 1.0) / 400.0;
    const Vec3 direction(std::sqrt(1 - z * z) * std::cos(a), z, std::sqrt(1 - z * z) * std::sin(a));
    SegmentHit hit;
    ASSERT_TRUE(tree.find_first_hit(0.04 * direction, Vec3::Zero(), hit));
    const Vec3 surface = (1.0 - hit.t) * 0.04 * direction;
    Patch p(tree.mesh(), 0.0, surface);
    const Vec3 start = surface - 0.0002 * direction;
    if (tree.signed_distance(start) >= 0.0) continue;
    ++inside;
    PatchSolver solver({});
    Vec3 x = start;
    for (int k = 0; k < 3; ++k) x = solver.solve(*p.patch, x, x, kCompliance).position;
    out += tree.signed_distance(x) > -1e-9 ? 1 : 0;
  }
  EXPECT_GT(inside, 380);
  EXPECT_GE(out, inside - 4);
}

TEST(PatchBuilder, FineMeshShrinksTheBoxToWhatTheSetCovers) {
  for (const int subdivisions : {8, 40, 120}) {
    Patch p(make_sphere(0.05, subdivisions), 0.0, Vec3(0.0, 0.05, 0.0));
    const TriangleTree& tree = p.world.static_surfaces()[0].surface;
    const double covered = std::sqrt(3.0) * p.patch->half_edge;
    std::vector<std::int32_t> near(100000);
    const int count = tree.find_within(Vec3(0.0, 0.05, 0.0), covered * (1.0 - 1e-12), near);
    EXPECT_LE(count, p.patch->triangles) << subdivisions;
    EXPECT_EQ(p.patch->overflow == 1, covered < 0.02 - 1e-9) << subdivisions;
  }
}

/// A slow step tries a centre or two before it finishes a patch.
TEST(PatchBuilder, CentreTriedBeforeLeavesNoTrace) {
  const Vec3 centre(0.01, 0.05, 0.0);
  Patch fresh(make_sphere(0.05, 40), 0.3, centre);
  const MethodContext context{fresh.world, {}, 0.001, 0.033, {}};
  PointWorld point(context);
  PatchBuilder builder({}, point);
  const auto patch = std::make_unique<LimitedPatch>();
  StepReport report;
  builder.begin(Vec3(-0.01, 0.05, 0.005), centre, *patch, report);
  builder.begin(centre, centre, *patch, report);
  builder.finish(*patch, report);
  ASSERT_EQ(patch->triangles, fresh.patch->triangles);
  ASSERT_EQ(patch->vertices, fresh.patch->vertices);
  EXPECT_EQ(patch->half_edge, fresh.patch->half_edge);
  for (std::size_t t = 0; t < as_size(patch->triangles); ++t) {
    const LimitedPatch::Triangle &a = patch->triangle[t], &b = fresh.patch->triangle[t];
    ASSERT_EQ(a.vertex, b.vertex) << t;
    ASSERT_EQ(a.neighbour, b.neighbour) << t;
    ASSERT_EQ(a.id, b.id) << t;
    ASSERT_EQ(a.normal, b.normal) << t;
    ASSERT_EQ(a.depth, b.depth) << t;
  }
}

}  // namespace
}  // namespace palpate::limited_solver_test
