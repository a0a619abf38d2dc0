#pragma once

#include <array>
#include <span>
#include <vector>

#include "palpate/linear/block_matrix.h"
#include "tet_model.h"

namespace palpate {

/// Patches of tets that share one volumetric strain θ̄ = Σ V_e θ_e / V_P instead of having one each, with the energy
/// λ/2 V_P θ̄²: the cure for locking (CorotationalTets says why). What θ is, the element model decides.
///
/// Set-up allocates; the rest does not. The element model fills a Share for each of its tets that is in a patch, then
/// calls gather().
class VolumePatches {
 public:
  struct Settings {
    double above_poisson;  ///< only tets with a Poisson ratio above this
    int size;              ///< tets, 2 to 20
  };
  /// What a patch needs of a tet.
  struct Share {
    double gradient[3][3];  ///< V ∂θ/∂x of nodes 1 to 3; that of node 0 makes the sum zero
    double dilatation;      ///< V θ
  };

  /// `lambda` is the modulus λ of each tet [Pa]. Throws InputError if the size is out of range.
  VolumePatches(const TetMesh& mesh, std::span<const RestTet> tets, std::span<const double> lambda,
                const Settings& settings);

  int size() const noexcept { return static_cast<int>(patches_.size()); }
  /// Where tet t leaves its share, −1 if it is in no patch.
  std::int32_t place(std::size_t t) const noexcept { return places_[t]; }
  /// Patches couple all their nodes.
  void add_to(BlockGroups& groups) const;
  void find_slots(const BlockPattern& pattern);

  Share& share(std::int32_t place) noexcept { return shares_[place]; }
  /// Sums dilatations to pressures.
  void gather_pressures() noexcept;
  /// Sums the gradients g_a = Σ_e V_e ∂θ_e/∂x_a.
  void gather_gradients() noexcept;

  /// λ θ̄ of the patch that a share belongs to [Pa].
  double pressure(std::int32_t place) const noexcept { return patches_[patch_of_[place]].pressure(); }
  double compute_energy() const noexcept;
  /// −λ θ̄ g_a to triples of forces.
  void add_forces(double* forces) const noexcept;
  /// λ/V_P g_b g_aᵀ to blocks off the diagonal, and β times that to `damping_blocks` unless it is null.
  void add_stiffness(double* blocks, double* damping_blocks) const noexcept;
  /// The one eigenvalue of λ/V_P g gᵀ against the lumped mass of the patch itself [1/s²].
  double compute_squared_frequency(std::int32_t place, double density) const noexcept;

 private:
  struct Patch {
    double lambda_over_volume = 0.0;  ///< λ / V_P
    double dilatation = 0.0;          ///< V_P θ̄
    double beta = 0.0;
    int tet_begin = 0, tet_end = 0;    ///< of its tets' shares and corners
    int node_begin = 0, node_end = 0;  ///< of its nodes
    int slot_begin = 0;                ///< of its pairs of nodes (a < b), (0,1) (0,2) … (1,2) …

    double pressure() const noexcept { return lambda_over_volume * dilatation; }
  };
  void add_patch(std::span<const RestTet> tets, std::span<const std::int32_t> members, double lambda);

  std::vector<std::int32_t> places_;
  std::vector<Patch> patches_;
  std::vector<Share> shares_;
  std::vector<std::int32_t> patch_of_;                // of each share
  std::vector<std::array<std::int32_t, 4>> corners_;  // of each share: places among its patch's nodes
  std::vector<std::int32_t> nodes_;                   // ascending within a patch
  std::vector<double> node_volumes_;                  // Σ V_e/4 of the patch's own tets
  std::vector<Vec3> gradients_;                       // g_a of each of the nodes
  std::vector<std::int32_t> slots_;
};

}  // namespace palpate
