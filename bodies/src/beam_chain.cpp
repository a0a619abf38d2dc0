#include "palpate/bodies/beam_chain.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "small_body.h"

namespace palpate {
namespace {

/// Left Jacobian of SO(3): exp(r + dr) = exp(J_l(r) dr) exp(r) to first order.
Mat3 left_jacobian(const Vec3& r) noexcept {
  const double t2 = r.squaredNorm(), t = std::sqrt(t2);
  const Mat3 S = skew(r);
  const double a = t > 1e-3 ? (1.0 - std::cos(t)) / t2 : 0.5 - t2 / 24.0;
  const double b = t > 1e-3 ? (t - std::sin(t)) / (t2 * t) : 1.0 / 6.0 - t2 / 120.0;
  return Mat3::Identity() + a * S + b * S * S;
}

/// Its inverse; finite for |r| < 2π.
Mat3 inverse_left_jacobian(const Vec3& r) noexcept {
  const double t2 = r.squaredNorm(), t = std::sqrt(t2);
  const Mat3 S = skew(r);
  const double c = t > 1e-3 ? 1.0 / t2 - (1.0 + std::cos(t)) / (2.0 * t * std::sin(t)) : 1.0 / 12.0 + t2 / 720.0;
  // At half a turn sin vanishes together with 1 + cos: their ratio goes to zero.
  const double safe = std::isfinite(c) && std::abs(t - M_PI) > 1e-6 ? c : 1.0 / t2;
  return Mat3::Identity() - 0.5 * S + safe * S * S;
}

}  // namespace

BeamChain::Strain BeamChain::compute_strain(std::size_t i) const noexcept {
  const Beam& beam = beams_[i];
  const Mat3 R1 = poses_[i].rotation.toRotationMatrix();
  const Vec3 theta = rotation_vector(poses_[i].rotation.conjugate() * poses_[i + 1].rotation);
  const Mat3 Rm = R1 * rotation_from_vector(0.5 * theta).toRotationMatrix();
  const Vec3 d = poses_[i + 1].position - poses_[i].position;
  const double inverse_length = 1.0 / beam.length;

  Strain s;
  s.value.head<3>() = inverse_length * (Rm.transpose() * d);
  s.value[0] = inverse_length * d.norm();
  s.value.tail<3>() = inverse_length * theta;
  s.value -= beam.rest_strain;

  // δΘ = J_l⁻¹(Θ) R₁ᵀ (φ₂ − φ₁);  φ_m = φ₁ + R₁ ½ J_l(Θ/2) δΘ;  δΓ = R_mᵀ (δd + d × φ_m)/L across.
  const Mat3 turn = inverse_left_jacobian(theta) * R1.transpose();
  const Mat3 share = R1 * (0.5 * left_jacobian(0.5 * theta)) * turn;  // of φ₂ in φ_m
  const Mat3 across = inverse_length * Rm.transpose();
  const Mat3 swing = across * skew(d);
  s.gradient.block<3, 3>(0, 0) = -across;
  s.gradient.block<3, 3>(0, 3) = swing * (Mat3::Identity() - share);
  s.gradient.block<3, 3>(0, 6) = across;
  s.gradient.block<3, 3>(0, 9) = swing * share;
  const Eigen::RowVector3d stretch = inverse_length * d.normalized().transpose();
  s.gradient.row(0) << -stretch, Eigen::RowVector3d::Zero(), stretch, Eigen::RowVector3d::Zero();
  s.gradient.block<3, 3>(3, 0).setZero();
  s.gradient.block<3, 3>(3, 3) = -inverse_length * turn;
  s.gradient.block<3, 3>(3, 6).setZero();
  s.gradient.block<3, 3>(3, 9) = inverse_length * turn;
  return s;
}

BeamChain::Mat12 BeamChain::compute_beam_stiffness(const Beam& beam, const Strain& strain,
                                                   const Vec3& chord) const noexcept {
  Mat12 K = strain.gradient.transpose() * (beam.length * beam.stiffness).asDiagonal() * strain.gradient;
  const double tension = beam.stiffness[0] * strain.value[0];
  if (tension > 0.0) {
    const Vec3 e = chord.normalized();
    const Mat3 string = tension / beam.length * (Mat3::Identity() - e * e.transpose());
    K.block<3, 3>(0, 0) += string;
    K.block<3, 3>(0, 6) -= string;
    K.block<3, 3>(6, 0) -= string;
    K.block<3, 3>(6, 6) += string;
  }
  return K;
}

void BeamChain::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  for (Vec3& f : forces) f.setZero();
  for (std::size_t i = 0; i < beams_.size(); ++i) {
    const Strain s = compute_strain(i);
    const Eigen::Matrix<double, 12, 1> g =
        s.gradient.transpose() * (beams_[i].length * beams_[i].stiffness.cwiseProduct(s.value));
    for (int b = 0; b < 4; ++b) forces[2 * i + as_size(b)] -= g.segment<3>(3 * b);
  }
}

