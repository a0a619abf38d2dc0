#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// The point of a mesh nearest to a query point.
struct ClosestPoint {
  Vec3 point = Vec3::Zero();  ///< on the mesh [m]
  double distance = 0.0;      ///< ≥ 0 [m]
  std::int32_t triangle = -1;
  /// Weights of the triangle's corners, each ≥ 0, together 1. Exact zeros tell the feature: none the face, one the
  /// edge, two the vertex.
  Vec3 barycentric = Vec3::Zero();
};

/// Where a segment a→b first meets a mesh, at a + t (b − a).
struct SegmentHit {
  double t = 0.0;  ///< in [0, 1]
  std::int32_t triangle = -1;
  Vec3 normal = Vec3::Zero();  ///< unit, of the triangle by its winding
};

/// Answers where a mesh is: nearest points, crossings of segments, inside or outside.
///
/// An eight-wide bounding-volume tree. Boxes are float, rounded outward and kept relative to the mesh's centre, so a
/// query never loses a triangle to rounding and a mesh far from the origin is as fast as one at it. Triangles lie in
/// double precision in blocks of four. No tolerance anywhere: results are the same relative to size from micrometres
/// to tens of metres.
///
/// Set-up allocates and throws. Every query is const, `noexcept`, allocates nothing, and visits each node at most once
/// with a stack of fixed size; so any number of threads may ask at once, and a tick may. refit() must not run beside a
/// query. Equal answers (same t, same distance) go to the smallest triangle index, so the result does not depend on
/// how the tree was built.
class TriangleTree {
 public:
  /// Takes the mesh over. Throws InputError if it has no triangles, a vertex in use that is not finite, or an index
  /// out of range. About 0.3 µs a triangle at 10,000, 1 µs at a million.
  explicit TriangleTree(TriangleMesh mesh);

  const TriangleMesh& mesh() const noexcept { return mesh_; }

  /// Moves the vertices, same topology. Allocates nothing; 12 to 45 ns a triangle. The tree stays right for any
  /// motion; it gets slow only if neighbours part. False, and nothing moved, if the number of vertices differs.
  bool refit(std::span<const Vec3> vertices) noexcept;
  /// The same where only the vertices named in `moved` are elsewhere, for about the share of its time that they are of
  /// all.
  bool refit(std::span<const Vec3> vertices, std::span<const std::int32_t> moved) noexcept;

  /// Finds the point nearest to `p` among those at most `max_distance` away [m]; false if there is none or if `p` is
  /// not finite.
  bool find_closest(const Vec3& p, double max_distance, ClosestPoint& out) const noexcept;

  /// Writes the triangles nearer to `p` than `radius` [m], as many as fit into `out`, and returns how many there are
  /// in all. Their order is that of the tree, the same in every call.
  int find_within(const Vec3& p, double radius, std::span<std::int32_t> out) const noexcept;

  /// Finds the first triangle that the closed segment a→b meets, from either side.
  ///
  /// Watertight: where triangles share an edge or a vertex, no segment passes between them (Woop, Benthin & Wald 2013,
  /// "Watertight ray/triangle intersection", with all edge functions in double and not contracted: rounding then never
  /// turns the sign of an edge function, at most makes it zero, and zero counts as inside for both triangles).
  /// A triangle seen exactly edge-on is not met; in a closed mesh its neighbours are. A segment without length meets
  /// nothing.
  bool find_first_hit(const Vec3& a, const Vec3& b, SegmentHit& out) const noexcept;

  /// Outward angle-weighted pseudo-normal, unit, of the feature on which `c` lies (Bærentzen & Aanæs 2005, eq. 1). The
  /// sign of (p − c.point)·n tells on which side of a closed mesh the query point p lies. Costs the valence of a
  /// vertex. Zero if all triangles of the feature are degenerate.
  Vec3 pseudo_normal(const ClosestPoint& c) const noexcept;

  /// Distance to the mesh [m], negative inside; +infinity if nothing lies within `max_distance`. Meaningful for a
  /// closed mesh oriented outward.
  double signed_distance(const Vec3& p, double max_distance = std::numeric_limits<double>::infinity()) const noexcept;

 private:
  static constexpr int kWidth = 8;      ///< children of a node
  static constexpr int kLanes = 4;      ///< triangles of a block
  static constexpr int kMaxDepth = 28;  ///< nodes on a path; triangle_tree_build.cpp shows why it suffices
  /// Each level leaves at most seven siblings waiting.
  static constexpr int kStackSize = kMaxDepth * (kWidth - 1) + 1;

  struct alignas(32) Node {
    /// Child boxes relative to origin_ [m]: bounds[2 · axis] lower, bounds[2 · axis + 1] upper.
    float bounds[6][kWidth];
    std::int32_t child[kWidth];  ///< ≥ 0 a node, < 0 block ~child; slots without a child have an empty box
  };
  struct alignas(32) Block {
    double corner[3][3][kLanes];    ///< [corner][axis][lane]; not-a-number in unused lanes, which nothing meets
    std::int32_t triangle[kLanes];  ///< −1 in unused lanes
  };
  struct StackEntry {
    float key;
    std::int32_t child;
  };
  struct BlockBox;
  class Builder;

  void update_boxes() noexcept;
  void update_child(std::int32_t node, int child) noexcept;
  /// A bit for each slot of the node that has a child. The empty boxes of the others are never near, but for a mesh or
  /// a query beyond the range of floats no comparison means anything.
  unsigned children(std::int32_t node) const noexcept { return (1u << child_count_[as_size(node)]) - 1u; }
  void fill_adjacency();
  BlockBox fill_block(Block& block) noexcept;
  template <typename Visit>
  void visit_near(const Vec3& p, double& best, Visit&& visit) const noexcept;
  Vec3 compute_vertex_normal(std::int32_t vertex) const noexcept;
  Vec3 compute_edge_normal(std::int32_t i, std::int32_t j) const noexcept;

  TriangleMesh mesh_;
  Vec3 origin_ = Vec3::Zero();
  std::vector<Node> nodes_;                ///< parents before children; the root is 0
  std::vector<std::uint8_t> child_count_;  ///< of each node
  std::vector<Block> blocks_;
  std::vector<std::int32_t> block_of_;  ///< of each triangle
  std::vector<std::uint8_t> is_stale_;  ///< of each block, and behind those of each node: what is in it has moved
  /// Triangles around vertex v: vertex_triangle_[vertex_begin_[v] … vertex_begin_[v + 1]).
  std::vector<std::int32_t> vertex_begin_, vertex_triangle_;
};

}  // namespace palpate
