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

}  // namespace palpate::testing
