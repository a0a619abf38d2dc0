#include "palpate/geometry/tet_quality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace palpate {
namespace {

constexpr int kTetFaces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};  // face i opposite vertex i, outward
constexpr int kTetEdges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/// |c − a| for the centre c that is as far from all corners:  2 (x − a)·(c − a) = |x − a|² for the three others.
double compute_circumradius(const std::array<Vec3, 4>& x) {
  const Vec3 u = x[1] - x[0], v = x[2] - x[0], w = x[3] - x[0];
  const Vec3 sum = u.squaredNorm() * v.cross(w) + v.squaredNorm() * w.cross(u) + w.squaredNorm() * u.cross(v);
  return sum.norm() / (2.0 * u.dot(v.cross(w)));
}

void add_tet(const std::array<Vec3, 4>& x, TetQuality& quality) {
  std::array<Vec3, 4> normal;
  double largest_area = 0.0;  // twice the area
  for (int i = 0; i < 4; ++i) {
    normal[i] = compute_area_normal(x[kTetFaces[i][0]], x[kTetFaces[i][1]], x[kTetFaces[i][2]]);
    largest_area = std::max(largest_area, normal[i].norm());
    normal[i].normalize();
  }
  double smallest = 180.0, shortest = (x[1] - x[0]).norm(), longest = 0.0;
  for (const auto& edge : kTetEdges) {
    const double cosine = std::clamp(-normal[edge[0]].dot(normal[edge[1]]), -1.0, 1.0);
    const double angle = std::acos(cosine) * 180.0 / std::numbers::pi;
    smallest = std::min(smallest, angle);
    ++quality.dihedral_histogram[std::min(static_cast<int>(angle / 10.0), TetQuality::kBins - 1)];
    const double length = (x[edge[1]] - x[edge[0]]).norm();
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  const double volume = compute_tet_volume(x[0], x[1], x[2], x[3]);
  const double radius_edge = compute_circumradius(x) / shortest;
  // Height over the largest face: 6V / (2A). A regular tet's is √(2/3) of its edge.
  const double aspect = std::sqrt(2.0 / 3.0) * longest * largest_area / (6.0 * volume);
  quality.mean_smallest_dihedral_deg += smallest;
  quality.mean_radius_edge += radius_edge;
  quality.worst_radius_edge = std::max(quality.worst_radius_edge, radius_edge);
  quality.mean_aspect += aspect;
  quality.worst_aspect = std::max(quality.worst_aspect, aspect);
}

}  // namespace

TetQuality compute_tet_quality(const TetMesh& mesh) {
  TetQuality quality;
  const auto& x = mesh.vertices;
  for (const auto& [a, b, c, d] : mesh.tets) add_tet({x[a], x[b], x[c], x[d]}, quality);
  const auto n = static_cast<double>(std::max<std::size_t>(mesh.tets.size(), 1));
  quality.mean_smallest_dihedral_deg /= n;
  quality.mean_radius_edge /= n;
  quality.mean_aspect /= n;
  return quality;
}

std::vector<std::pair<std::int32_t, int>> count_regions(const TetMesh& mesh) {
  if (mesh.regions.empty()) return {{0, static_cast<int>(mesh.tets.size())}};
  std::map<std::int32_t, int> counts;
  for (const std::int32_t region : mesh.regions) ++counts[region];
  return {counts.begin(), counts.end()};
}

}  // namespace palpate
