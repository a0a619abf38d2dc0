#include "tet_model.h"

#include <algorithm>
#include <numeric>

#include "palpate/core/error.h"

namespace palpate {

void validate_tet_model(const TetMesh& mesh, std::span<const Material> materials) {
  const TetMeshReport report = check_tet_mesh(mesh);
  if (!report.is_clean()) fail_input("tet mesh is not fit for simulation: {}", report.describe());
  if (!mesh.regions.empty() && mesh.regions.size() != mesh.tets.size()) {
    fail_input("tet mesh: {} regions for {} tets", mesh.regions.size(), mesh.tets.size());
  }
  int largest = 0;
  for (const std::int32_t region : mesh.regions) {
    if (region < 0) fail_input("tet mesh: region {} is below 0", region);
    largest = std::max(largest, region);
  }
  validate(materials, largest);
}

std::vector<RestTet> make_rest_tets(const TetMesh& mesh, std::span<const Material> materials) {
  std::vector<RestTet> tets;
  tets.reserve(mesh.tets.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    RestTet tet;
    std::copy(mesh.tets[t].begin(), mesh.tets[t].end(), tet.node.begin());
    std::sort(tet.node.begin(), tet.node.end());
    const auto& x = mesh.vertices;
    Mat3 edges;
    for (int a = 0; a < 3; ++a) edges.col(a) = x[tet.node[a + 1]] - x[tet.node[0]];
    const Mat3 inverse = edges.inverse();
    for (int a = 0; a < 3; ++a) tet.gradient[a + 1] = inverse.row(a);
    tet.gradient[0] = -(tet.gradient[1] + tet.gradient[2] + tet.gradient[3]);
    // Sorting the nodes may have mirrored the tet.
    tet.volume = std::abs(edges.determinant()) / 6.0;
    tet.material = &materials[mesh.regions.empty() ? 0 : mesh.regions[t]];
    tets.push_back(tet);
  }
  return tets;
}

void fill_tet_model(const TetMesh& mesh, std::span<const RestTet> tets, std::vector<Vec3>& rest_positions,
                    std::vector<double>& masses, std::vector<double>& damping_masses) {
  rest_positions = mesh.vertices;
  masses.assign(mesh.vertices.size(), 0.0);
  damping_masses = masses;
  for (const RestTet& tet : tets) {
    const double quarter = 0.25 * tet.material->density * tet.volume;
    for (const int node : tet.node) {
      masses[node] += quarter;
      damping_masses[node] += tet.material->mass_damping * quarter;
    }
  }
}

void attach_to_nodes(SolidSurface boundary, TriangleMesh& surface, std::vector<int>& vertex_begin,
                     std::vector<int>& vertex_node, std::vector<double>& vertex_weight) {
  surface = std::move(boundary.mesh);
  vertex_node.assign(boundary.node.begin(), boundary.node.end());
  vertex_weight.assign(vertex_node.size(), 1.0);
  vertex_begin.resize(vertex_node.size() + 1);
  std::iota(vertex_begin.begin(), vertex_begin.end(), 0);
}

bool has_uniform_damping(std::span<const Material> materials) noexcept {
  return std::all_of(materials.begin(), materials.end(),
                     [&](const Material& m) { return m.stiffness_damping == materials.front().stiffness_damping; });
}

}  // namespace palpate
