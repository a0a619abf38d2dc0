#pragma once

#include "models.h"

// A body in the midst of things, and constraint rows on it.
namespace palpate::testing {

inline constexpr double kFast = 1e-3, kSlow = 0.02;

inline BlockOptions damped() {
  BlockOptions o;
  o.material.mass_damping = 0.7;
  o.material.stiffness_damping = 0.003;
  return o;
}

/// Deformed, moving, loaded, clamped at the left, pulled at node 5.
inline void disturb(FemBody& body) {
  displace(body, random_vectors(body.node_count(), 0.003, 1));
  body.set_velocities(random_vectors(body.node_count(), 0.2, 2));
  const std::vector<Vec3> loads = random_vectors(body.node_count(), 0.01, 3);
  std::copy(loads.begin(), loads.end(), body.external_forces().begin());
  body.set_gravity(Vec3(0.0, -9.81, 0.0));
  for (const int i : nodes_at_side(body, 0, false)) body.prescribe(i, Vec3::Zero());
  body.prescribe(5, Vec3(0.1, -0.2, 0.3));
}

inline BlockRows make_rows(const FemBody& body, int rows) {
  BlockRows J;
  std::vector<BlockRows::Entry> entries(as_size(body.max_row_entries()));
  const auto triangles = static_cast<int>(body.surface().triangles.size());
  for (int r = 0; r < rows; ++r) {
    J.begin_row();
    const Vec3 direction = random_vectors(1, 1.0, 50 + static_cast<unsigned>(r))[0];
    const int count = body.compute_point_row({r * 7 % triangles, Vec3(0.2, 0.5, 0.3)}, direction, entries);
    for (int k = 0; k < count; ++k) J.add(entries[k].block, entries[k].value);
  }
  return J;
}

}  // namespace palpate::testing