double BeamChain::compute_elastic_energy() const noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < beams_.size(); ++i) {
    const Vec6 strain = compute_strain(i).value;
    sum += 0.5 * beams_[i].length * strain.dot(beams_[i].stiffness.cwiseProduct(strain));
  }
  return sum;
}

Mat3 BeamChain::compute_world_inertia(std::size_t node) const noexcept {
  const Mat3 R = poses_[node].rotation.toRotationMatrix();
  return R * inertias_[node].asDiagonal() * R.transpose();
}

void BeamChain::assemble() noexcept {
  for (Mat6& m : stiffness_diagonal_) m.setZero();
  for (Vec3& f : forces_) f.setZero();
  for (Vec3& f : stiffness_velocity_) f.setZero();
  for (std::size_t i = 0; i < beams_.size(); ++i) {
    const Strain s = compute_strain(i);
    const Mat12 K = compute_beam_stiffness(beams_[i], s, poses_[i + 1].position - poses_[i].position);
    stiffness_diagonal_[i] += K.topLeftCorner<6, 6>();
    stiffness_diagonal_[i + 1] += K.bottomRightCorner<6, 6>();
    stiffness_lower_[i] = K.bottomLeftCorner<6, 6>();
    Eigen::Matrix<double, 12, 1> v;
    for (int b = 0; b < 4; ++b) v.segment<3>(3 * b) = velocities_[2 * i + as_size(b)];
    const Eigen::Matrix<double, 12, 1> Kv = K * v;
    const Eigen::Matrix<double, 12, 1> g =
        s.gradient.transpose() * (beams_[i].length * beams_[i].stiffness.cwiseProduct(s.value));
    for (int b = 0; b < 4; ++b) {
      forces_[2 * i + as_size(b)] -= g.segment<3>(3 * b);
      stiffness_velocity_[2 * i + as_size(b)] += Kv.segment<3>(3 * b);
    }
  }
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    world_inertia_[n] = compute_world_inertia(n);
    forces_[2 * n] += external_[2 * n] + masses_[n] * (gravity_ - mass_damping_ * velocities_[2 * n]);
    forces_[2 * n + 1] += external_[2 * n + 1] - mass_damping_ * (world_inertia_[n] * velocities_[2 * n + 1]);
  }
  for (std::size_t b = 0; b < forces_.size(); ++b) forces_[b] -= stiffness_damping_ * stiffness_velocity_[b];
  if (!gripped_) return;
  // After the chain's own damping, which does not act on the grip.
  const Wrench grip = compute_grip();
  forces_[0] += grip.force;
  forces_[1] += grip.torque;
  stiffness_velocity_[0] += grip_.stiffness * velocities_[0];
  stiffness_velocity_[1] += grip_.rotational_stiffness * velocities_[1];
}

void BeamChain::assemble_system(System& system) noexcept {
  const double inertial = 1.0 / system.h + mass_damping_;
  const double elastic = system.h + stiffness_damping_;
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    Mat6& D = system.diagonal[n];
    D = elastic * stiffness_diagonal_[n];
    D.topLeftCorner<3, 3>().diagonal().array() += inertial * masses_[n];
    D.bottomRightCorner<3, 3>() += inertial * world_inertia_[n];
  }
  for (std::size_t i = 0; i < beams_.size(); ++i) system.lower[i] = elastic * stiffness_lower_[i];
  if (!gripped_) return;
  auto held = system.diagonal[0].diagonal();
  held.head<3>().array() += grip_.damping + system.h * grip_.stiffness;
  held.tail<3>().array() += grip_.rotational_damping + system.h * grip_.rotational_stiffness;
}

bool BeamChain::factor_system(System& system) noexcept {
  // Prescribed blocks become identity in what is factored; the matrix itself stays whole for the right-hand side.
  const auto masked = [&](Mat6 m, std::size_t row, std::size_t column) {
    for (std::size_t half = 0; half < 2; ++half) {
      const auto at = static_cast<Eigen::Index>(3 * half);
      if (prescribed_[2 * row + half]) m.middleRows<3>(at).setZero();
      if (prescribed_[2 * column + half]) m.middleCols<3>(at).setZero();
      if (row == column && prescribed_[2 * row + half]) m.block<3, 3>(at, at).setIdentity();
    }
    return m;
  };
  Mat6 D = masked(system.diagonal[0], 0, 0);
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    const Eigen::LLT<Mat6> llt(D);
    if (llt.info() != Eigen::Success) return false;
    // Few nodes and many right-hand sides a step: products with the inverse cost a third of two triangular solves.
    system.inverse_pivot[n] = llt.solve(Mat6::Identity());
    if (n + 1 == poses_.size()) break;
    const Mat6 B = masked(system.lower[n], n + 1, n);
    system.elimination[n].noalias() = B * system.inverse_pivot[n];
    D = masked(system.diagonal[n + 1], n + 1, n + 1);
    D.noalias() -= system.elimination[n] * B.transpose();
  }
  return true;
}

