#pragma once

#include <algorithm>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/geometry/triangle_mesh.h"

namespace palpate {

/// A surface that never moves, in the world frame. It has no blocks, no state and no compliance, and its rows of J have
/// no entries. Any thread may read it.
class StaticBody final : public Body {
 public:
  explicit StaticBody(TriangleMesh mesh) : mesh_(std::move(mesh)), at_rest_(mesh_.vertices.size(), Vec3::Zero()) {}

  std::unique_ptr<Body> make_copy() const override { return std::make_unique<StaticBody>(*this); }
  int block_count() const noexcept override { return 0; }
  int state_size() const noexcept override { return 0; }
  void save_state(std::span<double>) const noexcept override {}
  void restore_state(std::span<const double>) noexcept override {}
  std::span<const Vec3> velocities() const noexcept override { return {}; }
  void set_velocities(std::span<const Vec3>) noexcept override {}
  std::span<Vec3> external_forces() noexcept override { return {}; }
  void set_gravity(const Vec3&) noexcept override {}
  void prescribe(int, const Vec3&) noexcept override {}
  void release(int) noexcept override {}
  bool is_prescribed(int) const noexcept override { return true; }
  bool linearise(std::span<const double>) noexcept override { return true; }
  void compute_free_motion(int, std::span<Vec3>) noexcept override {}
  bool add_compliance(int, const BlockRows&, Eigen::Ref<Eigen::MatrixXd>) noexcept override { return true; }
  void compute_correction(int, const BlockRows&, std::span<const double>, std::span<Vec3>) noexcept override {}
  void advance(double, std::span<const Vec3>) noexcept override {}
  BodyEnergy compute_energy() const noexcept override { return {}; }
  BodyMomentum compute_momentum() const noexcept override { return {}; }
  BodySurface surface() const noexcept override { return {mesh_.triangles, mesh_.vertices, at_rest_}; }
  int max_row_entries() const noexcept override { return 0; }
  void predict_surface(double, std::span<const Vec3>, std::span<Vec3> positions) const noexcept override {
    std::copy(mesh_.vertices.begin(), mesh_.vertices.end(), positions.begin());
  }
  Vec3 compute_point(const BodyPoint& p) const noexcept override {
    const auto& t = mesh_.triangles[as_size(p.element)];
    Vec3 x = Vec3::Zero();
    for (std::size_t c = 0; c < 3; ++c) x += p.weights[static_cast<int>(c)] * mesh_.vertices[as_size(t[c])];
    return x;
  }
  BodyPoint find_point(const Vec3& p) const override { return find_surface_point(surface(), p); }
  int compute_point_row(const BodyPoint&, const Vec3&, std::span<BlockRows::Entry>) const noexcept override {
    return 0;
  }

 private:
  TriangleMesh mesh_;
  std::vector<Vec3> at_rest_;
};

}  // namespace palpate
