#include "palpate/geometry/triangle_tree.h"

#include <gtest/gtest.h>

#include <set>

#include "brute_force.h"
#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::triangle_tree_test {
namespace {

using reference::make_soup;
using reference::moved;
using reference::random_vector;

/// Meshes of size about 1 at the origin, moved to each scale with and without an offset of metres.
class TreeAtScale : public ::testing::TestWithParam<std::tuple<double, double>> {
 protected:
  double scale() const { return std::get<0>(GetParam()); }
  Vec3 offset() const { return std::get<1>(GetParam()) * Vec3(3.0, -7.0, 5.0); }
  std::vector<TriangleMesh> meshes() const {
    std::vector<TriangleMesh> made;
    for (const TriangleMesh& mesh :
         {make_soup(300, 1), make_noisy_sphere(1.0, 500, 0.1, 2), make_box(Vec3(1, 2, 0.5), 6),
          make_torus(0.8, 0.3, 24, 10), make_soup(1, 3), make_soup(5, 4)}) {
      made.push_back(moved(mesh, scale(), offset()));
    }
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Scales, TreeAtScale,
                         ::testing::Combine(::testing::Values(1e-6, 1e-3, 1.0, 10.0), ::testing::Values(0.0, 1.0)));

TEST_P(TreeAtScale, ClosestPointIsThatOfAllTriangles) {
  std::mt19937_64 random(5);
  for (const TriangleMesh& mesh : meshes()) {
    const TriangleTree tree(mesh);
    for (int q = 0; q < 200; ++q) {
      const Vec3 p = 1.5 * scale() * random_vector(random) + offset();
      reference::Real expected = std::numeric_limits<reference::Real>::infinity();
      for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        expected = std::min(expected, reference::distance(mesh, t, p));
      }
      ClosestPoint c;
      ASSERT_TRUE(tree.find_closest(p, std::numeric_limits<double>::infinity(), c));
      // Differences of size `scale` are exact to 2^-52; triangles up to 1 : 100 thin lose up to 10^4 of it in their
      // weights, which moves the point within its triangle and the distance by no more.
      const double tolerance = 1e4 * 0x1p-52 * scale();
      EXPECT_NEAR(c.distance, static_cast<double>(expected), tolerance);
      EXPECT_NEAR(static_cast<double>(reference::distance(mesh, c.triangle, p)), c.distance, tolerance);
      EXPECT_NEAR((p - c.point).norm(), c.distance, tolerance + 4 * 0x1p-52 * p.norm());
      EXPECT_NEAR(c.barycentric.sum(), 1.0, 1e-15);
      EXPECT_GE(c.barycentric.minCoeff(), 0.0);
      EXPECT_TRUE(tree.find_closest(p, c.distance * (1 + 1e-12), c));
      EXPECT_FALSE(tree.find_closest(p, c.distance * (1 - 1e-12), c));
    }
  }
}

TEST_P(TreeAtScale, TrianglesWithinARadiusAreThoseOfAllTriangles) {
  std::mt19937_64 random(6);
  for (const TriangleMesh& mesh : meshes()) {
    const TriangleTree tree(mesh);
    std::vector<std::int32_t> found(mesh.triangles.size());
    for (int q = 0; q < 50; ++q) {
      const Vec3 p = 1.5 * scale() * random_vector(random) + offset();
      const double radius = 0.5 * scale();
      const int count = tree.find_within(p, radius, found);
      const std::set<std::int32_t> set(found.begin(), found.begin() + count);
      EXPECT_EQ(static_cast<int>(set.size()), count) << "a triangle came twice";
      for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        const auto d = static_cast<double>(reference::distance(mesh, t, p));
        if (std::abs(d - radius) < 1e4 * 0x1p-52 * scale()) continue;
        EXPECT_EQ(set.contains(static_cast<std::int32_t>(t)), d < radius);
      }
      std::int32_t two[2] = {-1, -1};
      EXPECT_EQ(tree.find_within(p, radius, two), count) << "counts all though only two fit";
    }
  }
}

