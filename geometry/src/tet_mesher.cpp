#include "palpate/geometry/tet_mesher.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "bcc_lattice.h"
#include "mesh_edges.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/mesh_holes.h"
#include "palpate/geometry/solid_fit.h"
#include "refined_lattice.h"
#include "stuffer.h"
#include "tet_edit.h"
#include "winding.h"

namespace palpate {
namespace {

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

/// Cells are made finer only up to so many times the lattice's tets, and so many more: who asks for a cell has an idea
/// of how much it may cost.
constexpr std::size_t kMostGrowth = 4, kMostExtra = 120'000;

template <typename Lattice>
TetMesh stuff(const ImplicitFunction& f, const Lattice& lattice, std::vector<double>& value) {
  TetMesh mesh = Stuffer<Lattice>(f, lattice, value).run();
  make_boundary_manifold(mesh);
  return mesh;
}

void require_cell(const BoundingBox& box, double cell) {
  if (!(cell > 0.0) || !std::isfinite(cell)) fail_input("tets: cell is {} m; it must be finite and positive", cell);
  constexpr double kMost = 3e7;
  const double points = 2.0 * ((box.size() / cell).array() + 5.0).prod();
  if (points <= kMost) return;
  const double least = cell * std::cbrt(points / kMost);
  fail_input("tets: cell {} m gives {:.3g} lattice points; allowed are up to {:.3g}, a cell of about {:.2g} m", cell,
             points, kMost, 1.05 * least);
}

/// Balls around what is lost, found by place.
class LostPlaces {
 public:
  LostPlaces(const std::vector<SurfaceSample>& lost, double cell) : bin_(1.3 * cell) {
    for (const SurfaceSample& s : lost) {
      const double radius = s.is_sheet ? 0.5 * std::min(s.thickness, cell) : 0.25 * cell;
      const Vec3 centre = s.position - radius * s.normal;
      balls_[bin_of(centre)].push_back({centre, radius});
    }
  }
  /// Whether a tet of that size has to do with one of them; sizes are a cell at most.
  bool touch(const Vec3& p, double size) const {
    const std::array<int, 3> at = bin_of(p);
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        for (int k = -1; k <= 1; ++k) {
          const auto bin = balls_.find({at[0] + i, at[1] + j, at[2] + k});
          if (bin == balls_.end()) continue;
          for (const Ball& ball : bin->second) {
            if ((p - ball.centre).norm() < ball.radius + 0.56 * size) return true;
          }
        }
      }
    }
    return false;
  }

 private:
  struct Ball {
    Vec3 centre;
    double radius;
  };
  std::array<int, 3> bin_of(const Vec3& p) const {
    const Vec3 at = (p / bin_).array().floor();
    return {static_cast<int>(at.x()), static_cast<int>(at.y()), static_cast<int>(at.z())};
  }
  double bin_;
  std::map<std::array<int, 3>, std::vector<Ball>> balls_;
};

/// Halves cells where parts of the surface are lost, again and again, as long as that does not take too many tets.
TetMesh keep_thin_parts(const TriangleTree& surface, const ImplicitFunction& f, const BccLattice& lattice,
                        std::vector<double> value, TetMesh mesh) {
  const double cell = lattice.cell();
  const std::vector<SurfaceSample> samples = sample_surface(surface, cell);
  std::optional<RefinedLattice> refined;
  std::size_t most = 0;
  constexpr int kRounds = 6;
  for (int round = 1; round <= kRounds; ++round) {
    std::vector<SurfaceSample> lost = samples;
    if (!mesh.tets.empty()) lost = find_lost(samples, TriangleTree(extract_surface(mesh).mesh), cell);
    if (lost.empty()) break;
    if (!refined) {
      // No point of a tet is farther from all corners than 0.56 cells: these tets are outside altogether.
      refined.emplace(lattice, [&](const RefinedLattice::Tet& tet) {
        return std::any_of(tet.begin(), tet.end(), [&](std::int32_t p) { return value[as_size(p)] <= 0.6 * cell; });
      });
      most = kMostGrowth * refined->count() + kMostExtra;
    }
    const LostPlaces places(lost, cell);
    const double target = 1.01 * std::exp2(-round) * cell;
    RefinedLattice finer = *refined;
    const auto wanted = [&](const Vec3& p, double size) { return size > target && places.touch(p, size); };
    if (!finer.refine(wanted, most)) break;
    refined = std::move(finer);
    mesh = stuff(f, *refined, value);
  }
  return mesh;
}

}  // namespace

TetMesh make_tets(const ImplicitFunction& f, const BoundingBox& box, double cell) {
  if (box.is_empty() || !box.size().allFinite()) fail_input("tets: the box must be finite and not empty");
  require_cell(box, cell);
  std::vector<double> value;
  TetMesh mesh = stuff(f, BccLattice(box, cell), value);
  if (mesh.tets.empty()) fail_input("tets: nothing inside; the shape is thinner than the cell of {} m", cell);
  return mesh;
}

TetMesh make_tets(const TriangleTree& surface, double cell) {
  const MeshReport report = check_mesh(surface.mesh());
  if (report.non_manifold_edges > 0) fail_input("tets: {}", describe_crowded_edges(surface.mesh()));
  if (report.boundary_edges > 0)
    fail_input(
        "tets: the surface must be closed; this one has {}. --fill-holes of palpate mesh closes them, or "
        "\"repair\": true in a scene's mesh",
        describe_holes(find_holes(surface.mesh())));
  if (!report.consistent || !(report.volume > 0.0)) {
    fail_input("tets: the surface must be closed and oriented outward: {}", report.describe());
  }
  const WindingNumber winding(surface.mesh());
  const ImplicitFunction f = [&](const Vec3& p) {
    ClosestPoint closest;
    surface.find_closest(p, std::numeric_limits<double>::infinity(), closest);
    return winding.compute(p) > 0 ? -closest.distance : closest.distance;
  };
  require_cell(report.box, cell);
  // A cell larger than the shape says nothing more than one of its size.
  const BccLattice lattice(report.box, std::min(cell, report.box.size().maxCoeff()));
  std::vector<double> value;
  TetMesh mesh = stuff(f, lattice, value);
  mesh = keep_thin_parts(surface, f, lattice, std::move(value), std::move(mesh));
  if (mesh.tets.empty())
    fail_input("tets: the shape is so much thinner than the cell of {} m that nothing is left; try {:.2g} m", cell,
               find_thickness(surface, lattice.cell()));
  return mesh;
}

}  // namespace palpate
