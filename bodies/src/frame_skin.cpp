#include "palpate/bodies/frame_skin.h"

#include <algorithm>

namespace palpate {

FrameSkin::FrameSkin(TriangleMesh mesh, std::vector<std::int32_t> frame_of_vertex)
    : triangles_(std::move(mesh.triangles)),
      offsets_(std::move(mesh.vertices)),
      frame_(std::move(frame_of_vertex)),
      positions_(offsets_.size(), Vec3::Zero()),
      velocities_(offsets_.size(), Vec3::Zero()) {}

void FrameSkin::update(std::span<const FrameState> frames) noexcept {
  for (std::size_t v = 0; v < offsets_.size(); ++v) {
    const FrameState& f = frames[static_cast<std::size_t>(frame_[v])];
    const Vec3 arm = f.pose.rotation * offsets_[v];
    positions_[v] = f.pose.position + arm;
    velocities_[v] = f.velocity.linear + f.velocity.angular.cross(arm);
  }
}

int FrameSkin::compute_row(const SurfacePoint& point, const Vec3& direction, std::span<const FrameState> frames,
                           std::span<BlockRows::Entry> out) const noexcept {
  int count = 0;
  const auto& corners = triangles_[static_cast<std::size_t>(point.triangle)];
  for (int c = 0; c < 3; ++c) {
    const auto v = static_cast<std::size_t>(corners[static_cast<std::size_t>(c)]);
    const std::int32_t frame = frame_[v];
    const Vec3 arm = positions_[v] - frames[static_cast<std::size_t>(frame)].pose.position;
    const Vec3 force = point.barycentric[c] * direction;
    int at = 0;
    while (at < count && out[static_cast<std::size_t>(at)].block != 2 * frame) at += 2;
    if (at == count) {
      out[static_cast<std::size_t>(at)] = {2 * frame, Vec3::Zero()};
      out[static_cast<std::size_t>(at) + 1] = {2 * frame + 1, Vec3::Zero()};
      count += 2;
    }
    out[static_cast<std::size_t>(at)].value += force;
    out[static_cast<std::size_t>(at) + 1].value += arm.cross(force);
  }
  std::sort(out.begin(), out.begin() + count, [](const auto& a, const auto& b) { return a.block < b.block; });
  return count;
}

}  // namespace palpate
