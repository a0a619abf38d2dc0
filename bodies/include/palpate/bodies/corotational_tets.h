#pragma once

#include <memory>
#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

class VolumePatches;
struct RestTet;
class NodeTurns;
namespace lanes {
struct Matrix;
}

struct CorotationalTetSettings {
  FemSettings fem{};
  /// Regions with a Poisson ratio above this average their volumetric strain over patches. 1 switches it off, 0 on for
  /// all. Below 0.4 the plain element is hardly stiffer, and its matrix is sparser.
  double patch_above_poisson = 0.4;
  int patch_size = 5;  ///< tets, 2 to 20; about as many as there are tets to a node
};

/// A deformable body of linear tetrahedra with corotational linear elasticity and lumped mass.
///
/// With F the deformation gradient of an element, R its nearest rotation (polar.h), ε = RᵀF − I (symmetric) and
/// θ = tr ε, the energy is V (μ ε:ε + λ/2 θ²): Müller & Gross 2004, "Interactive virtual materials", whose forces are,
/// for tets, exactly the gradient of this energy, since ∂(tr RᵀF)/∂R vanishes at the polar R. Internal forces therefore
/// have neither resultant nor moment, for any deformation.
///
/// Stiffness: the rest stiffness turned by R,
///   K_ab = V (λ c_a c_bᵀ + μ (c_b c_aᵀ + (c_a·c_b) I)),   c_a = R b_a,   b_a the gradient of shape function a,
/// positive semidefinite whatever the deformation. It neglects ∂R/∂x: exact at rest and after any rigid motion, and off
/// by a share of the order of the strain otherwise. So backward Euler with it stays solvable for inverted elements.
///
/// Nearly incompressible material: each linear tet would have to keep its own volume, five constraints a node against
/// three unknowns, and the body locks. Here θ is averaged over patches of about `patch_size` tets, one constraint a
/// node: the λ term becomes λ/2 V_P θ̄², θ̄ = Σ V_e θ_e / V_P, and adds λ/V_P g_a g_bᵀ, g_a = Σ_e V_e c_a, to the
/// stiffness (mean dilatation on patches, as in de Souza Neto, Pires & Owen 2005, "F-bar-based linear triangles and
/// tetrahedra", here with small strain in the turned frame). It passes the patch test and stays the exact gradient of
/// its energy. It couples all nodes of a patch: in make_tet_block() about twice as many blocks.
class CorotationalTets final : public FemBody {
 public:
  /// Throws InputError if the mesh is not clean (check_tet_mesh) or a material or setting is out of range.
  CorotationalTets(const TetMesh& mesh, std::span<const Material> materials,
                   const CorotationalTetSettings& settings = {});
  ~CorotationalTets() override;

  void compute_elastic_forces(std::span<Vec3> forces) const noexcept override;
  std::unique_ptr<ElasticForces> make_elastic_forces() const override;
  double compute_elastic_energy() const noexcept override;

  int patch_count() const noexcept;

 protected:
  bool assemble(const Assembly& out) noexcept override;
  void add_stress(std::span<std::array<double, 2>> nodes) const noexcept override;

 private:
  static constexpr int kLanes = 4;
  /// Four tets; arrays end in the lane. Nodes ascend within a tet. Lanes without a tet repeat one with no stiffness.
  struct alignas(32) Group {
    double gradient[3][3][kLanes];  ///< [node 1 to 3][axis]; that of node 0 makes the sum zero
    double volume[kLanes];          ///< 0 in unused lanes
    double root_volume[kLanes];     ///< √V
    double mu[kLanes];              ///< μV
    double lambda[kLanes];          ///< λV; 0 in patches
    std::int32_t node[4][kLanes];
    std::int32_t share[kLanes];  ///< where the tet leaves its share for its patch; −1 if it is in none
  };
  /// The tets of one material around an edge of the mesh, which make up a block (i, j) of the stiffness:
  ///   λ M + μ Mᵀ + shear I,   M = Σ V c_i c_jᵀ,   shear = Σ V μ c_i·c_j, which no rotation changes.
  /// Blocks in the pattern's order; one that no tet contributes to has an edge without tets.
  struct Edge {
    double shear;
    std::int32_t slot;
    std::int32_t row;
    std::int32_t end;       ///< of its ends in edge_ends_; they begin where the last edge's end
    std::int32_t material;  ///< in edge_materials_
    bool adds;              ///< not the first edge of its block
  };
  struct EdgeMaterial {
    double lambda, mu, beta;  ///< λ is 0 in patches
  };
  struct EdgeEnds {
    std::int32_t i, j;  ///< where √V c of the nodes is in turned_
  };
  struct Set;
  static Set make_set(const TetMesh& mesh, std::span<const Material> materials,
                      const CorotationalTetSettings& settings);
  CorotationalTets(Set&& set, const Material* materials, const CorotationalTetSettings& settings);
  void make_edges(std::span<const RestTet> rest, const Material* materials);
  class Pieces;
  /// Where groups find the nodes and leave their forces, padded, and what else they leave.
  struct Target {
    const double* positions;
    double* forces;
    VolumePatches* patches;
    double* turned;  ///< null: not wanted
    std::size_t turned_stride;
    double* energy = nullptr;    ///< of four lanes, to which that of the elements is added, without patches'; or not
    NodeTurns* turns = nullptr;  ///< to which rotations go; or not
    int first_group = 0;         ///< among all, for those
  };
  static void pad(std::span<const Vec3> positions, double* out) noexcept;
  template <bool kSystem>
  static void add_groups(std::span<const Group> groups, Target out) noexcept;
  template <bool kSystem>
  static void add_group(const Group& g, const lanes::Matrix& F, const lanes::Matrix& R, const Target& out,
                        double* turned, int number) noexcept;
  template <bool kSystem>
  void add_all_groups(double* force) const noexcept;
  template <bool kDamping>
  void set_blocks(const Assembly& out) const noexcept;
  static void add_patch_forces(VolumePatches& patches, double* force) noexcept;

  std::vector<Group> groups_;
  std::vector<Edge> edges_;
  std::vector<std::int32_t> column_edges_;  ///< of column j: [j] to [j + 1]
  std::vector<EdgeMaterial> edge_materials_;
  std::vector<EdgeEnds> edge_ends_;
  std::size_t turned_stride_ = 0;       ///< of the lanes in turned_
  mutable std::vector<double> turned_;  ///< scratch: √V c_a of the tets' nodes, twelve scalars a tet
  /// Scratch: positions and forces, four scalars a node, none across two cache lines.
  mutable std::vector<double, Eigen::aligned_allocator<double>> padded_;
  std::unique_ptr<VolumePatches> patches_;  ///< its shares are scratch
};

}  // namespace palpate
