#include <numbers>

#include "models.h"
#include "palpate/testing/dense_algebra.h"

// Beams of square section against textbook formulas.
namespace palpate::beam_test {
namespace {

using namespace testing;

constexpr double kWidth = 0.02;                      // [m]
constexpr double kArea = kWidth * kWidth;            // [m²]
constexpr double kInertia = kArea * kArea / 12.0;    // second moment of area [m⁴]
constexpr double kTorsion = 0.1406 * kArea * kArea;  // Saint-Venant's torsion constant of a square [m⁴]

BlockOptions beam_options(double length, int across, double poisson) {
  BlockOptions o;
  o.size = Vec3(length, kWidth, kWidth);
  const int along = static_cast<int>(std::lround(length / kWidth)) * across;
  o.cells = {along, across, across};
  o.material.young_modulus = 1e5;
  o.material.poisson_ratio = poisson;
  o.jitter = 0.0;
  return o;
}

void clamp_left(FemBody& body) {
  for (const int i : nodes_at_side(body, 0, false)) body.prescribe(i, Vec3::Zero());
}

/// Tip deflection of a clamped beam under a tip load, against Timoshenko's P L³/3EI + P L/κGA, κ = 10(1+ν)/(12+11ν)
/// (Cowper 1966). The load is small, so all models are linear, and spread over the end by the area of each node.
double relative_deflection(Model model, const BlockOptions& o) {
  auto body = make_block(model, o);
  clamp_left(*body);
  const double L = o.size[0], E = o.material.young_modulus, nu = o.material.poisson_ratio, load = 1e-6;
  const std::vector<int> tip = nodes_at_side(*body, 0, true);
  const int across = o.cells[1];
  for (const int i : tip) {
    double share = 1.0 / (across * across);
    for (int axis = 1; axis < 3; ++axis) {
      if (std::abs(body->rest_positions()[i][axis]) > 0.499 * kWidth) share *= 0.5;
    }
    body->external_forces()[i] = Vec3(0.0, 0.0, -share * load);
  }
  settle(*body);
  double deflection = 0.0;
  for (const int i : tip) deflection -= (body->positions()[i] - body->rest_positions()[i])[2];
  deflection /= static_cast<double>(tip.size());
  const double kappa = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double G = o.material.lame_mu();
  return deflection / (load * L * L * L / (3.0 * E * kInertia) + load * L / (kappa * G * kArea));
}

class Beam : public ::testing::TestWithParam<Model> {};
INSTANTIATE_TEST_SUITE_P(All, Beam, kAllModels, name_of);

// Linear tets are too stiff in bending and converge with the square of the cell to Timoshenko's value, less some 2 % at
// L = 5 widths, because the clamped section cannot narrow. Enhanced hexes bend right from the first: nothing is left to
// converge but the clamping, half as much at L = 10 widths.
TEST_P(Beam, CantileverConvergesToTimoshenko) {
  double w[3];
  if (GetParam() == Model::kHexes) {
    for (const int across : {1, 2, 4}) {
      EXPECT_NEAR(relative_deflection(GetParam(), beam_options(0.2, across, 0.3)), 0.99, 0.015) << across;
    }
    return;
  }
  for (int level = 0; level < 3; ++level)
    w[level] = relative_deflection(GetParam(), beam_options(0.1, 2 << level, 0.3));
  const double order = std::log2((w[1] - w[0]) / (w[2] - w[1]));
  const double limit = w[2] + (w[2] - w[1]) / (std::exp2(order) - 1.0);
  RecordProperty("order", std::to_string(order));
  RecordProperty("limit", std::to_string(limit));
  EXPECT_GT(order, 1.3);
  EXPECT_LT(order, 2.1);
  EXPECT_NEAR(limit, 0.99, 0.02);
}

// The plain trilinear hex approaches its limit from below with nearly order two; a single layer of enhanced ones is
// nearer to it than four layers of plain ones.
TEST(CorotationalHexes, EnhancementCuresBending) {
  const double w2 = relative_deflection(Model::kPlainHexes, beam_options(0.1, 2, 0.3));
  const double w4 = relative_deflection(Model::kPlainHexes, beam_options(0.1, 4, 0.3));
  const double w8 = relative_deflection(Model::kPlainHexes, beam_options(0.1, 8, 0.3));
  const double order = std::log2((w4 - w2) / (w8 - w4));
  EXPECT_NEAR(order, 1.8, 0.3);
  const double limit = w8 + (w8 - w4) / (std::exp2(order) - 1.0);
  const double enhanced = relative_deflection(Model::kHexes, beam_options(0.1, 1, 0.3));
  EXPECT_LT(std::abs(enhanced - limit), std::abs(w4 - limit));
}

struct Cure {
  Model plain, patched;
};
class Locking : public ::testing::TestWithParam<Cure> {};
INSTANTIATE_TEST_SUITE_P(All, Locking,
                         ::testing::Values(Cure{Model::kTets, Model::kPatchedTets},
                                           Cure{Model::kGreenTets, Model::kPatchedGreenTets},
                                           Cure{Model::kNeoHookeanTets, Model::kPatchedNeoHookeanTets}),
                         [](const auto& cure) {
                           return name_of(::testing::TestParamInfo<Model>(cure.param.plain, cure.index));
                         });

// Near incompressibility. What a clamped section costs depends on ν, so deflections are taken relative to those of fine
// hexes. The patched tets at ν = 0.49 are at least as good as plain ones at 0.3; the plain ones' error grows by a
// quarter and more.
TEST_P(Locking, PatchesKeepTheCantileverSoft_AndPlainTetsLock) {
  const double truth_3 = relative_deflection(Model::kHexes, beam_options(0.1, 4, 0.3));
  const double truth_49 = relative_deflection(Model::kHexes, beam_options(0.1, 4, 0.49));
  EXPECT_NEAR(truth_49, 1.0, 0.07);
  for (const int across : {2, 4}) {
    const double reference = relative_deflection(GetParam().plain, beam_options(0.1, across, 0.3)) / truth_3;
    const double patched = relative_deflection(GetParam().patched, beam_options(0.1, across, 0.49)) / truth_49;
    const double plain = relative_deflection(GetParam().plain, beam_options(0.1, across, 0.49)) / truth_49;
    EXPECT_GT(patched, reference);
    EXPECT_GT(1.0 - plain, 1.25 * (1.0 - reference));
  }
}

TEST(CorotationalHexes, EnhancementBendsAtAnyPoissonRatio) {
  for (const double poisson : {0.0, 0.3, 0.45, 0.49, 0.495}) {
    for (const int across : {1, 2, 4}) {
      // The clamping costs up to 4 % here.
      EXPECT_NEAR(relative_deflection(Model::kHexes, beam_options(0.2, across, poisson)), 0.98, 0.03) << poisson;
    }
  }
}

/// How far the top of a flat block, bonded to the ground, goes down under an even load: it can only bulge sideways, the
/// hardest case for nearly incompressible elements.
double press_bonded_block(Model model, int cells, double poisson) {
  BlockOptions o;
  o.size = Vec3(0.08, 0.02, 0.08);
  o.cells = {4 * cells, cells, 4 * cells};
  o.material.poisson_ratio = poisson;
  o.jitter = 0.0;
  auto body = make_block(model, o);
  for (const int i : nodes_at_side(*body, 1, false)) body->prescribe(i, Vec3::Zero());
  const std::vector<int> top = nodes_at_side(*body, 1, true);
  for (const int i : top) body->external_forces()[i] = Vec3(0.0, -1e-5 / static_cast<double>(top.size()), 0.0);
  settle(*body);
  double sinking = 0.0;
  for (const int i : top) sinking -= (body->positions()[i] - body->rest_positions()[i])[1];
  return sinking / static_cast<double>(top.size());
}

// Two layers of cells. At ν = 0.3 all three elements agree; at 0.495 patches and hexes still do, and plain tets give
// less than three quarters.
TEST_P(Locking, BondedBlock_PatchesAgreeWithHexes_PlainTetsLock) {
  const auto [plain, patched] = GetParam();
  const double hexes_3 = press_bonded_block(Model::kHexes, 2, 0.3), hexes = press_bonded_block(Model::kHexes, 2, 0.495);
  EXPECT_NEAR(press_bonded_block(plain, 2, 0.3) / hexes_3, 1.0, 0.04);
  EXPECT_NEAR(press_bonded_block(patched, 2, 0.3) / hexes_3, 1.0, 0.04);
  EXPECT_NEAR(press_bonded_block(patched, 2, 0.495) / hexes, 1.0, 0.04);
  EXPECT_LT(press_bonded_block(plain, 2, 0.495) / hexes, 0.75);
}

/// Squares of the angular frequencies, ascending, of a body's free nodes.
Eigen::VectorXd compute_squared_frequencies(FemBody& body) {
  const double h = 0.01;
  body.linearise(std::span(&h, 1));
  const Eigen::MatrixXd K = body.stiffness().make_dense();
  std::vector<int> free_nodes;
  for (int i = 0; i < body.node_count(); ++i) {
    if (!body.is_prescribed(i)) free_nodes.push_back(i);
  }
  const auto n = static_cast<Eigen::Index>(free_nodes.size());
  Eigen::MatrixXd scaled(3 * n, 3 * n);
  for (Eigen::Index a = 0; a < n; ++a) {
    for (Eigen::Index b = 0; b < n; ++b) {
      const int i = free_nodes[a], j = free_nodes[b];
      scaled.block<3, 3>(3 * a, 3 * b) = K.block<3, 3>(3 * i, 3 * j) / std::sqrt(body.masses()[i] * body.masses()[j]);
    }
  }
  return compute_eigenvalues(scaled);
}

double bending_frequency(const BlockOptions& o) {
  const double L = o.size[0];
  return 1.875104 * 1.875104 * std::sqrt(o.material.young_modulus * kInertia / (o.material.density * kArea)) / (L * L);
}

// First bending (twice, for two planes) and first torsion of a clamped bar, L = 10 widths. Euler–Bernoulli is 1 to 2 %
// high at this slenderness (shear and rotary inertia), clamping another 1 % low; torsion: c_t = √(GJ/ρI_p), and the
// clamped end cannot warp, which stiffens by a fraction of a width in ten.
TEST(CorotationalHexes, FirstFrequenciesAreTheBeams) {
  BlockOptions o = beam_options(0.2, 4, 0.3);
  o.cells[0] = 10;
  auto body = make_block(Model::kHexes, o);
  clamp_left(*body);
  const Eigen::VectorXd squares = compute_squared_frequencies(*body);
  const double bending = bending_frequency(o);
  EXPECT_NEAR(std::sqrt(squares[0]), bending, 0.025 * bending);
  EXPECT_NEAR(std::sqrt(squares[1]), bending, 0.025 * bending);
  const double speed = std::sqrt(o.material.lame_mu() * kTorsion / (o.material.density * 2.0 * kInertia));
  const double torsion = std::numbers::pi / (2.0 * o.size[0]) * speed;
  double nearest = torsion;
  for (int k = 2; k < 10; ++k) nearest = std::min(nearest, std::abs(std::sqrt(squares[k]) - torsion));
  EXPECT_LT(nearest, 0.06 * torsion);
}

TEST(CorotationalTets, FirstFrequencyIsTheBeams_FromAbove) {
  const BlockOptions o = beam_options(0.1, 3, 0.3);
  auto body = make_block(Model::kTets, o);
  clamp_left(*body);
  const double ratio = std::sqrt(compute_squared_frequencies(*body)[0]) / bending_frequency(o);
  // Static stiffness on this mesh is some 20 % too high, the frequency half that, less 3 % for shear.
  EXPECT_GT(ratio, 0.98);
  EXPECT_LT(ratio, 1.1);
}

// A bar with ν = 0 vibrates along its axis as the chain of masses and springs that it is:
// ω = (2c/Δx) sin(π Δx/4L), c = √(E/ρ), exactly.
TEST(CorotationalHexes, AxialModeIsTheDiscreteChains) {
  const BlockOptions o = beam_options(0.1, 2, 0.0);
  auto body = make_block(Model::kHexes, o);
  const double h = 0.01, L = o.size[0], dx = L / o.cells[0];
  ASSERT_TRUE(body->linearise(std::span(&h, 1)));
  std::vector<Vec3> u;
  for (const Vec3& x : body->rest_positions()) {
    u.push_back(Vec3(std::sin(std::numbers::pi * (x[0] + 0.5 * L) / (2.0 * L)), 0.0, 0.0));
  }
  Eigen::VectorXd f(3 * body->node_count());
  body->stiffness().multiply(flat(u), f);
  const double c = std::sqrt(o.material.young_modulus / o.material.density);
  const double omega = 2.0 * c / dx * std::sin(std::numbers::pi * dx / (4.0 * L));
  for (int i = 0; i < body->node_count(); ++i) {
    if (body->rest_positions()[i][0] < -0.499 * L) continue;  // the clamped end carries the reaction
    const Vec3 inertia = omega * omega * body->masses()[i] * u[i];
    EXPECT_LT((f.segment<3>(3 * i) - inertia).norm(), 1e-12 * o.material.young_modulus * kWidth);
  }
}

// Twist by a small angle between two clamped ends: torque GJφ/L, stiffened by the ends that cannot warp.
TEST(CorotationalHexes, TorsionIsSaintVenants) {
  const BlockOptions o = beam_options(0.2, 4, 0.3);
  auto body = make_block(Model::kHexes, o);
  const double angle = 1e-4;
  clamp_left(*body);
  std::vector<Vec3> x(body->rest_positions().begin(), body->rest_positions().end());
  for (Vec3& p : x) p = rotation_from_vector(Vec3((p[0] / o.size[0] + 0.5) * angle, 0.0, 0.0)) * p;
  body->set_positions(x);
  const std::vector<int> tip = nodes_at_side(*body, 0, true);
  for (const int i : tip) body->prescribe(i, Vec3::Zero());
  settle(*body, 3);
  const std::vector<Vec3> f = elastic_forces(*body);
  double torque = 0.0;
  for (const int i : tip) torque -= body->positions()[i].cross(f[i])[0];
  EXPECT_NEAR(torque / (o.material.lame_mu() * kTorsion * angle / o.size[0]), 1.0, 0.06);
}

// Two materials in a row share the pull: each stretches by its own F/EA (ν = 0, so the sides are free of it).
TEST(Regions, SofterHalfStretchesMore) {
  TetMesh mesh = make_tet_block(Vec3(0.2, 0.02, 0.02), {8, 1, 1});
  for (const auto& tet : mesh.tets) {
    double x = 0.0;
    for (const std::int32_t i : tet) x += mesh.vertices[i][0];
    mesh.regions.push_back(x < 0.0 ? 0 : 1);
  }
  const Material materials[] = {{.young_modulus = 1e5, .poisson_ratio = 0.0},
                                {.young_modulus = 2e4, .poisson_ratio = 0.0}};
  CorotationalTets body(mesh, materials);
  for (const int i : nodes_at_side(body, 0, false)) body.prescribe(i, Vec3::Zero());
  const std::vector<int> tip = nodes_at_side(body, 0, true);
  const double pull = 1e-5;
  // A third of each triangle's load to each of its corners: those on the square's diagonal bear twice as much.
  const SolidSurface surface = extract_surface(mesh);
  for (const auto& triangle : surface.mesh.triangles) {
    const auto is_inside = [&](std::int32_t i) { return surface.mesh.vertices[i][0] < 0.0999; };
    if (std::any_of(triangle.begin(), triangle.end(), is_inside)) continue;
    for (const std::int32_t i : triangle) body.external_forces()[surface.node[i]][0] += pull / 6.0;
  }
  settle(body, 3);
  const double stretch = pull / kArea * (0.1 / 1e5 + 0.1 / 2e4);
  for (const int i : tip) {
    // Second order in the strain of 10⁻⁶.
    EXPECT_NEAR((body.positions()[i] - body.rest_positions()[i])[0], stretch, 1e-4 * stretch);
  }
}

}  // namespace
}  // namespace palpate::beam_test
