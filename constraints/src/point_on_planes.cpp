#include "palpate/constraints/point_on_planes.h"

#include <algorithm>
#include <cmath>

namespace palpate {
namespace {

// Normals whose cross product is shorter than this count as parallel: their crease is ill defined, and one of the two
// planes alone already gives the answer to rounding.
constexpr double kParallel = 1e-9;

struct Problem {
  std::span<const ContactPlane> planes;
  Vec3 target;
  double slack;  // rounding of normal·x at this size of coordinates

  double violation(std::size_t i, const Vec3& x) const noexcept { return planes[i].offset - planes[i].normal.dot(x); }
  // Planes that carry load hold by construction, to the rounding of their own solve; the others must not be crossed.
  bool others_hold(const PlaneContact& c) const noexcept {
    for (std::size_t i = 0; i < planes.size(); ++i) {
      if (c.load[i] == 0.0 && violation(i, c.position) > slack) return false;
    }
    return true;
  }
};

bool solve_one(const Problem& p, std::size_t i, PlaneContact& out) noexcept {
  const double load = p.violation(i, p.target);
  if (load <= 0.0) return false;
  out.position = p.target + load * p.planes[i].normal;
  out.load[i] = load;
  return p.others_hold(out);
}

bool solve_two(const Problem& p, std::size_t i, std::size_t j, PlaneContact& out) noexcept {
  const Vec3& a = p.planes[i].normal;
  const Vec3& b = p.planes[j].normal;
  if (a.cross(b).squaredNorm() < kParallel * kParallel) return false;
  const double c = a.dot(b);
  const double determinant = 1.0 - c * c;
  const double va = p.violation(i, p.target);
  const double vb = p.violation(j, p.target);
  const double la = (va - c * vb) / determinant;
  const double lb = (vb - c * va) / determinant;
  if (la < 0.0 || lb < 0.0) return false;
  out.position = p.target + la * a + lb * b;
  out.load[i] = la;
  out.load[j] = lb;
  return p.others_hold(out);
}

bool solve_three(const Problem& p, const std::array<std::size_t, 3>& s, PlaneContact& out) noexcept {
  Mat3 N;  // rows are normals; x − target = Nᵀ load, N (x − target) = violation
  Vec3 v;
  for (int r = 0; r < 3; ++r) {
    const std::size_t i = s[as_size(r)];
    N.row(r) = p.planes[i].normal.transpose();
    v[r] = p.violation(i, p.target);
  }
  const double determinant = N.determinant();
  if (std::abs(determinant) < kParallel) return false;
  const Vec3 shift = N.inverse() * v;
  const Vec3 load = N.transpose().inverse() * shift;
  if (load.minCoeff() < 0.0) return false;
  out.position = p.target + shift;
  for (int r = 0; r < 3; ++r) out.load[s[as_size(r)]] = load[r];
  return p.others_hold(out);
}

// The problem is strictly convex, so the first subset of planes that is feasible with loads ≥ 0 is the solution.
bool solve_frictionless(const Problem& p, PlaneContact& out) noexcept {
  const std::size_t n = p.planes.size();
  out.position = p.target;
  if (p.others_hold(out)) return true;
  for (std::size_t i = 0; i < n; ++i) {
    out.load.fill(0.0);
    if (solve_one(p, i, out)) return true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      out.load.fill(0.0);
      if (solve_two(p, i, j, out)) return true;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      for (std::size_t k = j + 1; k < n; ++k) {
        out.load.fill(0.0);
        if (solve_three(p, {i, j, k}, out)) return true;
      }
    }
  }
  out.load.fill(0.0);
  return false;
}

// Pulls a sliding point back along its way by what friction can take: Σ μλ, all of it if that suffices (sticking).
void apply_friction(std::span<const ContactPlane> planes, const Vec3& anchor, PlaneContact& out) noexcept {
  double grip = 0.0;
  Vec3 slip = out.position - anchor;
  std::array<const Vec3*, 2> normals{};
  int touching = 0;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    if (out.load[i] <= 0.0) continue;
    grip += planes[i].friction * out.load[i];
    if (touching < 2) normals[as_size(touching)] = &planes[i].normal;
    ++touching;
  }
  out.active = touching;
  if (touching == 0 || touching > 2 || grip <= 0.0) return;
  if (touching == 1) {
    slip -= normals[0]->dot(slip) * *normals[0];
  } else {
    const Vec3 crease = normals[0]->cross(*normals[1]).normalized();
    slip = crease.dot(slip) * crease;
  }
  const double length = slip.norm();
  if (length > 0.0) out.position -= std::min(1.0, grip / length) * slip;
}

}  // namespace

PlaneContact settle_on_planes(std::span<const ContactPlane> planes, const Vec3& anchor, const Vec3& target) noexcept {
  const double size = target.cwiseAbs().maxCoeff() + anchor.cwiseAbs().maxCoeff();
  const Problem problem{planes.first(std::min(planes.size(), kMaxPlanes)), target, 1e-14 * size};
  PlaneContact out;
  if (!solve_frictionless(problem, out)) {
    out.position = anchor;
    out.feasible = false;
    return out;
  }
  apply_friction(problem.planes, anchor, out);
  return out;
}

}  // namespace palpate
