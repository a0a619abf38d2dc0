#include "palpate/geometry/mesh_check.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "mesh_edges.h"

namespace palpate {

std::vector<std::int32_t> find_first_at_position(const std::vector<Vec3>& vertices) {
  std::vector<std::int32_t> order;
  order.reserve(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].allFinite()) order.push_back(static_cast<std::int32_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
    const Vec3 &p = vertices[i], &q = vertices[j];
    for (int axis = 0; axis < 3; ++axis) {
      if (p[axis] != q[axis]) return p[axis] < q[axis];
    }
    return i < j;
  });
  std::vector<std::int32_t> first(vertices.size());
  std::iota(first.begin(), first.end(), 0);
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (vertices[order[k]] == vertices[order[k - 1]]) first[order[k]] = first[order[k - 1]];
  }
  return first;
}

std::vector<bool> find_duplicate_triangles(const TriangleMesh& mesh) {
  struct Key {
    std::array<std::int32_t, 3> corners;
    std::int32_t triangle;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  keys.reserve(mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    keys.push_back({mesh.triangles[t], static_cast<std::int32_t>(t)});
    std::sort(keys.back().corners.begin(), keys.back().corners.end());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> duplicate(mesh.triangles.size(), false);
  for (std::size_t k = 1; k < keys.size(); ++k) {
    if (keys[k].corners == keys[k - 1].corners) duplicate[keys[k].triangle] = true;
  }
  return duplicate;
}

namespace {

bool is_flat(const Vec3& a, const Vec3& b, const Vec3& c) noexcept {
  const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
  const double largest = std::max({a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff(), c.cwiseAbs().maxCoeff()});
  return compute_area_normal(a, b, c).norm() <= 4.0 * 0x1p-52 * longest * (longest + largest);
}

/// Counts what is wrong with single triangles and vertices; returns the mesh of the triangles that have a place in the
/// surface.
TriangleMesh check_elements(const TriangleMesh& mesh, MeshReport& report) {
  TriangleMesh sound;
  sound.vertices = mesh.vertices;
  sound.triangles.reserve(mesh.triangles.size());
  const auto n = static_cast<std::int32_t>(mesh.vertices.size());
  std::vector<bool> used(mesh.vertices.size(), false);
  for (const auto& triangle : mesh.triangles) {
    const auto& [i, j, k] = triangle;
    if (std::min({i, j, k}) < 0 || std::max({i, j, k}) >= n) {
      ++report.out_of_range_triangles;
      continue;
    }
    for (const std::int32_t v : triangle) used[v] = true;
    const Vec3 &a = mesh.vertices[i], &b = mesh.vertices[j], &c = mesh.vertices[k];
    if (i == j || j == k || k == i) {
      ++report.collapsed_triangles;
    } else if (a.allFinite() && b.allFinite() && c.allFinite()) {
      if (is_flat(a, b, c)) ++report.flat_triangles;
      sound.triangles.push_back(triangle);
    }
  }
  const std::vector<std::int32_t> first = find_first_at_position(mesh.vertices);
  for (std::int32_t i = 0; i < n; ++i) {
    if (mesh.vertices[i].allFinite()) {
      report.box.add(mesh.vertices[i]);
    } else {
      ++report.not_finite_vertices;
    }
    if (first[i] != i) ++report.duplicate_vertices;
    if (!used[i]) ++report.unused_vertices;
  }
  const std::vector<bool> duplicate = find_duplicate_triangles(sound);
  report.duplicate_triangles = static_cast<int>(std::count(duplicate.begin(), duplicate.end(), true));
  return sound;
}

void check_edges(const TriangleMesh& mesh, MeshReport& report) {
  const std::vector<HalfEdge> halves = make_half_edges(mesh);
  UnionFind triangles(mesh.triangles.size());
  // Corners 3 t + i that meet across an edge belong to one fan around their vertex.
  UnionFind corners(3 * mesh.triangles.size());
  const auto corner_at = [&](const HalfEdge& h, std::int32_t vertex) {
    return 3 * h.triangle + (mesh.triangles[h.triangle][h.side] == vertex ? h.side : (h.side + 1) % 3);
  };
  double sum = 0.0;
  report.shortest_edge = std::numeric_limits<double>::infinity();
  for_each_edge(halves, [&](auto first, auto last) {
    ++report.edges;
    const auto count = last - first;
    if (count == 1) ++report.boundary_edges;
    if (count == 2 && first->forward == (first + 1)->forward) ++report.inconsistent_edges;
    if (count > 2) ++report.non_manifold_edges;
    for (auto h = first + 1; h < last; ++h) {
      triangles.join(first->triangle, h->triangle);
      for (const std::int32_t v : {h->low, h->high}) corners.join(corner_at(*first, v), corner_at(*h, v));
    }
    const double length = (mesh.vertices[first->high] - mesh.vertices[first->low]).norm();
    sum += length;
    report.shortest_edge = std::min(report.shortest_edge, length);
    report.longest_edge = std::max(report.longest_edge, length);
  });
  if (report.edges == 0) report.shortest_edge = 0.0;
  report.mean_edge = report.edges > 0 ? sum / report.edges : 0.0;

  int fans = 0;
  std::vector<int> fans_at(mesh.vertices.size(), 0);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (triangles.find(static_cast<std::int32_t>(t)) == static_cast<std::int32_t>(t)) ++report.components;
    for (int i = 0; i < 3; ++i) {
      const auto corner = static_cast<std::int32_t>(3 * t) + i;
      if (corners.find(corner) != corner) continue;
      ++fans;
      if (++fans_at[mesh.triangles[t][i]] == 2) ++report.non_manifold_vertices;
    }
  }
  report.euler_characteristic = fans - report.edges + static_cast<int>(mesh.triangles.size());
}

}  // namespace

MeshReport check_mesh(const TriangleMesh& mesh) {
  MeshReport report;
  report.vertices = static_cast<int>(mesh.vertices.size());
  report.triangles = static_cast<int>(mesh.triangles.size());
  const TriangleMesh sound = check_elements(mesh, report);
  check_edges(sound, report);
  report.closed = !sound.triangles.empty() && report.boundary_edges == 0 && report.non_manifold_edges == 0;
  report.consistent = report.inconsistent_edges == 0 && report.non_manifold_edges == 0;
  if (report.closed) {
    TriangleMesh finite = sound;
    for (Vec3& p : finite.vertices) {
      if (!p.allFinite()) p = report.box.center();
    }
    report.volume = compute_volume(finite);
  }
  if (report.closed && report.consistent) report.genus = report.components - report.euler_characteristic / 2;
  return report;
}

bool MeshReport::is_clean() const noexcept {
  const int faults = not_finite_vertices + out_of_range_triangles + collapsed_triangles + flat_triangles +
                     duplicate_triangles + duplicate_vertices + unused_vertices;
  return faults == 0 && closed && consistent && volume > 0.0;
}

std::string MeshReport::describe() const {
  const Vec3 size = box.is_empty() ? Vec3(Vec3::Zero()) : box.size();
  std::string text =
      fmt::format("{} triangle{}, {} {}, {}, {} component{}, {:.4g} x {:.4g} x {:.4g} m", triangles,
                  triangles == 1 ? "" : "s", vertices, vertices == 1 ? "vertex" : "vertices",
                  closed ? "closed" : "open", components, components == 1 ? "" : "s", size.x(), size.y(), size.z());
  if (genus >= 0) text += fmt::format(", genus {}, volume {:.4g} m^3", genus, volume);
  const auto name = [&](int count, const char* one, const char* many) {
    if (count > 0) text += fmt::format(", {} {}", count, count == 1 ? one : many);
  };
  name(not_finite_vertices, "vertex not finite", "vertices not finite");
  name(out_of_range_triangles, "triangle with an index out of range", "triangles with an index out of range");
  name(collapsed_triangles, "collapsed triangle", "collapsed triangles");
  name(flat_triangles, "flat triangle", "flat triangles");
  name(duplicate_triangles, "duplicate triangle", "duplicate triangles");
  name(duplicate_vertices, "duplicate vertex", "duplicate vertices");
  name(unused_vertices, "unused vertex", "unused vertices");
  name(boundary_edges, "boundary edge", "boundary edges");
  name(non_manifold_edges, "non-manifold edge", "non-manifold edges");
  name(inconsistent_edges, "inconsistent edge", "inconsistent edges");
  name(non_manifold_vertices, "non-manifold vertex", "non-manifold vertices");
  return text;
}

}  // namespace palpate
