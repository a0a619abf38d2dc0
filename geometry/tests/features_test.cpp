#include <gtest/gtest.h>

#include <set>

#include "brute_force.h"
#include "palpate/core/error.h"
#include "palpate/geometry/box_tree.h"
#include "palpate/geometry/closest_features.h"
#include "palpate/geometry/convex_shape.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/surface_features.h"

namespace palpate::features_test {
namespace {

using reference::random_vector;

TEST(ClosestFeatures, TriangleIsAsNearAsByRegions) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const TriangleMesh mesh = reference::make_soup(1, random());
    const Vec3 p = random_vector(random);
    const Vec3 w = closest_on_triangle(p, mesh.vertices[0], mesh.vertices[1], mesh.vertices[2]);
    EXPECT_NEAR(w.sum(), 1.0, 1e-15);
    EXPECT_GE(w.minCoeff(), 0.0);
    const Vec3 q = w[0] * mesh.vertices[0] + w[1] * mesh.vertices[1] + w[2] * mesh.vertices[2];
    // Triangles up to 1 : 100 thin lose up to 10^4 of the weights' digits, within the triangle.
    EXPECT_NEAR((p - q).norm(), static_cast<double>(reference::distance(mesh, 0, p)), 1e4 * 0x1p-52);
  }
}

TEST(ClosestFeatures, SegmentsAreAsNearAsAnySample) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const Vec3 a = random_vector(random), b = random_vector(random), c = random_vector(random);
    // Every fourth pair parallel, every fifth nearly.
    Vec3 d = random_vector(random);
    if (trial % 4 == 0) d = c + 0.7 * (b - a);
    if (trial % 5 == 0) d = c + 0.7 * (b - a) + 1e-7 * random_vector(random);
    const SegmentPair n = closest_of_segments(a, b, c, d);
    const double found = (a + n.s * (b - a) - c - n.t * (d - c)).norm();
    double least = 1e9;
    for (int i = 0; i <= 100; ++i) {
      const Vec3 p = a + 0.01 * i * (b - a);
      const double t = closest_on_segment(p, c, d);
      least = std::min(least, (p - c - t * (d - c)).norm());
    }
    EXPECT_LE(found, least + 1e-12);
    // A sample is at most half an interval from the best.
    EXPECT_GE(found, least - 0.005 * (b - a).norm() - 1e-12);
    EXPECT_GE(std::min(n.s, n.t), 0.0);
    EXPECT_LE(std::max(n.s, n.t), 1.0);
  }
}

std::vector<BoundingBox> random_boxes(std::mt19937_64& random, int count) {
  std::vector<BoundingBox> boxes(as_size(count));
  for (BoundingBox& b : boxes) {
    const Vec3 p = random_vector(random);
    b.add(p);
    b.add(p + 0.2 * random_vector(random));
  }
  return boxes;
}

TEST(BoxTree, FindsAllPairsThatOverlapOnce) {
  std::mt19937_64 random(3);
  const auto overlap = [](const BoundingBox& a, const BoundingBox& b) {
    return (a.lower.array() <= b.upper.array()).all() && (b.lower.array() <= a.upper.array()).all();
  };
  for (const auto& [m, n] : {std::pair(1, 1), std::pair(1, 50), std::pair(70, 40), std::pair(200, 3)}) {
    BoxTree a(random_boxes(random, m)), b(random_boxes(random, n));
    // Moved since they were built.
    const std::vector<BoundingBox> p = random_boxes(random, m), q = random_boxes(random, n);
    a.refit(p);
    b.refit(q);
    std::set<std::pair<int, int>> found, expected, own, expected_own;
    BoxTree::visit_pairs(a, b, [&](std::int32_t i, std::int32_t j) { EXPECT_TRUE(found.emplace(i, j).second); });
    a.visit_own_pairs([&](std::int32_t i, std::int32_t j) { EXPECT_TRUE(own.emplace(i, j).second); });
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        if (overlap(p[as_size(i)], q[as_size(j)])) expected.emplace(i, j);
      }
      for (int j = i + 1; j < m; ++j) {
        if (overlap(p[as_size(i)], p[as_size(j)])) expected_own.emplace(i, j);
      }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(own, expected_own);
  }
}

