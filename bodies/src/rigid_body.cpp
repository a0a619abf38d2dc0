#include "palpate/bodies/rigid_body.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"
#include "small_body.h"

namespace palpate {
namespace {

Quat derivative(const Quat& q, const Mat3& inverse_inertia, const Vec3& L) noexcept {
  const Vec3 w = q * (inverse_inertia * (q.conjugate() * L));
  const Quat spin(0.0, w.x(), w.y(), w.z());
  Quat d = spin * q;
  d.coeffs() *= 0.5;
  return d;
}

Quat plus(const Quat& q, double h, const Quat& d) noexcept {
  Quat out;
  out.coeffs() = q.coeffs() + h * d.coeffs();
  out.normalize();
  return out;
}

/// Turns q for time h under constant angular momentum L (order 4).
Quat turn(Quat q, const Mat3& inverse_inertia, const Vec3& L, double h) noexcept {
  const double angle = h * (inverse_inertia * (q.conjugate() * L)).norm();
  const int substeps = std::clamp(static_cast<int>(std::ceil(angle / 0.2)), 1, 1000);
  const double s = h / substeps;
  for (int i = 0; i < substeps; ++i) {
    const Quat k1 = derivative(q, inverse_inertia, L);
    const Quat k2 = derivative(plus(q, 0.5 * s, k1), inverse_inertia, L);
    const Quat k3 = derivative(plus(q, 0.5 * s, k2), inverse_inertia, L);
    const Quat k4 = derivative(plus(q, s, k3), inverse_inertia, L);
    q.coeffs() += s / 6.0 * (k1.coeffs() + 2.0 * k2.coeffs() + 2.0 * k3.coeffs() + k4.coeffs());
    q.normalize();
  }
  return q;
}

}  // namespace

MassProperties compute_mass_properties(const TriangleMesh& mesh, double density) {
  // Σ over signed tetrahedra (origin, a, b, c): volume, first moment, and ∫ x xᵀ = det/120 (s sᵀ + Σ p pᵀ), s = a+b+c.
  double volume = 0.0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const auto& t : mesh.triangles) {
    const Vec3& a = mesh.vertices[as_size(t[0])];
    const Vec3& b = mesh.vertices[as_size(t[1])];
    const Vec3& c = mesh.vertices[as_size(t[2])];
    const double det = a.dot(b.cross(c));
    const Vec3 s = a + b + c;
    volume += det / 6.0;
    first += det / 24.0 * s;
    second += det / 120.0 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
  }
  if (!(volume > 0.0))
    fail_input("the surface encloses a volume of {} m³; a rigid body needs a closed, outward one", volume);
  if (!(density > 0.0)) fail_input("density = {} kg/m³; allowed: above 0", density);
  MassProperties out;
  out.mass = density * volume;
  out.centre = first / volume;
  const Mat3 central = density * (second - volume * out.centre * out.centre.transpose());
  out.inertia = central.trace() * Mat3::Identity() - central;
  return out;
}

RigidBody::RigidBody(const RigidBodySettings& s)
    : mass_(s.mass.mass), inertia_(s.mass.inertia), inverse_inertia_(s.mass.inertia.inverse()), damping_(s.damping) {
  if (!(mass_ > 0.0 && std::isfinite(mass_))) fail_input("mass = {} kg; allowed: above 0", mass_);
  if (!inertia_.allFinite() || !inertia_.isApprox(inertia_.transpose(), 1e-9) ||
      Eigen::LLT<Mat3>(inertia_).info() != Eigen::Success) {
    fail_input("inertia must be a symmetric positive definite matrix");
  }
  if (!(damping_ >= 0.0 && std::isfinite(damping_))) fail_input("damping = {} 1/s; allowed: at least 0", damping_);
  if (s.max_time_steps < 1) fail_input("max_time_steps = {}; allowed: at least 1", s.max_time_steps);
  time_steps_.reserve(as_size(s.max_time_steps));
  pose_.rotation = s.pose.rotation.normalized();
  pose_.position = s.pose.position + pose_.rotation * s.mass.centre;
  velocities_ = {s.velocity.linear, s.velocity.angular};
  TriangleMesh mesh = s.surface;
  for (Vec3& v : mesh.vertices) v -= s.mass.centre;
  std::vector<std::int32_t> frames(mesh.vertices.size(), 0);
  skin_ = FrameSkin(std::move(mesh), std::move(frames));
  world_inertia_ = compute_world_inertia();
  systems_.reserve(as_size(s.max_time_steps));
  handle_ = {s.handle.position - s.mass.centre, s.handle.rotation.normalized()};
  update_skin();
}

