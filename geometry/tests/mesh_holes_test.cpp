#include "palpate/geometry/mesh_holes.h"

#include <gtest/gtest.h>

#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/shapes.h"
#include "random_solids.h"

namespace palpate::mesh_holes_test {
namespace {

/// Without the triangles whose centre is farther along `direction` than `height`.
TriangleMesh cut_open(TriangleMesh mesh, const Vec3& direction, double height) {
  std::erase_if(mesh.triangles, [&](const auto& t) {
    return (mesh.vertices[t[0]] + mesh.vertices[t[1]] + mesh.vertices[t[2]]).dot(direction) > 3.0 * height;
  });
  repair_mesh(mesh);
  return mesh;
}

TEST(MeshHoles, FindsHowManyWhereAndHowLarge) {
  TriangleMesh mesh = make_sphere(1.0, 12);
  EXPECT_TRUE(find_holes(mesh).empty());
  mesh = cut_open(cut_open(mesh, Vec3::UnitY(), 0.8), -Vec3::UnitX(), 0.9);
  const std::vector<MeshHole> holes = find_holes(mesh);
  ASSERT_EQ(holes.size(), 2u);
  EXPECT_EQ(static_cast<int>(holes[0].loop.size() + holes[1].loop.size()), check_mesh(mesh).boundary_edges);
  // Cut off at height h a sphere has an opening of 2 √(1 − h²); triangles are 0.1 long.
  EXPECT_NEAR(holes[0].diameter, 1.2, 0.2);
  EXPECT_NEAR(holes[1].diameter, 2.0 * std::sqrt(0.19), 0.2);
  EXPECT_LT((holes[0].centre - Vec3(0.0, 0.8, 0.0)).norm(), 0.1);
  EXPECT_LT((holes[1].centre - Vec3(-0.9, 0.0, 0.0)).norm(), 0.1);
  EXPECT_EQ(describe_holes(holes).rfind("2 holes: ", 0), 0u) << describe_holes(holes);
}

/// A flat lid closes the cap that was cut off: the volume is the sphere's less the cap's, π h² (3 − h) / 3 at radius 1.
TEST(MeshHoles, AreClosedByTheSmallestSurface) {
  for (const double height : {0.9, 0.5, 0.0, -0.5}) {
    TriangleMesh mesh = cut_open(make_sphere(1.0, 20), Vec3(0.6, 0.8, 0.0), height);
    const double before = compute_area(mesh);
    EXPECT_EQ(fill_holes(mesh), 1);
    const MeshReport report = check_mesh(mesh);
    EXPECT_TRUE(report.is_clean()) << report.describe();
    EXPECT_EQ(report.genus, 0);
    const double pi = 3.14159265358979323846, h = 1.0 - height;
    const double exact = 4.0 / 3.0 * pi - pi * h * h * (3.0 - h) / 3.0;
    EXPECT_NEAR(report.volume, exact, 0.06 * pi) << "an edge times the largest lid: the rim is ragged";
    EXPECT_NEAR(compute_area(mesh) - before, pi * (1.0 - height * height), 0.15 * pi) << "a flat lid";
  }
}

/// However they are torn, no edge gets three triangles.
TEST(MeshHoles, OfTornSurfacesAreAllClosed) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    TriangleMesh mesh = seed % 2 ? make_torus(0.5, 0.2, 24, 12) : make_sphere(0.5, 8);
    std::shuffle(mesh.triangles.begin(), mesh.triangles.end(), random);
    mesh.triangles.resize(mesh.triangles.size() * (6 + seed % 4) / 10);
    const MeshRepair repair = repair_mesh(mesh, {.fill_holes = true});
    EXPECT_GT(repair.filled_holes, 0);
    const MeshReport report = check_mesh(mesh);
    EXPECT_TRUE(report.closed && report.consistent) << "seed " << seed << ": " << report.describe();
    EXPECT_GT(report.volume, 0.0);
  }
}

TEST(MeshHoles, AVeryLongOneGetsAVertexInTheMiddle) {
  TriangleMesh mesh = cut_open(make_cylinder(1.0, 1.0, 600, 2), Vec3::UnitY(), 0.45);
  EXPECT_EQ(fill_holes(mesh), 1);
  EXPECT_TRUE(check_mesh(mesh).is_clean());
}

TEST(SelfIntersections, AreFoundWhereBallsOverlapAndNowhereElse) {
  TriangleMesh mesh = make_sphere(0.5, 8);
  EXPECT_TRUE(find_self_intersections(mesh).empty());
  EXPECT_TRUE(find_self_intersections(make_organ(0.2, 32)).empty());
  testing::append(mesh, make_sphere(0.5, 8), Vec3(0.61, 0.0, 0.0));
  const std::vector<SelfIntersection> found = find_self_intersections(mesh);
  EXPECT_GT(found.size(), 10u);
  // On the circle where both spheres are: x = 0.305, radius √(0.25 − 0.305²); chords lie a little inside.
  for (const SelfIntersection& s : found) {
    EXPECT_NEAR(s.position.x(), 0.305, 0.02);
    EXPECT_NEAR(Vec3(0.0, s.position.y(), s.position.z()).norm(), std::sqrt(0.25 - 0.305 * 0.305), 0.02);
  }
}

/// A part that faces inward is a cavity only inside another one.
TEST(RepairMesh, TurnsAFlippedPartThatTouchesTheOtherInAVertex) {
  TriangleMesh mesh{
      {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1), Vec3(-1, 0, 0), Vec3(0, -1, 0), Vec3(0, 0, -1)},
      {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}, {0, 5, 4}, {0, 4, 6}, {0, 6, 5}, {4, 5, 6}}};
  EXPECT_EQ(repair_mesh(mesh).turned_components, 1);
  EXPECT_NEAR(compute_volume(mesh), 1.0 / 3.0, 1e-12);
}

TEST(RepairMesh, TurnsAFlippedPartThatIsNoCavity) {
  TriangleMesh flipped = make_sphere(0.2, 4);
  for (auto& triangle : flipped.triangles) std::swap(triangle[0], triangle[1]);
  TriangleMesh mesh = make_sphere(0.5, 6);
  const double one = compute_volume(mesh), other = -compute_volume(flipped);
  testing::append(mesh, flipped, Vec3(2.0, 0.0, 0.0));
  testing::append(mesh, flipped, Vec3(0.1, 0.0, 0.0));
  EXPECT_EQ(repair_mesh(mesh).turned_components, 1);
  EXPECT_NEAR(compute_volume(mesh), one + other - other, 1e-12);
}

}  // namespace
}  // namespace palpate::mesh_holes_test
