#include <algorithm>
#include <numeric>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/core/error.h"
#include "tet_model.h"
#include "tet_patches.h"

namespace palpate {

/// What is known before the base class exists.
struct CorotationalTets::Set {
  Model model;
  std::vector<Group> groups;
  std::vector<Patch> patches;
  std::vector<std::array<std::int32_t, 4>> patch_corners;
  std::vector<std::int32_t> patch_nodes;
};

namespace {

int region_of(const TetMesh& mesh, std::size_t t) {
  return mesh.regions.empty() ? 0 : mesh.regions[t];
}

/// Tets of each patch, in the order of the mesh.
std::vector<std::vector<std::int32_t>> collect_patches(const TetMesh& mesh, std::span<const Material> materials,
                                                       const CorotationalTetSettings& settings) {
  std::vector<bool> wanted(mesh.tets.size());
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    wanted[t] = materials[region_of(mesh, t)].poisson_ratio > settings.patch_above_poisson;
  }
  const std::vector<std::int32_t> patch = make_tet_patches(mesh, wanted, settings.patch_size);
  std::vector<std::vector<std::int32_t>> tets(1 + *std::max_element(patch.begin(), patch.end()));
  for (std::size_t t = 0; t < patch.size(); ++t) {
    if (patch[t] >= 0) tets[patch[t]].push_back(static_cast<std::int32_t>(t));
  }
  return tets;
}

}  // namespace

CorotationalTets::Set CorotationalTets::make_set(const TetMesh& mesh, std::span<const Material> materials,
                                                 const CorotationalTetSettings& settings) {
  validate_tet_model(mesh, materials);
  if (settings.patch_size < 2 || settings.patch_size > 20) {
    fail_input("corotational_tets.patch_size is {}, must be 2 to 20", settings.patch_size);
  }
  Set set;
  const std::vector<RestTet> rest = make_rest_tets(mesh, materials);
  std::vector<std::int32_t> turned(rest.size(), -1);
  BlockGroups& groups = set.model.groups;
  for (const RestTet& tet : rest) groups.add(tet.node);

  for (const auto& members : collect_patches(mesh, materials, settings)) {
    Patch patch;
    patch.tet_begin = static_cast<int>(set.patch_corners.size());
    patch.node_begin = static_cast<int>(set.patch_nodes.size());
    std::vector<int> nodes;
    double volume = 0.0;
    for (const std::int32_t t : members) {
      nodes.insert(nodes.end(), rest[t].node.begin(), rest[t].node.end());
      volume += rest[t].volume;
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const std::int32_t t : members) {
      turned[t] = static_cast<std::int32_t>(set.patch_corners.size());
      std::array<std::int32_t, 4> corner;
      for (int c = 0; c < 4; ++c) {
        const auto place = std::lower_bound(nodes.begin(), nodes.end(), rest[t].node[c]);
        corner[c] = static_cast<std::int32_t>(place - nodes.begin());
      }
      set.patch_corners.push_back(corner);
    }
    set.patch_nodes.insert(set.patch_nodes.end(), nodes.begin(), nodes.end());
    patch.tet_end = static_cast<int>(set.patch_corners.size());
    patch.node_end = static_cast<int>(set.patch_nodes.size());
    const Material& material = materials[region_of(mesh, members.front())];
    patch.lambda_over_volume = material.lame_lambda() / volume;
    patch.beta = material.stiffness_damping;
    set.patches.push_back(patch);
    groups.add(nodes);
  }

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
      group.mu[lane] = group.volume[lane] * tet.material->lame_mu();
      group.lambda[lane] = turned[t] >= 0 ? 0.0 : group.volume[lane] * tet.material->lame_lambda();
      group.beta[lane] = tet.material->stiffness_damping;
      group.turned[lane] = used ? turned[t] : -1;
      for (int a = 0; a < 4; ++a) group.node[a][lane] = tet.node[a];
    }
    set.groups.push_back(group);
  }
  fill_tet_model(mesh, rest, set.model.rest_positions, set.model.masses, set.model.damping_masses);
  attach_to_nodes(extract_surface(mesh), set.model.surface, set.model.vertex_begin, set.model.vertex_node,
                  set.model.vertex_weight);
  set.model.uniform_damping = has_uniform_damping(materials);
  set.model.stiffness_damping = materials.front().stiffness_damping;
  return set;
}

CorotationalTets::CorotationalTets(const TetMesh& mesh, std::span<const Material> materials,
                                   const CorotationalTetSettings& settings)
    : CorotationalTets(make_set(mesh, materials, settings), settings) {}

CorotationalTets::CorotationalTets(Set&& set, const CorotationalTetSettings& settings)
    : FemBody(std::move(set.model), settings.fem),
      groups_(std::move(set.groups)),
      patches_(std::move(set.patches)),
      patch_corners_(std::move(set.patch_corners)),
      patch_nodes_(std::move(set.patch_nodes)),
      turned_(patch_corners_.size()) {
  fill_slots();
}

void CorotationalTets::fill_slots() {
  for (Group& group : groups_) {
    for (int lane = 0; lane < kLanes; ++lane) {
      int pair = 0;
      for (int a = 0; a < 4; ++a) {
        for (int b = a; b < 4; ++b) {
          group.slot[pair++][lane] = pattern().find(group.node[b][lane], group.node[a][lane]);
        }
      }
    }
  }
  std::size_t most_nodes = 0;
  for (Patch& patch : patches_) {
    patch.slot_begin = static_cast<int>(patch_slots_.size());
    most_nodes = std::max(most_nodes, static_cast<std::size_t>(patch.node_end - patch.node_begin));
    for (int a = patch.node_begin; a < patch.node_end; ++a) {
      for (int b = a; b < patch.node_end; ++b) patch_slots_.push_back(pattern().find(patch_nodes_[b], patch_nodes_[a]));
    }
  }
  patch_gradients_.resize(most_nodes);
}

}  // namespace palpate
