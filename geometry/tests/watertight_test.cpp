#include <gtest/gtest.h>

#include "brute_force.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/triangle_tree.h"

namespace palpate::watertight_test {
namespace {

using reference::moved;
using reference::random_vector;

constexpr double kNoise = 0.05;
/// A noisy sphere of radius 1 with edges of about 0.07 contains this ball and lies within the other.
constexpr double kInside = 0.9, kOutside = 1.06;

/// Aims one segment from outside through `target` (on the surface) to a point within the inner ball.
bool meets(const TriangleTree& tree, const Vec3& center, double scale, const Vec3& target, std::mt19937_64& random) {
  while (true) {
    const Vec3 b = center + 0.99 * kInside * scale * random_vector(random).normalized();
    const Vec3 a = b + 3.0 * (target - b);
    if ((a - center).norm() < kOutside * scale) continue;
    SegmentHit hit;
    return tree.find_first_hit(a, b, hit);
  }
}

/// A closed surface parts inside from outside, so every such segment meets it: no tolerance to derive.
TEST(Watertight, NoSegmentSlipsThroughAVertexOrAnEdge) {
  std::mt19937_64 random(20);
  for (const auto& [scale, offset] : {std::pair{1.0, 0.0}, {1e-6, 0.0}, {10.0, 0.0}, {0.1, 5.0}, {1e-6, 2.0}}) {
    const Vec3 center = offset * Vec3(1.0, -0.7, 0.3);
    const TriangleMesh mesh = moved(make_noisy_sphere(1.0, 5000, kNoise, 5), scale, center);
    const TriangleTree tree(mesh);
    int missed = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto& [i, j, k] = mesh.triangles[t];
      const Vec3 &a = mesh.vertices[i], &b = mesh.vertices[j], &c = mesh.vertices[k];
      for (const Vec3& target : {a, Vec3(0.5 * (a + b)), Vec3(0.5 * (b + c)), Vec3((a + b + c) / 3.0)}) {
        missed += !meets(tree, center, scale, target, random);
      }
    }
    EXPECT_EQ(missed, 0) << "scale " << scale << ", offset " << offset;
  }
}

TEST(Watertight, NoRandomSegmentSlipsThrough) {
  std::mt19937_64 random(21);
  const TriangleTree tree(make_noisy_sphere(1.0, 5000, kNoise, 6));
  int missed = 0;
  for (int q = 0; q < 100000; ++q) {
    const Vec3 a = (kOutside + std::abs(random_vector(random).x())) * random_vector(random).normalized();
    SegmentHit hit;
    missed += !tree.find_first_hit(a, kInside * random_vector(random) / std::sqrt(3.0), hit);
  }
  EXPECT_EQ(missed, 0);
}

TEST(Watertight, NoSegmentAlongTheGridSlipsThroughABox) {
  // Segments parallel to axes and diagonals run exactly through vertices and along the planes of other edges.
  const TriangleTree tree(make_box(Vec3(2, 2, 2), 8));
  SegmentHit hit;
  int missed = 0;
  for (int i = 0; i <= 32; ++i) {
    for (int j = 0; j <= 32; ++j) {
      for (int axis = 0; axis < 3; ++axis) {
        Vec3 a, b;
        a[axis] = i % 2 ? 3.0 : -3.0;
        a[(axis + 1) % 3] = (i - 16) / 16.0;
        a[(axis + 2) % 3] = (j - 16) / 16.0;
        b = a;
        b[axis] = 0.0;
        const bool on_side = i == 0 || i == 32 || j == 0 || j == 32;
        missed += !tree.find_first_hit(a, b, hit) && !on_side;
        if (!on_side) {
          EXPECT_EQ(hit.t, 2.0 / 3.0);
        }
        missed += !tree.find_first_hit(a, Vec3(0, 0, 0), hit);
      }
    }
  }
  EXPECT_EQ(missed, 0);
}

TEST(Watertight, EndsOnTheSurfaceCount) {
  const TriangleTree tree(make_box(Vec3(2, 2, 2), 2));
  SegmentHit hit;
  ASSERT_TRUE(tree.find_first_hit(Vec3(0.3, 0.4, 1), Vec3(0.3, 0.4, 2), hit));
  EXPECT_EQ(hit.t, 0.0);
  ASSERT_TRUE(tree.find_first_hit(Vec3(0.3, 0.4, 2), Vec3(0.3, 0.4, 1), hit));
  EXPECT_EQ(hit.t, 1.0);
  EXPECT_FALSE(tree.find_first_hit(Vec3(0.3, 0.4, 2), Vec3(0.3, 0.4, std::nextafter(1.0, 2.0)), hit));
}

TEST(Watertight, TinySegmentsAcrossALargeMeshMeetIt) {
  // Steps of a fine approach: 10 nm across a 0.2 m sphere. The end points straddle a face by far more than rounding.
  const TriangleMesh mesh = make_noisy_sphere(0.1, 20000, 0.0005, 7);
  const TriangleTree tree(mesh);
  for (std::int32_t t = 0; t < static_cast<std::int32_t>(mesh.triangles.size()); ++t) {
    const auto& [i, j, k] = mesh.triangles[t];
    const Vec3 p = (mesh.vertices[i] + mesh.vertices[j] + mesh.vertices[k]) / 3.0;
    const Vec3 n = compute_unit_normal(mesh, t);
    SegmentHit hit;
    ASSERT_TRUE(tree.find_first_hit(p + 5e-9 * n, p - 5e-9 * n, hit));
    EXPECT_EQ(hit.triangle, t);
    // p is known to 2^-53 · 0.1 m ≈ 1e-17, of 1e-8 m.
    EXPECT_NEAR(hit.t, 0.5, 1e-8);
  }
}

}  // namespace
}  // namespace palpate::watertight_test
