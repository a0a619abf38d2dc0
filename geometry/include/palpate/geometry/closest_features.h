#pragma once

#include <algorithm>

#include "palpate/core/math.h"

// Nearest points of points, segments and triangles. No tolerance: each answer is the best of candidates that lie on the
// features however they were rounded, so nothing degenerate needs a case of its own. Any thread, also in a tick.
namespace palpate {

/// Where between a (0) and b (1) the segment is nearest to p; 0 if it has no length.
inline double closest_on_segment(const Vec3& p, const Vec3& a, const Vec3& b) noexcept {
  const Vec3 d = b - a;
  const double length2 = d.squaredNorm();
  return length2 > 0.0 ? std::clamp(d.dot(p - a) / length2, 0.0, 1.0) : 0.0;
}

/// Weights of the corners of the triangle's point nearest to p, each ≥ 0, together 1. Exact zeros tell the feature:
/// none the face, one the edge, two the vertex.
Vec3 closest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) noexcept;

/// Nearest points of two segments, at a0 + s (a1 − a0) and b0 + t (b1 − b0). 0 and 1 are exact: they tell an end.
struct SegmentPair {
  double s = 0.0, t = 0.0;
};
SegmentPair closest_of_segments(const Vec3& a0, const Vec3& a1, const Vec3& b0, const Vec3& b1) noexcept;

}  // namespace palpate
