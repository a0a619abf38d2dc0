#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/geometry/tet_mesh.h"

namespace palpate {

/// Isosurface stuffing on the tets of a lattice (BccLattice, RefinedLattice); see make_tets().
template <typename Lattice>
class Stuffer {
 public:
  /// `value` has f at the lattice's first points, those that are known already; the others are added.
  Stuffer(const ImplicitFunction& f, const Lattice& lattice, std::vector<double>& value)
      : f_(f), lattice_(lattice), value_(value) {
    sample();
    warp();
  }

  TetMesh run() {
    lattice_.for_each_tet([this](const std::array<Point, 4>& tet) { fill(tet); });
    return std::move(mesh_);
  }

 private:
  using Point = typename Lattice::Point;

  void sample() {
    const auto known = static_cast<std::int32_t>(value_.size());
    value_.resize(as_size(lattice_.size()));
    sign_.resize(value_.size());
    lattice_.for_each_point([&](const Point& p) {
      const std::int32_t i = lattice_.index(p);
      double& value = value_[as_size(i)];
      if (i >= known) value = f_(lattice_.position(p));
      if (!std::isfinite(value)) fail_input("tets: the function gives {} on its lattice", value);
      sign_[as_size(i)] = static_cast<std::int8_t>(value < 0.0 ? 1 : value > 0.0 ? -1 : 0);
      if (value <= 0.0 && lattice_.is_on_border(p)) fail_input("tets: the shape leaves its box; make the box larger");
    });
  }

  struct Cut {
    double share = 0.0;  ///< of the way from the lattice point with the lower index
    Vec3 position = Vec3::Zero();
    std::int32_t vertex = -1;  ///< in the mesh, once used
  };

  /// Where f changes sign between two lattice points; found once for each edge.
  Cut& cut(Point p, Point q) {
    if (lattice_.index(p) > lattice_.index(q)) std::swap(p, q);
    const std::int32_t i = lattice_.index(p), j = lattice_.index(q);
    const auto [entry, added] = cuts_.try_emplace(std::int64_t{i} << 32 | j, Cut{});
    if (added) find_cut(lattice_.position(p), lattice_.position(q), value_[i], value_[j], entry->second);
    return entry->second;
  }

  /// Regula falsi, Illinois variant: halving the value of the end that stays makes it converge from both sides.
  void find_cut(const Vec3& a, const Vec3& b, double f0, double f1, Cut& out) const {
    double t0 = 0.0, t1 = 1.0, t = 0.5;
    for (int round = 0; round < 30; ++round) {
      t = t0 + (t1 - t0) * f0 / (f0 - f1);
      const double value = f_(a + t * (b - a));
      if (!(std::abs(value) > 1e-7 * lattice_.cell())) break;
      if ((value < 0.0) == (f0 < 0.0)) {
        t0 = t;
        f0 = value;
        f1 *= 0.5;
      } else {
        t1 = t;
        f1 = value;
        f0 *= 0.5;
      }
    }
    out.share = t;
    out.position = a + t * (b - a);
  }

  /// Moves each lattice point that has cut points too near onto the nearest of them. Its edges lose their cut points.
  void warp() {
    lattice_.for_each_point([this](const Point& p) {
      const std::int32_t i = lattice_.index(p);
      if (sign_[i] == 0) return;
      double nearest = std::numeric_limits<double>::infinity();
      Vec3 target;
      lattice_.for_each_neighbour(p, [&](const Point& q) {
        const std::int32_t j = lattice_.index(q);
        if (sign_[i] * sign_[j] >= 0) return;
        const double share = i < j ? cut(p, q).share : 1.0 - cut(p, q).share;
        const double length = share * lattice_.length(p, q);
        if (share >= lattice_.near_share(p, q) || length >= nearest) return;
        nearest = length;
        target = cut(p, q).position;
      });
      if (!std::isfinite(nearest)) return;
      sign_[i] = 0;
      warped_.emplace(i, target);
    });
  }

  std::int32_t vertex(const Point& p) {
    const std::int32_t i = lattice_.index(p);
    const auto [entry, added] = vertex_at_.try_emplace(i, static_cast<std::int32_t>(mesh_.vertices.size()));
    if (added) {
      const auto moved = warped_.find(i);
      mesh_.vertices.push_back(moved != warped_.end() ? moved->second : lattice_.position(p));
    }
    return entry->second;
  }
  std::int32_t cut_vertex(const Point& p, const Point& q) {
    Cut& c = cut(p, q);
    if (c.vertex < 0) {
      c.vertex = static_cast<std::int32_t>(mesh_.vertices.size());
      mesh_.vertices.push_back(c.position);
    }
    return c.vertex;
  }

  void emit(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) {
    const auto& x = mesh_.vertices;
    if (compute_tet_volume(x[a], x[b], x[c], x[d]) < 0.0) std::swap(c, d);
    mesh_.tets.push_back({a, b, c, d});
  }

