#pragma once

#include <random>
#include <string>

#include "palpate/geometry/shapes.h"

namespace palpate::testing {

/// A closed surface of some kind, the same for the same seed.
struct RandomSolid {
  std::string name;
  TriangleMesh mesh;
  bool crosses_itself = false;
};

/// Vertices turned about a random axis and moved.
inline void place_at_random(TriangleMesh& mesh, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const Eigen::Quaterniond turn =
      Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random)).normalized();
  const Vec3 shift(normal(random), normal(random), normal(random));
  for (Vec3& v : mesh.vertices) v = turn * v + shift;
}

inline void append(TriangleMesh& mesh, const TriangleMesh& other, const Vec3& shift) {
  const auto base = static_cast<std::int32_t>(mesh.vertices.size());
  for (const Vec3& v : other.vertices) mesh.vertices.push_back(v + shift);
  for (const auto& [a, b, c] : other.triangles) mesh.triangles.push_back({base + a, base + b, base + c});
}

/// Balls that melt into each other; often genus above 0, and parts that nearly touch.
inline TriangleMesh make_blob(std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-0.6, 0.6), size(0.12, 0.4);
  std::vector<std::pair<Vec3, double>> balls;
  for (int i = 0; i < 5; ++i) balls.push_back({Vec3(unit(random), unit(random), unit(random)), size(random)});
  BoundingBox box;
  box.add(Vec3::Constant(-1.6));
  box.add(Vec3::Constant(1.6));
  return make_implicit_surface(
      [&](const Vec3& p) {
        double sum = 0.0;
        for (const auto& [centre, radius] : balls)
          sum += std::exp(2.0 * (1.0 - (p - centre).squaredNorm() / (radius * radius)));
        return -0.2 * std::log(std::max(sum, 1e-12));
      },
      box, 0.16);
}

/// Eight kinds by turns: blobs, plates, rods, tori, plates a hair apart, balls that overlap, scans that pass through
/// themselves, a ball with a cavity.
inline RandomSolid make_random_solid(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  RandomSolid out;
  switch (seed % 8) {
    case 0:
      out = {"blob", make_blob(random)};
      break;
    case 1:
      out = {"plate", make_box(Vec3(0.5 + unit(random), 0.02 + 0.1 * unit(random), 0.5 + unit(random)), 6)};
      break;
    case 2:
      out = {"rod", make_capsule(0.03 + 0.06 * unit(random), 1.0 + unit(random), 12)};
      break;
    case 3:
      out = {"torus", make_torus(0.5, 0.05 + 0.44 * unit(random), 24, 12)};
      break;
    case 4:
      out = {"plates a hair apart", make_box(Vec3(1.0, 0.1, 1.0), 5)};
      append(out.mesh, make_box(Vec3(1.0, 0.1, 1.0), 5), Vec3(0.0, 0.1 + 1e-4 * unit(random), 0.0));
      break;
    case 5:
      out = {"balls that overlap", make_sphere(0.5, 6), true};
      append(out.mesh, make_sphere(0.4, 5), Vec3(0.2 + 0.6 * unit(random), 0.1, 0.0));
      break;
    case 6:
      out = {"scan that passes through itself", make_noisy_sphere(0.5, 800, 0.3 * unit(random), seed), true};
      for (Vec3& v : out.mesh.vertices) v += 0.08 * Vec3(unit(random), unit(random), unit(random));
      break;
    default: {
      out = {"ball with a cavity", make_sphere(0.5, 6)};
      TriangleMesh inner = make_sphere(0.1 + 0.38 * unit(random), 6);
      for (auto& triangle : inner.triangles) std::swap(triangle[0], triangle[1]);
      append(out.mesh, inner, Vec3::Zero());
    }
  }
  place_at_random(out.mesh, random);
  return out;
}