TEST_P(TreeAtScale, FirstHitIsThatOfAllTriangles) {
  std::mt19937_64 random(7);
  int hits = 0;
  for (const TriangleMesh& mesh : meshes()) {
    const TriangleTree tree(mesh);
    for (int q = 0; q < 400; ++q) {
      const double length = q % 4 == 0 ? 2.0 : q % 4 == 1 ? 0.5 : 0.05;
      // Half of them start beside a vertex, so that short ones meet something too.
      const Vec3 near = q % 2 ? mesh.vertices[random() % mesh.vertices.size()] : offset();
      const Vec3 a = near + (q % 2 ? 0.03 : 1.2) * scale() * random_vector(random);
      Vec3 b = a + length * scale() * random_vector(random);
      if (q % 5 == 0) b[q % 3] = a[q % 3];
      if (q % 10 == 0) b[(q + 1) % 3] = a[(q + 1) % 3];
      // Weights lose what the angle to the plane and the shape cost; 10^-9 covers an angle of 10^-5 at 1 : 100.
      const reference::Crossing expected = reference::first_crossing(mesh, a, b, 1e-9L);
      SegmentHit hit;
      if (!tree.find_first_hit(a, b, hit)) {
        EXPECT_GT(expected.sure, 1.0L);
        continue;
      }
      ++hits;
      EXPECT_LE(hit.t, static_cast<double>(expected.sure) + 1e-9);
      EXPECT_GE(hit.t, static_cast<double>(expected.perhaps) - 1e-9);
      EXPECT_LT(reference::distance(mesh, hit.triangle, a + hit.t * (b - a)), 1e-9 * scale() + 8 * 0x1p-52 * a.norm());
      const auto& [i, j, k] = mesh.triangles[hit.triangle];
      const Vec3 n = compute_area_normal(mesh.vertices[i], mesh.vertices[j], mesh.vertices[k]).normalized();
      EXPECT_NEAR(hit.normal.dot(n), 1.0, 1e-14);
    }
  }
  EXPECT_GT(hits, 300);
}

TEST(TriangleTree, SurvivesMeshesThatDoNotSplit) {
  // A thousand copies of one triangle have no split by place; equal answers go to the first.
  TriangleMesh copies;
  copies.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  copies.triangles.assign(1000, {0, 1, 2});
  const TriangleTree tree(copies);
  SegmentHit hit;
  ASSERT_TRUE(tree.find_first_hit(Vec3(0.2, 0.3, 1), Vec3(0.2, 0.3, -1), hit));
  EXPECT_EQ(hit.triangle, 0);
  EXPECT_EQ(hit.t, 0.5);
  ClosestPoint c;
  ASSERT_TRUE(tree.find_closest(Vec3(2, 0, 0), 10, c));
  EXPECT_EQ(c.triangle, 0);
  EXPECT_EQ(c.distance, 1.0);
  EXPECT_EQ(tree.find_within(Vec3(0, 0, 0), 0.1, {}), 1000);
}

TEST(TriangleTree, StaysRightWhenSizesSpanManyOrders) {
  // Each triangle 0.97 times the one before: the heuristic peels off few at a time and the tree grows deep.
  TriangleMesh mesh;
  for (int i = 0; i < 3000; ++i) {
    const double s = std::pow(0.97, i), x = s;
    const auto at = static_cast<std::int32_t>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), {Vec3(x, 0, 0), Vec3(x, 0.02 * s, 0), Vec3(x, 0, 0.02 * s)});
    mesh.triangles.push_back({at, at + 1, at + 2});
  }
  const TriangleTree tree(mesh);
  for (int i = 0; i < 3000; ++i) {
    const double s = std::pow(0.97, i);
    SegmentHit hit;
    ASSERT_TRUE(tree.find_first_hit(Vec3(1.01 * s, 0.004 * s, 0.004 * s), Vec3(0.99 * s, 0.004 * s, 0.004 * s), hit));
    EXPECT_EQ(hit.triangle, i);
    EXPECT_NEAR(hit.t, 0.5, 1e-12);
  }
}

