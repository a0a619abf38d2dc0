#pragma once

#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

enum class HyperelasticModel {
  /// Ψ = μ E:E + λ/2 (tr E)², E = ½ (FᵀF − I): quadratic in Green's strain. As Zhuang & Canny 2000 use it. It gives
  /// way under strong compression (below 58 % of the length it pushes back less and less), and an inverted element
  /// comes to rest inside out.
  kStVenantKirchhoff,
  /// Ψ = μ/2 (I_C − 3) + λ/2 (J − a)² − μ/2 ln(I_C + 1) + const, a = 1 + ¾ μ/λ (Smith, de Goes & Kim 2018, "Stable
  /// neo-Hookean flesh simulation", eq. 14, with μ = 4/3 μ_Lamé, λ = λ_Lamé + 5/6 μ_Lamé of §3.4, so that small strain
  /// is Hooke's law). The constant makes rest cost nothing. Defined for every F, and inverted elements turn back.
  kStableNeoHookean,
};

struct NonlinearTetSettings {
  FemSettings fem{};
  HyperelasticModel model = HyperelasticModel::kStVenantKirchhoff;
  /// Turn the negative eigenvalues of each element's ∂P/∂F positive, so that A(h) is positive definite in any state
  /// (Chen et al. 2024, "Stabler neo-Hookean simulation: absolute eigenvalue filtering for projected Newton"). Clamping
  /// them to zero instead, as is usual, leaves directions without stiffness along which a crushed body explodes in one
  /// step. Off: the stiffness is the exact derivative of the forces, and linearise() may fail under compression.
  bool project = true;
};

/// A deformable body of linear tetrahedra, hyperelastic, with lumped mass: for the explicit Newmark scheme (newmark.h)
/// and for implicit steps through Body.
///
/// Forces are the exact gradient of the energy, −V P b_a. Stiffness from ∂P/∂F in the frame of the singular value
/// decomposition F = U Σ Vᵀ, where it falls into a 3 × 3 block for stretches and three pairs for rotations and shears
/// (Smith, de Goes & Kim 2019, "Analytic eigensystems for isotropic distortion energies", §4), each with its own
/// eigenvalues. No cure for locking: keep ν at or below 0.45, or take CorotationalTets.
class NonlinearTets final : public FemBody {
 public:
  /// Throws InputError if the mesh is not clean (check_tet_mesh) or a material or setting is out of range.
  NonlinearTets(const TetMesh& mesh, std::span<const Material> materials, const NonlinearTetSettings& settings = {});

  void compute_elastic_forces(std::span<Vec3> forces) const noexcept override;
  double compute_elastic_energy() const noexcept override;

  /// A step [s] at which explicit Newmark is stable about the current state: 2/ω, ω² the largest eigenvalue over the
  /// elements of M_e⁻¹ K_e with each element's own share of the mass. No mode of the body is faster (Irons & Ahmad
  /// 1980, theorem by Irons), so this is on the safe side: exact for one free element, on a block of five-tet cells
  /// 1.1 to 1.4 times smaller than need be. About 20 µs an element.
  double compute_stable_step() const noexcept;

 protected:
  void assemble(const Assembly& out) noexcept override;

 private:
  struct Element {
    std::array<std::int32_t, 4> node;   ///< ascending
    std::array<std::int32_t, 10> slot;  ///< of the pairs (0,0) (0,1) (0,2) (0,3) (1,1) … (3,3)
    std::array<Vec3, 4> gradient;       ///< of the shape functions [1/m]
    double volume, mu, lambda;          ///< μ and λ of the energy [Pa]
    double beta, density;
  };
  struct Derivative;

  static Model make_model(const TetMesh& mesh, std::span<const Material> materials);
  Mat3 compute_gradient(const Element& e) const noexcept;
  Mat3 compute_stress(const Element& e, const Mat3& F) const noexcept;
  double compute_energy_density(const Element& e, const Mat3& F) const noexcept;
  Derivative compute_derivative(const Element& e, const Mat3& F, bool project) const noexcept;

  std::vector<Element> elements_;
  HyperelasticModel model_;
  bool project_;
};

}  // namespace palpate