Mat3 RigidBody::compute_world_inertia() const noexcept {
  const Mat3 R = pose_.rotation.toRotationMatrix();
  return R * inertia_ * R.transpose();
}

void RigidBody::save_state(std::span<double> out) const noexcept {
  Eigen::Map<Vec3>(out.data()) = pose_.position;
  Eigen::Map<Eigen::Vector4d>(out.data() + 3) = pose_.rotation.coeffs();
  Eigen::Map<Vec3>(out.data() + 7) = velocities_[0];
  Eigen::Map<Vec3>(out.data() + 10) = velocities_[1];
}

void RigidBody::restore_state(std::span<const double> state) noexcept {
  pose_.position = Eigen::Map<const Vec3>(state.data());
  pose_.rotation.coeffs() = Eigen::Map<const Eigen::Vector4d>(state.data() + 3);
  velocities_[0] = Eigen::Map<const Vec3>(state.data() + 7);
  velocities_[1] = Eigen::Map<const Vec3>(state.data() + 10);
  update_skin();
}

void RigidBody::set_velocities(std::span<const Vec3> velocities) noexcept {
  velocities_ = {velocities[0], velocities[1]};
  update_skin();
}

void RigidBody::prescribe(int block, const Vec3& velocity) noexcept {
  prescribed_[as_size(block)] = 1;
  prescribed_velocities_[as_size(block)] = velocity;
}

void RigidBody::release(int block) noexcept {
  prescribed_[as_size(block)] = 0;
}

bool RigidBody::set_grip(const Grip& grip) noexcept {
  grip_ = grip;
  gripped_ = true;
  return true;
}

Pose RigidBody::handle_pose() const noexcept {
  return {pose_.position + pose_.rotation * handle_.position, pose_.rotation * handle_.rotation};
}

Twist RigidBody::handle_velocity(const Pose& handle) const noexcept {
  return {velocities_[0] + velocities_[1].cross(handle.position - pose_.position), velocities_[1]};
}

Wrench RigidBody::compute_grip() const noexcept {
  const Pose handle = handle_pose();
  return gripped_ ? compute_grip_wrench(grip_, handle, handle_velocity(handle)) : Wrench{};
}

std::unique_ptr<Body> RigidBody::make_copy() const {
  auto copy = std::make_unique<RigidBody>(*this);
  copy->time_steps_.reserve(time_steps_.capacity());  // which a vector does not copy
  copy->systems_.reserve(systems_.capacity());
  return copy;
}

bool RigidBody::linearise(std::span<const double> time_steps) noexcept {
  if (time_steps.size() > time_steps_.capacity()) return false;
  time_steps_.assign(time_steps.begin(), time_steps.end());
  const Mat3 R = pose_.rotation.toRotationMatrix();
  world_inertia_ = R * inertia_ * R.transpose();
  systems_.clear();
  if (gripped_ && grip_.exact) {
    const Pose handle = handle_pose();
    grip_jacobian_ = compute_grip_jacobian(grip_, handle, handle_velocity(handle), handle.position - pose_.position);
  }
  for (const double h : time_steps) assemble_system(h);
  return world_inertia_.allFinite() && velocities_[0].allFinite() && velocities_[1].allFinite();
}

