#pragma once

#include <optional>
#include <span>
#include <vector>

#include "accelerance/messages.h"
#include "palpate/geometry/convex_shape.h"
#include "palpate/geometry/triangle_tree.h"

namespace palpate::accelerance {

/// Pose of a body's centre of mass; of what does not move, that of the world.
Pose centre_pose(const Body* body) noexcept;

/// A contact that was found, and how near it is.
struct FoundContact {
  double gap = 0.0;  ///< [m], negative: they overlap
  PointerContact contact;
};

/// Finds what pointers touch or nearly touch. Slow thread; set-up allocates and throws InputError.
class PointerFinder {
 public:
  PointerFinder(const World& world, const ToolSettings& tool);

  std::span<const Finger> pointers() const noexcept { return pointers_; }

  /// Contacts nearer than `reach` plus what pointer and body move in `ahead` [s], nearest first; bodies as they are
  /// now, pointers where `hand` has them.
  void find(const DeviceState& hand, double reach, double ahead, std::vector<FoundContact>& out) const;

 private:
  /// Something to touch.
  struct Thing {
    std::int32_t body = -1;
    enum class Kind : std::uint8_t { kPlane, kBall, kConvex, kMesh } kind = Kind::kPlane;
    bool moves = false;
    double friction = 0.0;
    FacePlane plane;                    ///< kPlane
    double radius = 0.0;                ///< kBall, with …
    Vec3 centre = Vec3::Zero();         ///< … its place in the body
    std::optional<ConvexShape> convex;  ///< kConvex; of a ball with a surface too
    std::optional<TriangleTree> tree;   ///< kMesh
    double size = 0.0;                  ///< largest distance of a point from the centre [m]
  };
  struct Query {
    const Thing& thing;
    Pose X_WT;     ///< of the thing
    Pose X_WP;     ///< of the pointer
    double reach;  ///< [m]
    PointerContact contact;
  };
  void add_ball(const Query& query, std::vector<FoundContact>& out) const;
  void add_convex(const Query& query, const ConvexShape& pointer, std::vector<FoundContact>& out) const;
  void add_corners(const Query& query, const ConvexShape& pointer, std::vector<FoundContact>& out) const;

  const World& world_;
  std::vector<Finger> pointers_;
  std::vector<std::optional<ConvexShape>> shapes_;  ///< of pointers that are no balls
  std::vector<double> sizes_;                       ///< of pointers [m]
  std::vector<Thing> things_;
};

}  // namespace palpate::accelerance
