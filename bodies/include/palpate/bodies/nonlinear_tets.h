#pragma once

#include <memory>
#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

class VolumePatches;

enum class HyperelasticModel {
  /// Ψ = μ E:E + λ/2 (tr E)², E = ½ (FᵀF − I): quadratic in Green's strain. As Zhuang & Canny 2000 use it.
  ///
  /// By itself it gives way under strong compression (below 58 % of the length it pushes back less and less), and since
  /// E does not see a reflection, inside out is a second rest shape. So below J = 0.3, and only there,
  /// (3/2) μ (0.3 − J)² is added: Ψ stays once differentiable, and inverted elements turn back. (Half of it is enough
  /// to leave no local minimum but rest for ν from 0 to 0.49, found by descent from random stretches. Irving et al.
  /// 2004,
  /// "Invertible finite elements", continue Ψ along the stretches instead, at a decomposition for each force.)
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
  /// As in CorotationalTetSettings.
  double patch_above_poisson = 0.4;
  int patch_size = 5;  ///< tets, 2 to 20
};

/// A deformable body of linear tetrahedra, hyperelastic, with lumped mass: for the explicit Newmark scheme (newmark.h)
/// and for implicit steps through Body.
///
/// Forces are the exact gradient of the energy, −V P b_a. Stiffness from ∂P/∂F in the frame of the singular value
/// decomposition F = U Σ Vᵀ, where it falls into a 3 × 3 block for stretches and three pairs for rotations and shears
/// (Smith, de Goes & Kim 2019, "Analytic eigensystems for isotropic distortion energies", §4), each with its own
/// eigenvalues.
///
/// Nearly incompressible material locks as it does in CorotationalTets, and the cure is the same: the energy's last
/// part, λ/2 θ² with θ = tr E or J − 1, becomes λ/2 V_P θ̄² with the mean θ̄ of a patch of tets (for J − 1: of the
/// patch's volume). Then λ θ̄ takes the place of λ θ in each tet's P, and of its own stiffness only λ (∂θ/∂F)² is left
/// out, for which the patch adds λ/V_P g_a g_bᵀ, g_a = Σ_e V_e (∂θ/∂F)_e b_a. Both parts are made positive semidefinite
/// apart.
class NonlinearTets final : public FemBody {
 public:
  /// Throws InputError if the mesh is not clean (check_tet_mesh) or a material or setting is out of range.
  NonlinearTets(const TetMesh& mesh, std::span<const Material> materials, const NonlinearTetSettings& settings = {});
  ~NonlinearTets() override;

  void compute_elastic_forces(std::span<Vec3> forces) const noexcept override;
  std::unique_ptr<ElasticForces> make_elastic_forces() const override;
  double compute_elastic_energy() const noexcept override;

  /// A step [s] at which explicit Newmark is stable about the current state: 2/ω, ω² the largest eigenvalue over the
  /// elements of M_e⁻¹ K_e with each element's own share of the mass. No mode of the body is faster (Irons & Ahmad
  /// 1980, theorem by Irons), so this is on the safe side: exact for one free element, on a block of five-tet cells
  /// 1.3 times smaller than need be. For a patch, the sum of its own eigenvalue and of the largest of its tets bounds
  /// ω². About 20 µs an element.
  double compute_stable_step() const noexcept;

  int patch_count() const noexcept;

  /// An element as other integrators need it.
  struct RestElement {
    std::array<std::int32_t, 4> node;
    std::array<Vec3, 4> gradient;        ///< of the shape functions [1/m]
    double volume, mu, lambda, density;  ///< μ and λ of the energy; λ is 0 in a patch
  };
  std::vector<RestElement> list_elements() const;
  HyperelasticModel model() const noexcept { return model_; }

 protected:
  bool assemble(const Assembly& out) noexcept override;
  void add_stress(std::span<std::array<double, 2>> nodes) const noexcept override;

 private:
  struct Element {
    std::array<std::int32_t, 4> node;  ///< ascending
    std::array<std::int32_t, 6> slot;  ///< of the pairs (0,1) (0,2) (0,3) (1,2) (1,3) (2,3)
    std::int32_t share;                ///< in its patch; −1 if it is in none
    std::array<Vec3, 4> gradient;      ///< of the shape functions [1/m]
    double volume, mu, lambda;         ///< μ and λ of the energy [Pa]; λ = 0 in a patch
    double beta, density;
  };
  struct Set;
  struct Derivative;

  static Set make_set(const TetMesh& mesh, std::span<const Material> materials, const NonlinearTetSettings& settings);
  NonlinearTets(Set&& set, const NonlinearTetSettings& settings);
  class Pieces;
  static Mat3 compute_gradient(const Element& e, std::span<const Vec3> positions) noexcept;
  Mat3 compute_gradient(const Element& e) const noexcept { return compute_gradient(e, positions()); }
  static double compute_dilatation(HyperelasticModel model, const Mat3& F) noexcept;
  double compute_dilatation(const Mat3& F) const noexcept { return compute_dilatation(model_, F); }
  Mat3 compute_dilatation_gradient(const Mat3& F) const noexcept;
  void gather_pressures() const noexcept;
  void gather_patches() const noexcept;
  static double compute_pressure(HyperelasticModel model, const VolumePatches& patches, const Element& e,
                                 const Mat3& F) noexcept;
  double compute_pressure(const Element& e, const Mat3& F) const noexcept {
    return compute_pressure(model_, *patches_, e, F);
  }
  static Mat3 compute_stress(HyperelasticModel model, const Element& e, const Mat3& F, double pressure) noexcept;
  Mat3 compute_stress(const Element& e, const Mat3& F) const noexcept {
    return compute_stress(model_, e, F, compute_pressure(e, F));
  }
  static void subtract_forces(const Element& e, const Mat3& P, std::span<Vec3> forces) noexcept;
  static double compute_energy_density(HyperelasticModel model, const Element& e, const Mat3& F) noexcept;
  Derivative compute_derivative(const Element& e, const Mat3& F, bool project) const noexcept;

  std::vector<Element> elements_;
  std::unique_ptr<VolumePatches> patches_;  ///< its shares and sums are scratch
  HyperelasticModel model_;
  bool project_;
};

}  // namespace palpate
