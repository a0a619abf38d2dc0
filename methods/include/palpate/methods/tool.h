#pragma once

#include <array>
#include <limits>
#include <variant>
#include <vector>

#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"
#include "palpate/geometry/triangle_mesh.h"
#include "palpate/haptics/coupling.h"
#include "palpate/haptics/device.h"
#include "palpate/world/world.h"

namespace palpate {

inline constexpr int kMaxFingers = 10;

/// A pointer that is where the hand has it, without mass: a fingertip, one jaw of a gripper. Its pose in the handle's
/// frame goes from `open` to `closed` with DeviceState::grip, straight and by the shortest turn.
struct Finger {
  TriangleMesh surface;  ///< in the finger's frame, convex: closed, outward; none: a ball
  double radius = 0.01;  ///< of the ball, if there is no surface [m]
  Pose open, closed;
};

/// A force for each finger [N]; zero at first, which Eigen's vectors are not by themselves.
struct FingerForces : std::array<Vec3, kMaxFingers> {
  FingerForces() noexcept { fill(Vec3::Zero()); }
};

/// Where a finger is, and how fast it moves (of its frame's origin). Real-time.
Pose compute_finger_pose(const Finger& finger, const DeviceState& hand) noexcept;
Twist compute_finger_velocity(const Finger& finger, const DeviceState& hand) noexcept;

/// A point mass.
struct HeldPoint {
  double mass = 0.001;  ///< [kg]; the 1 g proxy of Knott & Kuhlen 2015
  double radius = 0.0;  ///< so that it touches as a ball [m]
};

/// A rigid body: position and orientation in the hand, force and torque back.
struct HeldRigid {
  double mass = 0.001;     ///< [kg]
  TriangleMesh surface{};  ///< in the handle's frame: closed, outward
  bool convex = true;      ///< it touches as the convex hull of its surface
};

/// A chain of beams held by its first node: needle, wire, thread.
struct HeldChain {
  double radius = 0.0;  ///< [m]
  double length = 0.2;  ///< [m]
  int beams = 10;
  Material material{};
};

/// Finite elements, held by those near the handle.
struct HeldSoft {
  TetMesh volume{};  ///< in the handle's frame
  Material material{};
  double hold_radius = 0.01;  ///< nodes within this distance of the handle are held [m]
};

/// Pointers on the handle, for methods that take the hand's place as given; not a body of the world.
struct HeldFingers {
  std::vector<Finger> fingers;  ///< at most kMaxFingers
};

/// What the hand holds in the world. All but fingers hang on the virtual coupling by their handle.
struct ToolSettings {
  std::variant<HeldPoint, HeldRigid, HeldChain, HeldSoft, HeldFingers> kind;
  /// Coulomb coefficient; a pair has the geometric mean of its two. NaN: that of what is touched.
  double friction = std::numeric_limits<double>::quiet_NaN();
  VirtualCouplingSettings coupling;  ///< between handle and tool

  template <typename Kind>
  bool is() const noexcept {
    return std::holds_alternative<Kind>(kind);
  }
  /// Null if it is of another kind.
  template <typename Kind>
  const Kind* as() const noexcept {
    return std::get_if<Kind>(&kind);
  }
  template <typename Kind>
  Kind* as() noexcept {
    return std::get_if<Kind>(&kind);
  }
  /// What bends hangs by its own weight and has a shape of its own.
  bool bends() const noexcept { return is<HeldChain>() || is<HeldSoft>(); }
  /// How thick it is around its point or line: 0 for all that has a surface [m].
  double radius() const noexcept {
    if (const auto* chain = as<HeldChain>()) return chain->radius;
    const auto* point = as<HeldPoint>();
    return point ? point->radius : 0.0;
  }
};

/// The pointers of a tool for a method that takes the hand's place as given: its fingers, or the point (a ball) or
/// rigid body as the only one. Throws InputError for a chain.
std::vector<Finger> make_fingers(const ToolSettings& settings);

/// The tool as a body: also the fast loop's own copy of it, which needs no surface where contacts come with the model:
/// each step moves every vertex. Throws InputError.
WorldBody make_tool(const ToolSettings& settings, const Pose& start, const Vec3& gravity, bool with_surface = true);

/// Adds the tool to a world that is not prepared yet, its handle at `start`; a chain hangs from there along the
/// handle's −y. Returns its index; it is one of world.tools(). Throws InputError.
int add_tool(World& world, const ToolSettings& settings, const Pose& start);

}  // namespace palpate
