#pragma once

#include <array>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/bodies/frame_skin.h"
#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// Mass, centre and inertia of a body.
struct MassProperties {
  double mass = 1.0;                ///< [kg], > 0
  Vec3 centre = Vec3::Zero();       ///< of mass [m]
  Mat3 inertia = Mat3::Identity();  ///< about the centre [kg·m²], symmetric positive definite
};

/// Computes those of a solid of uniform `density` [kg/m³] inside a closed, outward mesh, in the mesh's frame. Exact for
/// the polyhedron (signed tetrahedra from the origin). Throws InputError if the volume is not positive.
MassProperties compute_mass_properties(const TriangleMesh& mesh, double density);

struct RigidBodySettings {
  MassProperties mass;     ///< in the body's own frame
  Pose pose;               ///< X_WB: of the body's frame at the start
  Twist velocity;          ///< of the centre of mass
  double damping = 0.0;    ///< α [1/s]: force −αMv, torque −αIω
  TriangleMesh surface;    ///< in the body's own frame; may be empty
  Pose handle;             ///< where a grip holds it, in the body's own frame
  int max_time_steps = 2;  ///< in one linearise()
};

/// A rigid body: two blocks, velocity of the centre of mass and angular velocity, both in the world frame.
///
/// A(h) = diag(m, I_W) (1/h + α), plus Gᵀ (b + h k) G of its grip, G the 6×6 that takes its velocities to the handle's;
/// of an exact grip minus B + h K of compute_grip_jacobian(), which is not symmetric. Threads and progress are those of
/// Body, and it may live in the fast loop.
///
/// The gyroscopic term is not linearised but integrated: advance() takes the angular
/// momentum L = I_W ω after the step's impulses, turns the orientation under constant L (q̇ = ½ ω q, ω = I_W(q)⁻¹ L,
/// Runge–Kutta of order 4, substeps of at most 0.2 rad) and sets ω from L at the end. So L is conserved to rounding at
/// any step and spin, and the energy of a free spin to order 4.
class RigidBody final : public Body {
 public:
  explicit RigidBody(const RigidBodySettings& settings);

  std::unique_ptr<Body> make_copy() const override;
  int block_count() const noexcept override { return 2; }
  int state_size() const noexcept override { return 13; }
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
  Pose handle_pose() const noexcept override;
  bool linearise(std::span<const double> time_steps) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  bool compute_response(int which, Mat6& response) const noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override;
  BodyMomentum compute_momentum() const noexcept override;
  BodySurface surface() const noexcept override { return skin_.surface(); }
  int max_row_entries() const noexcept override { return 2; }
  void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept override;
  Vec3 compute_point(const BodyPoint& point) const noexcept override;
  BodyPoint find_point(const Vec3& p) const override;
  int compute_point_row(const BodyPoint& point, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override;
  Quat compute_frame(const BodyPoint&) const noexcept override { return pose_.rotation; }
  int compute_turn_row(const BodyPoint& point, const Vec3& axis,
                       std::span<BlockRows::Entry> out) const noexcept override;

  /// X_WC of the frame C at the centre of mass, whose axes are parallel to the body's own.
  const Pose& centre_pose() const noexcept { return pose_; }
  double mass() const noexcept { return mass_; }  ///< [kg]
  Mat3 compute_world_inertia() const noexcept;    ///< about the centre of mass, world frame [kg·m²]

 private:
  void assemble_system(double h) noexcept;
  Twist handle_velocity(const Pose& handle) const noexcept;
  void solve(int which, std::span<Vec3> y) const noexcept;
  void update_skin() noexcept;
  /// The pose after h [s] at these velocities; `spin` becomes what is left of it with the same angular momentum.
  Pose compute_advanced(double h, const Vec3& velocity, Vec3& spin) const noexcept;
  Vec3 compute_arm(const BodyPoint& point) const noexcept;  ///< from the centre, world frame [m]

  double mass_;
  Mat3 inertia_, inverse_inertia_;  ///< in the body's frame
  double damping_;
  Pose pose_;
  std::array<Vec3, 2> velocities_{Vec3::Zero(), Vec3::Zero()};
  std::array<Vec3, 2> external_{Vec3::Zero(), Vec3::Zero()};
  std::array<Vec3, 2> prescribed_velocities_{Vec3::Zero(), Vec3::Zero()};
  std::array<std::uint8_t, 2> prescribed_{};
  Vec3 gravity_ = Vec3::Zero();
  Pose handle_;  ///< in the frame at the centre of mass
  Grip grip_;
  bool gripped_ = false;
  GripJacobian grip_jacobian_;  ///< of the last linearise(), if the grip is exact
  std::vector<double> time_steps_;
  Mat3 world_inertia_;  ///< of the last linearise()
  struct System {
    Mat6 A, inverse;  ///< the inverse of A without the prescribed blocks, whose rows and columns are zero
  };
  std::vector<System> systems_;  ///< of each time step
  FrameSkin skin_;
};

}  // namespace palpate
