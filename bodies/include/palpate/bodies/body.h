#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "palpate/bodies/grip.h"
#include "palpate/core/math.h"
#include "palpate/linear/block_rows.h"

namespace palpate {

/// Energies of a body [J].
struct BodyEnergy {
  double kinetic = 0.0;
  double elastic = 0.0;
  double gravitational = 0.0;  ///< −Σ m g·x, zero for a mass at the world's origin
  double total() const noexcept { return kinetic + elastic + gravitational; }
};

/// Momentum of a body, in the world frame.
struct BodyMomentum {
  Vec3 linear = Vec3::Zero();   ///< [kg·m/s]
  Vec3 angular = Vec3::Zero();  ///< about the world's origin [kg·m²/s]
};

/// A body's surface as it is now. The spans stay valid, and at the same addresses, as long as the body lives.
struct BodySurface {
  std::span<const std::array<std::int32_t, 3>> triangles;  ///< indices into the two below, outward
  std::span<const Vec3> positions;                         ///< of the vertices [m]
  std::span<const Vec3> velocities;                        ///< of the vertices [m/s]
};

/// A material point of a body: it moves with it.
///
/// Which members count depends on the body. Finite elements and static surfaces: triangle `element` of the surface and
/// the `weights` of its corners. Chains of beams: between the two nodes of beam `element` by `weights[0]`,
/// `weights[1]`, and `offset` from the centre line, in the frame of each node. Rigid bodies: `offset` from the centre
/// of mass in the body's frame if `element` is −1, else as finite elements. Particles: none.
struct BodyPoint {
  std::int32_t element = -1;
  Vec3 weights = Vec3::Zero();
  Vec3 offset = Vec3::Zero();  ///< [m]
};

/// One mechanical body of the slow loop: the seam at which finite-element bodies, beams, rigid bodies and particles
/// look alike.
///
/// All speak in *blocks* of three unknowns: a finite-element node or a particle is one block (its velocity), a beam
/// node or a rigid body two (linear velocity, then angular velocity, both in the world frame). Vectors over a body are
/// spans of one Vec3 for each block; forces are dual to velocities, so the second block of a rigid body takes a torque
/// about its centre.
///
/// A step is: linearise(), compute_free_motion(), add_compliance(), the contact solver, compute_correction(),
/// advance(). It follows docs/design.md, "The step": A(h) Δv = f + h K v + Jᵀλ, A(h) = M/h − B − h K.
/// Everything between two calls of linearise() refers to the state at the first; `which` names a time step of that
/// call by its place.
///
/// Thread: one at a time, the slow loop's (a beam chain may live in the fast loop instead). Set-up allocates, throws,
/// and fixes how many time steps and constraint rows there may be; a step allocates nothing and throws nothing.
class Body {
 public:
  virtual ~Body() = default;

  virtual int block_count() const noexcept = 0;

  // State: what a step changes. Restoring a saved state repeats the same bits from there on; forces, gravity and
  // boundary conditions are inputs, not state.
  virtual int state_size() const noexcept = 0;
  virtual void save_state(std::span<double> out) const noexcept = 0;
  virtual void restore_state(std::span<const double> state) noexcept = 0;
  virtual std::span<const Vec3> velocities() const noexcept = 0;  ///< of the blocks [m/s or rad/s]
  virtual void set_velocities(std::span<const Vec3> velocities) noexcept = 0;

  // Inputs, held until changed.
  virtual std::span<Vec3> external_forces() noexcept = 0;      ///< on the blocks [N or N·m], world frame
  virtual void set_gravity(const Vec3& gravity) noexcept = 0;  ///< [m/s²]
  /// From now on the block moves with `velocity` (zero: it is fixed) whatever the forces; its Δv is what that takes,
  /// and constraints find it infinitely heavy. Takes effect at the next linearise(); not between it and advance().
  virtual void prescribe(int block, const Vec3& velocity) noexcept = 0;
  virtual void release(int block) noexcept = 0;
  virtual bool is_prescribed(int block) const noexcept = 0;
  /// Holds the body's handle (a particle itself, a rigid body's handle frame, a chain's first node, nodes of finite
  /// elements) from the next linearise() on. False: this kind of body has no handle.
  virtual bool set_grip(const Grip&) noexcept { return false; }
  /// Force and torque of the grip on the handle in the current state; zero without one.
  virtual Wrench compute_grip() const noexcept { return {}; }
  virtual Pose handle_pose() const noexcept { return {}; }