TEST(SurfaceFeatures, EachVertexAndEdgeHasOneOwnerAndEulerHolds) {
  for (const TriangleMesh& mesh : {make_sphere(1.0, 4), make_box(Vec3::Ones(), 3), make_torus(1.0, 0.3, 12, 8)}) {
    const SurfaceFeatures features(mesh.triangles, mesh.vertices.size());
    EXPECT_TRUE(features.is_closed());
    std::set<std::int32_t> vertices, edges;
    for (const SurfaceFeatures::Primitive& p : features.primitives()) {
      for (std::size_t c = 0; c < 3; ++c) {
        if (p.owns_vertex[c]) {
          EXPECT_TRUE(vertices.insert(p.vertex[c]).second);
        }
        if (p.edge[c] >= 0) {
          EXPECT_TRUE(edges.insert(p.edge[c]).second);
        }
      }
    }
    EXPECT_EQ(vertices.size(), features.vertices().size());
    EXPECT_EQ(edges.size(), features.edges().size());
    const int euler = static_cast<int>(vertices.size() + mesh.triangles.size()) - static_cast<int>(edges.size());
    EXPECT_EQ(euler, mesh.triangles.size() == 192 ? 0 : 2);
    // Neighbours are mutual, and each edge counts at both its ends.
    std::size_t sum = 0;
    for (const std::int32_t v : features.vertices()) {
      for (const std::int32_t w : features.neighbours(v)) {
        const auto back = features.neighbours(w);
        EXPECT_NE(std::find(back.begin(), back.end(), v), back.end());
        ++sum;
      }
    }
    EXPECT_EQ(sum, 2 * edges.size());
  }
  const TriangleMesh sheet = make_sine_surface({.cell = 0.02});
  EXPECT_FALSE(SurfaceFeatures(sheet.triangles, sheet.vertices.size()).is_closed());
  const std::array<std::int32_t, 3> bad[] = {{0, 1, 1}};
  EXPECT_THROW(SurfaceFeatures(bad, 3), InputError);
}

TEST(ConvexHull, EnclosesAllPointsAndIsClosed) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<Vec3> points;
    for (int i = 0; i < 60; ++i) points.push_back(random_vector(random));
    // Points on faces and edges of a box too: they are no corners.
    if (trial % 2 == 0) points = make_box(Vec3(1.0, 2.0, 0.5), 3).vertices;
    const ConvexPolyhedron hull = make_convex_hull(points);
    for (const ConvexPolyhedron::Face& f : hull.faces) {
      for (const Vec3& p : points) EXPECT_LE(f.normal.dot(p), f.offset + 1e-7);
      for (std::int32_t k = 0; k < f.count; ++k) {
        EXPECT_NEAR(f.normal.dot(hull.vertices[hull.loop[f.begin + k]]), f.offset, 1e-7);
      }
    }
    const TriangleMesh mesh = make_triangles(hull);
    EXPECT_TRUE(SurfaceFeatures(mesh.triangles, mesh.vertices.size()).is_closed());
    EXPECT_GT(compute_volume(mesh), 0.0);
    EXPECT_EQ(hull.vertices.size() + hull.faces.size(), hull.edges.size() + 2);
    if (trial % 2 == 0) {
      EXPECT_EQ(hull.vertices.size(), 8u);
    }
  }
  const Vec3 flat[] = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(1, 1, 0)};
  EXPECT_THROW(make_convex_hull(flat), InputError);
}

// The nearer two points are, the less rounding it takes to lose one: every point that is a corner stays one, all faces
// have their corners in their plane, and every edge has one on either side.
TEST(ConvexHull, OfManyPointsOnASphereIsClosedAndHasThemAll) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<Vec3> points;
    for (int i = 0; i < 250; ++i) {
      const double x = normal(random), y = normal(random), z = normal(random);
      points.push_back(0.05 * Vec3(x, y, z).normalized());
    }
    const ConvexPolyhedron hull = make_convex_hull(points);
    EXPECT_EQ(hull.vertices.size(), points.size());
    EXPECT_EQ(hull.vertices.size() + hull.faces.size(), hull.edges.size() + 2);
    for (const ConvexPolyhedron::Edge& e : hull.edges) EXPECT_GE(std::min(e.face[0], e.face[1]), 0);
    for (const ConvexPolyhedron::Face& f : hull.faces) {
      EXPECT_EQ(f.count, 3);
      for (std::int32_t k = 0; k < f.count; ++k) {
        EXPECT_NEAR(f.normal.dot(hull.vertices[hull.loop[f.begin + k]]), f.offset, 1e-15);
      }
    }
  }
}

}  // namespace
}  // namespace palpate::features_test
