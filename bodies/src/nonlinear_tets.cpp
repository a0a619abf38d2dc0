#include "palpate/bodies/nonlinear_tets.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "palpate/bodies/polar.h"
#include "tet_model.h"

namespace palpate {

/// ∂P/∂F in the frame of F = U diag(σ) Vᵀ: for a change of F by U D Vᵀ the stress changes by U D' Vᵀ,
/// D'_ii = Σ_j stretch_ij D_jj and D'_ij = same_ij D_ij + cross_ij D_ji.
struct NonlinearTets::Derivative {
  Mat3 U, V;
  Mat3 stretch;
  Mat3 same, cross;  ///< symmetric, diagonals unused

  /// Stiffness block of two nodes with shape gradients V a, V b, for unit volume.
  Mat3 block(const Vec3& a, const Vec3& b) const noexcept {
    Mat3 K;
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      K(i, i) = stretch(i, i) * a[i] * b[i] + same(i, j) * a[j] * b[j] + same(i, k) * a[k] * b[k];
      K(i, j) = stretch(i, j) * a[i] * b[j] + cross(i, j) * a[j] * b[i];
      K(i, k) = stretch(i, k) * a[i] * b[k] + cross(i, k) * a[k] * b[i];
    }
    return U * K * U.transpose();
  }
};

namespace {

Mat3 cofactors(const Mat3& F) noexcept {
  Mat3 C;
  for (int i = 0; i < 3; ++i) C.col(i) = F.col((i + 1) % 3).cross(F.col((i + 2) % 3));
  return C;
}

/// Turns the negative eigenvalues positive.
void make_positive(Mat3& symmetric) noexcept {
  const bool positive =
      symmetric(0, 0) > 0.0 && symmetric.topLeftCorner<2, 2>().determinant() > 0.0 && symmetric.determinant() > 0.0;
  if (positive) return;
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(symmetric);
  if (solver.eigenvalues()[0] >= 0.0) return;
  const Mat3& Q = solver.eigenvectors();
  symmetric = Q * solver.eigenvalues().cwiseAbs().asDiagonal() * Q.transpose();
}

constexpr double kNeoHookeanRest = 0.75;  ///< (a − 1) λ/μ, which makes the rest shape free of stress

}  // namespace

NonlinearTets::Model NonlinearTets::make_model(const TetMesh& mesh, std::span<const Material> materials) {
  validate_tet_model(mesh, materials);
  Model model;
  const std::vector<RestTet> rest = make_rest_tets(mesh, materials);
  for (const RestTet& tet : rest) model.groups.add(tet.node);
  fill_tet_model(mesh, rest, model.rest_positions, model.masses, model.damping_masses);
  attach_to_nodes(extract_surface(mesh), model.surface, model.vertex_begin, model.vertex_node, model.vertex_weight);
  model.uniform_damping = has_uniform_damping(materials);
  model.stiffness_damping = materials.front().stiffness_damping;
  return model;
}

NonlinearTets::NonlinearTets(const TetMesh& mesh, std::span<const Material> materials,
                             const NonlinearTetSettings& settings)
    : FemBody(make_model(mesh, materials), settings.fem), model_(settings.model), project_(settings.project) {
  for (const RestTet& tet : make_rest_tets(mesh, materials)) {
    Element e;
    std::copy(tet.node.begin(), tet.node.end(), e.node.begin());
    int pair = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = a; b < 4; ++b) e.slot[pair++] = pattern().find(e.node[b], e.node[a]);
    }
    e.gradient = tet.gradient;
    e.volume = tet.volume;
    e.mu = tet.material->lame_mu();
    e.lambda = tet.material->lame_lambda();
    if (model_ == HyperelasticModel::kStableNeoHookean) {
      e.lambda += 5.0 / 6.0 * e.mu;
      e.mu *= 4.0 / 3.0;
    }
    e.beta = tet.material->stiffness_damping;
    e.density = tet.material->density;
    elements_.push_back(e);
  }
}

Mat3 NonlinearTets::compute_gradient(const Element& e) const noexcept {
  const auto x = positions();
  Mat3 F = (x[e.node[1]] - x[e.node[0]]) * e.gradient[1].transpose();
  F += (x[e.node[2]] - x[e.node[0]]) * e.gradient[2].transpose();
  F += (x[e.node[3]] - x[e.node[0]]) * e.gradient[3].transpose();
  return F;
}

double NonlinearTets::compute_energy_density(const Element& e, const Mat3& F) const noexcept {
  if (model_ == HyperelasticModel::kStVenantKirchhoff) {
    const Mat3 E = 0.5 * (F.transpose() * F - Mat3::Identity());
    const double trace = E.trace();
    return e.mu * E.squaredNorm() + 0.5 * e.lambda * trace * trace;
  }
  // J − a = (J − 1) − ¾ μ/λ, squared out so that rest costs exactly nothing and small strain does not cancel.
  const double growth = F.squaredNorm() - 3.0, dilatation = F.determinant() - 1.0;
  return 0.5 * e.mu * (growth - std::log1p(0.25 * growth)) + 0.5 * e.lambda * dilatation * dilatation -
         kNeoHookeanRest * e.mu * dilatation;
}

