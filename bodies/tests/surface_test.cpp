#include "models.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/shapes.h"

// Surfaces on bodies, voxels, and what becomes of a body that was crushed.
namespace palpate::surface_test {
namespace {

using namespace testing;

class Surface : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, Surface, kAllModels, name_of);

TEST_P(Surface, IsClosedOutwardAndMovesWithTheBody) {
  auto body = make_block(GetParam());
  map_affinely(*body, Mat3(1.5 * Mat3::Identity()), Vec3(1.0, 0.0, 0.0));
  const BodySurface surface = body->surface();
  TriangleMesh mesh{{surface.positions.begin(), surface.positions.end()},
                    {surface.triangles.begin(), surface.triangles.end()}};
  const MeshReport report = check_mesh(mesh);
  EXPECT_TRUE(report.is_clean()) << report.describe();
  EXPECT_NEAR(report.volume, 1.5 * 1.5 * 1.5 * 0.12 * 0.1 * 0.08, 1e-15);
}

std::vector<float> surface_stress(const FemBody& body) {
  std::vector<float> stress(body.surface().positions.size());
  EXPECT_TRUE(body.compute_surface_stress(stress));
  return stress;
}

// A bar that is pulled, wherever it points, bears E e everywhere. Corotational strain is linear, so that only rounding
// is left (the rotation's 1e-15 over the strain, and floats); the nonlinear ones differ by a few e.
TEST_P(Surface, StressOfAPulledBarIsItsTension) {
  const BlockOptions o;
  const double e = 1e-4, nu = o.material.poisson_ratio, tension = o.material.young_modulus * e;
  auto body = make_block(GetParam(), o);
  const Mat3 turn = Eigen::AngleAxisd(1.1, Vec3(1.0, -2.0, 0.5).normalized()).toRotationMatrix();
  map_affinely(*body, turn * Mat3(Vec3(1.0 + e, 1.0 - nu * e, 1.0 - nu * e).asDiagonal()));
  const double tolerance = is_nonlinear(GetParam()) ? 10.0 * e * tension : 1e-6 * tension;
  for (const float stress : surface_stress(*body)) EXPECT_NEAR(stress, tension, tolerance);
}

// Pressure alone has no von Mises stress, nor has a turn.
TEST_P(Surface, StressOfASqueezedAndTurnedBlockIsZero) {
  auto body = make_block(GetParam());
  const Mat3 turn = Eigen::AngleAxisd(2.0, Vec3::UnitZ()).toRotationMatrix();
  map_affinely(*body, 0.95 * turn, Vec3(0.3, 0.0, 0.0));
  for (const float stress : surface_stress(*body))
    EXPECT_NEAR(stress, 0.0, 1e-6 * BlockOptions().material.young_modulus);
}

/// A sphere embedded in voxels twice as coarse as its triangles.
CorotationalHexes make_voxel_sphere(double cell, double poisson = 0.4) {
  const TriangleMesh sphere = make_sphere(0.05, 8);
  const Material material{.young_modulus = 5e3, .poisson_ratio = poisson};
  return CorotationalHexes(make_voxels(TriangleTree(sphere), {.cell = cell}), std::span(&material, 1), sphere);
}

// Row · v is the velocity of the surface point along the direction, for tets and for an embedded surface.
TEST(SurfaceRow, GivesTheVelocityOfThePoint) {
  CorotationalHexes sphere = make_voxel_sphere(0.02);
  auto block = make_block(Model::kTets);
  for (FemBody* body : {static_cast<FemBody*>(&sphere), block.get()}) {
    body->set_velocities(random_vectors(body->node_count(), 1.0, 8));
    std::vector<BlockRows::Entry> entries(as_size(body->max_row_entries()));
    const Vec3 barycentric(0.5, 0.2, 0.3), direction = Vec3(0.3, -0.4, 0.8);
    const BodySurface surface = body->surface();
    for (int t = 0; t < 50; ++t) {
      const int count = body->compute_point_row({t, barycentric}, direction, entries);
      double speed = 0.0;
      for (int k = 0; k < count; ++k) {
        speed += entries[k].value.dot(body->velocities()[entries[k].block]);
        EXPECT_TRUE(k == 0 || entries[k - 1].block < entries[k].block);
      }
      Vec3 velocity = Vec3::Zero();
      for (int c = 0; c < 3; ++c) velocity += barycentric[c] * surface.velocities[surface.triangles[t][c]];
      EXPECT_NEAR(speed, direction.dot(velocity), 1e-14);
    }
  }
}

// The embedding is exact for affine motion, so a turned body's embedded sphere is the turned sphere.
TEST(Embedding, FollowsAnAffineMotionExactly) {
  CorotationalHexes body = make_voxel_sphere(0.02);
  const std::vector<Vec3> before(body.surface().positions.begin(), body.surface().positions.end());
  const Mat3 G = rotation_from_vector(Vec3(0.4, 1.0, -0.3)).toRotationMatrix() * Vec3(1.2, 0.9, 1.0).asDiagonal();
  map_affinely(body, G, Vec3(0.0, 2.0, 0.0));
  for (std::size_t v = 0; v < before.size(); ++v) {
    EXPECT_LT((body.surface().positions[v] - (G * before[v] + Vec3(0.0, 2.0, 0.0))).norm(), 1e-15 * 20.0);
  }
}

// Cells weighted by their fill have the sphere's mass; counted whole they would weigh a quarter more and above.
TEST(Voxels, FillGivesTheRightMass) {
  CorotationalHexes body = make_voxel_sphere(0.0125);
  double mass = 0.0;
  for (const double m : body.masses()) mass += m;
  const double expected = 1000.0 * compute_volume(make_sphere(0.05, 8));
  EXPECT_NEAR(mass, expected, 0.03 * expected);
}

// Half-full cells are half as stiff and half as heavy: same motion as full cells of half the modulus and density.
TEST(Voxels, FillScalesStiffnessAndMass) {
  HexGrid grid = make_hex_grid(Vec3(0.1, 0.05, 0.05), {4, 2, 2});
  const Material whole{.young_modulus = 1e4, .poisson_ratio = 0.3, .density = 1000.0};
  const Material half{.young_modulus = 5e3, .poisson_ratio = 0.3, .density = 500.0};
  CorotationalHexes thin(grid, std::span(&half, 1));
  grid.fill.assign(grid.fill.size(), 0.5);
  CorotationalHexes weighted(grid, std::span(&whole, 1));
  for (FemBody* body : {static_cast<FemBody*>(&thin), static_cast<FemBody*>(&weighted)}) {
    body->set_gravity(Vec3(0.0, 0.0, -9.81));
    for (const int i : nodes_at_side(*body, 0, false)) body->prescribe(i, Vec3::Zero());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(step(*body, 0.02));
  }
  for (int i = 0; i < thin.node_count(); ++i) {
    EXPECT_LT((thin.positions()[i] - weighted.positions()[i]).norm(), 1e-12);
  }
}

class Crushed : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, Crushed, kAllModels, name_of);

