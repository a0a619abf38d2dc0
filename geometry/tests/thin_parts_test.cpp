#include <gtest/gtest.h>

#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/solid_fit.h"
#include "palpate/geometry/tet_mesher.h"
#include "random_solids.h"

namespace palpate::thin_parts_test {
namespace {
using testing::make_coarse_solid;
using testing::make_random_solid;
using testing::RandomSolid;

/// No tet is flat or inverted, and the boundary is a closed manifold that encloses just the tets: a tet that was turned
/// inside out by moving its corners would count twice.
void expect_sound(const TetMesh& mesh) {
  const TetMeshReport report = check_tet_mesh(mesh);
  EXPECT_TRUE(report.is_clean()) << report.describe();
  const TriangleMesh boundary = extract_surface(mesh).mesh;
  const MeshReport of_boundary = check_mesh(boundary);
  EXPECT_TRUE(of_boundary.is_clean()) << of_boundary.describe();
  EXPECT_EQ(of_boundary.non_manifold_vertices, 0);
  EXPECT_NEAR(compute_volume(boundary), report.volume, 1e-9 * report.volume);
}

double extent_of(const TriangleMesh& mesh) {
  return compute_bounding_box(mesh.vertices).size().maxCoeff();
}

struct Tally {
  int made = 0, refused = 0;
};

/// Sound tets, or a reason with a cell that does give them, for sheets that are very much thinner than the cell.
void expect_tets_or_reason(const RandomSolid& solid, double cell, Tally& tally) {
  SCOPED_TRACE(fmt::format("{}, cell {}", solid.name, cell));
  const TriangleTree tree(solid.mesh);
  try {
    expect_sound(make_tets(tree, cell));
    ++tally.made;
  } catch (const InputError& error) {
    const std::string what = error.what();
    ASSERT_NE(what.find("nothing is left; try "), std::string::npos) << what;
    if (++tally.refused > 1) return;  // such cells take their time
    expect_sound(make_tets(tree, std::stod(what.substr(what.find("try ") + 4))));
  }
}

TEST(MakeTets, GivesTetsOfEveryClosedSurfaceAtAnyCell) {
  Tally tally;
  for (unsigned seed = 0; seed < 104; ++seed) {
    SCOPED_TRACE(seed);
    const RandomSolid solid = make_random_solid(seed);
    ASSERT_TRUE(check_mesh(solid.mesh).closed);
    std::mt19937 random(seed);
    const double share = std::exp2(-std::uniform_real_distribution<double>(-1.0, 1.6)(random));
    expect_tets_or_reason(solid, extent_of(solid.mesh) * share, tally);
  }
  std::printf("%d surfaces filled, %d so thin that another cell was named\n", tally.made, tally.refused);
  EXPECT_LT(tally.refused, 24);
}

/// Two hundred more, at two cells each, in parts that can run side by side.
class MakeTetsOfCoarseShapes : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Quarters, MakeTetsOfCoarseShapes, ::testing::Range(0u, 4u));

TEST_P(MakeTetsOfCoarseShapes, GivesTetsOfEveryClosedSurfaceAtAnyCell) {
  Tally tally;
  for (unsigned seed = 52 * GetParam(); seed < 52 * (GetParam() + 1); ++seed) {
    SCOPED_TRACE(seed);
    const RandomSolid solid = make_coarse_solid(seed);
    ASSERT_TRUE(check_mesh(solid.mesh).closed);
    ASSERT_GT(compute_volume(solid.mesh), 0.0);
    std::mt19937 random(seed);
    for (const double finest : {0.5, 0.3}) {
      const double share = std::uniform_real_distribution<double>(finest, 2.0 * finest)(random);
      expect_tets_or_reason(solid, extent_of(solid.mesh) * share, tally);
    }
  }
  std::printf("%d fillings, %d times another cell was named\n", tally.made, tally.refused);
  EXPECT_LT(tally.refused, 16) << "of 104";
}

/// Where a surface passes through itself, the side of the nearest triangle does not tell inside from outside.
TEST(MakeTets, FillsWhatAnOverlapEncloses) {
  TriangleMesh mesh = make_sphere(0.5, 12);
  testing::append(mesh, make_sphere(0.5, 12), Vec3(0.5, 0.0, 0.0));
  const TetMesh tets = make_tets(TriangleTree(mesh), 0.08);
  expect_sound(tets);
  EXPECT_EQ(check_mesh(extract_surface(tets).mesh).components, 1);
  // Two balls, less the lens π (4 r + d) (2 r − d)² / 12 that they share, counted once.
  const double pi = 3.14159265358979323846;
  const double exact = 2.0 * 4.0 / 3.0 * pi * 0.125 - pi * 2.5 * 0.25 / 12.0;
  EXPECT_NEAR(compute_volume(tets), exact, 0.02 * exact);
}

/// A table: a plate on four legs. It stands askew to the lattice.
TriangleMesh make_table(double leg, std::mt19937& random) {
  TriangleMesh mesh = make_box(Vec3(0.3, 0.04, 0.2), 4);
  for (const double x : {-0.12, 0.12}) {
    for (const double z : {-0.07, 0.07}) testing::append(mesh, make_box(Vec3(leg, 0.2, leg), 6), Vec3(x, -0.11, z));
  }
  testing::place_at_random(mesh, random);
  return mesh;
}

TEST(MakeTets, KeepsLegsThinnerThanTheCell) {
  std::mt19937 random(3);
  for (const double leg : {0.02, 0.012}) {
    for (const double cell : {0.03, 0.02}) {
      SCOPED_TRACE(fmt::format("leg {}, cell {}", leg, cell));
      const TriangleTree tree(make_table(leg, random));
      const TetMesh mesh = make_tets(tree, cell);
      expect_sound(mesh);
      EXPECT_GT(check_tet_mesh(mesh).smallest_dihedral_deg, 4.0) << "measured, not proven";
      const SolidFit fit = compare_solid(tree, extract_surface(mesh).mesh, cell);
      EXPECT_EQ(fit.parts, 1) << "legs hang on the plate";
      EXPECT_LT(std::max(fit.lower_loss.maxCoeff(), fit.upper_loss.maxCoeff()), cell);
      EXPECT_LT(fit.lost_share, 0.02) << "corners of their ends";
      EXPECT_LT(check_tet_mesh(mesh).tets, 60'000);
    }
  }
}

TEST(MakeTets, LeavesTheLatticeAsItIsWhereNothingIsLost) {
  const TriangleTree organ(make_organ(0.2, 48));
  const ImplicitFunction f = [&](const Vec3& p) { return organ.signed_distance(p); };
  const TetMesh even = make_tets(f, compute_bounding_box(organ.mesh().vertices), 0.017), made = make_tets(organ, 0.017);
  EXPECT_EQ(even.vertices, made.vertices);
  EXPECT_EQ(even.tets, made.tets);
}

/// Sheets so thin that keeping them takes too many tets.
TEST(SolidFit, NamesWhatIsLostAndACellThatKeepsIt) {
  std::mt19937 random(5);
  TriangleMesh mesh = make_sphere(0.1, 10);
  testing::append(mesh, make_box(Vec3(0.3, 0.006, 0.3), 8), Vec3(0.15, 0.0, 0.0));
  testing::place_at_random(mesh, random);
  const TriangleTree tree(mesh);
  double cell = 0.1;
  int tries = 0;
  for (; tries < 6; ++tries) {
    const SolidFit fit = compare_solid(tree, extract_surface(make_tets(tree, cell)).mesh, cell);
    EXPECT_EQ(fit.is_close(), fit.describe().empty());
    if (fit.lost_share == 0.0) break;
    if (tries == 0) {
      EXPECT_GT(fit.lost_distance, 0.006) << "more than the sheet is thick";
      EXPECT_NE(fit.describe().find("thin parts are lost with a cell of 0.1 m"), std::string::npos) << fit.describe();
    }
    EXPECT_LE(fit.better_cell, 0.5 * cell) << fit.describe();
    cell = fit.better_cell;
  }
  EXPECT_GE(tries, 1);
  EXPECT_LE(tries, 2);
}

// Somebody who takes millimetres for metres is not sent from 2 m to 1 m with a body of 100 mm.
TEST(SolidFit, CellLargerThanTheBodyIsFollowedByOneThatSuitsIt) {
  const TriangleTree tree(make_sphere(0.05, 10));
  double cell = 2.0;
  int tries = 0;
  for (; tries < 8; ++tries) {
    const SolidFit fit = compare_solid(tree, extract_surface(make_tets(tree, cell)).mesh, cell);
    if (fit.is_close()) break;
    EXPECT_LT(fit.better_cell, 0.05) << fit.describe();
    cell = fit.better_cell;
  }
  EXPECT_GE(tries, 1);
  EXPECT_LE(tries, 2);
}

// Two balls of 50 mm whose centres are a radius apart share 5/16 of one; one of 20 mm in the middle adds nothing.
TEST(SolidFit, EnclosedVolumeIsThatOfTheUnion) {
  const double volume = 4.0 / 3.0 * M_PI * std::pow(0.05, 3);
  for (const auto& [apart, factor] : {std::pair(0.0, 1.0), std::pair(0.05, 27.0 / 16.0), std::pair(0.12, 2.0)}) {
    TriangleMesh mesh = make_sphere(0.05, 24);
    testing::append(mesh, make_sphere(apart > 0.0 ? 0.05 : 0.02, 24), Vec3(0.0, apart, 0.0));
    EXPECT_NEAR(compute_enclosed_volume(mesh), factor * volume, 0.015 * volume) << apart;
  }
}

// Two balls, one in the other or half in it: what both enclose is there once, and no finer cell would find more.
TEST(SolidFit, CountsWhatIsEnclosedTwiceOnce) {
  for (const double apart : {0.0, 0.03, 0.06}) {
    TriangleMesh mesh = make_sphere(0.05, 16);
    testing::append(mesh, make_sphere(0.04, 16), Vec3(apart, 0.0, 0.0));
    const TriangleTree tree(mesh);
    const SolidFit fit = compare_solid(tree, extract_surface(make_tets(tree, 0.008)).mesh, 0.008);
    EXPECT_LT(std::abs(fit.volume_change), 0.03) << apart;
    EXPECT_EQ(fit.describe(), "");
  }
}

// Four thin legs on a thick plate: what is thin are the legs, and no cell of the plate's size is told to be as good.
TEST(SolidFit, NamesTheThicknessOfTheThinParts) {
  TriangleMesh mesh = make_box(Vec3(0.3, 0.04, 0.2), 4);
  for (const double x : {-0.13, 0.13}) {
    for (const double z : {-0.08, 0.08})
      testing::append(mesh, make_box(Vec3(0.008, 0.12, 0.008), 4), Vec3(x, -0.06, z));
  }
  const TriangleTree tree(mesh);
  const std::string said = describe_refinement(tree, make_tets(tree, 0.02).vertices.size(), 0.02);
  EXPECT_NE(said.find("(here 0.008 m)"), std::string::npos) << said;
  EXPECT_EQ(said.find("try a cell"), std::string::npos) << said;
}

// Whoever asks for few cells and gets many nodes is told so, and a cell that is no dearer and makes tets of even size.
TEST(SolidFit, SaysWhenThinPartsCostManyTimesTheCellAndNamesOneThatCostsNoMore) {
  for (const Vec3& size : {Vec3(0.1, 0.002, 0.1), Vec3(0.15, 0.002, 0.15), Vec3(0.12, 0.003, 0.2)}) {
    const TriangleTree tree(make_box(size, 2));
    const TetMesh mesh = make_tets(tree, 0.01);
    const std::string said = describe_refinement(tree, mesh.vertices.size(), 0.01);
    EXPECT_NE(said.find(fmt::format("{} nodes", mesh.vertices.size())), std::string::npos) << said;
    EXPECT_NE(said.find(fmt::format("try a cell of {:.2g} m", size.y())), std::string::npos) << said;
    const TetMesh even = make_tets(tree, size.y());
    EXPECT_LE(even.vertices.size(), mesh.vertices.size() * 11 / 10);
    EXPECT_EQ(describe_refinement(tree, even.vertices.size(), size.y()), "") << "that is what was asked for";
  }
  const TriangleTree organ(make_organ(0.2, 48)), chip(make_box(Vec3(0.01, 0.001, 0.01), 1));
  const TetMesh fine = make_tets(organ, 0.006);
  ASSERT_GT(fine.vertices.size(), 3000u);
  EXPECT_EQ(describe_refinement(organ, fine.vertices.size(), 0.006), "") << "many because many were asked for";
  EXPECT_EQ(describe_refinement(chip, make_tets(chip, 0.003).vertices.size(), 0.003), "") << "too few to matter";
}

}  // namespace
}  // namespace palpate::thin_parts_test
