#include "palpate/geometry/shapes.h"

#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "palpate/core/error.h"

namespace palpate {
namespace {

constexpr double kPi = std::numbers::pi;
/// Keeps every count of triangles within 32 bits.
constexpr int kMostCells = 8192;

void require_size(std::string_view shape, std::string_view what, double value) {
  if (!(value > 0.0) || !std::isfinite(value)) {
    fail_input("{}: {} is {} m; it must be finite and positive", shape, what, value);
  }
}

void require_cells(std::string_view shape, std::string_view what, int value, int least) {
  if (value < least || value > kMostCells) {
    fail_input("{}: {} is {}; allowed are {} to {}", shape, what, value, least, kMostCells);
  }
}

void add_quadrangle(TriangleMesh& mesh, std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
  mesh.triangles.push_back({a, b, c});
  mesh.triangles.push_back({a, c, d});
}

std::int32_t add_vertex(TriangleMesh& mesh, const Vec3& p) {
  mesh.vertices.push_back(p);
  return static_cast<std::int32_t>(mesh.vertices.size()) - 1;
}

/// Turns a profile of (radius, y) around the y axis. Its ends are points on the axis, not part of `profile`: bottom and
/// top. The profile runs from bottom to top.
TriangleMesh revolve(const std::vector<Eigen::Vector2d>& profile, double bottom, double top, int around) {
  TriangleMesh mesh;
  for (const Eigen::Vector2d& ring : profile) {
    for (int j = 0; j < around; ++j) {
      const double angle = 2.0 * kPi * j / around;
      add_vertex(mesh, Vec3(ring.x() * std::cos(angle), ring.y(), -ring.x() * std::sin(angle)));
    }
  }
  const std::int32_t low = add_vertex(mesh, Vec3(0, bottom, 0)), high = add_vertex(mesh, Vec3(0, top, 0));
  const auto at = [&](std::size_t ring, int j) { return static_cast<std::int32_t>(ring) * around + j % around; };
  for (int j = 0; j < around; ++j) {
    mesh.triangles.push_back({low, at(0, j + 1), at(0, j)});
    for (std::size_t ring = 0; ring + 1 < profile.size(); ++ring) {
      add_quadrangle(mesh, at(ring, j), at(ring, j + 1), at(ring + 1, j + 1), at(ring + 1, j));
    }
    mesh.triangles.push_back({high, at(profile.size() - 1, j), at(profile.size() - 1, j + 1)});
  }
  return mesh;
}

/// The next number of the sequence splitmix64 (Steele, Lea & Flood 2014), in [−1, 1).
double next_noise(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

}  // namespace

TriangleMesh make_box(const Vec3& size, int cells) {
  for (int axis = 0; axis < 3; ++axis) require_size("box", "size", size[axis]);
  require_cells("box", "cells", cells, 1);
  TriangleMesh mesh;
  std::unordered_map<std::int64_t, std::int32_t> vertex_at;
  const auto vertex = [&](const std::array<std::int64_t, 3>& i) {
    const std::int64_t n = cells + 1;
    const auto [entry, added] = vertex_at.try_emplace((i[0] * n + i[1]) * n + i[2], 0);
    if (added) {
      const Vec3 p(static_cast<double>(i[0]), static_cast<double>(i[1]), static_cast<double>(i[2]));
      entry->second = add_vertex(mesh, ((p / cells).array() - 0.5).matrix().cwiseProduct(size));
    }
    return entry->second;
  };
  for (int axis = 0; axis < 3; ++axis) {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (const bool upper : {false, true}) {
      for (int i = 0; i < cells; ++i) {
        for (int j = 0; j < cells; ++j) {
          const auto corner = [&](int di, int dj) {
            std::array<std::int64_t, 3> at{};
            at[axis] = upper ? cells : 0;
            at[u] = i + (upper ? di : dj);
            at[v] = j + (upper ? dj : di);
            return vertex(at);
          };
          add_quadrangle(mesh, corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
        }
      }
    }
  }
  return mesh;
}

TriangleMesh make_sphere(double radius, int subdivisions) {
  require_size("sphere", "radius", radius);
  require_cells("sphere", "subdivisions", subdivisions, 1);
  const double g = std::numbers::phi;
  const std::array<Vec3, 12> corner = {Vec3(-1, g, 0), Vec3(1, g, 0), Vec3(-1, -g, 0), Vec3(1, -g, 0),
                                       Vec3(0, -1, g), Vec3(0, 1, g), Vec3(0, -1, -g), Vec3(0, 1, -g),
                                       Vec3(g, 0, -1), Vec3(g, 0, 1), Vec3(-g, 0, -1), Vec3(-g, 0, 1)};
  static constexpr int kFaces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                        {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                        {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                        {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  TriangleMesh mesh;
  const int n = subdivisions;
  for (const Vec3& p : corner) add_vertex(mesh, radius * p.normalized());
  // Vertices within an edge are shared by two faces; key: its lower corner, its higher, steps from the lower.
  std::unordered_map<std::int64_t, std::int32_t> on_edge;
  const auto edge_vertex = [&](int i, int j, int step) {
    if (i > j) {
      std::swap(i, j);
      step = n - step;
    }
    const auto [entry, added] = on_edge.try_emplace((std::int64_t{i} * 12 + j) * (n + 1) + step, 0);
    if (added) entry->second = add_vertex(mesh, radius * ((n - step) * corner[i] + step * corner[j]).normalized());
    return entry->second;
  };
  for (const auto& [a, b, c] : kFaces) {
    // Row r (from a) has r + 1 vertices, from edge a–b to edge a–c.
    std::vector<std::int32_t> above = {a}, row;
    for (int r = 1; r <= n; ++r) {
      row.clear();
      for (int s = 0; s <= r; ++s) {
        if (r == n && (s == 0 || s == r)) {
          row.push_back(s == 0 ? b : c);
        } else if (s == 0 || s == r) {
          row.push_back(edge_vertex(a, s == 0 ? b : c, r));
        } else if (r == n) {
          row.push_back(edge_vertex(b, c, s));
        } else {
          const Vec3 p = (n - r) * corner[a] + (r - s) * corner[b] + s * corner[c];
          row.push_back(add_vertex(mesh, radius * p.normalized()));
        }
      }
      for (int s = 0; s < r; ++s) {
        mesh.triangles.push_back({above[s], row[s], row[s + 1]});
        if (s + 1 < r) mesh.triangles.push_back({above[s], row[s + 1], above[s + 1]});
      }
      std::swap(above, row);
    }
  }
  return mesh;
}

TriangleMesh make_noisy_sphere(double radius, int triangles, double amplitude, std::uint64_t seed) {
  if (!(amplitude >= 0.0) || !(amplitude < radius)) {
    fail_input("noisy sphere: amplitude is {} m; allowed are 0 to below the radius, {} m", amplitude, radius);
  }
  if (triangles < 20) fail_input("noisy sphere: {} triangles; allowed are 20 and more", triangles);
  TriangleMesh mesh = make_sphere(radius, static_cast<int>(std::lround(std::sqrt(triangles / 20.0))));
  for (Vec3& p : mesh.vertices) p *= 1.0 + amplitude / radius * next_noise(seed);
  return mesh;
}

TriangleMesh make_cylinder(double radius, double height, int around, int along) {
  require_size("cylinder", "radius", radius);
  require_size("cylinder", "height", height);
  require_cells("cylinder", "around", around, 3);
  require_cells("cylinder", "along", along, 1);
  const int rings = std::max(1, around / 6);
  std::vector<Eigen::Vector2d> profile;
  for (int i = 1; i < rings; ++i) profile.emplace_back(radius * i / rings, -0.5 * height);
  for (int i = 0; i <= along; ++i) profile.emplace_back(radius, height * (static_cast<double>(i) / along - 0.5));
  for (int i = rings - 1; i >= 1; --i) profile.emplace_back(radius * i / rings, 0.5 * height);
  return revolve(profile, -0.5 * height, 0.5 * height, around);
}

TriangleMesh make_capsule(double radius, double length, int around) {
  require_size("capsule", "radius", radius);
  require_size("capsule", "length", length);
  require_cells("capsule", "around", around, 4);
  const int rings = std::max(1, around / 4);
  const int along = std::max(1, static_cast<int>(std::min(length * around / (2.0 * kPi * radius), 1.0 * kMostCells)));
  std::vector<Eigen::Vector2d> profile;
  for (int i = 1; i < rings; ++i) {
    const double angle = 0.5 * kPi * i / rings;
    profile.emplace_back(radius * std::sin(angle), -0.5 * length - radius * std::cos(angle));
  }
  for (int i = 0; i <= along; ++i) profile.emplace_back(radius, length * (static_cast<double>(i) / along - 0.5));
  for (int i = rings - 1; i >= 1; --i) {
    const double angle = 0.5 * kPi * i / rings;
    profile.emplace_back(radius * std::sin(angle), 0.5 * length + radius * std::cos(angle));
  }
  return revolve(profile, -0.5 * length - radius, 0.5 * length + radius, around);
}

TriangleMesh make_torus(double major_radius, double minor_radius, int around, int around_tube) {
  require_size("torus", "major radius", major_radius);
  require_size("torus", "minor radius", minor_radius);
  if (!(minor_radius < major_radius)) {
    fail_input("torus: minor radius is {} m; it must be below the major one, {} m", minor_radius, major_radius);
  }
  require_cells("torus", "around", around, 3);
  require_cells("torus", "around_tube", around_tube, 3);
  TriangleMesh mesh;
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < around_tube; ++j) {
      const double u = 2.0 * kPi * i / around, v = 2.0 * kPi * j / around_tube;
      const double r = major_radius + minor_radius * std::cos(v);
      add_vertex(mesh, Vec3(r * std::cos(u), minor_radius * std::sin(v), -r * std::sin(u)));
    }
  }
  const auto at = [&](int i, int j) { return (i % around) * around_tube + j % around_tube; };
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < around_tube; ++j) {
      add_quadrangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    }
  }
  return mesh;
}

TriangleMesh make_sine_surface(const SineSurface& s) {
  require_size("sine surface", "wavelength", s.wavelength);
  require_size("sine surface", "size_x", s.size_x);
  require_size("sine surface", "size_z", s.size_z);
  require_size("sine surface", "cell", s.cell);
  if (!(s.amplitude >= 0.0) || !std::isfinite(s.amplitude)) {
    fail_input("sine surface: amplitude is {} m; it must be finite and not negative", s.amplitude);
  }
  const double most = std::max(s.size_x, s.size_z) / s.cell;
  if (most > kMostCells)
    fail_input("sine surface: {:.0f} cells along one side; allowed are up to {}", most, kMostCells);
  // A hair less, so that 0.1 / 0.001 is 100 cells and not 101.
  const int nx = static_cast<int>(std::ceil(s.size_x / s.cell * (1.0 - 1e-12)));
  const int nz = static_cast<int>(std::ceil(s.size_z / s.cell * (1.0 - 1e-12)));
  TriangleMesh mesh;
  for (int i = 0; i <= nx; ++i) {
    for (int j = 0; j <= nz; ++j) {
      const double x = s.size_x * (static_cast<double>(i) / nx - 0.5);
      const double z = s.size_z * (static_cast<double>(j) / nz - 0.5);
      add_vertex(mesh, Vec3(x, s.amplitude * std::sin(2.0 * kPi * x / s.wavelength), z));
    }
  }
  const auto at = [&](int i, int j) { return i * (nz + 1) + j; };
  for (int i = 0; i < nx; ++i) {
    for (int j = 0; j < nz; ++j) add_quadrangle(mesh, at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
  }
  return mesh;
}

}  // namespace palpate
