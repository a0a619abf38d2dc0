#include "palpate/bodies/beam_chain.h"

#include <cassert>
#include <numeric>

#include <algorithm>
#include <limits>

// State, energies and surface of a chain.
namespace palpate {

std::unique_ptr<Body> BeamChain::make_copy() const {
  auto copy = std::make_unique<BeamChain>(*this);
  copy->group_nodes_.reserve(group_nodes_.capacity());  // which a vector does not copy
  return copy;
}

void BeamChain::save_state(std::span<double> out) const noexcept {
  double* p = out.data();
  for (std::size_t n = 0; n < poses_.size(); ++n, p += 13) {
    Eigen::Map<Vec3>{p} = poses_[n].position;
    Eigen::Map<Eigen::Vector4d>{p + 3} = poses_[n].rotation.coeffs();
    Eigen::Map<Vec3>{p + 7} = velocities_[2 * n];
    Eigen::Map<Vec3>{p + 10} = velocities_[2 * n + 1];
  }
}

void BeamChain::restore_state(std::span<const double> state) noexcept {
  const double* p = state.data();
  for (std::size_t n = 0; n < poses_.size(); ++n, p += 13) {
    poses_[n].position = Eigen::Map<const Vec3>(p);
    poses_[n].rotation.coeffs() = Eigen::Map<const Eigen::Vector4d>(p + 3);
    velocities_[2 * n] = Eigen::Map<const Vec3>(p + 7);
    velocities_[2 * n + 1] = Eigen::Map<const Vec3>(p + 10);
  }
  update_skin();
}

void BeamChain::set_velocities(std::span<const Vec3> velocities) noexcept {
  std::copy(velocities.begin(), velocities.end(), velocities_.begin());
  update_skin();
}

void BeamChain::set_node_pose(int node, const Pose& pose) noexcept {
  poses_[as_size(node)] = pose;
  update_skin();
}

void BeamChain::prescribe(int block, const Vec3& velocity) noexcept {
  prescribed_[as_size(block)] = 1;
  prescribed_velocities_[as_size(block)] = velocity;
}

void BeamChain::release(int block) noexcept {
  prescribed_[as_size(block)] = 0;
}

bool BeamChain::set_grip(const Grip& grip) noexcept {
  grip_ = grip;
  gripped_ = true;
  return true;
}

Wrench BeamChain::compute_grip() const noexcept {
  return gripped_ ? compute_grip_wrench(grip_, poses_[0], {velocities_[0], velocities_[1]}) : Wrench{};
}

BodyEnergy BeamChain::compute_energy() const noexcept {
  BodyEnergy e;
  e.elastic = compute_elastic_energy();
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    const Vec3& w = velocities_[2 * n + 1];
    e.kinetic += 0.5 * masses_[n] * velocities_[2 * n].squaredNorm() + 0.5 * w.dot(compute_world_inertia(n) * w);
    e.gravitational -= masses_[n] * gravity_.dot(poses_[n].position);
  }
  return e;
}

BodyMomentum BeamChain::compute_momentum() const noexcept {
  BodyMomentum m;
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    const Vec3 p = masses_[n] * velocities_[2 * n];
    m.linear += p;
    m.angular += poses_[n].position.cross(p) + compute_world_inertia(n) * velocities_[2 * n + 1];
  }
  return m;
}

Eigen::MatrixXd BeamChain::make_dense_stiffness() const {
  const auto n = static_cast<Eigen::Index>(poses_.size());
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(6 * n, 6 * n);
  for (std::size_t i = 0; i < beams_.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(6 * i);
    K.block<12, 12>(at, at) +=
        compute_beam_stiffness(beams_[i], compute_strain(i), poses_[i + 1].position - poses_[i].position);
  }
  return K;
}

void BeamChain::update_skin() noexcept {
  for (std::size_t n = 0; n < poses_.size(); ++n)
    frames_[n] = {poses_[n], {velocities_[2 * n], velocities_[2 * n + 1]}};
  skin_.update(frames_);
}

void BeamChain::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    const Vec3 turn = h * (velocities_[2 * n + 1] + dv[2 * n + 1]);
    predicted_[n].pose = {poses_[n].position + h * (velocities_[2 * n] + dv[2 * n]),
                          rotation_from_vector(turn) * poses_[n].rotation};
  }
  skin_.compute_positions(predicted_, positions);
}

BodyPoint BeamChain::find_point(const Vec3& p) const {
  BodyPoint best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i + 1 < node_count(); ++i) {
    const Vec3& a = node_pose(i).position;
    const Vec3 way = node_pose(i + 1).position - a;
    const double s = std::clamp((p - a).dot(way) / way.squaredNorm(), 0.0, 1.0);
    const double distance = (p - a - s * way).squaredNorm();
    if (distance < least) {
      least = distance;
      best = BodyPoint::on_chain(i, s, Vec3::Zero());
    }
  }
  return best;
}

Vec3 BeamChain::compute_point(const BodyPoint& point) const noexcept {
  assert(point.element >= 0 && point.element + 1 < node_count());
  Vec3 p = Vec3::Zero();
  for (int k = 0; k < 2; ++k) {
    const Pose& node = node_pose(point.element + k);
    p += point.weights[k] * (node.position + node.rotation * point.offset);
  }
  return p;
}

int BeamChain::compute_point_row(const BodyPoint& point, const Vec3& direction,
                                 std::span<BlockRows::Entry> out) const noexcept {
  std::size_t count = 0;
  for (int k = 0; k < 2; ++k) {
    const Vec3 force = point.weights[k] * direction;
    const Vec3 arm = node_pose(point.element + k).rotation * point.offset;
    out[count++] = {2 * (point.element + k), force};
    out[count++] = {2 * (point.element + k) + 1, arm.cross(force)};
  }
  return static_cast<int>(count);
}

Quat BeamChain::compute_frame(const BodyPoint& point) const noexcept {
  return node_pose(point.element).rotation.slerp(point.weights[1], node_pose(point.element + 1).rotation);
}

int BeamChain::compute_turn_row(const BodyPoint& point, const Vec3& axis,
                                std::span<BlockRows::Entry> out) const noexcept {
  out[0] = {2 * point.element + 1, point.weights[0] * axis};
  out[1] = {2 * point.element + 3, point.weights[1] * axis};
  return 2;
}

double BeamChain::compute_mass() const noexcept {
  return std::accumulate(masses_.begin(), masses_.end(), 0.0);
}

}  // namespace palpate
