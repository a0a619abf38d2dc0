#include "palpate/geometry/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "palpate/core/error.h"
#include "solid_surface.h"

namespace palpate {

namespace {

/// Faces of a tet, outward; face i lies opposite vertex i.
constexpr int kFaces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
constexpr int kEdges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

struct Face {
  std::array<std::int32_t, 3> key;  ///< sorted vertices
  std::array<std::int32_t, 3> triangle;
  std::int32_t tet;
};

/// Corners are numbered by bits: x 1, y 2, z 4. The last four tets of each list sit at the corners not in the first.
constexpr int kCellTets[2][5][4] = {{{0, 3, 5, 6}, {1, 0, 3, 5}, {2, 0, 3, 6}, {4, 0, 5, 6}, {7, 3, 5, 6}},
                                    {{1, 2, 4, 7}, {0, 1, 2, 4}, {3, 1, 2, 7}, {5, 1, 4, 7}, {6, 2, 4, 7}}};

bool is_usable(const TetMesh& mesh, const std::array<std::int32_t, 4>& tet, TetMeshReport& report) {
  const auto n = static_cast<std::int32_t>(mesh.vertices.size());
  for (const std::int32_t i : tet) {
    if (i < 0 || i >= n) {
      ++report.out_of_range_tets;
      return false;
    }
  }
  for (const auto& edge : kEdges) {
    if (tet[edge[0]] == tet[edge[1]]) {
      ++report.collapsed_tets;
      return false;
    }
  }
  return std::all_of(tet.begin(), tet.end(), [&](std::int32_t i) { return mesh.vertices[i].allFinite(); });
}

void add_shape(const std::array<Vec3, 4>& x, TetMeshReport& report) {
  double squares = 0.0, longest = 0.0;
  for (const auto& edge : kEdges) {
    const double l2 = (x[edge[0]] - x[edge[1]]).squaredNorm();
    squares += l2;
    longest = std::max(longest, l2);
  }
  const double V = compute_tet_volume(x[0], x[1], x[2], x[3]);
  const bool flat = !(std::abs(V) > std::ldexp(std::pow(longest, 1.5), -48));
  if (flat) ++report.flat_tets;
  if (V < 0.0 && !flat) ++report.inverted_tets;
  report.volume += V;
  report.smallest_volume = std::min(report.smallest_volume, V);
  report.largest_volume = std::max(report.largest_volume, V);
  const double quality = V > 0.0 && !flat ? 12.0 * std::pow(3.0 * V, 2.0 / 3.0) / squares : 0.0;
  report.worst_quality = std::min(report.worst_quality, quality);
  report.mean_quality += quality;
  if (flat) return;
  Vec3 normal[4];
  for (int i = 0; i < 4; ++i) {
    normal[i] = compute_area_normal(x[kFaces[i][0]], x[kFaces[i][1]], x[kFaces[i][2]]).normalized();
  }
  for (const auto& edge : kEdges) {
    const double cosine = std::clamp(-normal[edge[0]].dot(normal[edge[1]]), -1.0, 1.0);
    const double angle = std::acos(cosine) * 180.0 / std::numbers::pi;
    report.smallest_dihedral_deg = std::min(report.smallest_dihedral_deg, angle);
    report.largest_dihedral_deg = std::max(report.largest_dihedral_deg, angle);
  }
}

}  // namespace

double compute_tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) noexcept {
  return (b - a).dot((c - a).cross(d - a)) / 6.0;
}

double compute_volume(const TetMesh& mesh) noexcept {
  double volume = 0.0;
  for (const auto& [a, b, c, d] : mesh.tets) {
    volume += compute_tet_volume(mesh.vertices[a], mesh.vertices[b], mesh.vertices[c], mesh.vertices[d]);
  }
  return volume;
}

