#pragma once

#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// A moving frame: two blocks of a body.
struct FrameState {
  Pose pose;
  Twist velocity;
};

/// A surface whose vertices ride on frames: the one of a rigid body, or the nodes of a beam chain. Frame i is blocks
/// 2i (linear) and 2i + 1 (angular). Thread: its body's. Allocates at set-up only.
class FrameSkin {
 public:
  FrameSkin() = default;
  /// `mesh` in the frames' own coordinates: vertex v belongs to frame `frame_of_vertex[v]`.
  FrameSkin(TriangleMesh mesh, std::vector<std::int32_t> frame_of_vertex);

  /// Moves the surface to where these frames have it.
  void update(std::span<const FrameState> frames) noexcept;
  BodySurface surface() const noexcept { return {triangles_, positions_, velocities_}; }

  /// Writes where the vertices would be with these frames, world frame [m]. Changes nothing.
  void compute_positions(std::span<const FrameState> frames, std::span<Vec3> positions) const noexcept;

 private:
  std::vector<std::array<std::int32_t, 3>> triangles_;
  std::vector<Vec3> offsets_;  ///< in the vertex's frame [m]
  std::vector<std::int32_t> frame_;
  std::vector<Vec3> positions_, velocities_;
};

}  // namespace palpate
