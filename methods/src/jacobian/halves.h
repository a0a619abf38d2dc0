#pragma once

#include <memory>

#include "jacobian/messages.h"

namespace palpate::jacobian {

/// The visual tool in the world: free motion, contacts, forces, the model, and the motion they give.
std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context);

/// The haptic tool: a copy of the tool that meets the world through the model alone.
std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context);

/// Velocities of a body of one or two blocks as six numbers; a point's turn is zero.
inline Vec6 read_blocks(std::span<const Vec3> blocks) noexcept {
  Vec6 out = Vec6::Zero();
  for (std::size_t b = 0; b < blocks.size() && b < 2; ++b) out.segment<3>(3 * static_cast<int>(b)) = blocks[b];
  return out;
}

/// Centre of mass and orientation.
inline Pose read_centre(const Body& tool) noexcept {
  return {tool.compute_point({}), tool.compute_frame({})};
}

}  // namespace palpate::jacobian
