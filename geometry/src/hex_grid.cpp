#include "palpate/geometry/hex_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "palpate/core/error.h"
#include "solid_surface.h"
#include "winding.h"

namespace palpate {

namespace {

constexpr double kMostCells = 1e8;

std::size_t cell_index(const HexGrid& grid, int i, int j, int k) {
  return (as_size(k) * grid.cells[1] + j) * grid.cells[0] + i;
}

Vec3 lowest_corner(const HexGrid& grid, int i, int j, int k) {
  return grid.origin + Vec3(i, j, k).cwiseProduct(grid.cell);
}

/// Cell of the grid that contains p, not clamped.
Eigen::Array3d locate(const HexGrid& grid, const Vec3& p) {
  return ((p - grid.origin).array() / grid.cell.array()).floor();
}

template <typename Visit>
void for_each_cell(const HexGrid& grid, Visit visit) {
  for (int k = 0; k < grid.cells[2]; ++k) {
    for (int j = 0; j < grid.cells[1]; ++j) {
      for (int i = 0; i < grid.cells[0]; ++i) visit(i, j, k);
    }
  }
}

/// Makes hexes and vertices from the fill of every cell of the grid (0: empty).
void build(HexGrid& grid, const std::vector<double>& fill) {
  const auto [nx, ny, nz] = grid.cells;
  std::vector<std::int32_t> vertex(as_size(nx + 1) * (ny + 1) * (nz + 1), -1);
  const auto vertex_index = [&](int i, int j, int k) { return (as_size(k) * (ny + 1) + j) * (nx + 1) + i; };
  grid.hex_at.assign(fill.size(), -1);
  for_each_cell(grid, [&](int i, int j, int k) {
    const std::size_t cell = cell_index(grid, i, j, k);
    if (!(fill[cell] > 0.0)) return;
    grid.hex_at[cell] = static_cast<std::int32_t>(grid.place.size());
    grid.place.push_back({i, j, k});
    grid.fill.push_back(fill[cell]);
    for (int c = 0; c < 8; ++c) vertex[vertex_index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))] = 0;
  });
  for (int k = 0; k <= nz; ++k) {
    for (int j = 0; j <= ny; ++j) {
      for (int i = 0; i <= nx; ++i) {
        std::int32_t& v = vertex[vertex_index(i, j, k)];
        if (v < 0) continue;
        v = static_cast<std::int32_t>(grid.vertices.size());
        grid.vertices.push_back(lowest_corner(grid, i, j, k));
      }
    }
  }
  for (const auto& [i, j, k] : grid.place) {
    std::array<std::int32_t, 8> hex;
    for (int c = 0; c < 8; ++c) hex[c] = vertex[vertex_index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
    grid.hexes.push_back(hex);
  }
}

double sample_fill(const TriangleTree& surface, const WindingNumber& winding, const HexGrid& grid, const Vec3& low,
                   int samples) {
  const Vec3 centre = low + 0.5 * grid.cell;
  ClosestPoint closest;
  if (!surface.find_closest(centre, 0.5 * grid.cell.norm(), closest)) return winding.compute(centre) > 0 ? 1.0 : 0.0;
  int inside = 0;
  for (int k = 0; k < samples; ++k) {
    for (int j = 0; j < samples; ++j) {
      for (int i = 0; i < samples; ++i) {
        const Vec3 unit = (Vec3(i, j, k).array() + 0.5) / samples;
        if (winding.compute(low + unit.cwiseProduct(grid.cell)) > 0) ++inside;
      }
    }
  }
  return static_cast<double>(inside) / (samples * samples * samples);
}

void validate(const VoxelSettings& s) {
  if (!(s.cell > 0.0) || !std::isfinite(s.cell)) fail_input("voxels.cell is {} m, must be finite and positive", s.cell);
  if (s.samples < 1 || s.samples > 16) fail_input("voxels.samples is {}, must be 1 to 16", s.samples);
  if (!(s.least_fill > 0.0 && s.least_fill <= 1.0)) {
    fail_input("voxels.least_fill is {}, must be above 0 and at most 1", s.least_fill);
  }
}

}  // namespace

std::int32_t HexGrid::find_hex(const Vec3& p) const noexcept {
  const Eigen::Array3d at = locate(*this, p);
  for (int axis = 0; axis < 3; ++axis) {
    if (!(at[axis] >= 0.0 && at[axis] < cells[axis])) return -1;
  }
  return hex_at[cell_index(*this, static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2]))];
}

