#include "palpate/geometry/hex_grid.h"

#include <gtest/gtest.h>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/shapes.h"

namespace palpate::hex_grid_test {
namespace {

double filled_volume(const HexGrid& grid) {
  double volume = 0.0;
  for (const double share : grid.fill) volume += share * grid.cell.prod();
  return volume;
}

TEST(HexGrid, BlockIsFullAndItsSurfaceTheBoxs) {
  const HexGrid grid = make_hex_grid(Vec3(0.4, 0.2, 0.3), {4, 2, 3});
  EXPECT_EQ(grid.hexes.size(), 24u);
  EXPECT_EQ(grid.vertices.size(), 60u);
  EXPECT_NEAR(filled_volume(grid), 0.024, 1e-15);
  const SolidSurface surface = extract_surface(grid);
  const MeshReport report = check_mesh(surface.mesh);
  EXPECT_TRUE(report.is_clean()) << report.describe();
  EXPECT_NEAR(report.volume, 0.024, 1e-15);
  for (const auto& hex : grid.hexes) {
    EXPECT_TRUE(std::is_sorted(hex.begin(), hex.end()));
    EXPECT_LT((grid.vertices[hex[7]] - grid.vertices[hex[0]] - grid.cell).norm(), 1e-15);
  }
}

// Sampling errors of the cells that the surface cuts have either sign: the volume converges to the mesh's.
TEST(Voxels, FillTheVolumeOfAClosedSurface) {
  for (const TriangleMesh& mesh : {make_sphere(0.05, 10), make_torus(0.05, 0.02, 40, 20)}) {
    const double volume = compute_volume(mesh);
    const HexGrid grid = make_voxels(TriangleTree(mesh), {.cell = 0.008, .samples = 6, .least_fill = 1e-6});
    EXPECT_NEAR(filled_volume(grid), volume, 0.01 * volume);
  }
}

TEST(Voxels, EveryVertexHasACell_AndIsItsTrilinearCombination) {
  const TriangleMesh mesh = make_torus(0.05, 0.02, 40, 20);
  const HexGrid grid = make_voxels(TriangleTree(mesh), {.cell = 0.01});
  for (const double share : grid.fill) {
    EXPECT_GE(share, 0.1);
    EXPECT_LE(share, 1.0);
  }
  const TrilinearEmbedding embedding = embed_points(grid, mesh.vertices);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    EXPECT_GE(grid.find_hex(mesh.vertices[v]), 0);
    Vec3 p = Vec3::Zero();
    for (int c = 0; c < 8; ++c) {
      EXPECT_GT(embedding.weights[v][c], -1e-12);
      p += embedding.weights[v][c] * grid.vertices[grid.hexes[embedding.hex[v]][c]];
    }
    EXPECT_LT((p - mesh.vertices[v]).norm(), 1e-16);
  }
}

TEST(Voxels, HoleOfATorusStaysOpen) {
  const HexGrid grid = make_voxels(TriangleTree(make_torus(0.05, 0.02, 40, 20)), {.cell = 0.008});
  EXPECT_EQ(grid.find_hex(Vec3::Zero()), -1);
  EXPECT_GE(grid.find_hex(Vec3(0.05, 0.0, 0.0)), 0);
  EXPECT_EQ(grid.find_hex(Vec3(1.0, 0.0, 0.0)), -1);
}

TEST(Embedding, PointOutsideHangsOnTheNearestCell) {
  const HexGrid grid = make_hex_grid(Vec3(0.2, 0.2, 0.2), {2, 2, 2});
  const Vec3 outside(0.15, 0.05, 0.05);
  const TrilinearEmbedding embedding = embed_points(grid, std::span(&outside, 1));
  EXPECT_EQ(embedding.hex[0], grid.find_hex(Vec3(0.05, 0.05, 0.05)));
  Vec3 p = Vec3::Zero();
  for (int c = 0; c < 8; ++c) p += embedding.weights[0][c] * grid.vertices[grid.hexes[embedding.hex[0]][c]];
  EXPECT_LT((p - outside).norm(), 1e-15);
}

TEST(Voxels, RefuseSettingsOutOfRange) {
  const TriangleTree tree(make_sphere(0.05, 4));
  EXPECT_THROW(make_voxels(tree, {.cell = 0.0}), InputError);
  EXPECT_THROW(make_voxels(tree, {.cell = 1e-6}), InputError);
  EXPECT_THROW(make_voxels(tree, {.cell = 0.01, .samples = 0}), InputError);
}

}  // namespace
}  // namespace palpate::hex_grid_test