/// A closed tube around a line of points, its ends flat.
inline TriangleMesh make_tube(const std::vector<Vec3>& line, double radius, int around) {
  TriangleMesh mesh;
  const auto n = static_cast<std::int32_t>(line.size());
  Vec3 side = Vec3::UnitY();
  for (std::int32_t i = 0; i < n; ++i) {
    const Vec3 along = (line[as_size(std::min(i + 1, n - 1))] - line[as_size(std::max(i - 1, 0))]).normalized();
    side = (side - side.dot(along) * along).normalized();
    for (int k = 0; k < around; ++k) {
      const double a = 2.0 * 3.14159265358979323846 * k / around;
      mesh.vertices.push_back(line[as_size(i)] + radius * (std::cos(a) * side + std::sin(a) * along.cross(side)));
    }
  }
  const auto at = [around](std::int32_t i, std::int32_t k) { return i * around + (k % around + around) % around; };
  for (std::int32_t i = 0; i + 1 < n; ++i) {
    for (std::int32_t k = 0; k < around; ++k) {
      mesh.triangles.push_back({at(i, k), at(i, k + 1), at(i + 1, k)});
      mesh.triangles.push_back({at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)});
    }
  }
  for (std::int32_t k = 1; k + 1 < around; ++k) {
    mesh.triangles.push_back({at(0, 0), at(0, k + 1), at(0, k)});
    mesh.triangles.push_back({at(n - 1, 0), at(n - 1, k), at(n - 1, k + 1)});
  }
  return mesh;
}

/// A tube bent about the y axis through `turns`, rising by `rise` a turn.
inline TriangleMesh make_coil(double turns, double rise, double radius) {
  std::vector<Vec3> line;
  const int steps = 4 + static_cast<int>(std::ceil(18.0 * turns));
  for (int i = 0; i <= steps; ++i) {
    const double turn = turns * i / steps, a = 2.0 * 3.14159265358979323846 * turn;
    line.push_back({0.5 * std::cos(a), rise * turn, 0.5 * std::sin(a)});
  }
  return make_tube(line, radius, 7);
}

/// Shapes of few triangles, which are quick to fill, eight kinds by turns: horseshoes whose ends nearly touch, coils
/// whose turns nearly do, slivers (four corners anywhere), stars, rods, tori whose hole is nearly closed, balls a hair
/// apart, blobs.
inline RandomSolid make_coarse_solid(unsigned seed) {
  std::mt19937 random(1000 + seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  RandomSolid out;
  switch (seed % 8) {
    case 0: {  // ends meet with a gap of 0.3 mm to 3 cm
      const double radius = 0.08 + 0.12 * unit(random), gap = 3e-4 * std::pow(100.0, unit(random));
      out = {"horseshoe", make_coil(1.0 - gap / 3.14159265358979323846, 0.0, radius)};
      break;
    }
    case 1: {
      const double radius = 0.08 + 0.06 * unit(random);
      out = {"coil", make_coil(1.2 + unit(random), 2.1 * radius + 0.05 * unit(random), radius)};
      break;
    }
    case 2: {
      std::vector<Vec3> p(4);
      do {
        for (Vec3& v : p) v = Vec3(unit(random), unit(random), unit(random));
      } while ((p[1] - p[0]).cross(p[2] - p[0]).dot(p[3] - p[0]) < 0.02);
      out = {"sliver", {p, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}}};
      break;
    }
    case 3:
      out = {"star", make_sphere(0.5, 2)};
      for (Vec3& v : out.mesh.vertices) v *= 0.4 + 0.8 * unit(random);
      break;
    case 4:
      out = {"rod", make_capsule(0.04 + 0.06 * unit(random), 1.0 + unit(random), 8)};
      break;
    case 5:
      out = {"torus", make_torus(0.5, 0.5 - 0.2 * unit(random) * unit(random) - 1e-3, 16, 8)};
      break;
    case 6:
      out = {"balls a hair apart", make_sphere(0.5, 3)};
      append(out.mesh, make_sphere(0.2, 3), Vec3(0.7 + 1e-3 * unit(random), 0.0, 0.0));
      break;
    default:
      out = {"blob", make_blob(random)};
  }
  place_at_random(out.mesh, random);
  return out;
}

}  // namespace palpate::testing
