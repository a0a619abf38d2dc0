#pragma once

#include <memory>

#include "palpate/methods/tool.h"

namespace palpate::interpolation {

/// A rigid thing that nodes collide with: a finger, which moves and feels, or a surface of the world, which does
/// neither. Thread: slow loop; queries allocate nothing.
struct Proxy {
  enum class Kind : std::uint8_t { kBall, kMesh, kPlane };
  Kind kind = Kind::kBall;
  int finger = -1;                           ///< −1: stands still
  double friction = 0.0;                     ///< NaN: that of what it touches
  const TriangleTree* tree = nullptr;        ///< of a mesh, in the proxy's frame
  std::shared_ptr<const TriangleTree> owns;  ///< of a finger's
  Vec3 centre = Vec3::Zero();                ///< of a ball around all of it, in its frame [m]
  double radius = 0.0;                       ///< of that ball; of a kBall its own [m]
  double max_depth = 0.0;                    ///< of a mesh: no node is farther inside [m]
  Vec3 normal = Vec3::UnitY();               ///< of a plane
  double offset = 0.0;                       ///< of a plane [m]

  Pose pose;                     ///< X_WP now; set by move_to()
  Mat3 axes = Mat3::Identity();  ///< its rotation once more
  Vec3 middle = Vec3::Zero();    ///< `centre` in the world [m]
  Twist velocity;                ///< of its frame's origin

  void move_to(const Pose& to) noexcept {
    pose = to;
    axes = to.rotation.toRotationMatrix();
    middle = to.position + axes * centre;
  }
  /// Whether x is farther than `skin` [m] from the ball around it, as most nodes are.
  bool is_far(const Vec3& x, double skin) const noexcept {
    return kind != Kind::kPlane && (x - middle).squaredNorm() > (radius + skin) * (radius + skin);
  }
  Vec3 velocity_at(const Vec3& x) const noexcept { return velocity.linear + velocity.angular.cross(x - pose.position); }
};

/// Where a point is with respect to a proxy.
struct Touch {
  Vec3 normal = Vec3::UnitY();  ///< unit, out of the proxy, world frame
  double gap = 0.0;             ///< < 0 inside [m]
};

/// What a node remembers of a mesh: as long as it has moved less than `clear` from `place` in the mesh's frame, it is
/// not near. Saves all queries but those of nodes near the surface.
struct Clearance {
  Vec3 place = Vec3::Zero();
  double clear = -1.0;  ///< [m]
};

/// Whether x is in the proxy or no farther from it than `skin` [m], and how. `memory` is the same in all calls for one
/// node; if the skin grows, what it remembers is a little too generous for one motion by `clear`.
bool find_touch(const Proxy& proxy, const Vec3& x, double skin, Touch& out, Clearance& memory) noexcept;

Proxy make_finger_proxy(const Finger& finger, int index, double friction);
Proxy make_surface_proxy(const StaticSurface& surface);
Proxy make_plane_proxy(const ContactShape::Plane& plane, double friction);

}  // namespace palpate::interpolation
