#include "palpate/geometry/tet_mesher.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "bcc_lattice.h"
#include "mesh_edges.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "tet_edit.h"

namespace palpate {
namespace {

/// Cut points nearer to a lattice point than this share of their edge move the point. 0.24999 and 0.41189 are the
/// paper's for its own stencils. With our way of dividing quadrangles (Stuffer::starts_at_first) these, the best of ten
/// pairs tried on 120 random fields, do better: on 180 other fields, 3.1 million tets, angles are 12.3° to 156.9°,
/// against 9.8° to 160.2°. Measured, not proven.
constexpr double kNearOnLong = 0.27, kNearOnShort = 0.39;

bool is_long(const LatticePoint& p, const LatticePoint& q) noexcept {
  return (p[0] & 1) == (q[0] & 1);
}

class Stuffer {
 public:
  Stuffer(const ImplicitFunction& f, const BoundingBox& box, double cell) : f_(f), lattice_(box, cell) {
    sample();
    warp();
  }

  TetMesh run() {
    lattice_.for_each_tet([this](const std::array<LatticePoint, 4>& tet) { fill(tet); });
    return std::move(mesh_);
  }

 private:
  void sample() {
    value_.resize(lattice_.size());
    sign_.resize(lattice_.size());
    lattice_.for_each_point([this](const LatticePoint& p) {
      const double value = f_(lattice_.position(p));
      if (!std::isfinite(value)) fail_input("tets: the function gives {} on its lattice", value);
      const std::int32_t i = lattice_.index(p);
      value_[i] = value;
      sign_[i] = static_cast<std::int8_t>(value < 0.0 ? 1 : value > 0.0 ? -1 : 0);
      int neighbours = 0;
      lattice_.for_each_neighbour(p, [&](const LatticePoint&) { ++neighbours; });
      if (value <= 0.0 && neighbours < 14) fail_input("tets: the shape leaves its box; make the box larger");
    });
  }

  struct Cut {
    double share = 0.0;  ///< of the way from the lattice point with the lower index
    Vec3 position = Vec3::Zero();
    std::int32_t vertex = -1;  ///< in the mesh, once used
  };

  /// Where f changes sign between two lattice points; found once for each edge.
  Cut& cut(LatticePoint p, LatticePoint q) {
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
    lattice_.for_each_point([this](const LatticePoint& p) {
      const std::int32_t i = lattice_.index(p);
      if (sign_[i] == 0) return;
      double nearest = std::numeric_limits<double>::infinity();
      Vec3 target;
      lattice_.for_each_neighbour(p, [&](const LatticePoint& q) {
        const std::int32_t j = lattice_.index(q);
        if (sign_[i] * sign_[j] >= 0) return;
        const bool is_long_edge = is_long(p, q);
        const double share = i < j ? cut(p, q).share : 1.0 - cut(p, q).share;
        const double length = share * (is_long_edge ? 1.0 : std::sqrt(0.75));
        if (share >= (is_long_edge ? kNearOnLong : kNearOnShort) || length >= nearest) return;
        nearest = length;
        target = cut(p, q).position;
      });
      if (!std::isfinite(nearest)) return;
      sign_[i] = 0;
      warped_.emplace(i, target);
    });
  }

