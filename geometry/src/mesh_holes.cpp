#include "palpate/geometry/mesh_holes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "mesh_edges.h"
#include "palpate/geometry/box_tree.h"

namespace palpate {
namespace {

std::int64_t side_key(std::int32_t from, std::int32_t to) noexcept {
  return std::int64_t{from} << 32 | to;
}

/// Sides of triangles, by their ends in order.
class Sides {
 public:
  explicit Sides(const TriangleMesh& mesh) : mesh_(mesh) { add_from(0); }
  /// The triangles from that one on are new.
  void add_from(std::size_t first) {
    for (std::size_t t = first; t < mesh_.triangles.size(); ++t) {
      for (int side = 0; side < 3; ++side)
        side_.emplace(side_key(mesh_.triangles[t][side], mesh_.triangles[t][(side + 1) % 3]),
                      std::pair(static_cast<std::int32_t>(t), side));
    }
  }
  bool has(std::int32_t from, std::int32_t to) const { return side_.contains(side_key(from, to)); }
  bool is_open(std::int32_t from, std::int32_t to) const { return has(from, to) && !has(to, from); }

  /// The open side that follows from→to along the hole: the other end of the fan around `to`. −1 if there is none.
  std::int32_t follow(std::int32_t from, std::int32_t to) const {
    for (std::size_t guard = 0; guard <= side_.size(); ++guard) {
      const auto found = side_.find(side_key(from, to));
      if (found == side_.end()) return -1;
      const auto [triangle, side] = found->second;
      const std::int32_t next = mesh_.triangles[as_size(triangle)][(as_size(side) + 2) % 3];  // across the side
      if (!has(next, to)) return next;
      from = next;
    }
    return -1;
  }

 private:
  const TriangleMesh& mesh_;
  std::unordered_map<std::int64_t, std::pair<std::int32_t, std::int32_t>> side_;
};

/// A line that passes a vertex twice becomes two.
void split_into(std::vector<MeshHole>& out, const std::vector<std::int32_t>& line) {
  std::vector<std::int32_t> open;
  for (const std::int32_t v : line) {
    const auto before = std::find(open.begin(), open.end(), v);
    if (before != open.end()) {
      out.push_back({{before, open.end()}});
      open.erase(before + 1, open.end());
    } else {
      open.push_back(v);
    }
  }
  out.push_back({std::move(open)});
}

double twice_area(const Vec3& a, const Vec3& b, const Vec3& c) {
  return compute_area_normal(a, b, c).norm();
}

/// Triangles of the smallest area over a polygon, by dividing it at every corner (Klincsek 1980). False if every way
/// needs an edge that is there already.
bool triangulate(TriangleMesh& mesh, const Sides& sides, const std::vector<std::int32_t>& polygon) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t n = polygon.size();
  std::vector<double> cost(n * n, 0.0);
  std::vector<std::size_t> corner(n * n, 0);
  const auto x = [&](std::size_t i) -> const Vec3& { return mesh.vertices[as_size(polygon[i])]; };
  const auto is_taken = [&](std::size_t i, std::size_t j) {
    const bool is_side = j == i + 1 || (i == 0 && j == n - 1);
    return !is_side && (sides.has(polygon[i], polygon[j]) || sides.has(polygon[j], polygon[i]));
  };
  for (std::size_t span = 2; span < n; ++span) {
    for (std::size_t i = 0; i + span < n; ++i) {
      const std::size_t j = i + span;
      double& best = cost[i * n + j];
      best = kNever;
      if (is_taken(i, j)) continue;
      for (std::size_t k = i + 1; k < j; ++k) {
        const double sum = cost[i * n + k] + cost[k * n + j] + twice_area(x(i), x(k), x(j));
        if (sum >= best) continue;
        best = sum;
        corner[i * n + j] = k;
      }
    }
  }
  if (!(cost[n - 1] < kNever)) return false;
  std::vector<std::pair<std::size_t, std::size_t>> rest = {{0, n - 1}};
  while (!rest.empty()) {
    const auto [i, j] = rest.back();
    rest.pop_back();
    if (j < i + 2) continue;
    const std::size_t k = corner[i * n + j];
    mesh.triangles.push_back({polygon[i], polygon[k], polygon[j]});
    rest.emplace_back(i, k);
    rest.emplace_back(k, j);
  }
  return true;
}

/// Whether segment pq passes through the inside of triangle abc, and where.
bool crosses(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c, Vec3& at) {
  const Vec3 n = (b - a).cross(c - a);
  const double dp = n.dot(p - a), dq = n.dot(q - a);
  if (!((dp > 0.0 && dq < 0.0) || (dp < 0.0 && dq > 0.0))) return false;
  const Vec3 d = q - p;
  const double u = d.dot((a - p).cross(b - p)), v = d.dot((b - p).cross(c - p)), w = d.dot((c - p).cross(a - p));
  if (!((u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0))) return false;
  at = p + dp / (dp - dq) * d;
  return true;
}

/// Whether an edge of the first triangle passes through the second; edges at a vertex that both have do not count.
bool pierces(const TriangleMesh& mesh, std::int32_t s, std::int32_t t, Vec3& at) {
  const auto& from = mesh.triangles[as_size(s)];
  const auto& to = mesh.triangles[as_size(t)];
  const auto is_shared = [&](std::int32_t v) { return std::find(to.begin(), to.end(), v) != to.end(); };
  const auto x = [&](std::int32_t v) -> const Vec3& { return mesh.vertices[as_size(v)]; };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int32_t p = from[i], q = from[(i + 1) % 3];
    if (!is_shared(p) && !is_shared(q) && crosses(x(p), x(q), x(to[0]), x(to[1]), x(to[2]), at)) return true;
  }
  return false;
}

}  // namespace

