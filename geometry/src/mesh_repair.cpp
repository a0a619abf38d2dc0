#include <fmt/format.h>

#include "crowded_edges.h"
#include "mesh_edges.h"
#include "palpate/core/error.h"
#include "palpate/geometry/mesh_check.h"
#include "palpate/geometry/mesh_holes.h"
#include "winding.h"

namespace palpate {
namespace {

void require_repairable(const TriangleMesh& mesh, const std::string& name) {
  if (mesh.triangles.empty()) fail_input("{}: no triangles; at least one is needed", name);
  const auto n = static_cast<std::int64_t>(mesh.vertices.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const std::int32_t i : mesh.triangles[t]) {
      if (i < 0 || i >= n) {
        fail_input("{}: triangle {} names vertex {}; allowed are 0 to {}", name, t, i, n - 1);
      }
      const Vec3& p = mesh.vertices[i];
      if (!p.allFinite()) {
        fail_input("{}: vertex {} is ({}, {}, {}); coordinates must be finite", name, i, p.x(), p.y(), p.z());
      }
    }
  }
}

void merge_vertices(TriangleMesh& mesh, MeshRepair& repair) {
  const std::vector<std::int32_t> first = find_first_at_position(mesh.vertices);
  for (std::size_t i = 0; i < first.size(); ++i) repair.merged_vertices += first[i] != static_cast<std::int32_t>(i);
  for (auto& triangle : mesh.triangles) {
    for (std::int32_t& i : triangle) i = first[i];
  }
}

void drop_triangles(TriangleMesh& mesh, MeshRepair& repair) {
  const auto collapsed = std::erase_if(mesh.triangles, [](const auto& triangle) {
    const auto& [i, j, k] = triangle;
    return i == j || j == k || k == i;
  });
  repair.dropped_collapsed = static_cast<int>(collapsed);
  const std::vector<bool> duplicate = find_duplicate_triangles(mesh);
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!duplicate[t]) mesh.triangles[kept++] = mesh.triangles[t];
  }
  repair.dropped_duplicates = static_cast<int>(mesh.triangles.size() - kept);
  mesh.triangles.resize(kept);
}

/// Vertices keep their order. Merged ones are unused by now; they were counted as merged.
void drop_vertices(TriangleMesh& mesh, MeshRepair& repair) {
  std::vector<std::int32_t> index(mesh.vertices.size(), -1);
  for (const auto& triangle : mesh.triangles) {
    for (const std::int32_t i : triangle) index[i] = 0;
  }
  std::int32_t kept = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0) continue;
    index[i] = kept;
    mesh.vertices[kept++] = mesh.vertices[i];
  }
  repair.dropped_vertices = static_cast<int>(mesh.vertices.size()) - kept - repair.merged_vertices;
  mesh.vertices.resize(kept);
  for (auto& triangle : mesh.triangles) {
    for (std::int32_t& i : triangle) i = index[i];
  }
}

struct Neighbor {
  std::int32_t triangle = -1;
  bool agrees = true;
};

/// A part connected through manifold edges, and how it was made consistent.
struct Component {
  std::vector<std::int32_t> triangles;
  bool closed = true;
  bool was_consistent = true;
};

class Orienter {
 public:
  Orienter(TriangleMesh& mesh, const std::string& name)
      : mesh_(mesh), name_(name), neighbor_(mesh.triangles.size()), turned_(mesh.triangles.size(), kUnseen) {
    for_each_edge(make_half_edges(mesh), [&](auto first, auto last) {
      if (last - first != 2) return;
      const HalfEdge &a = *first, &b = *(first + 1);
      const bool agrees = a.forward != b.forward;
      neighbor_[a.triangle][a.side] = {b.triangle, agrees};
      neighbor_[b.triangle][b.side] = {a.triangle, agrees};
    });
  }

