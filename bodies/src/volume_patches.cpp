#include "volume_patches.h"

#include <algorithm>

#include "palpate/core/error.h"
#include "tet_patches.h"

namespace palpate {

VolumePatches::VolumePatches(const TetMesh& mesh, std::span<const RestTet> tets, std::span<const double> lambda,
                             const Settings& settings)
    : places_(tets.size(), -1) {
  if (settings.size < 2 || settings.size > 20) fail_input("patch_size is {}, must be 2 to 20", settings.size);
  std::vector<bool> wanted(tets.size());
  for (std::size_t t = 0; t < tets.size(); ++t) {
    wanted[t] = tets[t].material->poisson_ratio > settings.above_poisson;
  }
  const std::vector<std::int32_t> patch = make_tet_patches(mesh, wanted, settings.size);
  std::vector<std::vector<std::int32_t>> members(1 + *std::max_element(patch.begin(), patch.end()));
  for (std::size_t t = 0; t < patch.size(); ++t) {
    if (patch[t] >= 0) members[patch[t]].push_back(static_cast<std::int32_t>(t));
  }
  for (const auto& list : members) add_patch(tets, list, lambda[list.front()]);
  shares_.resize(corners_.size());
  gradients_.assign(nodes_.size(), Vec3::Zero());
}

void VolumePatches::add_patch(std::span<const RestTet> tets, std::span<const std::int32_t> members, double lambda) {
  Patch patch;
  patch.tet_begin = static_cast<int>(corners_.size());
  patch.node_begin = static_cast<int>(nodes_.size());
  double volume = 0.0;
  for (const std::int32_t t : members) {
    nodes_.insert(nodes_.end(), tets[t].node.begin(), tets[t].node.end());
    volume += tets[t].volume;
  }
  const auto first = nodes_.begin() + patch.node_begin;
  std::sort(first, nodes_.end());
  nodes_.erase(std::unique(first, nodes_.end()), nodes_.end());
  node_volumes_.resize(nodes_.size(), 0.0);
  for (const std::int32_t t : members) {
    places_[t] = static_cast<std::int32_t>(corners_.size());
    patch_of_.push_back(size());
    std::array<std::int32_t, 4>& corner = corners_.emplace_back();
    for (int c = 0; c < 4; ++c) {
      const auto found = std::lower_bound(nodes_.begin() + patch.node_begin, nodes_.end(), tets[t].node[c]);
      corner[c] = static_cast<std::int32_t>(found - nodes_.begin()) - patch.node_begin;
      node_volumes_[patch.node_begin + corner[c]] += 0.25 * tets[t].volume;
    }
  }
  patch.tet_end = static_cast<int>(corners_.size());
  patch.node_end = static_cast<int>(nodes_.size());
  patch.lambda_over_volume = lambda / volume;
  patch.beta = tets[members.front()].material->stiffness_damping;
  patches_.push_back(patch);
}

void VolumePatches::add_to(BlockGroups& groups) const {
  for (const Patch& patch : patches_) {
    groups.add({nodes_.data() + patch.node_begin, as_size(patch.node_end - patch.node_begin)});
  }
}

void VolumePatches::find_slots(const BlockPattern& pattern) {
  for (Patch& patch : patches_) {
    patch.slot_begin = static_cast<int>(slots_.size());
    for (int a = patch.node_begin; a < patch.node_end; ++a) {
      for (int b = a + 1; b < patch.node_end; ++b) slots_.push_back(pattern.find(nodes_[b], nodes_[a]));
    }
  }
}

void VolumePatches::gather_pressures() noexcept {
  for (Patch& patch : patches_) {
    patch.dilatation = 0.0;
    for (int t = patch.tet_begin; t < patch.tet_end; ++t) patch.dilatation += shares_[t].dilatation;
  }
}

void VolumePatches::gather_gradients() noexcept {
  std::fill(gradients_.begin(), gradients_.end(), Vec3::Zero());
  for (const Patch& patch : patches_) {
    Vec3* g = gradients_.data() + patch.node_begin;
    for (int t = patch.tet_begin; t < patch.tet_end; ++t) {
      for (int a = 0; a < 3; ++a) {
        const Eigen::Map<const Vec3> each(shares_[t].gradient[a]);
        g[corners_[t][a + 1]] += each;
        g[corners_[t][0]] -= each;
      }
    }
  }
}

double VolumePatches::compute_energy() const noexcept {
  double energy = 0.0;
  for (const Patch& patch : patches_) energy += 0.5 * patch.pressure() * patch.dilatation;
  return energy;
}

void VolumePatches::add_forces(double* forces) const noexcept {
  for (const Patch& patch : patches_) {
    for (int a = patch.node_begin; a < patch.node_end; ++a) {
      Eigen::Map<Vec3>(forces + 3 * std::ptrdiff_t{nodes_[a]}) -= patch.pressure() * gradients_[a];
    }
  }
}

void VolumePatches::add_stiffness(double* blocks, double* damping_blocks) const noexcept {
  for (const Patch& patch : patches_) {
    const std::int32_t* slot = slots_.data() + patch.slot_begin;
    for (int a = patch.node_begin; a < patch.node_end; ++a) {
      const Vec3 scaled = patch.lambda_over_volume * gradients_[a];
      for (int b = a + 1; b < patch.node_end; ++b, ++slot) {
        // Block (b, a) of the lower triangle, by columns.
        const Mat3 K = gradients_[b] * scaled.transpose();
        Eigen::Map<Mat3>(blocks + 9 * std::ptrdiff_t{*slot}) += K;
        if (damping_blocks) Eigen::Map<Mat3>(damping_blocks + 9 * std::ptrdiff_t{*slot}) += patch.beta * K;
      }
    }
  }
}

double VolumePatches::compute_squared_frequency(std::int32_t place, double density) const noexcept {
  const Patch& patch = patches_[patch_of_[place]];
  double sum = 0.0;
  for (int a = patch.node_begin; a < patch.node_end; ++a) sum += gradients_[a].squaredNorm() / node_volumes_[a];
  return patch.lambda_over_volume * sum / density;
}

}  // namespace palpate