  /// Assembles f and, for every h [s], A(h), and factors each. False if an A(h) is not positive definite (the state is
  /// not finite, or a stiffness was indefinite and not projected) or if there are more time steps than the body has
  /// room for: then the step must not go on.
  virtual bool linearise(std::span<const double> time_steps) noexcept = 0;

  /// linearise() in parts: this one, then factor() of each time step, before anything else is asked for that one.
  virtual bool begin_linearise(std::span<const double> time_steps) noexcept { return linearise(time_steps); }
  virtual bool factor(int) noexcept { return true; }

  /// Δv of A(h) Δv = f + h K v: the motion without contact.
  virtual void compute_free_motion(int which, std::span<Vec3> dv) noexcept = 0;

  /// W += h J A(h)⁻¹ Jᵀ, J's rows over this body's blocks. W is square with as many rows as J. False, and W
  /// untouched, if J has more rows than the body has room for.
  virtual bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept = 0;

  /// Most rows that it takes.
  virtual int max_rows() const noexcept { return std::numeric_limits<int>::max(); }

  /// dv = A(h)⁻¹ Jᵀ λ.
  virtual void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                  std::span<Vec3> dv) noexcept = 0;

  /// Whether, between begin_linearise() and advance(), factor(), compute_free_motion(), add_compliance() and
  /// compute_correction() may run for one time step while another thread has them run for another; and beside all that
  /// changes nothing.
  virtual bool allows_two_threads() const noexcept { return false; }

  /// h A(h)⁻¹ as a whole, prescribed blocks zero: of a body of at most two blocks. False: there are more.
  virtual bool compute_response(int, Eigen::Matrix<double, 6, 6>&) const noexcept { return false; }

  /// v += dv, x += h v.
  virtual void advance(double h, std::span<const Vec3> dv) noexcept = 0;

  virtual BodyEnergy compute_energy() const noexcept = 0;
  virtual BodyMomentum compute_momentum() const noexcept = 0;

  virtual BodySurface surface() const noexcept = 0;
  /// Where surface() would have its vertices after advance(h, dv). Changes nothing.
  virtual void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept = 0;

  virtual Vec3 compute_point(const BodyPoint& point) const noexcept = 0;  ///< where it is now [m]
  /// The material point nearest to p; of a rigid body the one at p, on it or not. Allocates where there are triangles.
  virtual BodyPoint find_point(const Vec3& p) const = 0;
  /// Most entries that compute_point_row() writes.
  virtual int max_row_entries() const noexcept = 0;
  /// The row of J that gives the velocity of a material point along `direction`: Σ entry·v over the blocks. Returns how
  /// many entries it wrote, each block once, ascending; prescribed blocks included.
  virtual int compute_point_row(const BodyPoint& point, const Vec3& direction,
                                std::span<BlockRows::Entry> out) const noexcept = 0;
  /// Von Mises stress at the surface's vertices in the current state [Pa], for display. False, and `out` untouched: a
  /// body of this kind has none.
  virtual bool compute_surface_stress(std::span<float>) const noexcept { return false; }
  /// Orientation of the material at a point; identity where the body has no frames (finite elements, particles).
  virtual Quat compute_frame(const BodyPoint&) const noexcept { return Quat::Identity(); }
  /// The row of J that gives the angular velocity of that frame about `axis`; no entries where there is none.
  virtual int compute_turn_row(const BodyPoint&, const Vec3&, std::span<BlockRows::Entry>) const noexcept { return 0; }
};

/// The point of a surface nearest to p. Set-up: builds a tree.
BodyPoint find_surface_point(const BodySurface& surface, const Vec3& p);

}  // namespace palpate
