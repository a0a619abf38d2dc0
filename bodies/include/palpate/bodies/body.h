#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
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

/// The part of a surface that a body keeps up to date.
struct FreshSurface {
  std::span<const std::int32_t> vertices;  ///< ascending; none: all of them
  std::uint64_t version = 0;  ///< another one whenever the part is another: the rest is then to be taken as it is
};

/// A material point of a body: it moves with the body. Made by one of the functions below, or found by
/// Body::find_point(), and understood by bodies of the kind that the function names. Plain data, so that it can travel
/// in messages.
struct BodyPoint {
  /// A point of the surface of finite elements, of a static body or of a rigid body: in triangle `triangle` of
  /// Body::surface(), at Σ weights[k] · corner k. The weights add up to 1.
  static BodyPoint on_surface(std::int32_t triangle, const Vec3& weights) noexcept {
    return {triangle, weights, Vec3::Zero()};
  }
  /// A point that is carried by beam `beam` of a chain: at (1 − share) of its first node and `share` of its second,
  /// each with `offset` from the centre line in that node's frame [m].
  static BodyPoint on_chain(std::int32_t beam, double share, const Vec3& offset) noexcept {
    return {beam, Vec3(1.0 - share, share, 0.0), offset};
  }
  /// A point of a rigid body, on its surface or not: `offset` from the centre of mass in the body's frame [m]. Where a
  /// joint ties a body to the world, the world's end of it: `offset` is its place in the world frame.
  static BodyPoint fixed_to(const Vec3& offset) noexcept { return {-1, Vec3::Zero(), offset}; }
  /// The particle itself, and the centre of mass of a rigid body.
  static BodyPoint centre() noexcept { return {}; }

  std::int32_t element = -1;    ///< triangle or beam; −1: neither
  Vec3 weights = Vec3::Zero();  ///< of the triangle's corners or the beam's two nodes
  Vec3 offset = Vec3::Zero();   ///< from the beam's centre line or the centre of mass [m]
};

/// A mechanical body: the seam at which finite-element bodies, beams, rigid bodies and particles look alike.
///
/// A body computes its own free motion, tells how it answers to forces on given rows, and moves by what it is told. It
/// knows nothing of other bodies; World brings them together.
///
/// Unknowns come in *blocks* of three. A finite-element node and a particle are one block each (its velocity); a beam
/// node and a rigid body are two (linear velocity, then angular velocity, both in the world frame). A vector over a
/// body is a span with one Vec3 for each block. Forces are dual to velocities, so the second block of a rigid body
/// takes a torque about its centre of mass.
///
/// A step is, in this order: linearise(), compute_free_motion(), add_compliance(), the contact solver,
/// compute_correction(), advance(). It follows docs/design.md, "The step": A(h) Δv = f + h K v + Jᵀλ with
/// A(h) = M/h − B − h K. Everything between one linearise() and the next refers to the state at the first. The argument
/// `which` names one of the time steps that linearise() was given, by its place among them.
///
/// Threads: a body belongs to one thread at a time, the fast loop's or the slow loop's; a method that needs the tool in
/// both has two bodies for it. Where allows_two_threads() says so, a second thread may take part between
/// begin_linearise() and advance(). Set-up allocates and may throw, and fixes how many time steps and constraint rows
/// there is room for. A step neither allocates nor throws.
class Body {
 public:
  virtual ~Body() = default;

  /// Another body like this one, with its state and inputs, for another loop. Null if bodies of this kind are too large
  /// for that: finite elements. Set-up: allocates.
  virtual std::unique_ptr<Body> make_copy() const { return nullptr; }

  virtual int block_count() const noexcept = 0;

  // The state is what a step changes. Restoring a saved one repeats the same bits from there on. Forces, gravity and
  // boundary conditions are inputs and no part of it.
  virtual int state_size() const noexcept = 0;
  virtual void save_state(std::span<double> out) const noexcept = 0;
  virtual void restore_state(std::span<const double> state) noexcept = 0;
  virtual std::span<const Vec3> velocities() const noexcept = 0;  ///< of the blocks [m/s or rad/s]
  virtual void set_velocities(std::span<const Vec3> velocities) noexcept = 0;

  // Inputs stay as they are until they are set again.
  virtual std::span<Vec3> external_forces() noexcept = 0;      ///< on the blocks [N or N·m], world frame
  virtual void set_gravity(const Vec3& gravity) noexcept = 0;  ///< [m/s²]
  /// From the next linearise() on the block moves with `velocity` [m/s or rad/s], whatever the forces on it; zero fixes
  /// it. Its Δv is what that takes, and constraints find it infinitely heavy. Not to be called between linearise() and
  /// advance().
  virtual void prescribe(int block, const Vec3& velocity) noexcept = 0;
  virtual void release(int block) noexcept = 0;
  virtual bool is_prescribed(int block) const noexcept = 0;
  /// Holds the body's handle from the next linearise() on. The handle is the particle itself, a rigid body's handle
  /// frame, a chain's first node, or some nodes of finite elements. Returns false if this kind of body has none.
  virtual bool set_grip(const Grip&) noexcept { return false; }
  /// Force and torque of the grip on the handle in the current state; zero without one.
  virtual Wrench compute_grip() const noexcept { return {}; }
  virtual Pose handle_pose() const noexcept { return {}; }