std::vector<MeshHole> find_holes(const TriangleMesh& mesh) {
  const Sides sides(mesh);
  std::unordered_set<std::int64_t> seen;
  std::vector<MeshHole> out;
  for (const auto& triangle : mesh.triangles) {
    for (std::size_t side = 0; side < 3; ++side) {
      const std::int32_t first = triangle[side], second = triangle[(side + 1) % 3];
      if (!sides.is_open(first, second) || seen.contains(side_key(first, second))) continue;
      std::vector<std::int32_t> line;
      std::int32_t from = first, to = second;
      while (to >= 0 && seen.insert(side_key(from, to)).second) {
        line.push_back(from);
        const std::int32_t next = sides.follow(from, to);
        from = to;
        to = next;
      }
      if (to >= 0 && from == first && to == second) split_into(out, line);
    }
  }
  std::erase_if(out, [](const MeshHole& hole) { return hole.loop.size() < 3; });
  for (MeshHole& hole : out) {
    BoundingBox box;
    for (const std::int32_t v : hole.loop) {
      box.add(mesh.vertices[as_size(v)]);
      hole.centre += mesh.vertices[as_size(v)];
    }
    hole.centre /= static_cast<double>(hole.loop.size());
    hole.diameter = box.size().maxCoeff();
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.diameter > b.diameter; });
  return out;
}

std::string describe_holes(const std::vector<MeshHole>& holes) {
  constexpr std::size_t kShown = 5;
  std::string text = fmt::format("{} hole{}", holes.size(), holes.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(holes.size(), kShown); ++i) {
    const MeshHole& h = holes[i];
    const auto round = [&](double x) { return std::abs(x) < 1e-9 * h.diameter ? 0.0 : x; };
    text += fmt::format("{} {} edges, {:.3g} m across, around ({:.4g}, {:.4g}, {:.4g}) m", i == 0 ? ":" : ";",
                        h.loop.size(), h.diameter, round(h.centre.x()), round(h.centre.y()), round(h.centre.z()));
  }
  if (holes.size() > kShown) text += fmt::format("; and {} smaller", holes.size() - kShown);
  return text;
}

int fill_holes(TriangleMesh& mesh) {
  constexpr std::size_t kMostEdges = 400;
  int filled = 0;
  const std::vector<MeshHole> holes = find_holes(mesh);
  Sides sides(mesh);
  std::size_t known = mesh.triangles.size();
  for (const MeshHole& hole : holes) {
    sides.add_from(std::exchange(known, mesh.triangles.size()));
    const std::vector<std::int32_t> polygon(hole.loop.rbegin(), hole.loop.rend());
    ++filled;
    if (polygon.size() <= kMostEdges && triangulate(mesh, sides, polygon)) continue;
    const auto centre = static_cast<std::int32_t>(mesh.vertices.size());
    mesh.vertices.push_back(hole.centre);
    for (std::size_t i = 0; i < polygon.size(); ++i)
      mesh.triangles.push_back({polygon[i], polygon[(i + 1) % polygon.size()], centre});
  }
  return filled;
}

std::vector<SelfIntersection> find_self_intersections(const TriangleMesh& mesh) {
  std::vector<BoundingBox> boxes;
  for (const auto& triangle : mesh.triangles) {
    boxes.emplace_back();
    for (const std::int32_t v : triangle) boxes.back().add(mesh.vertices[as_size(v)]);
  }
  std::vector<SelfIntersection> out;
  BoxTree(boxes).visit_own_pairs([&](std::int32_t a, std::int32_t b) {
    Vec3 at;
    if (pierces(mesh, a, b, at) || pierces(mesh, b, a, at)) out.push_back({a, b, at});
  });
  std::sort(out.begin(), out.end(),
            [](const auto& p, const auto& q) { return std::pair(p.a, p.b) < std::pair(q.a, q.b); });
  return out;
}

}  // namespace palpate
