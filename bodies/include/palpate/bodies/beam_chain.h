#pragma once

#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/bodies/frame_skin.h"
#include "palpate/bodies/material.h"

namespace palpate {

/// Cross-section of a beam; y and z are its own axes.
struct BeamSection {
  double radius = 0.001;      ///< for contact and for the drawn tube [m]
  double area = 0.0;          ///< A [m²]
  double inertia_y = 0.0;     ///< second moment about y [m⁴]
  double inertia_z = 0.0;     ///< second moment about z [m⁴]
  double torsion = 0.0;       ///< J [m⁴]: G·J is the torsional stiffness
  double shear_factor = 1.0;  ///< κ of Timoshenko: κGA is the shear stiffness
};
/// A full circle of `radius` [m], with κ = 6(1 + ν)/(7 + 6ν) (Cowper 1966).
BeamSection make_round_section(double radius, double poisson_ratio);
/// A full rectangle, `width` along y and `height` along z [m], with κ = 10(1 + ν)/(12 + 11ν) (Cowper 1966).
BeamSection make_rectangular_section(double width, double height, double poisson_ratio);

struct BeamChainSettings {
  /// Rest poses of the nodes, two at least: where the unloaded chain is. Local x runs along the beam.
  std::vector<Pose> rest;
  BeamSection section;
  Material material;
  int max_time_steps = 2;  ///< in one linearise()
};

/// Makes rest poses through given points [m]: local x is the tangent (that of the circle through neighbours), frames
/// are carried along without twist. Throws InputError for fewer than two points or points that coincide.
std::vector<Pose> make_chain_poses(std::span<const Vec3> points);

/// A chain of Timoshenko beams: node i is blocks 2i (velocity) and 2i + 1 (angular velocity, world frame).
///
/// Each beam has the strains of a geometrically exact beam at its middle (Simo & Vu-Quoc 1986), one for the element:
///   Γ_x = |d|/L,  Γ_yz = (R_mᵀ d/L)_yz,  κ = log(R₁ᵀR₂)/L,   d = x₂ − x₁,  R_m = R₁ exp(½ log(R₁ᵀR₂))
///   E = ½ L (ΔΓᵀ C_Γ ΔΓ + Δκᵀ C_κ Δκ),  C_Γ = diag(EA, GA_y, GA_z),  C_κ = diag(GJ, EI_y, EI_z)
/// with Δ the difference to the rest shape, which may be curved. R_m is the corotating frame: rigid motion of any size
/// strains nothing. The shear stiffness carries MacNeal's residual bending flexibility, 1/GA_y = 1/(κGA) + L²/(12 E
/// I_z), with which the element's small-strain stiffness is Timoshenko's 12×12 matrix exactly: a straight cantilever is
/// exact with one element. Stretch is that of the chord, not its part along R_m's x as in the paper: with so soft a
/// shear a taut thread (T > 12EI/L²) would turn its frames away to lose its tension.
///
/// Forces are the exact gradient of E. K₊ is Bᵀ C B L (B the exact gradient of the strains) plus the string stiffness
/// T/L (I − eeᵀ) of a tension T > 0: positive semidefinite always, exact where there is no stress. Left out are the
/// other effects of stress, and compression, which would make A(h) indefinite; the chain still buckles, by its forces.
///
/// Masses are lumped, with rotary inertia; angular momentum of the nodes is carried as in RigidBody. The systems are
/// block-tridiagonal with 6×6 blocks: linearise, solve and each row of add_compliance are O(nodes).
/// Threads and progress are those of Body. It allocates at set-up only, so it may live in the fast loop.
class BeamChain final : public Body {
 public:
  explicit BeamChain(const BeamChainSettings& settings);

