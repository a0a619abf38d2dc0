#include "palpate/geometry/triangle_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "float_bounds.h"
#include "palpate/core/simd.h"
#include "triangle_kernels.h"

namespace palpate {
namespace {

using simd::fill;
using simd::Float8;
using simd::load;

/// Relative slack of a box test: a subtraction, a product and a rounded reciprocal err by 2^-24 each; 2^-20 covers all
/// of them on both sides of the comparison.
constexpr float kSlack = 0x1p-20f;
/// Below it a product may have lost bits to underflow.
constexpr float kTiny = 1e-30f;

/// A segment for slab tests in float, rounded so that no box it touches is missed.
///
/// Per axis t_enter = (near plane − near_start) · inverse, t_leave = (far plane − far_start) · inverse, where near and
/// far starts are the start point rounded to make t_enter earlier and t_leave later (after Ize 2013, "Robust BVH ray
/// traversal", who bounds the arithmetic but takes the start as exact).
struct SlabSegment {
  SlabSegment(const Vec3& a, const Vec3& b, const Vec3& origin) noexcept {
    for (int axis = 0; axis < 3; ++axis) {
      const double d = b[axis] - a[axis];
      const double start = a[axis] - origin[axis];
      if (std::abs(d) > kTiny) {
        inverse[axis] = static_cast<float>(1.0 / d);
        near_start[axis] = d > 0.0 ? float_above(start) : float_below(start);
        far_start[axis] = d > 0.0 ? float_below(start) : float_above(start);
      } else {
        // Parallel to the planes: inside for all t or for none; on a plane 0 · ∞ is not a number and does not count.
        const double end = b[axis] - origin[axis];
        inverse[axis] = std::numeric_limits<float>::infinity();
        near_start[axis] = float_above(std::max(start, end));
        far_start[axis] = float_below(std::min(start, end));
      }
      near_row[axis] = 2 * axis + (inverse[axis] < 0.0f ? 1 : 0);
    }
  }
  float inverse[3], near_start[3], far_start[3];
  int near_row[3];
};

/// Bit i is set if the segment may meet box i at some t ≤ t_max; `enter` gets where.
unsigned meet_boxes(const float (&bounds)[6][8], const SlabSegment& s, float t_max, float (&enter)[8]) noexcept {
  Float8 low = fill(0.0f), high = fill(t_max);
  for (int axis = 0; axis < 3; ++axis) {
    const int row = s.near_row[axis];
    low = simd::max_of((load(bounds[row]) - s.near_start[axis]) * s.inverse[axis], low);
    high = simd::min_of((load(bounds[row ^ 1]) - s.far_start[axis]) * s.inverse[axis], high);
  }
  low = low * (1.0f - kSlack);
  std::memcpy(enter, &low, sizeof low);
  return simd::bits(low <= high * (1.0f + kSlack) + kTiny);
}

/// A lower bound of the squared distance of a point to each box.
struct PointBounds {
  PointBounds(const Vec3& p, const Vec3& origin) noexcept {
    for (int axis = 0; axis < 3; ++axis) {
      below[axis] = float_below(p[axis] - origin[axis]);
      above[axis] = float_above(p[axis] - origin[axis]);
    }
  }
  float below[3], above[3];
};

unsigned near_boxes(const float (&bounds)[6][8], const PointBounds& p, float max_distance2,
                    float (&distance2)[8]) noexcept {
  Float8 sum = fill(0.0f);
  for (int axis = 0; axis < 3; ++axis) {
    const Float8 outside = simd::max_of(load(bounds[2 * axis]) - p.above[axis],
                                        simd::max_of(p.below[axis] - load(bounds[2 * axis + 1]), fill(0.0f)));
    sum += outside * outside;
  }
  sum = sum * (1.0f - kSlack);
  std::memcpy(distance2, &sum, sizeof sum);
  return simd::bits(sum <= max_distance2);
}

/// A finite float not below x, so that empty boxes, at infinity, stay out of reach.
float float_cap(double x) noexcept {
  return std::min(float_above(x), std::numeric_limits<float>::max());
}

/// Pushes the children named in `mask`, the one with the smallest key last.
template <typename Entry>
int push_sorted(Entry* stack, int size, unsigned mask, const float (&key)[8], const std::int32_t (&child)[8]) noexcept {
  const int first = size;
  for (; mask != 0; mask &= mask - 1) {
    const int i = std::countr_zero(mask);
    int at = size++;
    for (; at > first && stack[at - 1].key < key[i]; --at) stack[at] = stack[at - 1];
    stack[at] = {key[i], child[i]};
  }
  return size;
}

}  // namespace

bool TriangleTree::find_first_hit(const Vec3& a, const Vec3& b, SegmentHit& out) const noexcept {
  const Vec3 d = b - a;
  const double length = d.cwiseAbs().maxCoeff();
  // Negated so that not-a-number ends here; the lower limit keeps 1/d finite.
  if (!(length > 1e-290) || !std::isfinite(length) || !a.allFinite()) return false;
  const simd::ShearedSegment sheared(a, d);
  const SlabSegment slabs(a, b, origin_);
  double best = 1.0;
  std::int32_t triangle = -1;

  StackEntry stack[kStackSize];
  int size = 1;
  stack[0] = {0.0f, 0};
  while (size > 0) {
    const auto [enter, child] = stack[--size];
    if (enter > best) continue;
    if (child >= 0) {
      float key[kWidth];
      const Node& node = nodes_[child];
      const unsigned mask = meet_boxes(node.bounds, slabs, float_above(best), key);
      size = push_sorted(stack, size, mask & children(child), key, node.child);
      continue;
    }
    const Block& block = blocks_[~child];
    const simd::SegmentHit4 hits = simd::segment_hits(block.corner, sheared, best);
    for (unsigned lanes = simd::bits(hits.hit); lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const double t = hits.t[lane];
      if (t < best || (t == best && (triangle < 0 || block.triangle[lane] < triangle))) {
        best = t;
        triangle = block.triangle[lane];
      }
    }
  }
  if (triangle < 0) return false;
  out = {best, triangle, compute_unit_normal(mesh_, triangle)};
  return true;
}

/// Calls visit(block) for blocks that may lie within sqrt(best2) of `p`, nearest box first; visit may shrink best2.
template <typename Visit>
void TriangleTree::visit_near(const Vec3& p, double& best2, Visit&& visit) const noexcept {
  const PointBounds bounds(p, origin_);
  StackEntry stack[kStackSize];
  int size = 1;
  stack[0] = {0.0f, 0};
  while (size > 0) {
    const auto [distance2, child] = stack[--size];
    if (distance2 > best2) continue;
    if (child < 0) {
      visit(blocks_[~child]);
      continue;
    }
    float key[kWidth];
    const Node& node = nodes_[child];
    const unsigned mask = near_boxes(node.bounds, bounds, float_cap(best2), key);
    size = push_sorted(stack, size, mask & children(child), key, node.child);
  }
}

bool TriangleTree::find_closest(const Vec3& p, double max_distance, ClosestPoint& out) const noexcept {
  if (!p.allFinite() || !(max_distance >= 0.0)) return false;
  double best2 = max_distance * max_distance;
  std::int32_t triangle = -1;
  Vec3 weights = Vec3::Zero();
  visit_near(p, best2, [&](const Block& block) noexcept {
    const simd::ClosestPoint4 c = simd::closest_points(block.corner, p);
    for (unsigned lanes = simd::bits(c.distance2 <= best2); lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      const double d2 = c.distance2[lane];
      if (d2 < best2 || (d2 == best2 && (triangle < 0 || block.triangle[lane] < triangle))) {
        best2 = d2;
        triangle = block.triangle[lane];
        weights = Vec3(c.u[lane], c.v[lane], c.w[lane]);
      }
    }
  });
  if (triangle < 0) return false;
  const auto& [i, j, k] = mesh_.triangles[triangle];
  const Vec3& corner = mesh_.vertices[i];
  const Vec3 point =
      weights.y() == 1.0 ? mesh_.vertices[j]
      : weights.z() == 1.0
          ? mesh_.vertices[k]
          : Vec3(corner + weights.y() * (mesh_.vertices[j] - corner) + weights.z() * (mesh_.vertices[k] - corner));
  out = {point, std::sqrt(best2), triangle, weights};
  return true;
}

int TriangleTree::find_within(const Vec3& p, double radius, std::span<std::int32_t> out) const noexcept {
  if (!p.allFinite() || !(radius > 0.0)) return 0;
  const double radius2 = radius * radius;
  std::size_t count = 0;
  double best2 = radius2;
  visit_near(p, best2, [&](const Block& block) noexcept {
    const simd::ClosestPoint4 c = simd::closest_points(block.corner, p);
    for (unsigned lanes = simd::bits(c.distance2 < radius2); lanes != 0; lanes &= lanes - 1) {
      if (count < out.size()) out[count] = block.triangle[std::countr_zero(lanes)];
      ++count;
    }
  });
  return static_cast<int>(count);
}

Vec3 TriangleTree::compute_vertex_normal(std::int32_t vertex) const noexcept {
  Vec3 sum = Vec3::Zero();
  for (std::int32_t at = vertex_begin_[vertex]; at < vertex_begin_[vertex + 1]; ++at) {
    const std::int32_t t = vertex_triangle_[at];
    const auto& corner = mesh_.triangles[t];
    const int i = corner[0] == vertex ? 0 : corner[1] == vertex ? 1 : 2;
    const Vec3 e = mesh_.vertices[corner[(i + 1) % 3]] - mesh_.vertices[vertex];
    const Vec3 f = mesh_.vertices[corner[(i + 2) % 3]] - mesh_.vertices[vertex];
    const Vec3 n = e.cross(f);
    const double length = n.norm();
    if (length > 0.0) sum += std::atan2(length, e.dot(f)) / length * n;
  }
  return sum;
}

Vec3 TriangleTree::compute_edge_normal(std::int32_t i, std::int32_t j) const noexcept {
  Vec3 sum = Vec3::Zero();
  for (std::int32_t at = vertex_begin_[i]; at < vertex_begin_[i + 1]; ++at) {
    const std::int32_t t = vertex_triangle_[at];
    const auto& corner = mesh_.triangles[t];
    if (std::find(corner.begin(), corner.end(), j) != corner.end()) sum += compute_unit_normal(mesh_, t);
  }
  return sum;
}

Vec3 TriangleTree::pseudo_normal(const ClosestPoint& c) const noexcept {
  const auto& corner = mesh_.triangles[c.triangle];
  int on = 0, off = 0;  // a corner with weight, and one without
  int zeros = 0;
  for (int i = 0; i < 3; ++i) {
    if (c.barycentric[i] == 0.0) {
      ++zeros;
      off = i;
    } else {
      on = i;
    }
  }
  Vec3 n = compute_unit_normal(mesh_, c.triangle);
  if (zeros == 1) n = compute_edge_normal(corner[(off + 1) % 3], corner[(off + 2) % 3]);
  if (zeros == 2) n = compute_vertex_normal(corner[on]);
  const double length = n.norm();
  if (!(length > 0.0)) return Vec3::Zero();
  return n / length;
}

double TriangleTree::signed_distance(const Vec3& p, double max_distance) const noexcept {
  ClosestPoint c;
  if (!find_closest(p, max_distance, c)) return std::numeric_limits<double>::infinity();
  return (p - c.point).dot(pseudo_normal(c)) < 0.0 ? -c.distance : c.distance;
}

}  // namespace palpate