TEST(TriangleTree, DegenerateTrianglesDoNotDisturb) {
  TriangleMesh mesh = make_box(Vec3(1, 1, 1), 2);
  const TriangleTree clean(mesh);
  const std::int32_t n = static_cast<std::int32_t>(mesh.vertices.size());
  mesh.triangles.push_back({0, 0, 0});
  mesh.triangles.push_back({0, 1, 1});
  mesh.vertices.push_back(0.5 * (mesh.vertices[0] + mesh.vertices[1]));
  mesh.triangles.push_back({0, n, 1});
  const TriangleTree tree(mesh);
  std::mt19937_64 random(8);
  for (int q = 0; q < 1000; ++q) {
    const Vec3 a = random_vector(random), b = random_vector(random);
    SegmentHit hit, expected;
    ASSERT_EQ(tree.find_first_hit(a, b, hit), clean.find_first_hit(a, b, expected));
    EXPECT_EQ(hit.t, expected.t);
    ClosestPoint c, d;
    ASSERT_TRUE(tree.find_closest(a, 10, c) && clean.find_closest(a, 10, d));
    EXPECT_NEAR(c.distance, d.distance, 4e-16);
    EXPECT_EQ(tree.signed_distance(a) < 0, clean.signed_distance(a) < 0);
  }
}

/// The same bits at a point and along a segment: answers do not depend on the tree.
void expect_same_answers(const TriangleTree& tree, const TriangleTree& other, const Vec3& a, const Vec3& b) {
  SegmentHit hit, expected;
  ASSERT_EQ(tree.find_first_hit(a, b, hit), other.find_first_hit(a, b, expected));
  EXPECT_EQ(hit.t, expected.t);
  EXPECT_EQ(hit.triangle, expected.triangle);
  ClosestPoint c, d;
  ASSERT_EQ(tree.find_closest(a, 0.7, c), other.find_closest(a, 0.7, d));
  EXPECT_EQ(c.distance, d.distance);
  EXPECT_EQ(c.triangle, d.triangle);
  EXPECT_EQ(c.point, d.point);
  EXPECT_EQ(tree.find_within(a, 0.5, {}), other.find_within(a, 0.5, {}));
}

TEST(TriangleTree, RefitEqualsRebuild) {
  std::mt19937_64 random(9);
  TriangleTree tree(make_noisy_sphere(1.0, 2000, 0.05, 3));
  TriangleMesh bent = tree.mesh();
  for (Vec3& p : bent.vertices) p = Vec3(p.x() + 0.5 * p.y() * p.y(), 2 * p.y(), p.z() - 0.3 * p.x()) + Vec3(1, 2, 3);
  ASSERT_TRUE(tree.refit(bent.vertices));
  EXPECT_FALSE(tree.refit(std::span(bent.vertices).first(5)));
  const TriangleTree rebuilt(bent);
  for (int q = 0; q < 2000; ++q) {
    const Vec3 a = Vec3(1, 2, 3) + 2 * random_vector(random), b = a + random_vector(random);
    expect_same_answers(tree, rebuilt, a, b);
  }
}

