#include "palpate/geometry/tet_mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"

namespace palpate::tet_mesh_test {
namespace {

TEST(TetBlock, EightCubedCellsAre2560TetsThatFillTheBox) {
  const TetMesh mesh = make_tet_block(Vec3(0.1, 0.2, 0.3), {8, 8, 8});
  EXPECT_EQ(mesh.tets.size(), 2560u);
  EXPECT_EQ(mesh.vertices.size(), 729u);
  const TetMeshReport report = check_tet_mesh(mesh);
  EXPECT_TRUE(report.is_clean()) << report.describe();
  EXPECT_NEAR(report.volume, 0.006, 1e-15);
  EXPECT_GT(report.smallest_volume, 0.0);
}

// If the diagonals of neighbouring cells did not match, inner faces would be left over and the surface would be larger.
TEST(TetBlock, NeighboursMatch_SoTheSurfaceIsTheBoxs) {
  for (const std::array<int, 3> cells : {std::array{1, 1, 1}, std::array{3, 2, 4}, std::array{2, 5, 3}}) {
    const TetMesh mesh = make_tet_block(Vec3(0.3, 0.2, 0.4), cells);
    const SolidSurface surface = extract_surface(mesh);
    const auto [nx, ny, nz] = cells;
    EXPECT_EQ(surface.mesh.triangles.size(), as_size(4 * (nx * ny + ny * nz + nz * nx)));
    const MeshReport report = check_mesh(surface.mesh);
    EXPECT_TRUE(report.is_clean()) << report.describe();
    EXPECT_EQ(report.genus, 0);
    EXPECT_NEAR(report.volume, 0.024, 1e-15);
    EXPECT_NEAR(compute_area(surface.mesh), 2.0 * (0.06 + 0.08 + 0.12), 1e-14);
    for (std::size_t v = 0; v < surface.node.size(); ++v) {
      EXPECT_EQ(surface.mesh.vertices[v], mesh.vertices[surface.node[v]]);
    }
    for (std::size_t t = 0; t < surface.element.size(); ++t) {
      const auto& tet = mesh.tets[surface.element[t]];
      for (const std::int32_t v : surface.mesh.triangles[t]) {
        EXPECT_NE(std::find(tet.begin(), tet.end(), surface.node[v]), tet.end());
      }
    }
  }
}

// What experiments with a symmetry rely on: bodies that should feel the same on two sides have the same elements there.
TEST(TetBlock, WithEvenNumbersOfCellsIsItsOwnMirrorImageAlongEveryAxis) {
  const Vec3 size(0.06, 0.04, 0.04);
  const TetMesh mesh = make_tet_block(size, {6, 4, 4});
  // Corners are compared as whole numbers, since a third of an edge is not the same from both ends by an ulp or so.
  const auto corners_of = [&](const std::array<std::int32_t, 4>& tet, const Vec3& signs) {
    std::array<std::array<long, 3>, 4> out;
    for (std::size_t c = 0; c < 4; ++c) {
      const Vec3 x = signs.cwiseProduct(mesh.vertices[as_size(tet[c])]);
      for (int axis = 0; axis < 3; ++axis) {
        const double cell = 1e6 * x[axis];
        EXPECT_NEAR(cell, std::round(cell), 1e-6);
        out[c][as_size(axis)] = std::lround(cell);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  std::set<std::array<std::array<long, 3>, 4>> all;
  for (const auto& tet : mesh.tets) all.insert(corners_of(tet, Vec3::Ones()));
  ASSERT_EQ(all.size(), mesh.tets.size());
  for (const Vec3& signs : {Vec3(-1, 1, 1), Vec3(1, -1, 1), Vec3(1, 1, -1), Vec3(-1, -1, 1)}) {
    for (const auto& tet : mesh.tets)
      ASSERT_TRUE(all.contains(corners_of(tet, signs))) << "mirrored by " << signs.transpose();
  }
}

// The middle tet of a cube's five is regular: quality 1, dihedral arccos ⅓; the corner ones have a right-angled corner.
TEST(TetQuality, OfACube_IsKnown) {
  TetMesh mesh = make_tet_block(Vec3(1.0, 1.0, 1.0), {1, 1, 1});
  const TetMeshReport whole = check_tet_mesh(mesh);
  EXPECT_NEAR(whole.largest_dihedral_deg, 90.0, 1e-10);
  mesh.tets.resize(1);
  const TetMeshReport report = check_tet_mesh(mesh);
  EXPECT_NEAR(report.worst_quality, 1.0, 1e-14);
  EXPECT_NEAR(report.smallest_dihedral_deg, 70.528779, 1e-5);
  EXPECT_NEAR(report.volume, 1.0 / 3.0, 1e-15);
  EXPECT_EQ(report.unused_vertices, 4);
}

TEST(TetMeshCheck, CountsEveryFault) {
  TetMesh mesh = make_tet_block(Vec3(1.0, 1.0, 1.0), {1, 1, 1});
  std::swap(mesh.tets[1][0], mesh.tets[1][1]);
  mesh.tets.push_back({0, 1, 2, 2});
  mesh.tets.push_back({0, 1, 2, 99});
  mesh.tets.push_back({0, 1, 2, 3});  // four corners of one face
  mesh.vertices.push_back(Vec3(std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0));
  const TetMeshReport report = check_tet_mesh(mesh);
  EXPECT_EQ(report.inverted_tets, 1);
  EXPECT_EQ(report.collapsed_tets, 1);
  EXPECT_EQ(report.out_of_range_tets, 1);
  EXPECT_EQ(report.flat_tets, 1);
  EXPECT_EQ(report.not_finite_vertices, 1);
  EXPECT_EQ(report.unused_vertices, 1);
  EXPECT_FALSE(report.is_clean());
}

TEST(TetBlock, RefusesWhatIsNoBox) {
  EXPECT_THROW(make_tet_block(Vec3(0.0, 1.0, 1.0), {1, 1, 1}), InputError);
  EXPECT_THROW(make_tet_block(Vec3(1.0, 1.0, 1.0), {1, 0, 1}), InputError);
}

}  // namespace
}  // namespace palpate::tet_mesh_test
