#include "palpate/geometry/mesh_check.h"

#include <gtest/gtest.h>

#include <random>

#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"

namespace palpate::mesh_check_test {
namespace {

TriangleMesh join(TriangleMesh a, const TriangleMesh& b, const Vec3& offset) {
  const auto n = static_cast<std::int32_t>(a.vertices.size());
  for (const Vec3& p : b.vertices) a.vertices.push_back(p + offset);
  for (const auto& [i, j, k] : b.triangles) a.triangles.push_back({i + n, j + n, k + n});
  return a;
}

void turn(TriangleMesh& mesh) {
  for (auto& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
}

/// Each triangle with three vertices of its own, as in an STL file.
TriangleMesh unshare(const TriangleMesh& mesh) {
  TriangleMesh soup;
  for (const auto& triangle : mesh.triangles) {
    const auto n = static_cast<std::int32_t>(soup.vertices.size());
    for (const std::int32_t i : triangle) soup.vertices.push_back(mesh.vertices[i]);
    soup.triangles.push_back({n, n + 1, n + 2});
  }
  return soup;
}

TEST(CheckMesh, CountsWhatIsThere) {
  TriangleMesh mesh = make_box(Vec3(1, 1, 1), 2);
  MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.triangles, 48);
  EXPECT_EQ(report.vertices, 26);
  EXPECT_EQ(report.edges, 72);
  EXPECT_EQ(report.euler_characteristic, 2);
  EXPECT_DOUBLE_EQ(report.shortest_edge, 0.5);
  EXPECT_DOUBLE_EQ(report.longest_edge, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(report.volume, 1.0);
  EXPECT_TRUE(report.is_clean());

  mesh.triangles.pop_back();
  report = check_mesh(mesh);
  EXPECT_EQ(report.boundary_edges, 3);
  EXPECT_FALSE(report.closed);
  EXPECT_EQ(report.genus, -1);
}

TEST(CheckMesh, NamesEachFault) {
  const TriangleMesh clean = make_box(Vec3(1, 1, 1), 2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TriangleMesh mesh = clean;
  mesh.vertices.emplace_back(nan, 0, 0);
  mesh.vertices.push_back(mesh.vertices[0]);
  EXPECT_EQ(check_mesh(mesh).not_finite_vertices, 1);
  EXPECT_EQ(check_mesh(mesh).duplicate_vertices, 1);
  EXPECT_EQ(check_mesh(mesh).unused_vertices, 2);
  mesh = clean;
  mesh.triangles.push_back({0, 1, 1});
  mesh.triangles.push_back({0, 1, 1000});
  mesh.triangles.push_back({0, 1, -1});
  EXPECT_EQ(check_mesh(mesh).collapsed_triangles, 1);
  EXPECT_EQ(check_mesh(mesh).out_of_range_triangles, 2);
  EXPECT_TRUE(check_mesh(mesh).closed);
  mesh = clean;
  mesh.triangles.push_back({mesh.triangles[0][1], mesh.triangles[0][0], mesh.triangles[0][2]});
  EXPECT_EQ(check_mesh(mesh).duplicate_triangles, 1);
  EXPECT_EQ(check_mesh(mesh).non_manifold_edges, 3);
  mesh = clean;
  std::swap(mesh.triangles[7][0], mesh.triangles[7][1]);
  EXPECT_EQ(check_mesh(mesh).inconsistent_edges, 3);
  mesh = clean;
  turn(mesh);
  EXPECT_LT(check_mesh(mesh).volume, 0.0);
  EXPECT_FALSE(check_mesh(mesh).is_clean());
  EXPECT_EQ(check_mesh({}).triangles, 0);
  EXPECT_FALSE(check_mesh({}).closed);
}

TEST(CheckMesh, FlatTrianglesAreFlatAtEveryScale) {
  for (const double scale : {1e-6, 1.0, 1e3}) {
    TriangleMesh mesh;
    mesh.vertices = {scale * Vec3(0.1, 0.2, 0.3), scale * Vec3(0.4, 0.8, 1.2), scale * Vec3(0.2, 0.4, 0.6),
                     scale * Vec3(0.2, 0.4, 0.6 + 1e-9)};
    mesh.triangles = {{0, 1, 2}, {0, 1, 3}};
    EXPECT_EQ(check_mesh(mesh).flat_triangles, 1) << "a height of 1e-9 is no rounding";
  }
}

TEST(CheckMesh, TwoPartsAtOneVertexAreNotManifoldThere) {
  TriangleMesh mesh = join(make_sphere(1.0, 1), make_sphere(1.0, 1), Vec3(5, 0, 0));
  for (auto& triangle : mesh.triangles) {
    for (std::int32_t& i : triangle) {
      if (i == 12) i = 0;
    }
  }
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.non_manifold_vertices, 1);
  EXPECT_EQ(report.components, 2);
  EXPECT_EQ(report.euler_characteristic, 4);
  EXPECT_EQ(report.genus, 0);
}

TEST(RepairMesh, GivesBackTheMeshThatWasBroken) {
  const TriangleMesh torus = make_torus(1.0, 0.3, 20, 10);
  TriangleMesh mesh = unshare(torus);
  std::mt19937 random(1);
  int turned = 0;
  for (auto& triangle : mesh.triangles) {
    if (random() % 4 != 0) continue;
    std::swap(triangle[0], triangle[1]);
    ++turned;
  }
  mesh.triangles.push_back(mesh.triangles[3]);
  mesh.triangles.push_back({5, 5, 7});
  mesh.vertices.emplace_back(9, 9, 9);
  const MeshRepair repair = repair_mesh(mesh);
  EXPECT_EQ(repair.merged_vertices, 3 * 400 - 200);
  EXPECT_EQ(repair.dropped_duplicates, 1);
  EXPECT_EQ(repair.dropped_collapsed, 1);
  EXPECT_EQ(repair.dropped_vertices, 1);
  EXPECT_EQ(repair.turned_triangles, turned);
  EXPECT_EQ(repair.turned_components, 0);
  const MeshReport report = check_mesh(mesh);
  EXPECT_TRUE(report.is_clean()) << report.describe();
  EXPECT_EQ(report.vertices, 200);
  EXPECT_EQ(report.genus, 1);
  EXPECT_NEAR(report.volume, compute_volume(torus), 1e-14);
  EXPECT_FALSE(repair_mesh(mesh).changed()) << "a second repair finds nothing";
}

TEST(RepairMesh, TurnsInwardPartsOutwardButKeepsCavities) {
  TriangleMesh inward = make_sphere(1.0, 3);
  turn(inward);
  TriangleMesh mesh = inward;
  EXPECT_EQ(repair_mesh(mesh).turned_components, 1);
  EXPECT_TRUE(check_mesh(mesh).is_clean());

  TriangleMesh hollow = join(make_sphere(2.0, 3), inward, Vec3::Zero());
  const double volume = compute_volume(hollow);
  EXPECT_FALSE(repair_mesh(hollow).changed());
  EXPECT_EQ(compute_volume(hollow), volume);
  turn(hollow);
  EXPECT_EQ(repair_mesh(hollow).turned_components, 2);
  EXPECT_NEAR(compute_volume(hollow), volume, 1e-13);
}

TEST(RepairMesh, RefusesWhatItWouldHaveToGuess) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TriangleMesh mesh;
  EXPECT_THROW(repair_mesh(mesh), InputError);
  mesh.vertices = {Vec3(0, 0, 0), Vec3(0, 0, 0), Vec3(0, 1, 0)};
  mesh.triangles = {{0, 1, 2}};
  EXPECT_THROW(repair_mesh(mesh), InputError) << "nothing is left of it";
  mesh.vertices[0].x() = nan;
  EXPECT_THROW(repair_mesh(mesh), InputError);
  mesh.vertices[0] = Vec3(1, 0, 0);
  mesh.triangles = {{0, 1, 3}};
  EXPECT_THROW(repair_mesh(mesh), InputError);

  // A Möbius strip of five quadrangles.
  TriangleMesh strip;
  for (int i = 0; i < 5; ++i) {
    const double u = 2 * M_PI * i / 5;
    const Vec3 out(std::cos(u), std::sin(u), 0), side = std::cos(u / 2) * out + std::sin(u / 2) * Vec3(0, 0, 1);
    strip.vertices.push_back(out + 0.3 * side);
    strip.vertices.push_back(out - 0.3 * side);
  }
  for (std::int32_t i = 0; i < 5; ++i) {
    const std::int32_t a = 2 * i, b = a + 1, c = i < 4 ? a + 2 : 1, d = i < 4 ? a + 3 : 0;
    strip.triangles.push_back({a, b, d});
    strip.triangles.push_back({a, d, c});
  }
  EXPECT_THROW(repair_mesh(strip), InputError);
}

TEST(RepairMesh, NonManifoldAndOpenMeshesPassUnlessRefused) {
  TriangleMesh fin = make_box(Vec3(1, 1, 1), 1);
  fin.vertices.emplace_back(3, 3, 3);
  fin.triangles.push_back({fin.triangles[0][0], fin.triangles[0][1], 8});
  TriangleMesh copy = fin;
  EXPECT_NO_THROW(repair_mesh(copy));
  EXPECT_EQ(check_mesh(copy).non_manifold_edges, 1);
  EXPECT_THROW(repair_mesh(copy, {.refuse_non_manifold = true}), InputError);
  TriangleMesh open = make_sine_surface();
  EXPECT_FALSE(repair_mesh(open).changed());
  EXPECT_THROW(repair_mesh(open, {.refuse_open = true}), InputError);
}

}  // namespace
}  // namespace palpate::mesh_check_test