void BeamChain::solve(const System& system, std::span<Vec3> y) const noexcept {
  const std::size_t n = poses_.size();
  const auto at = [&](std::size_t node) { return Eigen::Map<Vec6>(y[2 * node].data()); };  // two Vec3 side by side
  for (std::size_t i = 0; i + 1 < n; ++i) at(i + 1).noalias() -= system.elimination[i] * at(i);
  for (std::size_t i = 0; i < n; ++i) at(i) = system.inverse_pivot[i] * Vec6(at(i));
  for (std::size_t i = n - 1; i > 0; --i) at(i - 1).noalias() -= system.elimination[i - 1].transpose() * at(i);
}

bool BeamChain::linearise(std::span<const double> time_steps) noexcept {
  if (time_steps.size() > systems_.size()) return false;
  assemble();
  system_count_ = static_cast<int>(time_steps.size());
  for (std::size_t i = 0; i < time_steps.size(); ++i) {
    systems_[i].h = time_steps[i];
    assemble_system(systems_[i]);
    if (!factor_system(systems_[i])) return false;
  }
  return true;
}

void BeamChain::compute_free_motion(int which, std::span<Vec3> dv) noexcept {
  const System& system = systems_[as_size(which)];
  const std::size_t n = poses_.size();
  for (std::size_t b = 0; b < dv.size(); ++b) {
    changes_[b] = prescribed_[b] ? Vec3(prescribed_velocities_[b] - velocities_[b]) : Vec3::Zero();
    dv[b] = forces_[b] - system.h * stiffness_velocity_[b];
  }
  // What the prescribed changes do to the others goes to the right-hand side.
  const auto known = [&](std::size_t node) { return Eigen::Map<const Vec6>(changes_[2 * node].data()); };
  const auto rhs = [&](std::size_t node) { return Eigen::Map<Vec6>(dv[2 * node].data()); };
  for (std::size_t i = 0; i < n; ++i) {
    rhs(i).noalias() -= system.diagonal[i] * known(i);
    if (i + 1 == n) break;
    rhs(i + 1).noalias() -= system.lower[i] * known(i);
    rhs(i).noalias() -= system.lower[i].transpose() * known(i + 1);
  }
  for (std::size_t b = 0; b < dv.size(); ++b) {
    if (prescribed_[b]) dv[b] = changes_[b];
  }
  solve(system, dv);
}

/// A row acts on two neighbouring nodes as a rule, and the answer is asked for at the nodes of the other rows only.
/// With A = L D Lᵀ, E_i = L_{i+1,i} and G = A⁻¹: G_ii = D_i⁻¹ + E_iᵀ G_{i+1,i+1} E_i, and y = G b of a b that ends at
/// node m is y_m = G_mm z_m, y_i = D_i⁻¹ z_i − E_iᵀ y_{i+1} below, with L z = b. So nodes past a row's own are never
/// visited; the answer there follows by symmetry from the rows there. Four rows are solved at a time, one in each lane.
bool BeamChain::add_compliance(int which, const BlockRows& J, Eigen::Ref<Eigen::MatrixXd> W) noexcept {
  System& system = systems_[as_size(which)];
  const int groups = (J.rows() + kLanes - 1) / kLanes;
  group_nodes_.assign(as_size(groups), {node_count(), -1});
  int lowest = node_count();
  for (int r = 0; r < J.rows(); ++r) {
    auto& [low, high] = group_nodes_[as_size(r / kLanes)];
    for (const BlockRows::Entry& e : J.row(r)) {
      low = std::min(low, e.block / 2);
      high = std::max(high, e.block / 2);
    }
    lowest = std::min(lowest, low);
  }
  compute_node_compliance(system);
  for (int g = 0; g < groups; ++g) {
    const auto [low, high] = group_nodes_[as_size(g)];
    if (high < 0) continue;
    const int first = kLanes * g, count = std::min(kLanes, J.rows() - first);
    solve_group(system, J, first, low, high, lowest);
    for (int other = 0; other < groups; ++other) {
      const int end = group_nodes_[as_size(other)].second;
      if (end < 0 || end > high || (end == high && other > g)) continue;
      for (int s = kLanes * other; s < std::min(J.rows(), kLanes * (other + 1)); ++s) {
        Eigen::Array4d sum = Eigen::Array4d::Zero();
        for (const BlockRows::Entry& e : J.row(s)) {
          const Eigen::Array4d* y = answers_[as_size(e.block / 2)].data() + 3 * (e.block % 2);
          sum += e.value[0] * y[0] + e.value[1] * y[1] + e.value[2] * y[2];
        }
        for (int k = 0; k < count; ++k) {
          W(s, first + k) += sum[k];
          if (other != g) W(first + k, s) += sum[k];
        }
      }
    }
  }
  return true;
}

