#include <algorithm>
#include <cmath>

#include "palpate/bodies/corotational_tets.h"
#include "tet_model.h"
#include "volume_patches.h"

namespace palpate {

/// What is known before the base class exists.
struct CorotationalTets::Set {
  Model model;
  std::vector<RestTet> rest;
  std::vector<EdgeMaterial> edge_materials;
  std::vector<Group> groups;
  std::unique_ptr<VolumePatches> patches;

  void add_groups();
};

void CorotationalTets::Set::add_groups() {
  // The lanes of a group come from four distant parts of the mesh: tets that share nodes would wait for each other's
  // sums to reach memory.
  const std::size_t count = (rest.size() + kLanes - 1) / kLanes;
  for (std::size_t first = 0; first < count; ++first) {
    Group group;
    for (int lane = 0; lane < kLanes; ++lane) {
      const bool used = first + lane * count < rest.size();
      const std::size_t t = used ? first + lane * count : first;
      const RestTet& tet = rest[t];
      for (int a = 0; a < 3; ++a) {
        for (int axis = 0; axis < 3; ++axis) group.gradient[a][axis][lane] = tet.gradient[a + 1][axis];
      }
      group.volume[lane] = used ? tet.volume : 0.0;
      group.root_volume[lane] = std::sqrt(group.volume[lane]);
      group.mu[lane] = group.volume[lane] * tet.material->lame_mu();
      group.lambda[lane] = patches->place(t) >= 0 ? 0.0 : group.volume[lane] * tet.material->lame_lambda();
      group.share[lane] = used ? patches->place(t) : -1;
      for (int a = 0; a < 4; ++a) group.node[a][lane] = tet.node[a];
    }
    groups.push_back(group);
  }
}

CorotationalTets::Set CorotationalTets::make_set(const TetMesh& mesh, std::span<const Material> materials,
                                                 const CorotationalTetSettings& settings) {
  validate_tet_model(mesh, materials);
  Set set;
  set.rest = make_rest_tets(mesh, materials);
  const std::vector<RestTet>& rest = set.rest;
  set.model = make_tet_model<Model>(mesh, materials, rest);
  std::vector<double> lambda;
  for (const RestTet& tet : rest) lambda.push_back(tet.material->lame_lambda());
  set.patches = std::make_unique<VolumePatches>(
      mesh, rest, lambda, VolumePatches::Settings{settings.patch_above_poisson, settings.patch_size});
  set.patches->add_to(set.model.groups);
  set.add_groups();
  for (const Material& m : materials) {
    const double own = m.poisson_ratio > settings.patch_above_poisson ? 0.0 : m.lame_lambda();
    set.edge_materials.push_back({own, m.lame_mu(), m.stiffness_damping});
  }
  return set;
}

CorotationalTets::CorotationalTets(const TetMesh& mesh, std::span<const Material> materials,
                                   const CorotationalTetSettings& settings)
    : CorotationalTets(make_set(mesh, materials, settings), materials.data(), settings) {}

CorotationalTets::CorotationalTets(Set&& set, const Material* materials, const CorotationalTetSettings& settings)
    : FemBody(std::move(set.model), settings.fem),
      groups_(std::move(set.groups)),
      edge_materials_(std::move(set.edge_materials)),
      patches_(std::move(set.patches)) {
  // Lane after lane as in Set::add_groups(), each with room for what its last vector spills.
  turned_stride_ = 12 * groups_.size() + 4;
  turned_.assign(kLanes * turned_stride_, 0.0);
  make_edges(set.rest, materials);
  padded_.assign(8 * positions().size(), 0.0);
  patches_->find_slots(pattern());
}

CorotationalTets::~CorotationalTets() = default;

int CorotationalTets::patch_count() const noexcept {
  return patches_->size();
}

void CorotationalTets::make_edges(std::span<const RestTet> rest, const Material* materials) {
  struct Contribution {
    std::int32_t slot, material;
    std::size_t tet;
    int i, j;  // its nodes, i the one of the larger number
    auto operator<=>(const Contribution&) const = default;
  };
  std::vector<Contribution> contributions;
  for (std::size_t t = 0; t < rest.size(); ++t) {
    const auto material = static_cast<std::int32_t>(rest[t].material - materials);
    for (int j = 0; j < 4; ++j) {
      for (int i = j + 1; i < 4; ++i) {
        contributions.push_back({pattern().find(rest[t].node[i], rest[t].node[j]), material, t, i, j});
      }
    }
  }
  std::sort(contributions.begin(), contributions.end());
  auto next = contributions.begin();
  column_edges_.assign(1, 0);
  for (int column = 0; column < pattern().blocks(); ++column) {
    for (int slot = pattern().column_begin(column) + 1; slot < pattern().column_begin(column + 1); ++slot) {
      const auto is_here = [&] { return next != contributions.end() && next->slot == slot; };
      bool adds = false;
      do {
        Edge edge{0.0, slot, pattern().row(slot), 0, is_here() ? next->material : 0, adds};
        for (; is_here() && next->material == edge.material; ++next) {
          const RestTet& tet = rest[next->tet];
          edge.shear += tet.volume * tet.material->lame_mu() * tet.gradient[next->i].dot(tet.gradient[next->j]);
          const std::size_t group = next->tet % groups_.size(), lane = next->tet / groups_.size();
          const auto place = static_cast<std::int32_t>(lane * turned_stride_ + 12 * group);
          edge_ends_.push_back({place + 3 * next->i, place + 3 * next->j});
        }
        edge.end = static_cast<std::int32_t>(edge_ends_.size());
        edges_.push_back(edge);
        adds = true;
      } while (is_here());
    }
    column_edges_.push_back(static_cast<std::int32_t>(edges_.size()));
  }
}

}  // namespace palpate