TEST(TriangleTree, RefitOfWhatMovedEqualsRefitOfAll) {
  std::mt19937_64 random(10);
  TriangleTree part(make_noisy_sphere(1.0, 2000, 0.05, 3)), whole(part.mesh());
  TriangleMesh bent = part.mesh();
  std::vector<std::int32_t> moved;
  for (int round = 0; round < 5; ++round) {
    // A cap of the sphere, each time another one.
    const Vec3 towards = random_vector(random).normalized();
    moved.clear();
    for (std::size_t v = 0; v < bent.vertices.size(); ++v) {
      if (bent.vertices[v].dot(towards) < 0.5) continue;
      bent.vertices[v] += 0.3 * random_vector(random);
      moved.push_back(static_cast<std::int32_t>(v));
    }
    ASSERT_FALSE(moved.empty());
    ASSERT_TRUE(part.refit(bent.vertices, moved));
    ASSERT_TRUE(whole.refit(bent.vertices));
    for (int q = 0; q < 500; ++q) {
      const Vec3 a = 1.5 * random_vector(random), b = a + random_vector(random);
      expect_same_answers(part, whole, a, b);
      EXPECT_EQ(part.signed_distance(a), whole.signed_distance(a));
    }
  }
  EXPECT_FALSE(part.refit(std::span(bent.vertices).first(5), moved));
}

TEST(TriangleTree, SignedDistanceOfASphereIsRadiusLess) {
  const double radius = 0.1;
  const TriangleTree tree(make_sphere(radius, 20));
  // The mesh is inscribed; a triangle of edges up to e lies at most e²/(6 r) (1 + small) below the sphere.
  const double e = 0.1 * 1.2 / 20 * 1.05;
  const double sagitta = 1.1 * e * e / (6 * radius);
  std::mt19937_64 random(10);
  for (int q = 0; q < 5000; ++q) {
    const Vec3 p = 2 * radius * random_vector(random);
    const double excess = tree.signed_distance(p) - (p.norm() - radius);
    EXPECT_GE(excess, -1e-15);
    EXPECT_LE(excess, sagitta);
  }
  EXPECT_EQ(tree.signed_distance(Vec3(1, 0, 0), 0.5), std::numeric_limits<double>::infinity());
}

TEST(TriangleTree, SignIsRightBesideSharpEdgesAndCorners) {
  const TriangleTree box(make_box(Vec3(2, 2, 2), 3));
  std::mt19937_64 random(11);
  for (int q = 0; q < 20000; ++q) {
    // Half the points close to a corner, where face normals alone give the wrong sign.
    const Vec3 p = q % 2 ? Vec3(1.5 * random_vector(random)) : Vec3(Vec3(1, 1, 1) + 0.05 * random_vector(random));
    const Vec3 beyond = p.cwiseAbs() - Vec3::Ones();
    const double expected = beyond.maxCoeff() > 0 ? beyond.cwiseMax(0.0).norm() : beyond.maxCoeff();
    EXPECT_NEAR(box.signed_distance(p), expected, 1e-14);
  }
  const TriangleTree torus(make_torus(1.0, 0.4, 60, 30));
  for (int q = 0; q < 5000; ++q) {
    const Vec3 p = 1.5 * random_vector(random);
    const double expected = std::hypot(std::hypot(p.x(), p.z()) - 1.0, p.y()) - 0.4;
    // Chords lie up to (1.4 (1 − cos(π/60)) + 0.4 (1 − cos(π/30))) ≈ 0.0042 off the torus, either way.
    EXPECT_NEAR(torus.signed_distance(p), expected, 0.0043);
  }
}

TEST(TriangleTree, PseudoNormalOfACubeCornerIsItsDiagonal) {
  const TriangleTree box(make_box(Vec3(2, 2, 2), 2));
  ClosestPoint c;
  ASSERT_TRUE(box.find_closest(Vec3(2, 3, 1.5), 10, c));
  // Weighted by angle, so the diagonal however the faces are triangulated.
  EXPECT_LT((box.pseudo_normal(c) - Vec3(1, 1, 1).normalized()).norm(), 1e-14);
  ASSERT_TRUE(box.find_closest(Vec3(2, 2, 0.3), 10, c));
  EXPECT_LT((box.pseudo_normal(c) - Vec3(1, 1, 0).normalized()).norm(), 1e-14);
  ASSERT_TRUE(box.find_closest(Vec3(0.2, 2, 0.3), 10, c));
  EXPECT_LT((box.pseudo_normal(c) - Vec3(0, 1, 0)).norm(), 1e-15);
}

