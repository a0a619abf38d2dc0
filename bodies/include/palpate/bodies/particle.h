#pragma once

#include <vector>

#include "palpate/bodies/body.h"

namespace palpate {

/// A point mass: one block. A(h) = m (1/h + α) + b + h k, with b and k of its grip. It has no surface and touches as a
/// point. Threads and progress are those of Body, and it may live in the fast loop.
class Particle final : public Body {
 public:
  /// `mass` [kg] > 0, `damping` α [1/s] ≥ 0. Throws InputError.
  Particle(double mass, const Vec3& position, double damping = 0.0, int max_time_steps = 2);

  std::unique_ptr<Body> make_copy() const override;
  int block_count() const noexcept override { return 1; }
  int state_size() const noexcept override { return 6; }
  void save_state(std::span<double> out) const noexcept override;
  void restore_state(std::span<const double> state) noexcept override;
  std::span<const Vec3> velocities() const noexcept override { return {&velocity_, 1}; }
  void set_velocities(std::span<const Vec3> velocities) noexcept override { velocity_ = velocities[0]; }
  std::span<Vec3> external_forces() noexcept override { return {&external_, 1}; }
  void set_gravity(const Vec3& gravity) noexcept override { gravity_ = gravity; }
  void prescribe(int, const Vec3& velocity) noexcept override {
    prescribed_ = 1;
    prescribed_velocity_ = velocity;
  }
  void release(int) noexcept override { prescribed_ = 0; }
  bool is_prescribed(int) const noexcept override { return prescribed_ != 0; }
  bool set_grip(const Grip& grip) noexcept override {
    grip_ = grip;
    return true;
  }
  Wrench compute_grip() const noexcept override;
  Pose handle_pose() const noexcept override { return {position_, grip_.target.rotation}; }
  bool linearise(std::span<const double> time_steps) noexcept override;
  void compute_free_motion(int which, std::span<Vec3> dv) noexcept override;
  bool add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept override;
  void compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                          std::span<Vec3> dv) noexcept override;
  bool compute_response(int which, Mat6& response) const noexcept override;
  void advance(double h, std::span<const Vec3> dv) noexcept override;
  BodyEnergy compute_energy() const noexcept override;
  BodyMomentum compute_momentum() const noexcept override;
  BodySurface surface() const noexcept override { return {}; }
  int max_row_entries() const noexcept override { return 1; }
  void predict_surface(double, std::span<const Vec3>, std::span<Vec3>) const noexcept override {}
  Vec3 compute_point(const BodyPoint&) const noexcept override { return position_; }
  BodyPoint find_point(const Vec3&) const override { return BodyPoint::centre(); }
  int compute_point_row(const BodyPoint&, const Vec3& direction,
                        std::span<BlockRows::Entry> out) const noexcept override {
    out[0] = {0, direction};
    return 1;
  }

  const Vec3& position() const noexcept { return position_; }  ///< world frame [m]

 private:
  double inverse_system(int which) const noexcept;

  double mass_, damping_;
  Vec3 position_;
  Vec3 velocity_ = Vec3::Zero(), external_ = Vec3::Zero(), gravity_ = Vec3::Zero(), prescribed_velocity_ = Vec3::Zero();
  std::uint8_t prescribed_ = 0;
  Grip grip_;
  std::vector<double> time_steps_;
};

}  // namespace palpate
