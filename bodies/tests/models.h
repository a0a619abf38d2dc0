#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/nonlinear_tets.h"

// All finite-element models under one roof, and what the tests do with them.
namespace palpate::testing {

inline constexpr double kEps = 2.2e-16;

enum class Model {
  kTets,
  kPatchedTets,
  kHexes,
  kGreenTets,
  kNeoHookeanTets,
  kPatchedGreenTets,
  kPatchedNeoHookeanTets,
  kPlainHexes
};

inline bool is_green(Model model) {
  return model == Model::kGreenTets || model == Model::kPatchedGreenTets;
}
inline bool is_neo_hookean(Model model) {
  return model == Model::kNeoHookeanTets || model == Model::kPatchedNeoHookeanTets;
}
inline bool is_nonlinear(Model model) {
  return is_green(model) || is_neo_hookean(model);
}

inline std::string name_of(const ::testing::TestParamInfo<Model>& info) {
  constexpr const char* kNames[] = {
      "Tets",      "PatchedTets", "Hexes", "GreenTets", "NeoHookeanTets", "PatchedGreenTets", "PatchedNeoHookeanTets",
      "PlainHexes"};
  return kNames[static_cast<int>(info.param)];
}

/// All but the plain hexes, which are there to be outdone.
inline const auto kAllModels =
    ::testing::Values(Model::kTets, Model::kPatchedTets, Model::kHexes, Model::kGreenTets, Model::kNeoHookeanTets,
                      Model::kPatchedGreenTets, Model::kPatchedNeoHookeanTets);

struct BlockOptions {
  Vec3 size = Vec3(0.12, 0.1, 0.08);
  std::array<int, 3> cells = {3, 2, 2};
  Material material{.young_modulus = 2e4, .poisson_ratio = 0.35};
  double jitter = 0.15;  ///< of the tets' inner vertices, in cells
  bool project = true;   ///< the nonlinear models' stiffness
  FemSettings fem{};
};

inline TetMesh make_jittered_block(const BlockOptions& o) {
  TetMesh mesh = make_tet_block(o.size, o.cells);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const Vec3 cell = o.size.array() / Eigen::Array3d(o.cells[0], o.cells[1], o.cells[2]);
  for (Vec3& x : mesh.vertices) {
    const bool inner = (x.cwiseAbs().array() < 0.499 * o.size.array()).all();
    for (int axis = 0; axis < 3; ++axis) x[axis] += inner ? o.jitter * cell[axis] * uniform(random) : 0.0;
  }
  return mesh;
}

inline std::unique_ptr<FemBody> make_block(Model model, const BlockOptions& o = {}) {
  const std::span<const Material> materials(&o.material, 1);
  switch (model) {
    case Model::kTets:
      return std::make_unique<CorotationalTets>(make_jittered_block(o), materials,
                                                CorotationalTetSettings{.fem = o.fem, .patch_above_poisson = 1.0});
    case Model::kPatchedTets:
      return std::make_unique<CorotationalTets>(make_jittered_block(o), materials,
                                                CorotationalTetSettings{.fem = o.fem, .patch_above_poisson = -1.0});
    case Model::kHexes:
    case Model::kPlainHexes:
      return std::make_unique<CorotationalHexes>(
          make_hex_grid(o.size, o.cells), materials, TriangleMesh{},
          CorotationalHexSettings{.fem = o.fem, .enhanced = model == Model::kHexes});
    case Model::kGreenTets:
    case Model::kNeoHookeanTets:
    case Model::kPatchedGreenTets:
    case Model::kPatchedNeoHookeanTets: {
      NonlinearTetSettings settings{.fem = o.fem, .project = o.project};
      settings.model = is_green(model) ? HyperelasticModel::kStVenantKirchhoff : HyperelasticModel::kStableNeoHookean;
      const bool patched = model == Model::kPatchedGreenTets || model == Model::kPatchedNeoHookeanTets;
      settings.patch_above_poisson = patched ? -1.0 : 1.0;
      return std::make_unique<NonlinearTets>(make_jittered_block(o), materials, settings);
    }
  }
  return nullptr;
}

inline std::vector<Vec3> random_vectors(int count, double size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<Vec3> result(as_size(count));
  for (Vec3& v : result) {
    for (int axis = 0; axis < 3; ++axis) v[axis] = uniform(random);
  }
  return result;
}

/// x = G X + t for every node.
inline void map_affinely(FemBody& body, const Mat3& G, const Vec3& t = Vec3::Zero()) {
  std::vector<Vec3> x(body.rest_positions().begin(), body.rest_positions().end());
  for (Vec3& p : x) p = G * p + t;
  body.set_positions(x);
}

inline void displace(FemBody& body, std::span<const Vec3> displacement, double factor = 1.0) {
  std::vector<Vec3> x(body.positions().begin(), body.positions().end());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += factor * displacement[i];
  body.set_positions(x);
}

inline void stop(FemBody& body) {
  body.set_velocities(std::vector<Vec3>(as_size(body.node_count()), Vec3::Zero()));
}

inline std::vector<Vec3> elastic_forces(const FemBody& body) {
  std::vector<Vec3> f(as_size(body.node_count()));
  body.compute_elastic_forces(f);
  return f;
}

/// One backward Euler step without contact; false if the system was not positive definite.
inline bool step(Body& body, double h) {
  std::vector<Vec3> dv(as_size(body.block_count()));
  if (!body.linearise(std::span<const double>(&h, 1))) return false;
  body.compute_free_motion(0, dv);
  body.advance(h, dv);
  return true;
}

/// Static equilibrium: steps so long that inertia does not count.
inline void settle(FemBody& body, int steps = 2) {
  for (int i = 0; i < steps; ++i) {
    stop(body);
    ASSERT_TRUE(step(body, 1e4));
  }
  stop(body);
}

inline Eigen::Map<const Eigen::VectorXd> flat(std::span<const Vec3> v) {
  return {v.data()->data(), static_cast<Eigen::Index>(3 * v.size())};
}

/// Nodes whose rest position has the extreme coordinate along an axis.
inline std::vector<int> nodes_at_side(const FemBody& body, int axis, bool upper) {
  double extreme = body.rest_positions()[0][axis];
  for (const Vec3& x : body.rest_positions()) extreme = upper ? std::max(extreme, x[axis]) : std::min(extreme, x[axis]);
  std::vector<int> nodes;
  for (int i = 0; i < body.node_count(); ++i) {
    if (std::abs(body.rest_positions()[i][axis] - extreme) < 1e-9) nodes.push_back(i);
  }
  return nodes;
}

/// A(h) as the header of FemBody defines it, dense, without regard to prescribed nodes; of the last linearise().
inline Eigen::MatrixXd dense_system(const FemBody& body, double h, double beta) {
  Eigen::MatrixXd A = (h + beta) * body.stiffness().make_dense();
  for (int i = 0; i < body.node_count(); ++i) {
    A.diagonal().segment<3>(3 * i).array() += body.masses()[i] / h + body.damping_masses()[i];
  }
  return A;
}

}  // namespace palpate::testing