TEST(TriangleTree, QueriesThatAreNotFiniteFindNothing) {
  const TriangleTree tree(make_sphere(1.0, 3));
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  ClosestPoint c;
  SegmentHit hit;
  for (const double bad : {nan, inf, -inf}) {
    EXPECT_FALSE(tree.find_closest(Vec3(0, bad, 0), 10, c));
    EXPECT_FALSE(tree.find_first_hit(Vec3(0, bad, 0), Vec3(0, 0, 0), hit));
    EXPECT_FALSE(tree.find_first_hit(Vec3(0, 0, 0), Vec3(bad, 0, 0), hit));
    EXPECT_EQ(tree.find_within(Vec3(0, 0, bad), 1, {}), 0);
  }
  EXPECT_FALSE(tree.find_closest(Vec3(0, 0, 0), nan, c));
  EXPECT_FALSE(tree.find_first_hit(Vec3(1, 2, 3), Vec3(1, 2, 3), hit));
}

TEST(TriangleTree, RefusesMeshesThatItCannotSearch) {
  TriangleMesh mesh;
  EXPECT_THROW(TriangleTree{mesh}, InputError);
  mesh.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  mesh.triangles = {{0, 1, 3}};
  EXPECT_THROW(TriangleTree{mesh}, InputError);
  mesh.triangles = {{0, 1, -1}};
  EXPECT_THROW(TriangleTree{mesh}, InputError);
  mesh.triangles = {{0, 1, 2}};
  mesh.vertices[1].x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(TriangleTree{mesh}, InputError);
}

// A world that has gone wrong is still finite in double: whatever the answer, it comes, and names a triangle.
TEST(TriangleTree, MeshBeyondTheRangeOfFloatsIsAnsweredToo) {
  const TriangleMesh mesh = make_noisy_sphere(1.0, 500, 0.01, 4);
  for (const double size : {1e20, 1e39, 1e100, 1e200, 1e300}) {
    TriangleTree tree(mesh);
    std::vector<Vec3> vertices = mesh.vertices;
    for (std::size_t i = 0; i < vertices.size(); i += 3) vertices[i] *= size;
    ASSERT_TRUE(tree.refit(vertices));
    for (const Vec3& p : {Vec3(0.1, 0.2, 0.3), Vec3(0.3 * size, -size, 0.0)}) {
      for (const double reach : {1.0, size, std::numeric_limits<double>::infinity()}) {
        ClosestPoint c;
        SegmentHit hit;
        if (tree.find_closest(p, reach, c)) {
          EXPECT_GE(c.triangle, 0);
          EXPECT_LT(c.triangle, static_cast<std::int32_t>(mesh.triangles.size()));
        }
        if (tree.find_first_hit(p, Vec3(-p), hit)) {
          EXPECT_GE(hit.triangle, 0);
        }
      }
    }
  }
}

TEST(TriangleTree, QueriesAndRefitAllocateNothing) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  TriangleTree tree(make_noisy_sphere(1.0, 2000, 0.01, 4));
  const std::vector<Vec3> vertices = tree.mesh().vertices;
  std::vector<std::int32_t> found(100);
  const std::vector<std::int32_t> moved = {0, 1, 2, 500, 999};
  std::mt19937_64 random(12);
  long violations = 0;
  for (int q = 0; q < 1000; ++q) {
    const Vec3 a = 1.5 * random_vector(random), b = random_vector(random);
    const testing::RealtimeGuard guard;
    SegmentHit hit;
    ClosestPoint c;
    tree.find_first_hit(a, b, hit);
    if (tree.find_closest(a, 10, c)) tree.pseudo_normal(c);
    tree.signed_distance(b);
    tree.find_within(a, 0.5, found);
    if (q % 100 == 0) tree.refit(vertices);
    if (q % 100 == 50) tree.refit(vertices, moved);
    violations += guard.violations().total();
  }
  EXPECT_EQ(violations, 0);
}

}  // namespace
}  // namespace palpate::triangle_tree_test