void RigidBody::assemble_system(double h) noexcept {
  System s;
  s.A.setZero();
  s.A.topLeftCorner<3, 3>().diagonal().setConstant(mass_ * (1.0 / h + damping_));
  s.A.bottomRightCorner<3, 3>() = world_inertia_ * (1.0 / h + damping_);
  if (gripped_ && grip_.exact) {
    s.A -= grip_jacobian_.B + h * grip_jacobian_.K;
  } else if (gripped_) {
    // v_handle = v + ω × r = v − [r]× ω.
    const Vec3 r = pose_.rotation * handle_.position;
    Eigen::Matrix<double, 3, 6> G;
    G << Mat3::Identity(), -skew(r);
    s.A += (grip_.damping + h * grip_.stiffness) * G.transpose() * G;
    s.A.bottomRightCorner<3, 3>().diagonal().array() += grip_.rotational_damping + h * grip_.rotational_stiffness;
  }
  s.inverse.setZero();
  if (!prescribed_[0] && !prescribed_[1]) {
    if (gripped_ && grip_.exact) {
      s.inverse = s.A.inverse();
    } else if (gripped_) {
      s.inverse = s.A.llt().solve(Mat6::Identity());
    } else {
      const Mat3 R = pose_.rotation.toRotationMatrix();
      s.inverse.topLeftCorner<3, 3>().diagonal().setConstant(1.0 / s.A(0, 0));
      s.inverse.bottomRightCorner<3, 3>() = R * inverse_inertia_ * R.transpose() / (1.0 / h + damping_);
    }
  } else {
    for (const int b : {0, 1}) {
      if (!prescribed_[as_size(b)]) s.inverse.block<3, 3>(3 * b, 3 * b) = s.A.block<3, 3>(3 * b, 3 * b).inverse();
    }
  }
  systems_.push_back(s);
}

void RigidBody::solve(int which, std::span<Vec3> y) const noexcept {
  Eigen::Map<Vec6> all(y[0].data());  // two Vec3 side by side
  all = (systems_[as_size(which)].inverse * all).eval();
}

void RigidBody::compute_free_motion(int which, std::span<Vec3> dv) noexcept {
  dv[0] = external_[0] + mass_ * (gravity_ - damping_ * velocities_[0]);
  dv[1] = external_[1] - damping_ * (world_inertia_ * velocities_[1]);
  if (gripped_) {
    const double h = time_steps_[as_size(which)];
    const Pose handle = handle_pose();
    const Wrench grip = compute_grip();
    const Vec3 arm = handle.position - pose_.position;
    if (grip_.exact) {
      dv[0] += grip.force;
      dv[1] += grip.torque + arm.cross(grip.force);
      Eigen::Map<Vec6>(dv[0].data()) += h * grip_jacobian_.K * Eigen::Map<const Vec6>(velocities_[0].data());
    } else {
      const Vec3 force = grip.force - h * grip_.stiffness * handle_velocity(handle).linear;
      dv[0] += force;
      dv[1] += grip.torque - h * grip_.rotational_stiffness * velocities_[1] + arm.cross(force);
    }
  }
  std::array<Vec3, 2> known{Vec3::Zero(), Vec3::Zero()};
  for (std::size_t b = 0; b < 2; ++b) {
    if (prescribed_[b]) known[b] = prescribed_velocities_[b] - velocities_[b];
  }
  // What the prescribed changes do to the others goes to the right-hand side.
  Eigen::Map<Vec6>(dv[0].data()) -= systems_[as_size(which)].A * Eigen::Map<const Vec6>(known[0].data());
  solve(which, dv);
  for (std::size_t b = 0; b < 2; ++b) {
    if (prescribed_[b]) dv[b] = known[b];
  }
}

