#include "tet_edit.h"

namespace palpate {

void keep_tets(TetMesh& mesh, const std::vector<bool>& keep) {
  std::size_t kept = 0;
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    if (!keep[t]) continue;
    mesh.tets[kept] = mesh.tets[t];
    if (!mesh.regions.empty()) mesh.regions[kept] = mesh.regions[t];
    ++kept;
  }
  mesh.tets.resize(kept);
  if (!mesh.regions.empty()) mesh.regions.resize(kept);
}

int drop_unused_vertices(TetMesh& mesh) {
  std::vector<std::int32_t> index(mesh.vertices.size(), -1);
  for (const auto& tet : mesh.tets) {
    for (const std::int32_t i : tet) index[i] = 0;
  }
  std::int32_t kept = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0) continue;
    mesh.vertices[kept] = mesh.vertices[i];
    index[i] = kept++;
  }
  const int dropped = static_cast<int>(mesh.vertices.size()) - kept;
  mesh.vertices.resize(kept);
  for (auto& tet : mesh.tets) {
    for (std::int32_t& i : tet) i = index[i];
  }
  return dropped;
}

}  // namespace palpate