/// answers_ = h A⁻¹ Jᵀ of up to four rows, from their last node down to `lowest`.
void BeamChain::solve_group(const System& system, const BlockRows& J, int first, int low, int high,
                            int lowest) noexcept {
  const auto y = [&](int node) -> Lanes& { return answers_[as_size(node)]; };
  // out += scale · M x, or Mᵀ x.
  const auto add_product = [](double scale, const Mat6& M, const Lanes& x, Lanes& out) {
    for (int j = 0; j < 6; ++j) {
      const Eigen::Array4d xj = scale * x[as_size(j)];
      for (int i = 0; i < 6; ++i) out[as_size(i)] += M(i, j) * xj;
    }
  };
  const auto subtract_transposed = [](const Mat6& M, const Lanes& x, Lanes& out) {
    for (int i = 0; i < 6; ++i) {
      Eigen::Array4d sum = M(0, i) * x[0];
      for (int j = 1; j < 6; ++j) sum += M(j, i) * x[as_size(j)];
      out[as_size(i)] -= sum;
    }
  };
  Lanes zero;
  zero.fill(Eigen::Array4d::Zero());
  for (int i = std::min(low, lowest); i <= high; ++i) y(i) = zero;
  for (int k = 0; k < std::min(kLanes, J.rows() - first); ++k) {
    for (const BlockRows::Entry& e : J.row(first + k)) {
      if (prescribed_[as_size(e.block)]) continue;
      for (int c = 0; c < 3; ++c) y(e.block / 2)[as_size(3 * (e.block % 2) + c)][k] += system.h * e.value[c];
    }
  }
  for (int i = low; i < high; ++i) add_product(-1.0, system.elimination[as_size(i)], y(i), y(i + 1));
  Lanes own = zero;
  add_product(1.0, system.node_compliance[as_size(high)], y(high), own);
  y(high) = own;
  for (int i = high - 1; i >= lowest; --i) {
    own = zero;
    if (i >= low) add_product(1.0, system.inverse_pivot[as_size(i)], y(i), own);
    subtract_transposed(system.elimination[as_size(i)], y(i + 1), own);
    y(i) = own;
  }
}

/// G_ii of all nodes.
void BeamChain::compute_node_compliance(System& system) const noexcept {
  const std::size_t n = poses_.size();
  system.node_compliance[n - 1] = system.inverse_pivot[n - 1];
  for (std::size_t i = n - 1; i > 0; --i) {
    const Mat6 GE = system.node_compliance[i] * system.elimination[i - 1];
    system.node_compliance[i - 1] = system.inverse_pivot[i - 1];
    system.node_compliance[i - 1].noalias() += system.elimination[i - 1].transpose() * GE;
  }
}

void BeamChain::compute_correction(int which, const BlockRows& J, std::span<const double> lambda,
                                   std::span<Vec3> dv) noexcept {
  for (Vec3& y : dv) y.setZero();
  for (int r = 0; r < J.rows(); ++r) scatter_row(J.row(r), lambda[as_size(r)], prescribed_, dv);
  solve(systems_[as_size(which)], dv);
}

void BeamChain::advance(double h, std::span<const Vec3> dv) noexcept {
  for (std::size_t n = 0; n < poses_.size(); ++n) {
    Vec3& v = velocities_[2 * n];
    Vec3& w = velocities_[2 * n + 1];
    v += dv[2 * n];
    w += dv[2 * n + 1];
    poses_[n].position += h * v;
    const Vec3 L = world_inertia_[n] * w;
    poses_[n].rotation = (rotation_from_vector(h * w) * poses_[n].rotation).normalized();
    if (prescribed_[2 * n + 1]) continue;
    const Vec3 turned = poses_[n].rotation.conjugate() * L;
    w = poses_[n].rotation * turned.cwiseQuotient(inertias_[n]);
  }
  update_skin();
}

}  // namespace palpate