  std::unique_ptr<Body> make_copy() const override;
  int block_count() const noexcept override { return 2 * node_count(); }
  int state_size() const noexcept override { return 13 * node_count(); }
  void save_state(std::span<double> out) const noexcept override;
  void restore_state(std::span<const double> state) noexcept override;
  std::span<const Vec3> velocities() const noexcept override { return velocities_; }
  void set_velocities(std::span<const Vec3> velocities) noexcept override;
  std::span<Vec3> external_forces() noexcept override { return external_; }
  void set_gravity(const Vec3& gravity) noexcept override { gravity_ = gravity; }
  void prescribe(int block, const Vec3& velocity) noexcept override;
  void release(int block) noexcept override;
  bool is_prescribed(int block) const noexcept override { return prescribed_[as_size(block)] != 0; }
  bool set_grip(const Grip& grip) noexcept override;
  Wrench compute_grip() const noexcept override;
  Pose handle_pose() const noexcept override { return poses_[0]; }
  bool linearise(std::span<const double> time_steps) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override;
  BodyMomentum compute_momentum() const noexcept override;
  BodySurface surface() const noexcept override { return skin_.surface(); }
  int max_row_entries() const noexcept override { return 4; }
  void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept override;
  Vec3 compute_point(const BodyPoint& point) const noexcept override;
  BodyPoint find_point(const Vec3& p) const override;
  int compute_point_row(const BodyPoint& point, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override;
  Quat compute_frame(const BodyPoint& point) const noexcept override;
  int compute_turn_row(const BodyPoint& point, const Vec3& axis,
                       std::span<BlockRows::Entry> out) const noexcept override;

  int node_count() const noexcept { return static_cast<int>(poses_.size()); }
  const Pose& node_pose(int node) const noexcept { return poses_[as_size(node)]; }
  void set_node_pose(int node, const Pose& pose) noexcept;
  double radius() const noexcept { return section_.radius; }
  double compute_mass() const noexcept;  ///< of all nodes [kg]

  /// Elastic forces and torques on the blocks at the current poses [N, N·m].
  void compute_elastic_forces(std::span<Vec3> forces) const noexcept;
  double compute_elastic_energy() const noexcept;
  /// K₊ of the current poses, dense: for tests.
  Eigen::MatrixXd make_dense_stiffness() const;

 private:
  using Mat12 = Eigen::Matrix<double, 12, 12>;
  using Mat6x12 = Eigen::Matrix<double, 6, 12>;
  static constexpr int kLanes = 4;
  using Lanes = std::array<Eigen::Array4d, 6>;  ///< six unknowns of a node for four right-hand sides

  struct Beam {
    double length;
    Vec6 rest_strain;  ///< Γ₀, κ₀
    Vec6 stiffness;    ///< diagonal of C
  };
  /// Strains of a beam, and their exact gradient with respect to (x₁, φ₁, x₂, φ₂), φ world-frame rotations.
  struct Strain {
    Vec6 value;
    Mat6x12 gradient;
  };
  Strain compute_strain(std::size_t beam) const noexcept;
  Mat12 compute_beam_stiffness(const Beam& beam, const Strain& strain, const Vec3& chord) const noexcept;

  /// L D Lᵀ of A(h), and what belongs to it.
  struct System {
    double h = 0.0;
    std::vector<Mat6> diagonal;         ///< A_ii
    std::vector<Mat6> lower;            ///< A_{i+1,i}
    std::vector<Mat6> inverse_pivot;    ///< D_i⁻¹
    std::vector<Mat6> elimination;      ///< A_{i+1,i} D_i⁻¹
    std::vector<Mat6> node_compliance;  ///< blocks of A⁻¹ on the diagonal, of the last add_compliance()
  };
  void assemble() noexcept;
  void assemble_system(System& system) noexcept;
  bool factor_system(System& system) noexcept;
  void solve(const System& system, std::span<Vec3> y) const noexcept;
  void compute_node_compliance(System& system) const noexcept;
  void solve_group(const System& system, const BlockRows& J, int first, int low, int high, int lowest) noexcept;
  Mat3 compute_world_inertia(std::size_t node) const noexcept;
  void update_skin() noexcept;

  BeamSection section_;
  double mass_damping_, stiffness_damping_;
  std::vector<Beam> beams_;
  std::vector<Pose> poses_;
  std::vector<Vec3> velocities_, external_;
  std::vector<double> masses_;
  std::vector<Vec3> inertias_;  ///< diagonal, in the node's frame [kg·m²]
  Vec3 gravity_ = Vec3::Zero();
  std::vector<std::uint8_t> prescribed_;
  std::vector<Vec3> prescribed_velocities_;
  Grip grip_;
  bool gripped_ = false;

  std::vector<Mat6> stiffness_diagonal_, stiffness_lower_;  ///< K₊
  std::vector<Mat3> world_inertia_;                         ///< of the last linearise()
  std::vector<Vec3> forces_;                                ///< all, at the last linearise()
  std::vector<Vec3> stiffness_velocity_;                    ///< K₊ v
  std::vector<System> systems_;
  int system_count_ = 0;
  std::vector<Vec3> changes_;
  std::vector<Lanes> answers_;                    ///< scratch of add_compliance(), of each node
  std::vector<std::pair<int, int>> group_nodes_;  ///< scratch: first and last node of each four rows
  std::vector<FrameState> frames_;
  mutable std::vector<FrameState> predicted_;  ///< scratch of predict_surface()
  FrameSkin skin_;
};

}  // namespace palpate
