#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "joint_frames.h"

namespace palpate::accelerance {

/// How bodies of a world answer to forces within one further step that is tried and not done.
///
/// Slow thread. The world's state is not touched. Bodies' external forces are inputs; what is put there for a test is
/// taken out again.
class Response {
 public:
  /// `joints` stays where it is. Tried steps have the length h [s] and leave out the body `absent`, unless that is −1.
  /// `sweeps`: AcceleranceSettings::tried_sweeps.
  Response(World& world, const JointFrames& joints, double h, int absent = -1, int sweeps = 0)
      : world_(world), joints_(joints), h_(h), absent_(absent), sweeps_(sweeps) {}

  /// Which contacts a tried step has.
  enum class Contacts : std::uint8_t {
    kFound,  ///< found anew: those of the period in which the model will be used
    kKept,   ///< of the step before, as in the paper: test simulations do without detection
  };
  /// One further step of the world as it is, with its external forces and further rows, if any, as they are after h.
  /// False if it could not be factored.
  bool try_step(Contacts contacts, const StepRows* rows = nullptr);
  /// The last tried step.
  const SolvedStep& step() const noexcept { return *step_; }

  /// u̇ of a body in the last tried step [m/s², rad/s²].
  Vec6 acceleration(int body) const;

  /// ∂u̇/∂wrench of `bodies` over all of them, 6n × 6n, from the matrices of the last tried step. Contacts that push
  /// and joints hold, what sticks sticks, what slips goes on slipping: λ_t = μ λ_n along the slip, and across it as the
  /// slip's direction turns. That is the law's own tangent, but where friction follows the normal force it is not
  /// symmetric, and in a pile it can answer to a push with a pull. With `local` what slips keeps its force instead, so
  /// that A is symmetric and never negative and a loop around it stays stable; and contacts of these bodies with each
  /// other and with what does not move are left out and become local_contacts(). With R = h A⁻¹ of each body, J and Y =
  /// R Jᵀ of the rows that hold, and C their compliance,
  ///
  ///   (1 + Y_c C⁻¹ J) dx = R w,    u̇ = dx/h²
  ///
  /// C is at least 1e-7, of `local` 1e-4, of a row's own J Y: a table's four corners hold more than a body can move.
  /// Bodies farther than `max_bodies` from the first ones, counted along contacts and joints, stand still.
  void compute_direct(std::span<const std::int32_t> bodies, int max_bodies, bool local, Eigen::MatrixXd& A);
  std::span<const LocalContact> local_contacts() const noexcept { return local_contacts_; }
  /// Joints between these bodies, whose limits and drives are left out likewise.
  std::span<const LocalJoint> local_joints() const noexcept { return local_joints_; }
  /// Force and torque of both on each of the bodies in the last tried step.
  std::span<const Vec6> local_wrenches() const noexcept { return local_wrenches_; }

  /// Where a test pushes.
  struct TestPoint {
    std::int32_t body = -1;
    Vec3 arm = Vec3::Zero();  ///< from its centre, world frame [m]
    double force = 1.0;       ///< [N]
  };
  /// The same by test simulations (eq. 4 to 6): for each point three steps with a force along x, y and z, each less the
  /// step without. 6n × 3n. False if one failed.
  bool compute_by_tests(std::span<const TestPoint> points, Eigen::MatrixXd& A);

 private:
  /// A row that holds: for each side its J, and the Y of the force that its λ means.
  struct HeldRow {
    std::array<std::int32_t, 2> body{-1, -1};  ///< light bodies of the problem
    std::array<Vec6, 2> J, Y;
    double compliance = 0.0;
  };
  void collect_held(std::span<const std::int32_t> bodies, bool local);
  void collect_joints(std::span<const std::int32_t> bodies, bool local);
  LocalJoint* add_local_joint(std::span<const std::int32_t> bodies, std::size_t joint);
  void add_idle(std::span<const std::int32_t> bodies);
  void add_local(std::span<const std::int32_t> bodies, const Contact& contact, const Vec3& lambda, double limit = -1.0);
  Vec3 find_velocity(std::int32_t body, const Vec3& place) const;
  void add_held(const Constraint& c, const Vec3& along, const Vec3& force, double compliance);
  void choose_bodies(std::span<const std::int32_t> bodies, int max_bodies);
  void fill_system();

  World& world_;
  const JointFrames& joints_;
  const double h_;
  const int absent_;
  const int sweeps_;
  std::optional<SolvedStep> step_;
  double least_compliance_ = 0.0;
  std::vector<double> delta_;
  std::vector<HeldRow> held_;
  std::vector<LocalContact> local_contacts_;
  std::vector<LocalJoint> local_joints_;
  std::vector<std::size_t> idle_;  ///< contacts of the world that do not push
  std::vector<Vec6> local_wrenches_;
  std::vector<std::int32_t> place_;   ///< of light bodies in the system; −1: not in it
  std::vector<std::int32_t> chosen_;  ///< light bodies in the system
  Eigen::MatrixXd system_, right_, base_;
};

}  // namespace palpate::accelerance
