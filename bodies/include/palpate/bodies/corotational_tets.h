#pragma once

#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

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

  void compute_elastic_forces(std::span<Vec3> forces) const noexcept override;
  double compute_elastic_energy() const noexcept override;

  int patch_count() const noexcept { return static_cast<int>(patches_.size()); }

 protected:
  void assemble(const Assembly& out) noexcept override;

 private:
  static constexpr int kLanes = 4;
  /// Four tets; arrays end in the lane. Nodes ascend within a tet, so that its blocks need no transposing. Lanes
  /// without a tet repeat one with no stiffness.
  struct alignas(32) Group {
    double gradient[3][3][kLanes];  ///< [node 1 to 3][axis]; that of node 0 makes the sum zero
    double volume[kLanes];          ///< 0 in unused lanes
    double mu[kLanes];              ///< μV
    double lambda[kLanes];          ///< λV; 0 in patches
    double beta[kLanes];
    std::int32_t node[4][kLanes];
    std::int32_t slot[10][kLanes];  ///< of the pairs (0,0) (0,1) (0,2) (0,3) (1,1) … (3,3)
    std::int32_t turned[kLanes];    ///< where the tet leaves its Turned for its patch; −1 if it is in none
  };
  /// What a patch needs of a tet.
  struct Turned {
    double gradient[3][3];  ///< V c_a of nodes 1 to 3
    double dilatation;      ///< V θ
  };
  struct Patch {
    double lambda_over_volume = 0.0;  ///< λ / V_P
    double beta = 0.0;
    int tet_begin = 0, tet_end = 0;    ///< of its tets' Turned and corners
    int node_begin = 0, node_end = 0;  ///< of its nodes
    int slot_begin = 0;                ///< of its pairs of nodes (a ≤ b), (0,0) (0,1) … (1,1) …
  };
  struct Set;
  static Set make_set(const TetMesh& mesh, std::span<const Material> materials,
                      const CorotationalTetSettings& settings);
  CorotationalTets(Set&& set, const CorotationalTetSettings& settings);
  void fill_slots();

  template <bool kSystem>
  void add_groups(const Assembly& out, std::span<Turned> turned) const noexcept;
  template <bool kSystem>
  void add_patches(const Assembly& out, std::span<const Turned> turned) const noexcept;
  /// V_P θ̄, and g_a into `gradients`.
  double gather_patch(const Patch& patch, std::span<const Turned> turned, std::span<Vec3> gradients) const noexcept;

  std::vector<Group> groups_;
  std::vector<Patch> patches_;
  std::vector<std::array<std::int32_t, 4>> patch_corners_;  ///< of each patch tet: places among its patch's nodes
  std::vector<std::int32_t> patch_nodes_;                   ///< ascending within a patch
  std::vector<std::int32_t> patch_slots_;
  mutable std::vector<Turned> turned_;         ///< scratch
  mutable std::vector<Vec3> patch_gradients_;  ///< scratch
};

}  // namespace palpate