bool RigidBody::compute_response(int which, Mat6& response) const noexcept {
  response = time_steps_[as_size(which)] * systems_[as_size(which)].inverse;
  return true;
}

bool RigidBody::add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  std::array<Vec3, 2> scratch;
  add_compliance_by_rows(time_steps_[as_size(which)], J, prescribed_, scratch, W,
                         [&](std::span<Vec3> y) { solve(which, y); });
  return true;
}

void RigidBody::compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                   std::span<Vec3> dv) noexcept {
  dv[0].setZero();
  dv[1].setZero();
  for (int r = 0; r < J.rows(); ++r) scatter_row(J.row(r), lambda[as_size(r)], prescribed_, dv);
  solve(which, dv);
}

Pose RigidBody::compute_advanced(double h, const Vec3& velocity, Vec3& spin) const noexcept {
  Pose out;
  out.position = pose_.position + h * velocity;
  if (prescribed_[1]) {
    out.rotation = (rotation_from_vector(h * spin) * pose_.rotation).normalized();
  } else {
    const Vec3 L = world_inertia_ * spin;
    out.rotation = turn(pose_.rotation, inverse_inertia_, L, h);
    spin = out.rotation * (inverse_inertia_ * (out.rotation.conjugate() * L));
  }
  return out;
}

void RigidBody::advance(double h, std::span<const Vec3> dv) noexcept {
  velocities_[0] += dv[0];
  velocities_[1] += dv[1];
  pose_ = compute_advanced(h, velocities_[0], velocities_[1]);
  update_skin();
}

BodyEnergy RigidBody::compute_energy() const noexcept {
  BodyEnergy e;
  e.kinetic =
      0.5 * mass_ * velocities_[0].squaredNorm() + 0.5 * velocities_[1].dot(compute_world_inertia() * velocities_[1]);
  e.gravitational = -mass_ * gravity_.dot(pose_.position);
  return e;
}

BodyMomentum RigidBody::compute_momentum() const noexcept {
  BodyMomentum m;
  m.linear = mass_ * velocities_[0];
  m.angular = pose_.position.cross(m.linear) + compute_world_inertia() * velocities_[1];
  return m;
}

void RigidBody::update_skin() noexcept {
  const FrameState frame{pose_, {velocities_[0], velocities_[1]}};
  skin_.update({&frame, 1});
}

void RigidBody::predict_surface(double h, std::span<const Vec3> dv, std::span<Vec3> positions) const noexcept {
  Vec3 spin = velocities_[1] + dv[1];
  const FrameState frame{compute_advanced(h, velocities_[0] + dv[0], spin), {}};
  skin_.compute_positions({&frame, 1}, positions);
}

Vec3 RigidBody::compute_arm(const BodyPoint& point) const noexcept {
  if (point.element < 0) return pose_.rotation * point.offset;
  const BodySurface s = skin_.surface();
  const auto& corners = s.triangles[as_size(point.element)];
  Vec3 p = Vec3::Zero();
  for (std::size_t c = 0; c < 3; ++c) p += point.weights[static_cast<int>(c)] * s.positions[as_size(corners[c])];
  return p - pose_.position;
}

BodyPoint RigidBody::find_point(const Vec3& p) const {
  return BodyPoint::fixed_to(pose_.rotation.conjugate() * (p - pose_.position));
}

Vec3 RigidBody::compute_point(const BodyPoint& point) const noexcept {
  return pose_.position + compute_arm(point);
}

int RigidBody::compute_point_row(const BodyPoint& point, const Vec3& direction,
                                 std::span<BlockRows::Entry> out) const noexcept {
  out[0] = {0, direction};
  out[1] = {1, compute_arm(point).cross(direction)};
  return 2;
}

int RigidBody::compute_turn_row(const BodyPoint&, const Vec3& axis, std::span<BlockRows::Entry> out) const noexcept {
  out[0] = {1, axis};
  return 1;
}

}  // namespace palpate
