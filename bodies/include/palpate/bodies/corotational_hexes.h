#pragma once

#include <vector>

#include "palpate/bodies/fem_body.h"
#include "palpate/bodies/material.h"
#include "palpate/geometry/hex_grid.h"

namespace palpate {

struct CorotationalHexSettings {
  FemSettings fem{};
  /// Incompatible modes and projected dilatation (below). Off: the plain trilinear element, which is too stiff in
  /// bending and locks near ν = ½; kept as the control that shows it.
  bool enhanced = true;
};

/// Stiffness of a box-shaped trilinear hex at rest, by node then axis, corners by bits: x 1, y 2, z 4 [N/m].
///
/// 2 × 2 × 2 Gauss points of 2μ ε:ε + λ θ². Enhanced, two things cure what ails the trilinear element, both before the
/// element is ever used, so a step pays nothing for them:
///  - the incompatible displacements (1 − ξ²), (1 − η²), (1 − ζ²) of each component (Wilson et al. 1973) let it bend
///    without parasitic shear; they are eliminated by static condensation. In a box they pass the patch test as they
///    are (their gradients have no mean);
///  - the dilatation θ is projected onto {1, ξ, η, ζ}, which drops its bilinear terms: the incompatible modes could not
///    balance those and the element would lock near ν = ½ (the gap that Simo, Armero & Taylor 1993 close with three
///    further modes).
Eigen::Matrix<double, 24, 24> make_hex_stiffness(const Vec3& cell, const Material& material, bool enhanced);

/// A deformable body of equal corotational hexes on a grid, each weighted by how full its cell is, with a surface that
/// is embedded trilinearly and is what touches things.
///
/// One rotation R an element, nearest to the deformation gradient at its centre (polar.h); in the turned frame the
/// element is linear: u_a = Rᵀx_a − X_a, energy ½ w uᵀK₀u, forces −w R K₀ u, stiffness w R K₀ Rᵀ, with K₀ of
/// make_hex_stiffness() and w the cell's fill, which also scales its mass (an eighth to each node). All cells of a
/// material share K₀.
///
/// What is neglected: ∂R/∂x, in the stiffness as for tets; and in the forces too, because unlike a tet's polar rotation
/// this one does not make the energy stationary when the deformation varies within the element. Forces are the exact
/// gradient of the energy for affine deformations of an element; else they differ, and have a moment, of second order
/// in the part of the displacement that is not affine, which refinement removes.
class CorotationalHexes final : public FemBody {
 public:
  /// `surface` is embedded and moves with the cells; if it has no triangles, the boundary of the grid is taken. Throws
  /// InputError if the grid is empty or a material or setting is out of range.
  CorotationalHexes(const HexGrid& grid, std::span<const Material> materials, const TriangleMesh& surface = {},
                    const CorotationalHexSettings& settings = {});

  void compute_elastic_forces(std::span<Vec3> forces) const noexcept override;
  std::unique_ptr<ElasticForces> make_elastic_forces() const override;
  double compute_elastic_energy() const noexcept override;

 protected:
  bool assemble(const Assembly& out) noexcept override;
  void add_stress(std::span<std::array<double, 2>> nodes) const noexcept override;

 private:
  static constexpr int kLanes = 4;
  /// Four hexes of one region; arrays end in the lane. Lanes without a hex repeat one with no stiffness.
  struct alignas(32) Group {
    double weight[kLanes];  ///< fill; 0 in unused lanes
    double beta = 0.0;
    std::int32_t region = 0;
    std::int32_t node[8][kLanes];
    std::int32_t slot[28][kLanes];  ///< of the pairs (0,1) (0,2) … (1,2) … (6,7)
  };
  struct Turned;

  static Model make_model(const HexGrid& grid, std::span<const Material> materials, const TriangleMesh& surface);
  class Pieces;
  using RestStiffness = Eigen::Matrix<double, 24, 24, Eigen::RowMajor>;
  static Turned turn(const Group& g, const Vec3& cell, const double* positions) noexcept;
  Turned turn(const Group& g) const noexcept;
  static double compute_group_energy(const Group& g, const double* K, const Turned& t) noexcept;
  template <bool kSystem>
  void add_groups(const Assembly& out) const noexcept;

  Vec3 cell_;
  std::vector<Group> groups_;
  std::vector<RestStiffness> rest_stiffness_;  ///< of each region
  std::vector<double> shear_moduli_;           ///< μ of each region [Pa]
};

}  // namespace palpate
