#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// The vertices, edges and triangles of a surface, or of a wire or a lone point, and how they hang together. Fixed at
/// set-up; positions live elsewhere.
///
/// Primitives are what a tree holds: a triangle, an edge without triangles, or a vertex without edges. Each vertex and
/// each edge is owned by one primitive that contains it, so looking at owned features only in all pairs of near
/// primitives meets every pair of features once ("representative triangles", Curtis, Tamstorf & Manocha 2008).
class SurfaceFeatures {
 public:
  struct Edge {
    std::array<std::int32_t, 2> vertex{-1, -1};
    /// Its triangles and their corners opposite to it, −1 without. Of more than two (not a manifold) the first two.
    std::array<std::int32_t, 2> triangle{-1, -1}, opposite{-1, -1};
  };
  struct Primitive {
    std::array<std::int32_t, 3> vertex{-1, -1, -1};  ///< −1: a wire's edge, or a lone vertex
    std::array<std::int32_t, 3> edge{-1, -1, -1};    ///< owned: from corner i to the next; −1 if another owns it
    std::array<bool, 3> owns_vertex{};
    std::int32_t corners() const noexcept { return vertex[2] >= 0 ? 3 : vertex[1] >= 0 ? 2 : 1; }
  };
  /// A triangle and the corner of it that a vertex is.
  struct Corner {
    std::int32_t triangle = -1, corner = 0;
  };

  SurfaceFeatures() = default;
  /// Throws InputError if an index is out of range or a triangle has the same vertex twice.
  SurfaceFeatures(std::span<const std::array<std::int32_t, 3>> triangles, std::size_t vertices);
  /// `nodes` vertices in a row, joined by edges.
  static SurfaceFeatures make_wire(std::size_t nodes);

  std::span<const Primitive> primitives() const noexcept { return primitives_; }
  std::span<const Edge> edges() const noexcept { return edges_; }
  /// Vertices that a primitive owns, ascending: those in use.
  std::span<const std::int32_t> vertices() const noexcept { return used_; }
  const Primitive& triangle(std::int32_t t) const noexcept { return primitives_[as_size(t)]; }
  std::int32_t triangle_count() const noexcept { return triangle_count_; }
  std::span<const std::int32_t> neighbours(std::int32_t vertex) const noexcept {
    return std::span(neighbour_).subspan(begin_[vertex], begin_[vertex + 1] - begin_[vertex]);
  }
  /// Triangles with that corner, ascending.
  std::span<const std::int32_t> triangles_of(std::int32_t vertex) const noexcept {
    const auto begin = triangle_begin_[as_size(vertex)];
    return std::span(vertex_triangle_).subspan(as_size(begin), as_size(triangle_begin_[as_size(vertex) + 1] - begin));
  }
  /// Edges of triangle t, owned or not.
  const std::array<std::int32_t, 3>& triangle_edges(std::int32_t t) const noexcept {
    return triangle_edges_[as_size(t)];
  }
  const Corner& corner_of(std::int32_t vertex) const noexcept { return corner_[as_size(vertex)]; }
  /// As many triangles run through each edge one way as the other: two, or four where parts of a solid touch.
  bool is_closed() const noexcept { return closed_; }

 private:
  void add_neighbours(std::size_t vertices);
  void add_triangles(std::size_t vertices);

  std::vector<Primitive> primitives_;
  std::vector<Edge> edges_;
  std::vector<std::array<std::int32_t, 3>> triangle_edges_;
  std::vector<std::int32_t> used_, begin_, neighbour_, triangle_begin_, vertex_triangle_;
  std::vector<Corner> corner_;
  std::int32_t triangle_count_ = 0;
  bool closed_ = false;
};

}  // namespace palpate
