#include "palpate/geometry/shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/tet_mesher.h"

namespace palpate::shapes_test {
namespace {

constexpr double kPi = std::numbers::pi;

void expect_clean(const TriangleMesh& mesh, int genus) {
  const MeshReport report = check_mesh(mesh);
  EXPECT_TRUE(report.is_clean()) << report.describe();
  EXPECT_EQ(report.components, 1);
  EXPECT_EQ(report.non_manifold_vertices, 0);
  EXPECT_EQ(report.genus, genus);
}

TEST(Shapes, AreClosedOutwardAndOfTheRightGenus) {
  for (const int n : {1, 2, 5}) expect_clean(make_box(Vec3(0.1, 0.2, 0.3), n), 0);
  for (const int n : {1, 2, 3, 10}) expect_clean(make_sphere(0.05, n), 0);
  expect_clean(make_noisy_sphere(0.1, 1000, 0.001, 1), 0);
  for (const int n : {3, 4, 24}) expect_clean(make_cylinder(0.01, 0.1, n, 5), 0);
  for (const int n : {4, 5, 24}) expect_clean(make_capsule(0.01, 0.1, n), 0);
  for (const int n : {3, 24}) expect_clean(make_torus(0.1, 0.03, 2 * n, n), 1);
  for (const int n : {16, 40, 64}) expect_clean(make_organ(0.2, n), 0);
  for (const int n : {40, 56}) expect_clean(make_figure(0.2, n), 3);
}

TEST(Shapes, BoxIsExact) {
  const TriangleMesh box = make_box(Vec3(1, 2, 3), 4);
  EXPECT_NEAR(compute_volume(box), 6.0, 1e-14);
  EXPECT_NEAR(compute_area(box), 22.0, 1e-13);
  EXPECT_EQ(box.triangles.size(), 12u * 16u);
}

/// Volume and area of inscribed meshes fall short by c·h², so halving h quarters the shortfall; the next term is of
/// order h⁴, under a percent at these resolutions.
template <typename Make>
void expect_second_order(Make make, int coarse, double volume, double area) {
  const TriangleMesh a = make(coarse), b = make(2 * coarse);
  const double v1 = volume - compute_volume(a), v2 = volume - compute_volume(b);
  const double s1 = area - compute_area(a), s2 = area - compute_area(b);
  EXPECT_GT(v2, 0.0);
  EXPECT_NEAR(v1 / v2, 4.0, 0.04);
  EXPECT_GT(s2, 0.0);
  EXPECT_NEAR(s1 / s2, 4.0, 0.06);
  EXPECT_LT(v2, 0.01 * volume);
}

TEST(Shapes, VolumeAndAreaConvergeWithSecondOrder) {
  expect_second_order([](int n) { return make_sphere(1.0, n); }, 16, 4.0 / 3.0 * kPi, 4.0 * kPi);
  expect_second_order([](int n) { return make_cylinder(1.0, 2.0, n, n / 4); }, 48, 2.0 * kPi, 6.0 * kPi);
  // Along the straight part the capsule's rings number length · around / (2π r), here n / π, and do not matter.
  expect_second_order([](int n) { return make_capsule(1.0, 2.0, n); }, 48, (2.0 + 4.0 / 3.0) * kPi, 8.0 * kPi);
  expect_second_order([](int n) { return make_torus(1.0, 0.3, 3 * n, n); }, 24, 2.0 * kPi * kPi * 0.09,
                      4.0 * kPi * kPi * 0.3);
}

TEST(Shapes, SphereVerticesLieOnIt) {
  for (const Vec3& p : make_sphere(0.3, 7).vertices) EXPECT_NEAR(p.norm(), 0.3, 1e-16);
  EXPECT_EQ(make_sphere(1.0, 7).triangles.size(), 20u * 49u);
  const TriangleMesh noisy = make_noisy_sphere(0.3, 2000, 0.01, 9);
  double least = 1.0, most = 0.0;
  for (const Vec3& p : noisy.vertices) {
    least = std::min(least, p.norm());
    most = std::max(most, p.norm());
  }
  // A thousand uniform samples come within a hundredth of both ends (chance of failing 2 · 0.995^1000 ≈ 1 %, once).
  EXPECT_GE(least, 0.29 - 1e-15);
  EXPECT_LT(least, 0.2901);
  EXPECT_LE(most, 0.31 + 1e-15);
  EXPECT_GT(most, 0.3099);
  EXPECT_EQ(make_noisy_sphere(0.3, 2000, 0.01, 9).vertices, noisy.vertices);
  EXPECT_NE(make_noisy_sphere(0.3, 2000, 0.01, 10).vertices, noisy.vertices);
}

TEST(Shapes, SineSurfaceIsAHeightFieldWithNormalsUp) {
  const SineSurface settings;
  const TriangleMesh mesh = make_sine_surface(settings);
  const MeshReport report = check_mesh(mesh);
  EXPECT_FALSE(report.closed);
  EXPECT_TRUE(report.consistent);
  EXPECT_EQ(report.boundary_edges, 400);
  EXPECT_EQ(report.euler_characteristic, 1);
  for (const Vec3& p : mesh.vertices) EXPECT_EQ(p.y(), 0.005 * std::sin(2.0 * kPi * p.x() / 0.025));
  double flat = 0.0;
  for (std::int32_t t = 0; t < report.triangles; ++t) {
    const auto& [i, j, k] = mesh.triangles[t];
    const Vec3 n = compute_area_normal(mesh.vertices[i], mesh.vertices[j], mesh.vertices[k]);
    EXPECT_GT(n.y(), 0.0);
    flat += 0.5 * n.y();
  }
  EXPECT_NEAR(flat, 0.01, 1e-15);  // its shadow is the rectangle
}

TEST(Shapes, ImplicitSurfaceConvergesToItsSphere) {
  const auto sphere = [](const Vec3& p) { return p.norm() - 1.0; };
  BoundingBox box;
  box.add(Vec3::Constant(-1.3));
  box.add(Vec3::Constant(1.3));
  double shortfall[2];
  for (const int i : {0, 1}) {
    const TriangleMesh mesh = make_implicit_surface(sphere, box, i == 0 ? 0.2 : 0.1);
    expect_clean(mesh, 0);
    for (const Vec3& p : mesh.vertices) EXPECT_NEAR(p.norm(), 1.0, 1e-12);  // Newton has converged
    shortfall[i] = 4.0 / 3.0 * kPi - compute_volume(mesh);
    // Well-shaped: relaxation leaves no edge below a tenth of the longest.
    const MeshReport report = check_mesh(mesh);
    EXPECT_GT(report.shortest_edge, 0.1 * report.longest_edge);
  }
  // Second order, but the two meshes are not alike: allow a quarter.
  EXPECT_NEAR(shortfall[0] / shortfall[1], 4.0, 1.0);
}

// What tets blunt is within a third of a cell of the surface, its end included: nothing is torn off at the cells that
// scenes have.
TEST(Shapes, OrgansTetsReachAllOfItsSurface) {
  const TriangleMesh organ = make_organ(0.2, 48);
  for (const double cell : {0.014, 0.015, 0.016, 0.017, 0.018, 0.019, 0.02}) {
    const TriangleTree solid(extract_surface(make_tets(TriangleTree(organ), cell)).mesh);
    double worst = 0.0;
    for (const Vec3& p : organ.vertices) {
      ClosestPoint closest;
      ASSERT_TRUE(solid.find_closest(p, 1.0, closest));
      worst = std::max(worst, closest.distance);
    }
    EXPECT_LT(worst, cell / 3.0) << cell;
  }
}

TEST(Shapes, OrganAndFigureHaveTheAskedSizeAndFaceOutward) {
  EXPECT_NEAR(check_mesh(make_organ(0.2, 40)).box.size().x(), 0.2, 1e-15);
  const TriangleMesh figure = make_figure(0.3, 48);
  const MeshReport report = check_mesh(figure);
  EXPECT_NEAR(report.box.size().y(), 0.3, 1e-15);
  EXPECT_NEAR(report.box.lower.y(), 0.0, 1e-16);
  // Twice as fine a grid changes the volume by little: the shape is resolved, not an artefact of the grid.
  EXPECT_NEAR(compute_volume(make_figure(0.3, 96)) / report.volume, 1.0, 0.01);
  EXPECT_NEAR(compute_volume(make_organ(0.2, 80)) / compute_volume(make_organ(0.2, 40)), 1.0, 0.005);
}

TEST(Shapes, RefuseWhatIsNotAShape) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(make_box(Vec3(1, 0, 1), 1), InputError);
  EXPECT_THROW(make_box(Vec3(1, nan, 1), 1), InputError);
  EXPECT_THROW(make_box(Vec3(1, 1, 1), 0), InputError);
  EXPECT_THROW(make_sphere(-1.0, 4), InputError);
  EXPECT_THROW(make_noisy_sphere(1.0, 100, 1.0, 1), InputError);
  EXPECT_THROW(make_cylinder(1.0, 1.0, 2, 1), InputError);
  EXPECT_THROW(make_capsule(1.0, 1.0, 3), InputError);
  EXPECT_THROW(make_torus(0.5, 0.5, 10, 10), InputError);
  SineSurface sine;
  sine.cell = 1e-9;
  EXPECT_THROW(make_sine_surface(sine), InputError);
  EXPECT_THROW(make_organ(0.2, 4), InputError);
  EXPECT_THROW(make_figure(0.0, 64), InputError);
  BoundingBox tight;
  tight.add(Vec3::Constant(-0.5));
  tight.add(Vec3::Constant(0.5));
  EXPECT_THROW(make_implicit_surface([](const Vec3& p) { return p.norm() - 1.0; }, tight, 0.1), InputError);
  EXPECT_THROW(make_implicit_surface([](const Vec3&) { return 1.0; }, tight, 0.1), InputError);
}

}  // namespace
}  // namespace palpate::shapes_test