HexGrid make_hex_grid(const Vec3& size, const std::array<int, 3>& cells) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!(size[axis] > 0.0) || !std::isfinite(size[axis])) {
      fail_input("hex grid: size[{}] is {} m, must be finite and positive", axis, size[axis]);
    }
    if (cells[axis] < 1 || cells[axis] > 500) {
      fail_input("hex grid: cells[{}] is {}, must be 1 to 500", axis, cells[axis]);
    }
  }
  HexGrid grid;
  grid.origin = -0.5 * size;
  grid.cell = size.array() / Eigen::Array3d(cells[0], cells[1], cells[2]);
  grid.cells = cells;
  build(grid, std::vector<double>(as_size(cells[0]) * cells[1] * cells[2], 1.0));
  return grid;
}

HexGrid make_voxels(const TriangleTree& surface, const VoxelSettings& settings) {
  validate(settings);
  const BoundingBox box = compute_bounding_box(surface.mesh().vertices);
  HexGrid grid;
  grid.cell = Vec3::Constant(settings.cell);
  // A hair more than the box, so that a vertex on its upper side still has a cell.
  const Eigen::Array3d count = (box.size().array() / settings.cell + 1e-9).ceil().max(1.0);
  if (!(count.prod() <= kMostCells)) {
    fail_input("voxels.cell is {} m: {} cells around a surface of {:.3g} m are too many", settings.cell, count.prod(),
               box.size().maxCoeff());
  }
  for (int axis = 0; axis < 3; ++axis) grid.cells[axis] = static_cast<int>(count[axis]);
  grid.origin = box.center() - 0.5 * settings.cell * count.matrix();
  std::vector<double> fill(as_size(grid.cells[0]) * grid.cells[1] * grid.cells[2]);
  const WindingNumber winding(surface.mesh());
  for_each_cell(grid, [&](int i, int j, int k) {
    const double share = sample_fill(surface, winding, grid, lowest_corner(grid, i, j, k), settings.samples);
    fill[cell_index(grid, i, j, k)] = share > 0.0 ? std::max(share, settings.least_fill) : 0.0;
  });
  for (const Vec3& p : surface.mesh().vertices) {
    const Eigen::Array3d last(grid.cells[0] - 1, grid.cells[1] - 1, grid.cells[2] - 1);
    const Eigen::Array3i at = locate(grid, p).max(0.0).min(last).cast<int>();
    double& share = fill[cell_index(grid, at[0], at[1], at[2])];
    share = std::max(share, settings.least_fill);
  }
  build(grid, fill);
  return grid;
}

TrilinearEmbedding embed_points(const HexGrid& grid, std::span<const Vec3> points) {
  TrilinearEmbedding embedding;
  for (const Vec3& p : points) {
    std::int32_t hex = grid.find_hex(p);
    if (hex < 0) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t h = 0; h < grid.hexes.size(); ++h) {
        const Vec3 low = grid.vertices[grid.hexes[h][0]];
        const double distance = (p - p.cwiseMax(low).cwiseMin(low + grid.cell)).squaredNorm();
        if (distance >= best) continue;
        best = distance;
        hex = static_cast<std::int32_t>(h);
      }
    }
    const Eigen::Array3d u = (p - grid.vertices[grid.hexes[hex][0]]).array() / grid.cell.array();
    std::array<double, 8> weights;
    for (int c = 0; c < 8; ++c) {
      weights[c] = (c & 1 ? u[0] : 1.0 - u[0]) * (c & 2 ? u[1] : 1.0 - u[1]) * (c & 4 ? u[2] : 1.0 - u[2]);
    }
    embedding.hex.push_back(hex);
    embedding.weights.push_back(weights);
  }
  return embedding;
}

SolidSurface extract_surface(const HexGrid& grid) {
  // Corners of each face, outward, by direction −x +x −y +y −z +z.
  constexpr int kFaces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  SolidSurface surface;
  for (std::size_t h = 0; h < grid.hexes.size(); ++h) {
    for (int face = 0; face < 6; ++face) {
      auto next = grid.place[h];
      next[face / 2] += face % 2 ? 1 : -1;
      const bool in_grid = next[face / 2] >= 0 && next[face / 2] < grid.cells[face / 2];
      if (in_grid && grid.hex_at[cell_index(grid, next[0], next[1], next[2])] >= 0) continue;
      const auto& hex = grid.hexes[h];
      const auto& c = kFaces[face];
      surface.mesh.triangles.push_back({hex[c[0]], hex[c[1]], hex[c[2]]});
      surface.mesh.triangles.push_back({hex[c[0]], hex[c[2]], hex[c[3]]});
      surface.element.insert(surface.element.end(), 2, static_cast<std::int32_t>(h));
    }
  }
  drop_inner_vertices(grid.vertices, surface);
  return surface;
}

}  // namespace palpate