Mat3 NonlinearTets::compute_stress(const Element& e, const Mat3& F) const noexcept {
  if (model_ == HyperelasticModel::kStVenantKirchhoff) {
    const Mat3 E = 0.5 * (F.transpose() * F - Mat3::Identity());
    return F * (2.0 * e.mu * E + e.lambda * E.trace() * Mat3::Identity());
  }
  const double pressure = e.lambda * (F.determinant() - 1.0) - kNeoHookeanRest * e.mu;
  return e.mu * (1.0 - 1.0 / (F.squaredNorm() + 1.0)) * F + pressure * cofactors(F);
}

NonlinearTets::Derivative NonlinearTets::compute_derivative(const Element& e, const Mat3& F,
                                                            bool project) const noexcept {
  const SignedSvd svd = compute_signed_svd(F);
  const Vec3& s = svd.sigma;
  Derivative d{svd.U, svd.V, Mat3::Zero(), Mat3::Zero(), Mat3::Zero()};
  const bool green = model_ == HyperelasticModel::kStVenantKirchhoff;
  const double trace = 0.5 * (s.squaredNorm() - 3.0), invariant = s.squaredNorm() + 1.0;
  const double direct = e.mu * (1.0 - 1.0 / invariant), growth = 2.0 * e.mu / (invariant * invariant);
  const double pressure = e.lambda * (s.prod() - 1.0) - kNeoHookeanRest * e.mu;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    double shear, spin;  // eigenvalues for D_ij = D_ji and for D_ij = −D_ji
    if (green) {
      const double stress = e.mu * (s[i] * s[i] - 1.0) + e.lambda * trace;
      d.stretch(i, i) = stress + s[i] * s[i] * (2.0 * e.mu + e.lambda);
      d.stretch(i, j) = d.stretch(j, i) = e.lambda * s[i] * s[j];
      const double squares = s[i] * s[i] + s[j] * s[j] - 1.0;
      shear = e.lambda * trace + e.mu * (squares + s[i] * s[j]);
      spin = e.lambda * trace + e.mu * (squares - s[i] * s[j]);
    } else {
      const double area = s[j] * s[k];
      d.stretch(i, i) = direct + growth * s[i] * s[i] + e.lambda * area * area;
      d.stretch(i, j) = d.stretch(j, i) = growth * s[i] * s[j] + e.lambda * area * s[i] * s[k] + pressure * s[k];
      shear = direct - pressure * s[k];
      spin = direct + pressure * s[k];
    }
    if (project) {
      shear = std::abs(shear);
      spin = std::abs(spin);
    }
    d.same(i, j) = d.same(j, i) = 0.5 * (shear + spin);
    d.cross(i, j) = d.cross(j, i) = 0.5 * (shear - spin);
  }
  if (project) make_positive(d.stretch);
  return d;
}

void NonlinearTets::assemble(const Assembly& out) noexcept {
  const auto at = [](double* base, std::int32_t node) { return Eigen::Map<Vec3>(base + 3 * std::ptrdiff_t{node}); };
  for (const Element& e : elements_) {
    const Mat3 F = compute_gradient(e);
    const Mat3 P = e.volume * compute_stress(e, F);
    const Derivative d = compute_derivative(e, F, project_);
    Vec3 turned[4];
    for (int a = 0; a < 4; ++a) {
      turned[a] = d.V.transpose() * e.gradient[a];
      at(out.force, e.node[a]) -= P * e.gradient[a];
    }
    int pair = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = a; b < 4; ++b, ++pair) {
        const Mat3 K = e.volume * d.block(turned[b], turned[a]);
        Eigen::Map<Mat3>(out.blocks + 9 * std::ptrdiff_t{e.slot[pair]}) += K;
        const Vec3 on_b = K * velocities()[e.node[a]];
        const Vec3 on_a = K.transpose() * velocities()[e.node[b]];
        at(out.stiffness_velocity, e.node[b]) += on_b;
        if (a != b) at(out.stiffness_velocity, e.node[a]) += on_a;
        if (!out.damping_blocks) continue;
        Eigen::Map<Mat3>(out.damping_blocks + 9 * std::ptrdiff_t{e.slot[pair]}) += e.beta * K;
        at(out.damping_velocity, e.node[b]) += e.beta * on_b;
        if (a != b) at(out.damping_velocity, e.node[a]) += e.beta * on_a;
      }
    }
  }
}

void NonlinearTets::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  for (const Element& e : elements_) {
    const Mat3 P = e.volume * compute_stress(e, compute_gradient(e));
    Vec3 rest = Vec3::Zero();
    for (int a = 1; a < 4; ++a) {
      const Vec3 f = P * e.gradient[a];
      forces[e.node[a]] -= f;
      rest += f;
    }
    forces[e.node[0]] += rest;
  }
}

double NonlinearTets::compute_elastic_energy() const noexcept {
  double energy = 0.0;
  for (const Element& e : elements_) energy += e.volume * compute_energy_density(e, compute_gradient(e));
  return energy;
}

double NonlinearTets::compute_stable_step() const noexcept {
  double largest = 0.0;
  for (const Element& e : elements_) {
    const Derivative d = compute_derivative(e, compute_gradient(e), false);
    Eigen::Matrix<double, 12, 12> K;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        const Vec3 ga = d.V.transpose() * e.gradient[a], gb = d.V.transpose() * e.gradient[b];
        K.block<3, 3>(3 * a, 3 * b) = e.volume * d.block(ga, gb);
      }
    }
    using Solver = Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 12, 12>>;
    const Solver solver(K, Eigen::EigenvaluesOnly);
    largest = std::max(largest, solver.eigenvalues()[11] / (0.25 * e.density * e.volume));
  }
  return 2.0 / std::sqrt(largest);
}

}  // namespace palpate
