#include "palpate/bodies/frame_skin.h"

namespace palpate {

FrameSkin::FrameSkin(TriangleMesh mesh, std::vector<std::int32_t> frame_of_vertex)
    : triangles_(std::move(mesh.triangles)),
      offsets_(std::move(mesh.vertices)),
      frame_(std::move(frame_of_vertex)),
      positions_(offsets_.size(), Vec3::Zero()),
      velocities_(offsets_.size(), Vec3::Zero()) {}

void FrameSkin::update(std::span<const FrameState> frames) noexcept {
  for (std::size_t v = 0; v < offsets_.size(); ++v) {
    const FrameState& f = frames[as_size(frame_[v])];
    const Vec3 arm = f.pose.rotation * offsets_[v];
    positions_[v] = f.pose.position + arm;
    velocities_[v] = f.velocity.linear + f.velocity.angular.cross(arm);
  }
}

void FrameSkin::compute_positions(std::span<const FrameState> frames, std::span<Vec3> positions) const noexcept {
  for (std::size_t v = 0; v < offsets_.size(); ++v) {
    const Pose& pose = frames[as_size(frame_[v])].pose;
    positions[v] = pose.position + pose.rotation * offsets_[v];
  }
}

}  // namespace palpate
