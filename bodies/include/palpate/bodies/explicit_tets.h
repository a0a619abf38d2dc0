#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "palpate/bodies/material.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

/// How stress follows from the deformation gradient F.
enum class ExplicitModel : std::uint8_t {
  /// Hooke's law in ε = ½ (F + Fᵀ) − I. Turning counts as strain: large rotation swells a body. For comparison.
  kLinear,
  kStVenantKirchhoff,  ///< as HyperelasticModel: quadratic in Green's strain, with its part against inversion
  kStableNeoHookean,   ///< as HyperelasticModel
};

/// Soft tetrahedra for explicit integration, as fast as one core allows: nodes, lumped masses and element forces, and
/// nothing of what an implicit step needs (no matrix, no factor). Integrates M ü + D u̇ + R(u) = F, D = αM, by the
/// explicit Newmark scheme of Zhuang & Canny 2000 (its equations are in docs/design.md, "The step"), in calls between
/// which collisions may change velocities and accelerations of nodes.
///
/// Four elements at a time in the lanes of AVX2, in double precision: half of what single would cost in time buys
/// momentum to rounding and a bound on contact depth that is not that of a float. Node vectors are quadruples, so that
/// each moves whole. Elements add to nodes one after the other in a fixed order: the same input gives the same bits.
///
/// Volumes are not averaged over patches as in NonlinearTets; near incompressibility (ν > 0.4) tets lock.
///
/// Thread: one at a time. Allocates and throws at construction only.
class ExplicitTets {
 public:
  /// Throws InputError if the mesh is not clean or a material is out of range or damped by its stiffness.
  ExplicitTets(const TetMesh& mesh, std::span<const Material> materials, ExplicitModel model);
  /// The same body with its state, boundary conditions and loads; `linear_strain` for kLinear in place of its model.
  /// Throws InputError if it has patches or stiffness-proportional damping.
  explicit ExplicitTets(const NonlinearTets& body, bool linear_strain = false);

  int node_count() const noexcept { return nodes_; }
  int element_count() const noexcept { return elements_; }

  // State.
  Vec3 position(int node) const noexcept { return read(x_, node); }
  Vec3 velocity(int node) const noexcept { return read(v_, node); }
  Vec3 acceleration(int node) const noexcept { return read(a_, node); }
  void set_position(int node, const Vec3& x) noexcept { write(x_, node, x); }
  void set_velocity(int node, const Vec3& v) noexcept { write(v_, node, v); }
  void set_acceleration(int node, const Vec3& a) noexcept { write(a_, node, a); }

  /// What a step changes; restoring it repeats the same bits.
  struct State {
    std::vector<double> x, v, a;
  };
  void save(State& out) const { out = {x_, v_, a_}; }
  void restore(const State& state) noexcept {
    x_ = state.x;
    v_ = state.v;
    a_ = state.a;
  }

  double mass(int node) const noexcept { return mass_[as_size(node)]; }        ///< [kg]
  double damping(int node) const noexcept { return damping_[as_size(node)]; }  ///< Σ α m [kg/s]
  bool is_prescribed(int node) const noexcept { return free_[as_size(node)] == 0.0; }
  void prescribe(int node, const Vec3& velocity) noexcept;  ///< from now on it moves so, whatever the forces
  void release(int node) noexcept { free_[as_size(node)] = 1.0; }
  /// Gravity and a force on a node, constant until set again [N].
  void set_load(int node, const Vec3& force) noexcept { write(load_, node, force); }
  void set_gravity(const Vec3& gravity) noexcept;  ///< the load of every node becomes its weight

  /// ü from the forces at the current state. After a change of state that is not a step.
  void restart() noexcept;

  /// One step of dt [s]: u⁺, ü⁺, u̇⁺ without contact. Before the next, collisions may change u̇ and ü of nodes: what
  /// changes u̇ by δ in the step is an impulse (m + ½ dt αm) δ.
  void advance(double dt) noexcept;

  /// Elastic force and load at the current positions, damping not included [N]; of the last advance() or restart().
  Vec3 force(int node) const noexcept { return read(f_, node); }

  /// A step [s] below which the scheme is stable about the current state: 2/ω with ω² above the largest eigenvalue of
  /// every element's M_e⁻¹ K_e(F), hence of the body's (Irons). For Green's strain, with ω₀ of the element at rest
  /// (exact), C = FᵀF, S its second Piola–Kirchhoff stress, g_a the shape gradients and γ the largest eigenvalue of
  /// Σ g_a g_aᵀ:
  ///   ω² ≤ ω₀² σ_max(C) + (4γ/ρ) max(0, σ_max(S)),
  /// because the material part of K is K₀ between displacements turned and stretched by Fᵀ, and the geometric part is
  /// V S between gradients. Exact at rest, where it is that of NonlinearTets::compute_stable_step(); it shrinks as
  /// elements stretch. Costs about what a step costs.
  double compute_stable_step() const noexcept;

  double compute_elastic_energy() const noexcept;  ///< [J]
  double compute_kinetic_energy() const noexcept;  ///< [J]
  double compute_volume() const noexcept;          ///< of the deformed tets, signed [m³]

  /// force() anew, the part of advance() that costs; and what it streams through, for benchmarks.
  void compute_forces() noexcept;
  std::size_t element_bytes() const noexcept { return blocks_.size() * sizeof(Block); }

 private:
  /// Four elements; volumes are multiplied in.
  struct alignas(32) Block {
    double gradient[3][3][4];  ///< of the shape functions 1 to 3, by component [1/m]
    double mu[4], lambda[4];   ///< V μ, V λ of the energy [J]
    std::int32_t node[4][4];   ///< [corner][lane]; unused lanes name the node past the last
  };
  /// What only the stable step needs of them.
  struct alignas(32) Spectrum {
    double rest[4];      ///< ω₀² [1/s²]
    double gradient[4];  ///< 4γ/(ρV): takes V times a stress to 1/s² [1/(J·s²)]
  };

  void add_elements(const std::vector<NonlinearTets::RestElement>& elements);
  Vec3 read(const std::vector<double>& from, int node) const noexcept {
    const double* p = from.data() + 4 * static_cast<std::ptrdiff_t>(node);
    return {p[0], p[1], p[2]};
  }
  static void write(std::vector<double>& to, int node, const Vec3& value) noexcept {
    double* p = to.data() + 4 * static_cast<std::ptrdiff_t>(node);
    for (int k = 0; k < 3; ++k) p[k] = value[k];
  }
  template <ExplicitModel model>
  void add_forces() noexcept;
  template <ExplicitModel model>
  double compute_squared_frequency() const noexcept;

  int nodes_ = 0, elements_ = 0;
  ExplicitModel model_;
  std::vector<Block> blocks_;
  std::vector<Spectrum> spectra_;
  std::vector<double> x_, v_, a_, f_, load_;  ///< quadruples, one past the last node
  std::vector<double> mass_, damping_, free_;
};

}  // namespace palpate
