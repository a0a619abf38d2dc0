#pragma once

#include <array>
#include <limits>
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

/// What the hand holds in the world. A point, a rigid body or a chain hangs on the virtual coupling by its handle.
struct ToolSettings {
  enum class Kind : std::uint8_t {
    kPoint,    ///< a point mass
    kRigid,    ///< a rigid body: position and orientation in the hand, force and torque back
    kChain,    ///< a chain of beams held by its first node: needle, wire, thread
    kSoft,     ///< finite elements, held by those near the handle
    kFingers,  ///< pointers on the handle, for methods that take the hand's place as given; not a body of the world
  };
  Kind kind = Kind::kPoint;
  double mass = 0.001;          ///< of point and rigid body [kg]; the 1 g proxy of Knott & Kuhlen 2015
  double radius = 0.0;          ///< of a point, so that it touches as a ball; of a chain [m]
  TriangleMesh surface;         ///< of a rigid body, in the handle's frame: closed, outward
  bool convex = true;           ///< the rigid body touches as the convex hull of its surface
  double length = 0.2;          ///< of a chain [m]
  int beams = 10;               ///< of a chain
  Material material;            ///< of a chain or a soft tool
  TetMesh volume;               ///< of a soft tool, in the handle's frame
  double hold_radius = 0.01;    ///< of a soft tool: nodes within this distance of the handle are held [m]
  std::vector<Finger> fingers;  ///< at most kMaxFingers
  /// Coulomb coefficient; a pair has the geometric mean of its two. NaN: that of what is touched.
  double friction = std::numeric_limits<double>::quiet_NaN();
  VirtualCouplingSettings coupling;  ///< between handle and tool
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
