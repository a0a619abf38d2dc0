#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/tet_mesher.h"

namespace palpate::crowded_edges_test {
namespace {

using Cells = std::array<std::array<std::array<bool, 6>, 6>, 6>;

/// The surface of cubes of 10 mm, outward: where two touch in an edge, that edge has four triangles.
TriangleMesh make_surface(const Cells& cells) {
  const auto is_full = [&](int x, int y, int z) {
    return std::min({x, y, z}) >= 0 && std::max({x, y, z}) < 6 && cells[as_size(x)][as_size(y)][as_size(z)];
  };
  TriangleMesh mesh;
  for (int x = 0; x < 6; ++x) {
    for (int y = 0; y < 6; ++y) {
      for (int z = 0; z < 6; ++z) {
        if (!is_full(x, y, z)) continue;
        for (int axis = 0; axis < 3; ++axis) {
          for (const int side : {0, 1}) {
            Eigen::Vector3i beside(x, y, z);
            beside[axis] += 2 * side - 1;
            if (is_full(beside.x(), beside.y(), beside.z())) continue;
            Vec3 corner(x, y, z), u = Vec3::Unit((axis + 1) % 3), v = Vec3::Unit((axis + 2) % 3);
            corner[axis] += side;
            if (side == 0) std::swap(u, v);
            const auto at = static_cast<std::int32_t>(mesh.vertices.size());
            for (const Vec3& p : {corner, Vec3(corner + u), Vec3(corner + u + v), Vec3(corner + v)})
              mesh.vertices.push_back(0.01 * p);
            mesh.triangles.push_back({at, at + 1, at + 2});
            mesh.triangles.push_back({at, at + 2, at + 3});
          }
        }
      }
    }
  }
  return mesh;
}

// Cubes that touch in faces, edges and corners, at random: the surface is closed, encloses them all, and has tets.
TEST(RepairMesh, PartsSolidsThatTouchInAnEdge) {
  std::mt19937 random(7);
  int parted = 0;
  for (int i = 0; i < 60; ++i) {
    Cells cells{};
    int full = 0;
    for (auto& plane : cells) {
      for (auto& row : plane) {
        for (bool& cell : row) full += cell = std::bernoulli_distribution(0.1 + 0.01 * i)(random);
      }
    }
    TriangleMesh mesh = make_surface(cells);
    const MeshRepair repair = repair_mesh(mesh);
    parted += repair.parted_edges;
    const MeshReport report = check_mesh(mesh);
    ASSERT_TRUE(report.closed && report.consistent) << i << ": " << report.describe();
    EXPECT_NEAR(report.volume, 1e-6 * full, 1e-12) << i;
    if (i % 10 == 0) {
      const TetMesh tets = make_tets(TriangleTree(mesh), 0.005);
      EXPECT_NEAR(check_tet_mesh(tets).volume, report.volume, 0.2 * report.volume) << i;
    }
  }
  EXPECT_GT(parted, 1000);
}

TEST(RepairMesh, LeavesASheetThatEndsOnTheSurfaceAndSaysWhereItIs) {
  TriangleMesh mesh = make_box(Vec3(1, 1, 1), 1);
  EXPECT_EQ(describe_crowded_edges(mesh), "");
  const auto [a, b, c] = mesh.triangles[0];
  const Vec3 middle = 0.5 * (mesh.vertices[as_size(a)] + mesh.vertices[as_size(b)]);
  mesh.vertices.emplace_back(3, 3, 3);
  mesh.triangles.push_back({a, b, 8});
  EXPECT_EQ(repair_mesh(mesh).parted_edges, 0);
  const std::string said = describe_crowded_edges(mesh);
  EXPECT_EQ(said.find(fmt::format("at 1 edge more than two triangles meet (around ({:.4g}, {:.4g}, {:.4g}) m)",
                                  middle.x(), middle.y(), middle.z())),
            0u)
      << said;
}

}  // namespace
}  // namespace palpate::crowded_edges_test
