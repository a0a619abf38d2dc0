#include <algorithm>

#include "palpate/bodies/fem_body.h"

// The surface that hangs on the nodes: where its vertices are, and what a point of it feels.
namespace palpate {

bool FemBody::compute_surface_stress(std::span<float> out) const noexcept {
  std::fill(node_stress_.begin(), node_stress_.end(), std::array<double, 2>{});
  add_stress(node_stress_);
  for (std::size_t v = 0; v < out.size(); ++v) {
    double stress = 0.0;
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) {
      const auto& [sum, volume] = node_stress_[vertex_node_[k]];
      stress += vertex_weight_[k] * sum / volume;
    }
    out[v] = static_cast<float>(stress);
  }
  return true;
}

void FemBody::update_surface_positions() noexcept {
  for (std::size_t v = 0; v < surface_positions_.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) p += vertex_weight_[k] * positions_[vertex_node_[k]];
    surface_positions_[v] = p;
  }
}

void FemBody::update_surface_velocities() noexcept {
  for (std::size_t v = 0; v < surface_velocities_.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) p += vertex_weight_[k] * velocities_[vertex_node_[k]];
    surface_velocities_[v] = p;
  }
}

void FemBody::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  for (std::size_t v = 0; v < surface_positions_.size(); ++v) {
    Vec3 p = Vec3::Zero();
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) {
      const int n = vertex_node_[k];
      p += vertex_weight_[k] * (positions_[n] + h * (velocities_[n] + dv[n]));
    }
    positions[v] = p;
  }
}

BodyPoint FemBody::find_point(const Vec3& p) const {
  return find_surface_point(surface(), p);
}

Vec3 FemBody::compute_point(const BodyPoint& point) const noexcept {
  Vec3 p = Vec3::Zero();
  for (int corner = 0; corner < 3; ++corner)
    p += point.weights[corner] * surface_positions_[triangles_[point.element][corner]];
  return p;
}

int FemBody::compute_point_row(const BodyPoint& point, const Vec3& direction,
                               std::span<BlockRows::Entry> out) const noexcept {
  int count = 0;
  for (int corner = 0; corner < 3; ++corner) {
    const int v = triangles_[point.element][corner];
    for (int k = vertex_begin_[v]; k < vertex_begin_[v + 1]; ++k) {
      const double weight = point.weights[corner] * vertex_weight_[k];
      if (weight == 0.0) continue;
      const int node = vertex_node_[k];
      int at = 0;
      while (at < count && out[at].block < node) ++at;
      if (at == count || out[at].block != node) {
        for (int i = count; i > at; --i) out[i] = out[i - 1];
        out[at] = {node, Vec3::Zero()};
        ++count;
      }
      out[at].value += weight * direction;
    }
  }
  return count;
}

}  // namespace palpate
