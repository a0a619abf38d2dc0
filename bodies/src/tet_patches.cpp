#include "tet_patches.h"

#include <algorithm>
#include <array>
#include <limits>

namespace palpate {

namespace {

using Neighbours = std::vector<std::array<std::int32_t, 4>>;  ///< of each tet, across its faces; −1 at the boundary

Neighbours find_neighbours(const TetMesh& mesh) {
  struct Face {
    std::array<std::int32_t, 3> key;
    std::int32_t tet, side;
  };
  std::vector<Face> faces;
  faces.reserve(mesh.tets.size() * 4);
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    for (int side = 0; side < 4; ++side) {
      const auto& tet = mesh.tets[t];
      Face face{{tet[(side + 1) % 4], tet[(side + 2) % 4], tet[(side + 3) % 4]}, static_cast<std::int32_t>(t), side};
      std::sort(face.key.begin(), face.key.end());
      faces.push_back(face);
    }
  }
  std::stable_sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
  Neighbours neighbours(mesh.tets.size(), {-1, -1, -1, -1});
  for (std::size_t i = 0; i + 1 < faces.size(); ++i) {
    const Face &a = faces[i], &b = faces[i + 1];
    if (a.key != b.key) continue;
    neighbours[a.tet][a.side] = b.tet;
    neighbours[b.tet][b.side] = a.tet;
  }
  return neighbours;
}

class PatchGrower {
 public:
  PatchGrower(const TetMesh& mesh, const std::vector<bool>& wanted)
      : mesh_(mesh), wanted_(wanted), neighbours_(find_neighbours(mesh)), patch_(mesh.tets.size(), -1) {}

  std::vector<std::int32_t> run(int size) {
    for (std::int32_t seed = 0; seed < static_cast<std::int32_t>(patch_.size()); ++seed) {
      if (!wanted_[seed] || patch_[seed] >= 0) continue;
      members_.assign(1, seed);
      patch_[seed] = count_;
      while (static_cast<int>(members_.size()) < size && add_best_neighbour(seed)) {
      }
      if (members_.size() < 3 && join_neighbouring_patch()) continue;
      ++count_;
    }
    return patch_;
  }

 private:
  int region(std::int32_t t) const { return mesh_.regions.empty() ? 0 : mesh_.regions[t]; }

  Vec3 center(std::int32_t t) const {
    const auto& [a, b, c, d] = mesh_.tets[t];
    return 0.25 * (mesh_.vertices[a] + mesh_.vertices[b] + mesh_.vertices[c] + mesh_.vertices[d]);
  }

  int count_new_vertices(std::int32_t t) const {
    int count = 0;
    for (const std::int32_t v : mesh_.tets[t]) {
      const bool known = std::any_of(members_.begin(), members_.end(), [&](std::int32_t m) {
        return std::find(mesh_.tets[m].begin(), mesh_.tets[m].end(), v) != mesh_.tets[m].end();
      });
      if (!known) ++count;
    }
    return count;
  }

  bool add_best_neighbour(std::int32_t seed) {
    std::int32_t best = -1;
    int best_new = 5;
    double best_distance = std::numeric_limits<double>::infinity();
    for (const std::int32_t member : members_) {
      for (const std::int32_t t : neighbours_[member]) {
        if (t < 0 || !wanted_[t] || patch_[t] >= 0 || region(t) != region(seed)) continue;
        const int fresh = count_new_vertices(t);
        const double distance = (center(t) - center(seed)).squaredNorm();
        if (fresh > best_new || (fresh == best_new && distance >= best_distance)) continue;
        best = t;
        best_new = fresh;
        best_distance = distance;
      }
    }
    if (best < 0) return false;
    patch_[best] = count_;
    members_.push_back(best);
    return true;
  }

  bool join_neighbouring_patch() {
    for (const std::int32_t member : members_) {
      for (const std::int32_t t : neighbours_[member]) {
        if (t < 0 || patch_[t] < 0 || patch_[t] == count_ || region(t) != region(member)) continue;
        for (const std::int32_t m : members_) patch_[m] = patch_[t];
        return true;
      }
    }
    return false;
  }

  const TetMesh& mesh_;
  const std::vector<bool>& wanted_;
  Neighbours neighbours_;
  std::vector<std::int32_t> patch_;
  std::vector<std::int32_t> members_;
  std::int32_t count_ = 0;
};

}  // namespace

std::vector<std::int32_t> make_tet_patches(const TetMesh& mesh, const std::vector<bool>& wanted, int size) {
  return PatchGrower(mesh, wanted).run(size);
}

}  // namespace palpate
