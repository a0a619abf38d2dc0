#pragma once

#include <array>
#include <span>
#include <vector>

#include "palpate/bodies/material.h"
#include "palpate/geometry/tet_mesh.h"

// What the finite-element bodies share at set-up.
namespace palpate {

/// A tet at rest.
struct RestTet {
  std::array<int, 4> node;       ///< ascending
  std::array<Vec3, 4> gradient;  ///< of the shape functions [1/m]; their sum is zero
  double volume;                 ///< [m³]
  const Material* material;
};

/// Throws InputError unless the mesh is clean and its regions have materials in range.
void validate_tet_model(const TetMesh& mesh, std::span<const Material> materials);

/// `materials` must outlive the result.
std::vector<RestTet> make_rest_tets(const TetMesh& mesh, std::span<const Material> materials);

/// A quarter of each tet's mass goes to each of its nodes; α times that to `damping_masses`.
void fill_tet_model(const TetMesh& mesh, std::span<const RestTet> tets, std::vector<Vec3>& rest_positions,
                    std::vector<double>& masses, std::vector<double>& damping_masses);

/// A boundary each of whose vertices is a node.
void attach_to_nodes(SolidSurface boundary, TriangleMesh& surface, std::vector<int>& vertex_begin,
                     std::vector<int>& vertex_node, std::vector<double>& vertex_weight);

bool has_uniform_damping(std::span<const Material> materials) noexcept;

/// All of a FemBody::Model of tets; a template because that type is the bodies' own.
template <typename Model>
Model make_tet_model(const TetMesh& mesh, std::span<const Material> materials, std::span<const RestTet> tets) {
  Model model;
  for (const RestTet& tet : tets) model.groups.add(tet.node);
  fill_tet_model(mesh, tets, model.rest_positions, model.masses, model.damping_masses);
  attach_to_nodes(extract_surface(mesh), model.surface, model.vertex_begin, model.vertex_node, model.vertex_weight);
  model.uniform_damping = has_uniform_damping(materials);
  model.stiffness_damping = materials.front().stiffness_damping;
  return model;
}

}  // namespace palpate
