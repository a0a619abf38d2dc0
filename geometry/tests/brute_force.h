#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "palpate/geometry/triangle_mesh.h"

// Reference answers from all triangles, in extended precision and by other formulas than the tree's.
namespace palpate::reference {

using Real = long double;
using Vec = Eigen::Matrix<Real, 3, 1>;

/// Distance of p to a triangle by regions (Ericson 2005, 5.1.5).
inline Real distance(const Vec& p, const Vec& a, const Vec& b, const Vec& c) {
  const Vec ab = b - a, ac = c - a, ap = p - a;
  const Real d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return ap.norm();
  const Vec bp = p - b;
  const Real d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return bp.norm();
  const Real vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return (ap - d1 / (d1 - d3) * ab).norm();
  const Vec cp = p - c;
  const Real d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return cp.norm();
  const Real vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return (ap - d2 / (d2 - d6) * ac).norm();
  const Real va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return (bp - (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b)).norm();
  const Vec n = ab.cross(ac);
  return std::abs(n.dot(ap)) / n.norm();
}

inline Real distance(const TriangleMesh& mesh, std::size_t t, const Vec3& p) {
  const auto& [i, j, k] = mesh.triangles[t];
  // Measured from p: the input's offset then costs no digits.
  return distance(Vec::Zero(), mesh.vertices[i].cast<Real>() - p.cast<Real>(),
                  mesh.vertices[j].cast<Real>() - p.cast<Real>(), mesh.vertices[k].cast<Real>() - p.cast<Real>());
}

/// Smallest t at which the segment surely meets a triangle, and at which it perhaps does (a share `doubt` of the
/// triangle's size beside it also counts), infinity for never.
struct Crossing {
  Real sure = std::numeric_limits<Real>::infinity(), perhaps = std::numeric_limits<Real>::infinity();
};

/// Möller & Trumbore 1997 over all triangles.
inline Crossing first_crossing(const TriangleMesh& mesh, const Vec3& a, const Vec3& b, Real doubt) {
  Crossing first;
  const Vec d = b.cast<Real>() - a.cast<Real>();
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec p = mesh.vertices[i].cast<Real>() - a.cast<Real>();
    const Vec e = mesh.vertices[j].cast<Real>() - mesh.vertices[i].cast<Real>();
    const Vec f = mesh.vertices[k].cast<Real>() - mesh.vertices[i].cast<Real>();
    const Vec n = e.cross(f);
    const Real det = d.dot(n);
    if (det == 0) continue;
    const Real t = p.dot(n) / det;
    const Vec q = t * d - p;
    const Real v = q.cross(f).dot(n) / n.squaredNorm(), w = e.cross(q).dot(n) / n.squaredNorm();
    const Real inside = std::min({v, w, 1 - v - w, t, 1 - t});
    if (inside >= doubt) first.sure = std::min(first.sure, t);
    if (inside >= -doubt) first.perhaps = std::min(first.perhaps, t);
  }
  return first;
}

inline Vec3 random_vector(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const double x = uniform(random), y = uniform(random), z = uniform(random);
  return Vec3(x, y, z);
}

/// Triangles thrown at random into a cube of half edge 1, none thinner than 1 : 100.
inline TriangleMesh make_soup(int triangles, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TriangleMesh mesh;
  while (static_cast<int>(mesh.triangles.size()) < triangles) {
    const Vec3 o = random_vector(random);
    const Vec3 a = o + 0.2 * random_vector(random), b = o + 0.2 * random_vector(random),
               c = o + 0.2 * random_vector(random);
    const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
    if (compute_area_normal(a, b, c).norm() < 0.01 * longest * longest) continue;
    const auto i = static_cast<std::int32_t>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), {a, b, c});
    mesh.triangles.push_back({i, i + 1, i + 2});
  }
  return mesh;
}

inline TriangleMesh moved(TriangleMesh mesh, double scale, const Vec3& offset) {
  for (Vec3& p : mesh.vertices) p = scale * p + offset;
  return mesh;
}

}  // namespace palpate::reference
