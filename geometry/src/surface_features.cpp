#include "palpate/geometry/surface_features.h"

#include <algorithm>

#include "mesh_edges.h"
#include "palpate/core/error.h"

namespace palpate {

SurfaceFeatures::SurfaceFeatures(std::span<const std::array<std::int32_t, 3>> triangles, std::size_t vertices)
    : triangle_count_(static_cast<std::int32_t>(triangles.size())) {
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const auto& [i, j, k] = triangles[t];
    const auto [low, high] = std::minmax({i, j, k});
    if (low < 0 || as_size(high) >= vertices || i == j || j == k || k == i) {
      fail_input("triangle {} = ({}, {}, {}); allowed: three different vertices of {}", t, i, j, k, vertices);
    }
  }
  primitives_.resize(triangles.size());
  triangle_edges_.resize(triangles.size(), {-1, -1, -1});
  corner_.resize(vertices);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    primitives_[t].vertex = triangles[t];
    for (std::size_t c = 0; c < 3; ++c) {
      Corner& owner = corner_[as_size(triangles[t][c])];
      if (owner.triangle >= 0) continue;
      owner = {static_cast<std::int32_t>(t), static_cast<std::int32_t>(c)};
      primitives_[t].owns_vertex[c] = true;
      used_.push_back(triangles[t][c]);
    }
  }
  closed_ = !triangles.empty();
  const std::vector<HalfEdge> halves = make_half_edges({{}, {triangles.begin(), triangles.end()}});
  for_each_edge(halves, [&](auto first, auto last) {
    const auto e = static_cast<std::int32_t>(edges_.size());
    Edge edge;
    edge.vertex = {first->low, first->high};
    for (auto half = first; half != last; ++half) {
      const auto t = as_size(half->triangle);
      triangle_edges_[t][as_size(half->side)] = e;
      const auto k = as_size(half - first);
      if (k < 2) {
        edge.triangle[k] = half->triangle;
        edge.opposite[k] = triangles[t][as_size((half->side + 2) % 3)];
      }
    }
    primitives_[as_size(first->triangle)].edge[as_size(first->side)] = e;
    const auto forward = std::count_if(first, last, [](const HalfEdge& half) { return half.forward; });
    closed_ = closed_ && 2 * forward == last - first;
    edges_.push_back(edge);
  });
  std::sort(used_.begin(), used_.end());
  add_neighbours(vertices);
  add_triangles(vertices);
}

SurfaceFeatures SurfaceFeatures::make_wire(std::size_t nodes) {
  SurfaceFeatures out;
  out.corner_.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) out.used_.push_back(static_cast<std::int32_t>(i));
  for (std::int32_t i = 0; i + 1 < static_cast<std::int32_t>(nodes); ++i) {
    Edge edge;
    edge.vertex = {i, i + 1};
    Primitive primitive;
    primitive.vertex = {i, i + 1, -1};
    primitive.edge[0] = i;
    primitive.owns_vertex = {true, i + 2 == static_cast<std::int32_t>(nodes), false};
    out.edges_.push_back(edge);
    out.primitives_.push_back(primitive);
  }
  if (nodes == 1) {
    Primitive point;
    point.vertex[0] = 0;
    point.owns_vertex[0] = true;
    out.primitives_.push_back(point);
  }
  out.add_neighbours(nodes);
  return out;
}

void SurfaceFeatures::add_triangles(std::size_t vertices) {
  triangle_begin_.assign(vertices + 1, 0);
  for (const Primitive& p : primitives_) {
    for (const std::int32_t v : p.vertex) ++triangle_begin_[as_size(v) + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) triangle_begin_[v + 1] += triangle_begin_[v];
  vertex_triangle_.resize(3 * primitives_.size());
  std::vector<std::int32_t> next(triangle_begin_.begin(), triangle_begin_.end() - 1);
  for (std::size_t t = 0; t < primitives_.size(); ++t) {
    for (const std::int32_t v : primitives_[t].vertex)
      vertex_triangle_[as_size(next[as_size(v)]++)] = static_cast<std::int32_t>(t);
  }
}

void SurfaceFeatures::add_neighbours(std::size_t vertices) {
  begin_.assign(vertices + 1, 0);
  for (const Edge& e : edges_) {
    for (const std::int32_t v : e.vertex) ++begin_[as_size(v) + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) begin_[v + 1] += begin_[v];
  neighbour_.resize(2 * edges_.size());
  std::vector<std::int32_t> next(begin_.begin(), begin_.end() - 1);
  for (const Edge& e : edges_) {
    for (std::size_t k = 0; k < 2; ++k) neighbour_[next[e.vertex[k]]++] = e.vertex[1 - k];
  }
}

}  // namespace palpate