TetMesh make_tet_block(const Vec3& size, const std::array<int, 3>& cells) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!(size[axis] > 0.0) || !std::isfinite(size[axis])) {
      fail_input("tet block: size[{}] is {} m, must be finite and positive", axis, size[axis]);
    }
    if (cells[axis] < 1 || cells[axis] > 500) {
      fail_input("tet block: cells[{}] is {}, must be 1 to 500", axis, cells[axis]);
    }
  }
  const auto [nx, ny, nz] = cells;
  TetMesh mesh;
  mesh.vertices.reserve(as_size(nx + 1) * (ny + 1) * (nz + 1));
  for (int k = 0; k <= nz; ++k) {
    for (int j = 0; j <= ny; ++j) {
      for (int i = 0; i <= nx; ++i) {
        const Vec3 unit(static_cast<double>(i) / nx, static_cast<double>(j) / ny, static_cast<double>(k) / nz);
        mesh.vertices.push_back((unit.array() - 0.5) * size.array());
      }
    }
  }
  const auto vertex = [&](int i, int j, int k) { return (k * (ny + 1) + j) * (nx + 1) + i; };
  mesh.tets.reserve(as_size(nx) * ny * nz * 5);
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        for (const auto& corners : kCellTets[(i + j + k) % 2]) {
          std::array<std::int32_t, 4> tet;
          for (int c = 0; c < 4; ++c) {
            tet[c] = vertex(i + (corners[c] & 1), j + (corners[c] >> 1 & 1), k + (corners[c] >> 2));
          }
          const auto& x = mesh.vertices;
          if (compute_tet_volume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) < 0.0) std::swap(tet[2], tet[3]);
          mesh.tets.push_back(tet);
        }
      }
    }
  }
  return mesh;
}

SolidSurface extract_surface(const TetMesh& mesh) {
  std::vector<Face> faces;
  faces.reserve(mesh.tets.size() * 4);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    for (const auto& corners : kFaces) {
      Face face;
      for (int c = 0; c < 3; ++c) face.triangle[c] = mesh.tets[t][corners[c]];
      face.key = face.triangle;
      std::sort(face.key.begin(), face.key.end());
      face.tet = static_cast<std::int32_t>(t);
      faces.push_back(face);
    }
  }
  std::stable_sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
  std::vector<Face> boundary;
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t end = i + 1;
    while (end < faces.size() && faces[end].key == faces[i].key) ++end;
    if (end == i + 1) boundary.push_back(faces[i]);
    i = end;
  }
  std::stable_sort(boundary.begin(), boundary.end(), [](const Face& a, const Face& b) { return a.tet < b.tet; });

  SolidSurface surface;
  for (const Face& face : boundary) {
    surface.mesh.triangles.push_back(face.triangle);
    surface.element.push_back(face.tet);
  }
  drop_inner_vertices(mesh.vertices, surface);
  return surface;
}

bool TetMeshReport::is_clean() const noexcept {
  return tets > 0 && not_finite_vertices == 0 && out_of_range_tets == 0 && collapsed_tets == 0 && inverted_tets == 0 &&
         flat_tets == 0 && unused_vertices == 0;
}

std::string TetMeshReport::describe() const {
  std::string text =
      fmt::format("{} vertices, {} tets, volume {:.6g} m³, quality {:.3f} to mean {:.3f}, dihedral {:.1f}° to {:.1f}°",
                  vertices, tets, volume, worst_quality, mean_quality, smallest_dihedral_deg, largest_dihedral_deg);
  const auto add = [&](int count, const char* what) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  };
  add(not_finite_vertices, "vertices not finite");
  add(out_of_range_tets, "tets out of range");
  add(collapsed_tets, "collapsed tets");
  add(inverted_tets, "inverted tets");
  add(flat_tets, "flat tets");
  add(unused_vertices, "unused vertices");
  return text;
}

TetMeshReport check_tet_mesh(const TetMesh& mesh) {
  TetMeshReport report;
  report.vertices = static_cast<int>(mesh.vertices.size());
  report.tets = static_cast<int>(mesh.tets.size());
  for (const Vec3& x : mesh.vertices) report.not_finite_vertices += x.allFinite() ? 0 : 1;
  std::vector<bool> used(mesh.vertices.size(), false);
  report.smallest_volume = report.worst_quality = std::numeric_limits<double>::infinity();
  report.largest_volume = -std::numeric_limits<double>::infinity();
  report.smallest_dihedral_deg = 180.0;
  int counted = 0;
  for (const auto& tet : mesh.tets) {
    if (!is_usable(mesh, tet, report)) continue;
    std::array<Vec3, 4> x;
    for (int c = 0; c < 4; ++c) {
      used[tet[c]] = true;
      x[c] = mesh.vertices[tet[c]];
    }
    add_shape(x, report);
    ++counted;
  }
  if (counted == 0) {
    report.smallest_volume = report.largest_volume = report.worst_quality = report.smallest_dihedral_deg = 0.0;
  } else {
    report.mean_quality /= counted;
  }
  report.unused_vertices = static_cast<int>(std::count(used.begin(), used.end(), false));
  return report;
}

}  // namespace palpate
