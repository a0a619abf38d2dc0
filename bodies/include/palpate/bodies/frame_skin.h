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

  void update(std::span<const FrameState> frames) noexcept;
  BodySurface surface() const noexcept { return {triangles_, positions_, velocities_}; }

  /// At most two entries for each of the triangle's corners.
  static constexpr int kMaxRowEntries = 6;
  /// See Body::compute_surface_row.
  int compute_row(const SurfacePoint& point, const Vec3& direction, std::span<const FrameState> frames,
                  std::span<BlockRows::Entry> out) const noexcept;

 private:
  std::vector<std::array<std::int32_t, 3>> triangles_;
  std::vector<Vec3> offsets_;  ///< in the vertex's frame [m]
  std::vector<std::int32_t> frame_;
  std::vector<Vec3> positions_, velocities_;
};

}  // namespace palpate