/// Steps until the body has recovered its shape: the elastic energy is gone.
void expect_recovery(FemBody& body, const BlockOptions& o, const char* what) {
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(step(body, 0.02)) << what;
    for (const Vec3& x : body.positions()) ASSERT_TRUE(x.allFinite()) << what;
  }
  EXPECT_LT(body.compute_elastic_energy(), 1e-10 * o.material.young_modulus * o.size.prod()) << what;
}

TEST_P(Crushed, RecoversFromFlatteningCollapseAndInversion) {
  BlockOptions o;
  o.material.stiffness_damping = 0.01;
  o.material.mass_damping = 2.0;  // so that spin, which stretches the body, dies away too
  const auto start_from = [&](const char* what, const auto& place) {
    auto body = make_block(GetParam(), o);
    std::vector<Vec3> x(body->rest_positions().begin(), body->rest_positions().end());
    const std::vector<Vec3> noise = random_vectors(body->node_count(), 1.0, 31);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = place(x[i], noise[i]);
    body->set_positions(x);
    expect_recovery(*body, o, what);
  };
  start_from("flattened", [](const Vec3& x, const Vec3&) { return Vec3(x[0], 0.0, x[2]); });
  start_from("on a line", [](const Vec3& x, const Vec3&) { return Vec3(x[0], 0.0, 0.0); });
  start_from("in a point", [](const Vec3& x, const Vec3&) { return Vec3(1e-3 * x); });
  start_from("blown up", [](const Vec3& x, const Vec3&) { return Vec3(10.0 * x); });
  start_from("scrambled", [](const Vec3& x, const Vec3& noise) { return Vec3(x + 0.02 * noise); });
  start_from("inside out", [](const Vec3& x, const Vec3&) { return Vec3(-x[0], x[1], x[2]); });
}

TEST(NonlinearTets, ScrambledStVenantKirchhoffStaysFinite) {
  auto body = make_block(Model::kGreenTets);
  displace(*body, random_vectors(body->node_count(), 0.05, 31));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(step(*body, 0.02));
    for (const Vec3& x : body->positions()) ASSERT_TRUE(x.allFinite());
  }
}

TEST(SetUp, NamesWhatIsWrong) {
  const Material bad{.young_modulus = 1e4, .poisson_ratio = 0.5};
  const TetMesh mesh = make_tet_block(Vec3(0.1, 0.1, 0.1), {1, 1, 1});
  EXPECT_THROW(CorotationalTets(mesh, std::span(&bad, 1)), InputError);
  TetMesh inverted = mesh;
  std::swap(inverted.tets[0][0], inverted.tets[0][1]);
  const Material good;
  EXPECT_THROW(NonlinearTets(inverted, std::span(&good, 1)), InputError);
  TetMesh regions = mesh;
  regions.regions.assign(mesh.tets.size(), 1);
  EXPECT_THROW(CorotationalTets(regions, std::span(&good, 1)), InputError);
}

}  // namespace
}  // namespace palpate::surface_test
