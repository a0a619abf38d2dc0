#include "crowded_edges.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "mesh_edges.h"
#include "palpate/geometry/mesh_check.h"

namespace palpate {
namespace {

/// A half-edge, and where its triangle is around the edge, seen along it from its high end.
struct Side {
  HalfEdge half;
  double angle;  ///< counter-clockwise, 0 to 2 π
};

/// Of all triangles at an edge, in the order of their angles; empty if one is flat there.
std::vector<Side> sort_around(const TriangleMesh& mesh, std::span<const HalfEdge> halves) {
  const Vec3 &low = mesh.vertices[halves[0].low], &high = mesh.vertices[halves[0].high];
  const Vec3 along = (high - low).normalized();
  std::vector<Side> sides;
  Vec3 zero = Vec3::Zero();
  for (const HalfEdge& h : halves) {
    const Vec3 to_third = mesh.vertices[mesh.triangles[h.triangle][(h.side + 2) % 3]] - low;
    const Vec3 across = to_third - to_third.dot(along) * along;
    if (!(across.norm() > 1e-9 * (high - low).norm())) return {};
    if (sides.empty()) zero = across.normalized();
    const double angle = std::atan2(along.cross(zero).dot(across), zero.dot(across));
    sides.push_back({h, angle < -1e-12 ? angle + 2.0 * M_PI : std::max(0.0, angle)});
  }
  // Of two that coincide the one that ends a solid comes before the one with which the next begins.
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::abs(a.angle - b.angle) > 1e-12 ? a.angle < b.angle : a.half.forward && !b.half.forward;
  });
  return sides;
}

/// Puts vertex `middle` between the ends of the half-edge: its triangle becomes two.
void split(TriangleMesh& mesh, const HalfEdge& h, std::int32_t middle) {
  std::array<std::int32_t, 3> rest = mesh.triangles[h.triangle];
  rest[as_size(h.side)] = middle;
  mesh.triangles[h.triangle][as_size((h.side + 1) % 3)] = middle;
  mesh.triangles.push_back(rest);
}

/// A solid is counter-clockwise of a triangle that runs backward through the edge, up to one that runs forward.
bool part_edge(TriangleMesh& mesh, std::span<const HalfEdge> halves) {
  const std::vector<Side> sides = sort_around(mesh, halves);
  if (sides.empty() || sides.size() % 2 != 0) return false;
  const std::size_t begin = sides[0].half.forward ? 1 : 0;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (sides[(begin + i) % sides.size()].half.forward != (i % 2 == 1)) return false;
  }
  const Vec3 middle = 0.5 * (mesh.vertices[halves[0].low] + mesh.vertices[halves[0].high]);
  for (std::size_t i = 0; i < sides.size(); i += 2) {
    mesh.vertices.push_back(middle);
    for (const std::size_t k : {i, i + 1})
      split(mesh, sides[(begin + k) % sides.size()].half, static_cast<std::int32_t>(mesh.vertices.size() - 1));
  }
  return true;
}

}  // namespace

int part_crowded_edges(TriangleMesh& mesh) {
  int parted = 0;
  // A triangle with several such edges has one of them parted in each round.
  for (int before = -1; before != parted;) {
    before = parted;
    std::vector<bool> is_touched(mesh.triangles.size(), false);
    for_each_edge(make_half_edges(mesh), [&](auto first, auto last) {
      const std::span<const HalfEdge> halves(first, last);
      if (halves.size() <= 2) return;
      if (std::any_of(first, last, [&](const HalfEdge& h) { return is_touched[as_size(h.triangle)]; })) return;
      if (!part_edge(mesh, halves)) return;
      for (const HalfEdge& h : halves) is_touched[as_size(h.triangle)] = true;
      ++parted;
    });
  }
  return parted;
}

std::string describe_crowded_edges(const TriangleMesh& mesh) {
  int count = 0;
  Vec3 place = Vec3::Zero();
  for_each_edge(make_half_edges(mesh), [&](auto first, auto last) {
    if (last - first <= 2) return;
    if (++count == 1) place = 0.5 * (mesh.vertices[first->low] + mesh.vertices[first->high]);
  });
  if (count == 0) return {};
  return fmt::format(
      "at {} edge{} more than two triangles meet ({}around ({:.4g}, {:.4g}, {:.4g}) m): a wall inside, or a sheet that "
      "ends on the surface; such a surface has no inside until these are taken out in a mesh editor",
      count, count == 1 ? "" : "s", count == 1 ? "" : "one is ", place.x(), place.y(), place.z());
}

}  // namespace palpate