  /// Emits the part of a lattice tet that is inside.
  void fill(std::array<Point, 4> v) {
    const auto sign = [this](const Point& p) { return sign_[lattice_.index(p)]; };
    std::stable_sort(v.begin(), v.end(), [&](const auto& p, const auto& q) { return sign(p) > sign(q); });
    const auto inside = std::count_if(v.begin(), v.end(), [&](const auto& p) { return sign(p) > 0; });
    const auto outside = std::count_if(v.begin(), v.end(), [&](const auto& p) { return sign(p) < 0; });
    if (inside == 0) return;
    if (outside == 0) {
      emit(vertex(v[0]), vertex(v[1]), vertex(v[2]), vertex(v[3]));
    } else if (inside == 1) {
      const auto end = [&](const Point& p) { return sign(p) == 0 ? vertex(p) : cut_vertex(v[0], p); };
      emit(vertex(v[0]), end(v[1]), end(v[2]), end(v[3]));
    } else if (inside == 2 && outside == 1) {
      fill_pyramid(v[0], v[1], v[2], v[3]);
    } else if (inside == 2) {
      fill_wedge(v);
    } else {
      fill_prism(v);
    }
  }

  /// How far the cut point of edge x m is from its outside end m, in cells.
  double remainder(const Point& x, const Point& m) {
    const double share = cut(x, m).share;
    return (lattice_.index(x) < lattice_.index(m) ? 1.0 - share : share) * lattice_.length(x, m);
  }

  /// Whether the quadrangle x, y, cut(y, m), cut(x, m) on face x, y, m is divided from x to cut(y, m), or else from y
  /// to cut(x, m): to the cut that is farther from m, else a triangle near m becomes flat. Depends on the face alone,
  /// so both tets agree, and orders the points around m, so the three diagonals of a prism never form a cycle.
  bool starts_at_first(const Point& x, const Point& y, const Point& m) {
    const double rx = remainder(x, m), ry = remainder(y, m);
    return rx != ry ? rx < ry : lattice_.breaks_tie(x, y, m);
  }

  /// a and b inside, z on the surface, m outside.
  void fill_pyramid(Point a, Point b, const Point& z, const Point& m) {
    if (!starts_at_first(a, b, m)) std::swap(a, b);
    const std::int32_t va = vertex(a), vz = vertex(z), bm = cut_vertex(b, m);
    emit(va, vertex(b), vz, bm);
    emit(va, bm, vz, cut_vertex(a, m));
  }

  /// a and b inside, m and n outside.
  void fill_wedge(const std::array<Point, 4>& v) {
    auto [a, b, m, n] = v;
    if (!starts_at_first(a, b, m)) std::swap(a, b);
    const std::int32_t va = vertex(a), vb = vertex(b), am = cut_vertex(a, m), an = cut_vertex(a, n),
                       bm = cut_vertex(b, m), bn = cut_vertex(b, n);
    if (starts_at_first(a, b, n)) {  // both diagonals at a: a tet at b, and a pyramid over the surface
      emit(va, vb, bm, bn);
      emit(va, am, bm, bn);
      emit(va, am, an, bn);
    } else {
      emit(va, vb, bm, an);
      emit(va, am, bm, an);
      emit(vb, bm, bn, an);
    }
  }

  /// Three inside, one outside: a prism, its points sorted such that diagonals run from each to all later ones.
  void fill_prism(const std::array<Point, 4>& v) {
    std::array<Point, 3> p = {v[0], v[1], v[2]};
    const Point& m = v[3];
    const auto later = [&](const Point& x) {
      return std::count_if(p.begin(), p.end(), [&](const auto& y) { return x != y && starts_at_first(x, y, m); });
    };
    const std::array<std::ptrdiff_t, 3> count = {later(p[0]), later(p[1]), later(p[2])};
    std::array<Point, 3> order;
    for (int i = 0; i < 3; ++i) order[2 - count[i]] = p[i];
    const auto& [x, y, z] = order;
    const std::int32_t vx = vertex(x), vy = vertex(y), ym = cut_vertex(y, m), zm = cut_vertex(z, m);
    emit(vx, vy, vertex(z), zm);
    emit(vx, vy, ym, zm);
    emit(vx, cut_vertex(x, m), ym, zm);
  }

  const ImplicitFunction& f_;
  const Lattice& lattice_;
  std::vector<double>& value_;                  ///< f at each lattice point
  std::vector<std::int8_t> sign_;               ///< 1 inside, 0 on the surface, −1 outside
  std::unordered_map<std::int64_t, Cut> cuts_;  ///< by the two indices of the edge
  std::unordered_map<std::int32_t, Vec3> warped_;
  std::unordered_map<std::int32_t, std::int32_t> vertex_at_;
  TetMesh mesh_;
};

}  // namespace palpate