  /// Assembles f and, for every time step h [s], A(h), and factors each. Returns false, and the step must not go on, if
  /// an A(h) is not positive definite or if there are more time steps than the body has room for. The former happens
  /// where the state is not finite, or where a stiffness was indefinite and not projected.
  virtual bool linearise(std::span<const double> time_steps) noexcept = 0;

  /// The same as linearise(), in parts: begin_linearise() comes first, and then factor() of each time step before
  /// anything else is asked of that time step. Both return false where linearise() would.
  virtual bool begin_linearise(std::span<const double> time_steps) noexcept { return linearise(time_steps); }
  virtual bool factor(int) noexcept { return true; }

  /// Δv of A(h) Δv = f + h K v: the motion without contact.
  virtual void compute_free_motion(int which, std::span<Vec3> dv) noexcept = 0;

  /// W += h J A(h)⁻¹ Jᵀ [m/N], with J's rows over this body's blocks. W is square with as many rows as J. Returns false
  /// and leaves W as it is if J has more than max_rows() rows.
  virtual bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept = 0;

  /// The part of the same that is in the rows and columns `fresh` of W, ascending; the rest of W stays as it is. Equal
  /// to add_compliance()'s to rounding, and exactly symmetric. For a step that has found a few more contacts and keeps
  /// what it knows of the others. Returns false and leaves W as it is if this kind of body does no better than anew.
  virtual bool add_fresh_compliance(int, const BlockRows&, std::span<const std::int32_t>,
                                    Eigen::Ref<Eigen::MatrixXd>) noexcept {
    return false;
  }

  /// The most rows that add_compliance() takes.
  virtual int max_rows() const noexcept { return std::numeric_limits<int>::max(); }

  /// dv = A(h)⁻¹ Jᵀ λ.
  virtual void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                  std::span<Vec3> dv) noexcept = 0;

  /// Whether two threads may work on two time steps of the body at once. If so, then between begin_linearise() and
  /// advance() one thread may call factor(), compute_free_motion(), add_compliance() and compute_correction() for one
  /// time step while another thread calls them for another, and both may call what is const.
  virtual bool allows_two_threads() const noexcept { return false; }

  /// The whole of h A(h)⁻¹ [m/N and so on] of a body of one or two blocks, with zeros for prescribed blocks. Returns
  /// false if the body has more blocks.
  virtual bool compute_response(int, Mat6&) const noexcept { return false; }

  /// v += dv, x += h v.
  virtual void advance(double h, std::span<const Vec3> dv) noexcept = 0;

  virtual BodyEnergy compute_energy() const noexcept = 0;
  virtual BodyMomentum compute_momentum() const noexcept = 0;

  virtual BodySurface surface() const noexcept = 0;
  /// The part of surface() that advance() moves. A body for which moving all of it takes too long may let the rest lie,
  /// where nothing is near, until the version changes.
  virtual FreshSurface fresh_surface() const noexcept { return {}; }
  /// Where surface() would have its vertices after advance(h, dv) [m], those of fresh_surface() at least; others stay
  /// as they are in `positions`. Changes nothing.
  virtual void predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept = 0;

  virtual Vec3 compute_point(const BodyPoint& point) const noexcept = 0;  ///< where it is now [m]
  /// The material point nearest to p [m]; of a rigid body the one at p, whether on its surface or not. For set-up: it
  /// allocates where the body has triangles.
  virtual BodyPoint find_point(const Vec3& p) const = 0;
  /// The most entries that compute_point_row() writes.
  virtual int max_row_entries() const noexcept = 0;
  /// Writes the row of J that gives the velocity of a material point along `direction` as Σ entry · v over the blocks.
  /// Returns how many entries it wrote: one for each block that counts, prescribed ones included, in ascending order.
  virtual int compute_point_row(const BodyPoint& point, const Vec3& direction,
                                std::span<BlockRows::Entry> out) const noexcept = 0;
  /// Writes the von Mises stress at the surface's vertices in the current state [Pa], for display. Returns false and
  /// leaves `out` as it is if a body of this kind has none.
  virtual bool compute_surface_stress(std::span<float>) const noexcept { return false; }
  /// The orientation of the material at a point; identity where the body has no frames, as in finite elements and
  /// particles.
  virtual Quat compute_frame(const BodyPoint&) const noexcept { return Quat::Identity(); }
  /// Writes the row of J that gives the angular velocity of that frame about `axis`; no entries where there is none.
  virtual int compute_turn_row(const BodyPoint&, const Vec3&, std::span<BlockRows::Entry>) const noexcept { return 0; }
};

/// Finds the point of a surface nearest to p [m]. For set-up: it builds a tree.
BodyPoint find_surface_point(const BodySurface& surface, const Vec3& p);

}  // namespace palpate