  void run(MeshRepair& repair) {
    std::vector<Component> components;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (turned_[t] == kUnseen) components.push_back(orient(static_cast<std::int32_t>(t), repair));
    }
    double total = 0.0;
    std::vector<double> volume;
    const Vec3 o = compute_bounding_box(mesh_.vertices).center();
    for (const Component& component : components) {
      volume.push_back(component.closed ? compute_volume_from(o, component) : 0.0);
      total += volume.back();
    }
    for (std::size_t i = 0; i < components.size(); ++i) {
      if (!components[i].closed) continue;
      // Consistent parts keep their sense relative to the whole, or cavities would be turned inside out; but what lies
      // in no other part is no cavity.
      bool inward = components[i].was_consistent ? total < 0.0 : volume[i] < 0.0;
      if (!inward && volume[i] < 0.0) inward = !is_in_another(components, i);
      if (inward && volume[i] > 0.0 && !is_in_another(components, i)) inward = false;
      if (!inward) continue;
      for (const std::int32_t t : components[i].triangles) turn(t);
      ++repair.turned_components;
    }
  }

 private:
  enum State : std::uint8_t { kUnseen, kKept, kTurned };

  void turn(std::int32_t t) noexcept { std::swap(mesh_.triangles[t][1], mesh_.triangles[t][2]); }

  /// Spreads one orientation over the part around `seed` and turns the fewer triangles.
  Component orient(std::int32_t seed, MeshRepair& repair) {
    Component part;
    part.triangles.push_back(seed);
    turned_[seed] = kKept;
    std::size_t turned = 0;
    for (std::size_t next = 0; next < part.triangles.size(); ++next) {
      const std::int32_t t = part.triangles[next];
      for (const Neighbor& other : neighbor_[t]) {
        if (other.triangle < 0) {
          part.closed = false;
          continue;
        }
        const State wanted = (turned_[t] == kTurned) == other.agrees ? kTurned : kKept;
        State& state = turned_[other.triangle];
        if (state == kUnseen) {
          state = wanted;
          turned += wanted == kTurned;
          part.triangles.push_back(other.triangle);
        } else if (state != wanted) {
          fail_input(
              "{}: the surface around triangle {} cannot be oriented (like a Moebius strip); a mesh needs two sides",
              name_, t);
        }
      }
    }
    part.was_consistent = turned == 0;
    const bool turn_kept = 2 * turned > part.triangles.size();
    for (const std::int32_t t : part.triangles) {
      if ((turned_[t] == kKept) != turn_kept) continue;
      turn(t);
      ++repair.turned_triangles;
    }
    return part;
  }

  /// Whether a closed part lies inside another closed one, whichever way that faces.
  bool is_in_another(const std::vector<Component>& components, std::size_t part) const {
    // The middle of a triangle: parts that only touch each other do so in vertices.
    const auto& [a, b, c] = mesh_.triangles[components[part].triangles.front()];
    const Vec3 p = (mesh_.vertices[a] + mesh_.vertices[b] + mesh_.vertices[c]) / 3.0;
    for (std::size_t j = 0; j < components.size(); ++j) {
      if (j == part || !components[j].closed) continue;
      TriangleMesh other{mesh_.vertices, {}};
      BoundingBox box;
      for (const std::int32_t t : components[j].triangles) {
        other.triangles.push_back(mesh_.triangles[t]);
        for (const std::int32_t v : mesh_.triangles[t]) box.add(mesh_.vertices[v]);
      }
      if ((p.array() < box.lower.array()).any() || (p.array() > box.upper.array()).any()) continue;
      if (WindingNumber(other).compute(p) != 0) return true;
    }
    return false;
  }

  double compute_volume_from(const Vec3& o, const Component& component) const noexcept {
    double six = 0.0;
    for (const std::int32_t t : component.triangles) {
      const auto& [i, j, k] = mesh_.triangles[t];
      six += (mesh_.vertices[i] - o).dot((mesh_.vertices[j] - o).cross(mesh_.vertices[k] - o));
    }
    return six / 6.0;
  }

  TriangleMesh& mesh_;
  const std::string& name_;
  std::vector<std::array<Neighbor, 3>> neighbor_;
  std::vector<State> turned_;
};

void refuse(const TriangleMesh& mesh, const RepairOptions& options, const std::string& name) {
  if (!options.refuse_open && !options.refuse_non_manifold) return;
  const MeshReport report = check_mesh(mesh);
  if (options.refuse_non_manifold && report.non_manifold_edges > 0) {
    fail_input("{}: {} edges have more than two triangles; allowed are none here", name, report.non_manifold_edges);
  }
  if (options.refuse_open && report.boundary_edges > 0) {
    fail_input("{}: open along {} edges; a closed surface is needed here ({})", name, report.boundary_edges,
               describe_holes(find_holes(mesh)));
  }
}

}  // namespace

MeshRepair repair_mesh(TriangleMesh& mesh, const RepairOptions& options, const std::string& name) {
  require_repairable(mesh, name);
  MeshRepair repair;
  merge_vertices(mesh, repair);
  drop_triangles(mesh, repair);
  if (mesh.triangles.empty()) {
    fail_input("{}: all {} triangles have coinciding corners; at least one true triangle is needed", name,
               repair.dropped_collapsed);
  }
  drop_vertices(mesh, repair);
  Orienter(mesh, name).run(repair);
  repair.parted_edges = part_crowded_edges(mesh);
  if (repair.parted_edges > 0) Orienter(mesh, name).run(repair);  // what was not closed may have faced inward
  if (options.fill_holes) {
    repair.filled_holes = fill_holes(mesh);
    if (repair.filled_holes > 0) Orienter(mesh, name).run(repair);  // what was open may have faced inward
  }
  refuse(mesh, options, name);
  return repair;
}

bool MeshRepair::changed() const noexcept {
  return merged_vertices + dropped_collapsed + dropped_duplicates + dropped_vertices + turned_triangles +
             turned_components + parted_edges + filled_holes >
         0;
}

std::string MeshRepair::describe() const {
  std::string text;
  const auto name = [&](int count, const char* one, const char* many) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : many);
  };
  name(merged_vertices, "duplicate vertex merged", "duplicate vertices merged");
  name(dropped_collapsed, "collapsed triangle dropped", "collapsed triangles dropped");
  name(dropped_duplicates, "duplicate triangle dropped", "duplicate triangles dropped");
  name(dropped_vertices, "unused vertex dropped", "unused vertices dropped");
  name(turned_triangles, "triangle turned to agree with its neighbours",
       "triangles turned to agree with their neighbours");
  name(turned_components, "closed part turned outward", "closed parts turned outward");
  name(parted_edges, "edge parted at which solids touch", "edges parted at which solids touch");
  name(filled_holes, "hole filled", "holes filled");
  return text;
}

}  // namespace palpate