  std::int32_t vertex(const LatticePoint& p) {
    const std::int32_t i = lattice_.index(p);
    const auto [entry, added] = vertex_at_.try_emplace(i, static_cast<std::int32_t>(mesh_.vertices.size()));
    if (added) {
      const auto moved = warped_.find(i);
      mesh_.vertices.push_back(moved != warped_.end() ? moved->second : lattice_.position(p));
    }
    return entry->second;
  }
  std::int32_t cut_vertex(const LatticePoint& p, const LatticePoint& q) {
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
  void fill(std::array<LatticePoint, 4> v) {
    const auto sign = [this](const LatticePoint& p) { return sign_[lattice_.index(p)]; };
    std::stable_sort(v.begin(), v.end(), [&](const auto& p, const auto& q) { return sign(p) > sign(q); });
    const auto inside = std::count_if(v.begin(), v.end(), [&](const auto& p) { return sign(p) > 0; });
    const auto outside = std::count_if(v.begin(), v.end(), [&](const auto& p) { return sign(p) < 0; });
    if (inside == 0) return;
    if (outside == 0) {
      emit(vertex(v[0]), vertex(v[1]), vertex(v[2]), vertex(v[3]));
    } else if (inside == 1) {
      const auto end = [&](const LatticePoint& p) { return sign(p) == 0 ? vertex(p) : cut_vertex(v[0], p); };
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
  double remainder(const LatticePoint& x, const LatticePoint& m) {
    const double share = cut(x, m).share;
    return (lattice_.index(x) < lattice_.index(m) ? 1.0 - share : share) * (is_long(x, m) ? 1.0 : std::sqrt(0.75));
  }

  /// Whether the quadrangle x, y, cut(y, m), cut(x, m) on face x, y, m is divided from x to cut(y, m), or else from y
  /// to cut(x, m): to the cut that is farther from m, else a triangle near m becomes flat. Depends on the face alone,
  /// so both tets agree, and orders the points around m, so the three diagonals of a prism never form a cycle. Ties,
  /// which flat surfaces along the lattice give, go as in the paper: to the cut on the long edge, else by parity, so
  /// that going around a long edge the choice alternates.
  bool starts_at_first(const LatticePoint& x, const LatticePoint& y, const LatticePoint& m) {
    const double rx = remainder(x, m), ry = remainder(y, m);
    if (rx != ry) return rx < ry;
    if (is_long(x, m) != is_long(y, m)) return is_long(y, m);
    int axis = 0;
    while (x[axis] == y[axis]) ++axis;
    const int u = (axis + 1) % 3, w = (axis + 2) % 3;
    return (x[axis] < y[axis]) == ((m[u] > x[u]) == (m[w] > x[w]));
  }

  /// a and b inside, z on the surface, m outside.
  void fill_pyramid(LatticePoint a, LatticePoint b, const LatticePoint& z, const LatticePoint& m) {
    if (!starts_at_first(a, b, m)) std::swap(a, b);
    const std::int32_t va = vertex(a), vz = vertex(z), bm = cut_vertex(b, m);
    emit(va, vertex(b), vz, bm);
    emit(va, bm, vz, cut_vertex(a, m));
  }

  /// a and b inside, m and n outside.
  void fill_wedge(const std::array<LatticePoint, 4>& v) {
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
  void fill_prism(const std::array<LatticePoint, 4>& v) {
    std::array<LatticePoint, 3> p = {v[0], v[1], v[2]};
    const LatticePoint& m = v[3];
    const auto later = [&](const LatticePoint& x) {
      return std::count_if(p.begin(), p.end(), [&](const auto& y) { return x != y && starts_at_first(x, y, m); });
    };
    const std::array<std::ptrdiff_t, 3> count = {later(p[0]), later(p[1]), later(p[2])};
    std::array<LatticePoint, 3> order;
    for (int i = 0; i < 3; ++i) order[2 - count[i]] = p[i];
    const auto& [x, y, z] = order;
    const std::int32_t vx = vertex(x), vy = vertex(y), ym = cut_vertex(y, m), zm = cut_vertex(z, m);
    emit(vx, vy, vertex(z), zm);
    emit(vx, vy, ym, zm);
    emit(vx, cut_vertex(x, m), ym, zm);
  }

  const ImplicitFunction& f_;
  BccLattice lattice_;
  std::vector<double> value_;                   ///< f at each lattice point
  std::vector<std::int8_t> sign_;               ///< 1 inside, 0 on the surface, −1 outside
  std::unordered_map<std::int64_t, Cut> cuts_;  ///< by the two indices of the edge
  std::unordered_map<std::int32_t, Vec3> warped_;
  std::unordered_map<std::int32_t, std::int32_t> vertex_at_;
  TetMesh mesh_;
};

/// The tets without an edge of more than two boundary triangles, and without a boundary vertex whose triangles make
/// more than one fan; `all` tells whether these are all tets.
std::vector<bool> find_tets_to_keep(const TetMesh& mesh, bool& all) {
  const auto surface = extract_surface(mesh);
  const std::vector<HalfEdge> halves = make_half_edges(surface.mesh);
  UnionFind fans(3 * surface.mesh.triangles.size());
  std::set<std::pair<std::int32_t, std::int32_t>> bad_edges;
  for_each_edge(halves, [&](auto first, auto last) {
    const std::int32_t low = surface.node[first->low], high = surface.node[first->high];
    if (last - first != 2) {
      bad_edges.emplace(std::min(low, high), std::max(low, high));
      return;
    }
    const auto corner = [](const HalfEdge& h, bool at_low) {
      return 3 * h.triangle + (h.forward == at_low ? h.side : (h.side + 1) % 3);
    };
    for (const bool at_low : {true, false}) fans.join(corner(*first, at_low), corner(*(first + 1), at_low));
  });
  std::vector<std::int32_t> fan(mesh.vertices.size(), -1);
  std::vector<bool> bad_vertex(mesh.vertices.size(), false);
  for (std::size_t t = 0; t < surface.mesh.triangles.size(); ++t) {
    for (int i = 0; i < 3; ++i) {
      const std::int32_t v = surface.node[surface.mesh.triangles[t][i]],
                         f = fans.find(static_cast<std::int32_t>(3 * t) + i);
      if (fan[v] >= 0 && fan[v] != f) bad_vertex[v] = true;
      fan[v] = f;
    }
  }
  // The ends of a bad edge have several fans because of it; taking the edge away comes first.
  for (const auto& [i, j] : bad_edges) bad_vertex[i] = bad_vertex[j] = false;
  std::vector<bool> keep(mesh.tets.size(), true);
  all = true;
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& tet = mesh.tets[t];
    for (int i = 0; i < 4; ++i) {
      if (bad_vertex[tet[i]]) keep[t] = false;
      for (int j = 0; j < 4 && !bad_edges.empty(); ++j) {
        if (tet[i] < tet[j] && bad_edges.contains({tet[i], tet[j]})) keep[t] = false;
      }
    }
    all = all && keep[t];
  }
  return keep;
}

/// Where parts of the solid only touch, at an edge or a vertex, takes the tets away that meet there, until there is no
/// such place. It ends: every round takes a tet. Only features that the lattice does not resolve are concerned.
void make_boundary_manifold(TetMesh& mesh) {
  bool all = false;
  while (!all) {
    const std::vector<bool> keep = find_tets_to_keep(mesh, all);
    if (!all) keep_tets(mesh, keep);
  }
  drop_unused_vertices(mesh);
}

}  // namespace

TetMesh make_tets(const ImplicitFunction& f, const BoundingBox& box, double cell) {
  if (box.is_empty() || !box.size().allFinite()) fail_input("tets: the box must be finite and not empty");
  if (!(cell > 0.0) || !std::isfinite(cell)) fail_input("tets: cell is {} m; it must be finite and positive", cell);
  constexpr double kMost = 3e7;
  const double points = 2.0 * ((box.size() / cell).array() + 5.0).prod();
  if (!(points <= kMost))
    fail_input("tets: cell {} m gives {:.3g} lattice points; allowed are up to {:.3g}", cell, points, kMost);
  TetMesh mesh = Stuffer(f, box, cell).run();
  make_boundary_manifold(mesh);
  if (mesh.tets.empty()) fail_input("tets: nothing inside; the shape is thinner than the cell of {} m", cell);
  return mesh;
}

TetMesh make_tets(const TriangleTree& surface, double cell) {
  const MeshReport report = check_mesh(surface.mesh());
  if (!report.closed || !report.consistent || !(report.volume > 0.0)) {
    fail_input("tets: the surface must be closed and oriented outward: {}", report.describe());
  }
  return make_tets([&](const Vec3& p) { return surface.signed_distance(p); }, report.box, cell);
}

}  // namespace palpate
