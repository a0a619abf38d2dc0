#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/geometry/triangle_mesh.h"

namespace palpate::testing {

/// A surface that moves as it is told, and of which only a part may be kept up to date.
class ToldSurface final : public Body {
 public:
  explicit ToldSurface(const TriangleMesh& mesh)
      : mesh_(mesh), next_(mesh.vertices), velocities_(mesh.vertices.size(), Vec3::Zero()) {}

  /// Moves all of it, and from here on only the vertices within `reach` of `middle`; HUGE_VAL: all.
  void choose(std::span<const Vec3> places, const Vec3& middle, double reach) {
    std::copy(places.begin(), places.end(), mesh_.vertices.begin());
    fresh_.clear();
    for (std::size_t v = 0; v < places.size() && reach < HUGE_VAL; ++v) {
      if ((places[v] - middle).norm() < reach) fresh_.push_back(static_cast<std::int32_t>(v));
    }
    ++version_;
  }
  void move(std::span<const Vec3> places, std::span<const Vec3> next) {
    const auto take = [&](std::size_t v) {
      mesh_.vertices[v] = places[v];
      next_[v] = next[v];
    };
    for (const std::int32_t v : fresh_) take(as_size(v));
    for (std::size_t v = 0; fresh_.empty() && v < places.size(); ++v) take(v);
  }

  BodySurface surface() const noexcept override { return {mesh_.triangles, mesh_.vertices, velocities_}; }
  FreshSurface fresh_surface() const noexcept override { return {fresh_, version_}; }
  void predict_surface(double, std::span<const Vec3>, std::span<Vec3> out) const noexcept override {
    for (const std::int32_t v : fresh_) out[as_size(v)] = next_[as_size(v)];
    if (fresh_.empty()) std::copy(next_.begin(), next_.end(), out.begin());
  }
  Vec3 compute_point(const BodyPoint& point) const noexcept override {
    const auto& corner = mesh_.triangles[as_size(point.element)];
    Vec3 x = Vec3::Zero();
    for (int k = 0; k < 3; ++k) x += point.weights[k] * mesh_.vertices[as_size(corner[as_size(k)])];
    return x;
  }
  int compute_point_row(const BodyPoint&, const Vec3& d, std::span<BlockRows::Entry> out) const noexcept override {
    out[0] = {0, d};
    return 1;
  }
  int max_row_entries() const noexcept override { return 1; }
  int block_count() const noexcept override { return static_cast<int>(velocities_.size()); }
  std::span<const Vec3> velocities() const noexcept override { return velocities_; }
  bool is_prescribed(int) const noexcept override { return false; }

  // A finder asks for no more than the above.
  int state_size() const noexcept override { return 0; }
  void save_state(std::span<double>) const noexcept override {}
  void restore_state(std::span<const double>) noexcept override {}
  void set_velocities(std::span<const Vec3>) noexcept override {}
  std::span<Vec3> external_forces() noexcept override { return {}; }
  void set_gravity(const Vec3&) noexcept override {}
  void prescribe(int, const Vec3&) noexcept override {}
  void release(int) noexcept override {}
  bool linearise(std::span<const double>) noexcept override { return false; }
  void compute_free_motion(int, std::span<Vec3>) noexcept override {}
  bool add_compliance(int, const BlockRows&, Eigen::Ref<Eigen::MatrixXd>) noexcept override { return false; }
  void compute_correction(int, const BlockRows&, std::span<const double>, std::span<Vec3>) noexcept override {}
  void advance(double, std::span<const Vec3>) noexcept override {}
  BodyEnergy compute_energy() const noexcept override { return {}; }
  BodyMomentum compute_momentum() const noexcept override { return {}; }
  BodyPoint find_point(const Vec3&) const override { return {}; }

 private:
  TriangleMesh mesh_;
  std::vector<Vec3> next_, velocities_;
  std::vector<std::int32_t> fresh_;
  std::uint64_t version_ = 0;
};

/// A ball of 10 cm that breathes and turns.
inline std::vector<Vec3> place_ball(const TriangleMesh& mesh, double time) {
  std::vector<Vec3> out;
  const Quat turn = rotation_from_vector(Vec3(0.0, 0.3 * time, 0.1));
  for (const Vec3& p : mesh.vertices) out.push_back((1.0 + 0.05 * std::sin(40.0 * time + 30.0 * p.x())) * (turn * p));
  return out;
}

}  // namespace palpate::testing
