#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/geometry/triangle_mesh.h"
#include "palpate/linear/block_cholesky.h"
#include "palpate/linear/block_matrix.h"

namespace palpate {

class ElasticForces;
class StiffnessCompletion;

/// How much room a finite-element body keeps for a step, and how it factors its systems.
///
/// A body with prescribed nodes copies the constraint rows without them. There is room for 48 entries a row on average,
/// which is what two contacts' feet in hexes take; a step with more entries allocates.
struct FemSettings {
  int max_time_steps = 2;  ///< time steps in one linearise(), 1 to 8; each takes the memory of a factor
  int max_rows = 300;      ///< constraint rows at once, 0 to 10,000; 24 bytes · rows · nodes for each time step
  int order_trials = 24;   ///< the most elimination orders tried at set-up, of which the cheapest is kept
  /// The largest relative error of a compliance that single precision may make, in [0, 0.1]; 0 forbids it. The systems
  /// of all time steps but the first are factored in single precision, in about half the time, wherever the error is
  /// surely below this.
  double single_precision_error = 0.0;
};

/// A body of finite elements: nodes with lumped masses, boundary conditions, the systems A(h) and their factors, and a
/// surface that hangs on the nodes. One node is one block. Element models derive from it and supply forces and
/// stiffness. Threads and progress are those of Body.
///
/// K₊ = −K is the stiffness, M the lumped masses, α and β the Rayleigh damping of each element's material:
///   A(h) = M/h + αM + Σ_e (h + β_e) K₊_e,      A Δv = f_elastic + M g + f_external − αM v − Σ_e (h + β_e) K₊_e v
/// K₊ is therefore assembled once for all h. In A(h) the row and the column of a prescribed node are replaced by those
/// of the identity, and its known Δv moves to the right-hand side. Constraint rows lose their entries there.
class FemBody : public Body {
 public:
  ~FemBody() override;
  int block_count() const noexcept override { return node_count(); }
  int state_size() const noexcept override { return 6 * node_count(); }
  void save_state(std::span<double> out) const noexcept override;
  void restore_state(std::span<const double> state) noexcept override;
  std::span<const Vec3> velocities() const noexcept override { return velocities_; }
  void set_velocities(std::span<const Vec3> velocities) noexcept override;
  std::span<Vec3> external_forces() noexcept override { return external_forces_; }
  void set_gravity(const Vec3& gravity) noexcept override { gravity_ = gravity; }
  void prescribe(int block, const Vec3& velocity) noexcept override;
  void release(int block) noexcept override;
  bool is_prescribed(int node) const noexcept override { return prescribed_[node] != 0; }
  /// Holds the nodes of set_handle(), if there are any: each is tied to its place in the handle by its share of the
  /// grip's spring and damper. The resistance to turning follows from k, b and the nodes' distances; the grip's own
  /// rotational stiffness and damping are not used. A(h) has the whole derivative.
  bool set_grip(const Grip& grip) noexcept override;
  Wrench compute_grip() const noexcept override;
  /// The pose of the handle that fits the held nodes best, in the sense of least squares.
  Pose handle_pose() const noexcept override;
  bool linearise(std::span<const double> time_steps) noexcept override;
  bool begin_linearise(std::span<const double> time_steps) noexcept override;
  bool factor(int which) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  /// Solves for the fresh rows, twelve at a time. That pays where they are less than about two fifths of all.
  bool add_fresh_compliance(int which, const BlockRows& J, std::span<const std::int32_t> fresh,
                            Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  bool allows_two_threads() const noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override;
  BodyMomentum compute_momentum() const noexcept override;
  BodySurface surface() const noexcept override { return {triangles_, surface_positions_, surface_velocities_}; }
  int max_rows() const noexcept override { return systems_[0].factor.settings().max_rows; }
  int max_row_entries() const noexcept override { return 3 * max_vertex_nodes_; }
  void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept override;
  Vec3 compute_point(const BodyPoint& point) const noexcept override;
  BodyPoint find_point(const Vec3& p) const override;
  /// A node's stress is the mean of the elements around it, weighted by their volumes. A vertex's stress follows from
  /// the nodes' as its position does.
  bool compute_surface_stress(std::span<float> out) const noexcept override;
  int compute_point_row(const BodyPoint& point, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override;

  int node_count() const noexcept { return static_cast<int>(positions_.size()); }
  std::span<const Vec3> rest_positions() const noexcept { return rest_positions_; }  ///< [m]
  std::span<const Vec3> positions() const noexcept { return positions_; }            ///< [m]
  void set_positions(std::span<const Vec3> positions) noexcept;
  /// Set-up. Makes the nodes within `radius` [m] of the handle's position, where they are now, those that set_grip()
  /// holds. Throws InputError if there are fewer than three, or if all lie in a line.
  void set_handle(const Pose& handle, double radius);
  /// Set-up. Takes the nodes that are prescribed now out of the unknowns, so that a clamped end costs no factorisation.
  /// They stay prescribed even if release() is called; their velocities may still be changed. Throws InputError if all
  /// nodes are prescribed.
  void leave_out_prescribed();
  std::span<const double> masses() const noexcept { return masses_; }                  ///< lumped, of the nodes [kg]
  std::span<const double> damping_masses() const noexcept { return damping_masses_; }  ///< Σ α m of the nodes [kg/s]
  const Vec3& gravity() const noexcept { return gravity_; }
  std::span<const Vec3> external_forces() const noexcept { return external_forces_; }
  bool has_stiffness_damping() const noexcept { return !uniform_damping_ || stiffness_damping_ > 0.0; }
  /// β [s] if all elements have the same.
  std::optional<double> uniform_stiffness_damping() const noexcept {
    return uniform_damping_ ? std::optional(stiffness_damping_) : std::nullopt;
  }
  const Vec3& prescribed_velocity(int node) const noexcept { return prescribed_velocities_[node]; }

  /// Elastic forces on the nodes at the current positions [N].
  virtual void compute_elastic_forces(std::span<Vec3> forces) const noexcept = 0;
  /// Makes what computes the same piece by piece, for another thread. For set-up: it allocates.
  virtual std::unique_ptr<ElasticForces> make_elastic_forces() const = 0;
  /// Elastic energy at the current positions [J].
  virtual double compute_elastic_energy() const noexcept = 0;

  /// K₊ of the last linearise() [N/m], prescribed nodes included.
  const BlockMatrix& stiffness() const noexcept { return stiffness_; }
  /// f of the last linearise(): elastic, damping, gravity and external forces [N].
  std::span<const Vec3> forces() const noexcept { return forces_; }
  /// Factors A(h) of another time step [s] in the place of that one, with the stiffness of the last linearise(): what
  /// is asked of `which` from then on is of h. False if it has no factor.
  bool factor_instead(int which, double h) noexcept;
  /// x ← A(h)⁻¹ x for each column of x, three scalars a node, after linearise(). x is zero at prescribed nodes.
  void solve(int which, Eigen::Ref<Eigen::MatrixXd> x) noexcept;
  /// Room for solutions beside those of another thread, of one time step or of two.
  struct SolveScratch {
    BlockCholesky::Scratch whole;
    SingleBlockCholesky::Scratch single;
  };
  SolveScratch make_solve_scratch() const;
  void solve(int which, Eigen::Ref<Eigen::MatrixXd> x, SolveScratch& scratch) const noexcept;
  /// Column i of x ← A(h)⁻¹ times row rows[i] of J, transposed, J being that of the last add_compliance() for this time
  /// step, which has done half of the work.
  void solve_rows_of_compliance(int which, std::span<const int> rows, Eigen::Ref<Eigen::MatrixXd> x,
                                SolveScratch& scratch) const noexcept;
  /// y = D x of the last linearise(), D = αM + Σ_e β_e K₊_e being the damping matrix [N·s/m].
  void multiply_damping(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) const noexcept;
  /// How long the two parts of the last linearise() took, summed over its time steps [ns].
  struct Times {
    std::int64_t assemble_ns = 0, factor_ns = 0;
  };
  Times times() const noexcept;
  /// Whether the last linearise() factored the time step `which` in single precision.
  bool is_single_precision(int which) const noexcept { return systems_[which].in_single; }

 protected:
  /// What an element model brings at set-up.
  struct Model {
    std::vector<Vec3> rest_positions;
    std::vector<double> masses;          ///< > 0
    std::vector<double> damping_masses;  ///< Σ α m
    BlockGroups groups;                  ///< which nodes couple
    bool uniform_damping = true;     ///< all elements have the same β; if not, they fill Assembly's damping parts too
    double stiffness_damping = 0.0;  ///< that β [s]
    TriangleMesh surface;
    /// Surface vertex v is Σ weight · node over [vertex_begin[v], vertex_begin[v + 1]), nodes ascending.
    std::vector<int> vertex_begin;
    std::vector<int> vertex_node;
    std::vector<double> vertex_weight;
  };

  /// Where an element model leaves what it computes.
  ///
  /// Forces are triples and blocks are nines of numbers, one after the other; block (i, j), i > j, is stored by
  /// columns. A model does not compute blocks on the diagonal: no elastic body resists a translation, so each is minus
  /// the sum of the others in its row.
  struct Assembly {
    double* force;           ///< elastic force, which the model adds to; zero before [N]
    double* blocks;          ///< of K₊, by BlockPattern index; the model sets all of them [N/m]
    double* damping_blocks;  ///< of Σ β_e K₊_e, likewise [N·s/m]; null if damping is uniform
    /// The rest is for a model that completes the matrix while its blocks are in registers, and then returns true. It
    /// feeds the blocks to the completions and, unless damping differs by element, leaves
    /// system_factor · K₊ + diag(system_masses) in `system`.
    StiffnessCompletion* completion;
    StiffnessCompletion* damping_completion;
    double* system;
    double system_factor;
    const double* system_masses;  ///< of each node
  };
  /// Sets all blocks to zero, for models that add to them.
  void set_blocks_zero(const Assembly& out) const noexcept;

  FemBody(Model&& model, const FemSettings& settings);

  /// Fills `out` at the current state. Returns whether it has done all that Assembly offers, the system included.
  virtual bool assemble(const Assembly& out) noexcept = 0;

  /// For every element, adds its volume times its von Mises stress [N·m] to the first number of each of its nodes, and
  /// its volume [m³] to the second. Both are zero before.
  virtual void add_stress(std::span<std::array<double, 2>> nodes) const noexcept = 0;

  const BlockPattern& pattern() const noexcept { return stiffness_.pattern(); }
  const double* position_data() const noexcept { return positions_.data()->data(); }
  const double* velocity_data() const noexcept { return velocities_.data()->data(); }

 private:
  /// A(h) of one time step, before and after it is factored.
  static constexpr int kFewestRowsToKeep = 96;  ///< below that add_compliance() takes no time to speak of
  static constexpr int kAnswersAtOnce = 12;     ///< as many as the factor solves at once
  struct System {
    BlockMatrix A;
    std::vector<double> masses;  ///< its part M/h + αM
    BlockCholesky factor;
    std::optional<SingleBlockCholesky> single;  ///< the same in single precision, if it may be
    bool in_single = false;                     ///< and it is
    std::vector<Vec3> lift;                     ///< A(h) times prescribed_changes_, if they move
    BlockRows free_rows;                        ///< constraint rows without prescribed nodes
    Eigen::MatrixXd answers;                    ///< A(h)⁻¹ Jᵀ of a few rows, for add_fresh_compliance()
    double fixed_scale = 1.0;                   ///< diagonal of the prescribed nodes
    std::int64_t assemble_ns = 0, factor_ns = 0;
  };
  bool assemble_forces(double h) noexcept;
  void set_masses(System& system, double h) const noexcept;
  void list_prescribed() noexcept;
  void assemble_system(System& system, double h) const noexcept;
  double bound_condition(const System& system) const noexcept;
  void make_single_factors();
  const BlockRows& without_prescribed(const BlockRows& J, System& system) const noexcept;
  void update_surface_positions() noexcept;
  void update_surface_velocities() noexcept;

  std::vector<Vec3> rest_positions_, positions_, velocities_, external_forces_;
  std::vector<double> masses_, damping_masses_;
  Vec3 gravity_ = Vec3::Zero();
  std::vector<std::uint8_t> prescribed_;
  std::vector<Vec3> prescribed_velocities_;
  bool prescribed_changed_ = false;     ///< since the lists were made
  std::vector<std::uint8_t> left_out_;  ///< nodes that stay prescribed; empty: none
  std::vector<int> prescribed_nodes_;
  std::vector<int> prescribed_blocks_;  ///< of the pattern, off its diagonal, in rows and columns of those not left out

  bool uniform_damping_;
  double stiffness_damping_;
  BlockMatrix stiffness_;
  std::unique_ptr<BlockMatrix> damping_;  ///< Σ β_e K₊_e unless uniform
  std::vector<System> systems_;           ///< one for each time step
  std::vector<double> time_steps_;
  bool has_first_system_ = false;  ///< the first one's A(h) is assembled already
  double single_precision_error_;
  int most_row_scalars_ = 0;  ///< of A
  std::vector<Vec3> forces_, stiffness_velocity_;
  std::unique_ptr<StiffnessCompletion> completion_, damping_completion_;
  struct HeldNode {
    int node;
    double share;  ///< of the grip; they add up to 1
    Vec3 place;    ///< in the handle's frame [m]
  };
  Vec3 compute_held_force(const HeldNode& held) const noexcept;
  std::vector<HeldNode> held_nodes_;
  Grip grip_;

  std::vector<Vec3> prescribed_changes_;  ///< Δv of the prescribed nodes, zero elsewhere
  bool prescribed_move_ = false;          ///< any of them is not zero
  std::int64_t forces_ns_ = 0;            ///< of the last begin_linearise()

  std::vector<std::array<std::int32_t, 3>> triangles_;
  std::vector<int> vertex_begin_, vertex_node_;
  std::vector<double> vertex_weight_;
  std::vector<Vec3> surface_positions_, surface_velocities_;
  int max_vertex_nodes_ = 0;
  mutable std::vector<std::array<double, 2>> node_stress_;  ///< scratch
};

}  // namespace palpate
