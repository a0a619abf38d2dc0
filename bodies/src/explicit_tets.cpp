#include "palpate/bodies/explicit_tets.h"

#include <algorithm>
#include <cmath>

#include "hyperelastic.h"
#include "lanes.h"
#include "palpate/core/error.h"
#include "tet_model.h"

namespace palpate {

using lanes::Double4;
using lanes::fill;
using lanes::load;
using lanes::madd;
using lanes::Matrix;
using lanes::Vector;

namespace {

/// The largest eigenvalue of a symmetric n × n matrix, which it destroys: cyclic Jacobi rotations.
template <int n>
double compute_largest_eigenvalue(double (&A)[n][n]) noexcept {
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0.0, size = 0.0;
    for (int i = 0; i < n; ++i) {
      size += A[i][i] * A[i][i];
      for (int j = 0; j < i; ++j) off += A[i][j] * A[i][j];
    }
    if (off <= 1e-30 * size) break;
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        if (A[p][q] == 0.0) continue;
        const double theta = 0.5 * (A[q][q] - A[p][p]) / A[p][q];
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < n; ++k) {
          const double kp = A[k][p], kq = A[k][q];
          A[k][p] = c * kp - s * kq;
          A[k][q] = s * kp + c * kq;
        }
        for (int k = 0; k < n; ++k) {
          const double pk = A[p][k], qk = A[q][k];
          A[p][k] = c * pk - s * qk;
          A[q][k] = s * pk + c * qk;
        }
      }
    }
  }
  double largest = A[0][0];
  for (int i = 1; i < n; ++i) largest = std::max(largest, A[i][i]);
  return largest;
}

/// ω₀² of a free tet at rest with a quarter of its mass at each node, in Hooke's law, which all models are there:
/// K = V Bᵀ D B has the eigenvalues of V L B Bᵀ L with D = L L, a 6 × 6, and B Bᵀ is made of G = Σ g_a g_aᵀ: stretches
/// xx, yy, zz first, then shears xy, yz, zx. `gradients` becomes γ.
double compute_rest_frequency(const NonlinearTets::RestElement& e, double lambda, double mu, double& gradients) {
  double G[3][3] = {}, BB[6][6] = {}, L[6][6] = {}, LB[6][6] = {}, LBL[6][6] = {};
  for (const Vec3& g : e.gradient) {
    for (int k = 0; k < 9; ++k) G[k / 3][k % 3] += g[k / 3] * g[k % 3];
  }
  // D is 2μ on stretches, μ on shears, λ on the trace; its root has the same shape.
  const double root = std::sqrt(2.0 * mu), trace = (std::sqrt(2.0 * mu + 3.0 * lambda) - root) / 3.0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    BB[i][i] = G[i][i];
    BB[i][3 + i] = BB[3 + i][i] = BB[j][3 + i] = BB[3 + i][j] = G[i][j];
    BB[3 + i][3 + i] = G[i][i] + G[j][j];
    BB[3 + i][3 + j] = BB[3 + j][3 + i] = G[i][k];
    for (int other = 0; other < 3; ++other) L[i][other] = trace + (other == i ? root : 0.0);
    L[3 + i][3 + i] = std::sqrt(mu);
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      for (int k = 0; k < 6; ++k) LB[i][j] += L[i][k] * BB[k][j];
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      for (int k = 0; k < 6; ++k) LBL[i][j] += LB[i][k] * L[k][j];
    }
  }
  gradients = compute_largest_eigenvalue(G);
  return 4.0 / e.density * compute_largest_eigenvalue(LBL);
}

/// F of four elements.
template <typename Block>
Matrix compute_gradient(const Block& b, const double* x) noexcept {
  const Vector x0 = lanes::gather_padded(x, b.node[0]);
  Matrix F;
  for (int a = 0; a < 3; ++a) {
    const Vector d = lanes::gather_padded(x, b.node[a + 1]) - x0;
    for (int j = 0; j < 3; ++j) {
      const Double4 g = load(b.gradient[a][j]);
      for (int i = 0; i < 3; ++i) F.m[i][j] = a == 0 ? d.v[i] * g : madd(d.v[i], g, F.m[i][j]);
    }
  }
  return F;
}

Matrix compute_cofactors(const Matrix& F) noexcept {
  Matrix C;
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      C.m[i][j] = lanes::nmadd(F.m[i1][j2], F.m[i2][j1], F.m[i1][j1] * F.m[i2][j2]);
    }
  }
  return C;
}

Double4 compute_determinant(const Matrix& F) noexcept {
  const Double4 a = lanes::nmadd(F.m[1][2], F.m[2][1], F.m[1][1] * F.m[2][2]);
  const Double4 b = lanes::nmadd(F.m[1][0], F.m[2][2], F.m[1][2] * F.m[2][0]);
  const Double4 c = lanes::nmadd(F.m[1][1], F.m[2][0], F.m[1][0] * F.m[2][1]);
  return madd(F.m[0][2], c, madd(F.m[0][1], b, F.m[0][0] * a));
}

/// FᵀF.
Matrix compute_metric(const Matrix& F) noexcept {
  Matrix C;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      C.m[i][j] = madd(F.m[2][i], F.m[2][j], madd(F.m[1][i], F.m[1][j], F.m[0][i] * F.m[0][j]));
      C.m[j][i] = C.m[i][j];
    }
  }
  return C;
}

Matrix multiply(const Matrix& A, const Matrix& B) noexcept {
  Matrix R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      R.m[i][j] = madd(A.m[i][2], B.m[2][j], madd(A.m[i][1], B.m[1][j], A.m[i][0] * B.m[0][j]));
  }
  return R;
}

Double4 squared_norm(const Matrix& A) noexcept {
  Double4 sum = A.m[0][0] * A.m[0][0];
  for (int k = 1; k < 9; ++k) sum = madd(A.m[k / 3][k % 3], A.m[k / 3][k % 3], sum);
  return sum;
}

/// V S of Green's strain: V (μ (C − I) + ½ λ (tr C − 3) I).
Matrix compute_green_stress(const Matrix& C, Double4 mu, Double4 lambda) noexcept {
  const Double4 diagonal = fill(0.5) * lambda * (lanes::trace(C) - fill(3.0)) - mu;
  Matrix S;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) S.m[i][j] = i == j ? madd(mu, C.m[i][i], diagonal) : mu * C.m[i][j];
  }
  return S;
}

/// V P.
template <ExplicitModel model>
Matrix compute_stress(const Matrix& F, Double4 mu, Double4 lambda) noexcept {
  if constexpr (model == ExplicitModel::kLinear) {
    const Double4 diagonal = lambda * (lanes::trace(F) - fill(3.0)) - fill(2.0) * mu;
    Matrix P;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        P.m[i][j] = i == j ? madd(fill(2.0) * mu, F.m[i][i], diagonal) : mu * (F.m[i][j] + F.m[j][i]);
    }
    return P;
  } else if constexpr (model == ExplicitModel::kStVenantKirchhoff) {
    Matrix P = multiply(F, compute_green_stress(compute_metric(F), mu, lambda));
    const Double4 crushed = fill(kCrushedBelow) - compute_determinant(F);
    if (lanes::any(crushed > fill(0.0))) [[unlikely]] {
      const Matrix cofactors = compute_cofactors(F);
      const Double4 slope = fill(kCrushedModulus) * mu * (crushed > fill(0.0) ? crushed : fill(0.0));
      for (int k = 0; k < 9; ++k) P.m[k / 3][k % 3] = lanes::nmadd(slope, cofactors.m[k / 3][k % 3], P.m[k / 3][k % 3]);
    }
    return P;
  } else {
    const Matrix cofactors = compute_cofactors(F);
    const Double4 J = compute_determinant(F);
    const Double4 direct = mu * (fill(1.0) - fill(1.0) / (squared_norm(F) + fill(1.0)));
    const Double4 slope = lambda * (J - fill(1.0)) - fill(kNeoHookeanRest) * mu;
    Matrix P;
    for (int k = 0; k < 9; ++k) P.m[k / 3][k % 3] = madd(slope, cofactors.m[k / 3][k % 3], direct * F.m[k / 3][k % 3]);
    return P;
  }
}

/// Not below the largest eigenvalue of a symmetric A: mean + √⅔ |deviator|, exact where two are equal.
Double4 bound_eigenvalue(const Matrix& A) noexcept {
  const Double4 mean = lanes::trace(A) / fill(3.0);
  Matrix D = A;
  for (int i = 0; i < 3; ++i) D.m[i][i] -= mean;
  return mean + fill(std::sqrt(2.0 / 3.0)) * simd::square_root(squared_norm(D));
}

}  // namespace

ExplicitTets::ExplicitTets(const TetMesh& mesh, std::span<const Material> materials, ExplicitModel model)
    : nodes_(static_cast<int>(mesh.vertices.size())), model_(model) {
  validate_tet_model(mesh, materials);
  for (const Material& m : materials) {
    if (m.stiffness_damping > 0.0)
      fail_input("explicit tets: stiffness_damping = {}; allowed: 0 (it would make the step implicit)",
                 m.stiffness_damping);
  }
  const std::vector<RestTet> tets = make_rest_tets(mesh, materials);
  std::vector<Vec3> rest;
  fill_tet_model(mesh, tets, rest, mass_, damping_);
  std::vector<NonlinearTets::RestElement> elements;
  const HyperelasticModel energy = model == ExplicitModel::kStableNeoHookean ? HyperelasticModel::kStableNeoHookean
                                                                             : HyperelasticModel::kStVenantKirchhoff;
  for (const RestTet& tet : tets) {
    const Moduli moduli = moduli_of(*tet.material, energy);
    NonlinearTets::RestElement& e = elements.emplace_back();
    std::copy(tet.node.begin(), tet.node.end(), e.node.begin());
    e.gradient = tet.gradient;
    e.volume = tet.volume;
    e.mu = moduli.mu;
    e.lambda = moduli.lambda;
    e.density = tet.material->density;
  }
  add_elements(elements);
  for (int i = 0; i < nodes_; ++i) set_position(i, rest[as_size(i)]);
  restart();
}

ExplicitTets::ExplicitTets(const NonlinearTets& body, bool linear_strain)
    : nodes_(body.node_count()),
      model_(linear_strain                                           ? ExplicitModel::kLinear
             : body.model() == HyperelasticModel::kStVenantKirchhoff ? ExplicitModel::kStVenantKirchhoff
                                                                     : ExplicitModel::kStableNeoHookean),
      mass_(body.masses().begin(), body.masses().end()),
      damping_(body.damping_masses().begin(), body.damping_masses().end()) {
  if (body.patch_count() > 0)
    fail_input("explicit tets: the body is nearly incompressible; allowed: poisson_ratio up to 0.4");
  if (body.has_stiffness_damping())
    fail_input("explicit tets: the body's stiffness_damping must be 0 (it would make the step implicit)");
  std::vector<NonlinearTets::RestElement> elements = body.list_elements();
  if (linear_strain && body.model() == HyperelasticModel::kStableNeoHookean) {
    for (NonlinearTets::RestElement& e : elements) {
      e.mu *= 0.75;
      e.lambda -= 5.0 / 6.0 * e.mu;
    }
  }
  add_elements(elements);
  for (int i = 0; i < nodes_; ++i) {
    const auto k = as_size(i);
    set_position(i, body.positions()[k]);
    set_velocity(i, body.velocities()[k]);
    set_load(i, body.masses()[k] * body.gravity() + body.external_forces()[k]);
    if (body.is_prescribed(i)) prescribe(i, body.prescribed_velocity(i));
  }
  restart();
}

void ExplicitTets::add_elements(const std::vector<NonlinearTets::RestElement>& elements) {
  elements_ = static_cast<int>(elements.size());
  free_.assign(as_size(nodes_), 1.0);
  for (std::vector<double>* v : {&x_, &v_, &a_, &f_, &load_}) v->assign(4 * as_size(nodes_ + 1), 0.0);
  blocks_.assign((elements.size() + 3) / 4, Block{});
  spectra_.assign(blocks_.size(), Spectrum{});
  for (Block& b : blocks_) std::fill_n(&b.node[0][0], 16, nodes_);
  const bool neo_hookean = model_ == ExplicitModel::kStableNeoHookean;
  // Neighbours in the mesh follow each other in the list; in one block they would add to the same nodes, each waiting
  // for the one before. So a block has one element from each quarter of the list.
  const std::size_t count = blocks_.size();
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const NonlinearTets::RestElement& e = elements[k];
    Block& b = blocks_[k % count];
    const std::size_t lane = k / count;
    for (std::size_t a = 0; a < 4; ++a) b.node[a][lane] = e.node[a];
    for (int a = 0; a < 3; ++a) {
      for (int i = 0; i < 3; ++i) b.gradient[a][i][lane] = e.gradient[as_size(a) + 1][i];
    }
    b.mu[lane] = e.volume * e.mu;
    b.lambda[lane] = e.volume * e.lambda;
    double gradients = 0.0;
    const double mu = neo_hookean ? 0.75 * e.mu : e.mu, lambda = neo_hookean ? e.lambda - 5.0 / 6.0 * mu : e.lambda;
    spectra_[k % count].rest[lane] = compute_rest_frequency(e, lambda, mu, gradients);
    spectra_[k % count].gradient[lane] = 4.0 * gradients / (e.density * e.volume);
  }
}

void ExplicitTets::prescribe(int node, const Vec3& velocity) noexcept {
  free_[as_size(node)] = 0.0;
  set_velocity(node, velocity);
  set_acceleration(node, Vec3::Zero());
}

void ExplicitTets::set_gravity(const Vec3& gravity) noexcept {
  for (int i = 0; i < nodes_; ++i) set_load(i, mass(i) * gravity);
}

template <ExplicitModel model>
void ExplicitTets::add_forces() noexcept {
  const double* x = x_.data();
  double* f = f_.data();
  for (const Block& b : blocks_) {
    const Matrix F = compute_gradient(b, x);
    const Matrix P = compute_stress<model>(F, load(b.mu), load(b.lambda));
    Vector rest{{fill(0.0), fill(0.0), fill(0.0)}};
    for (int a = 0; a < 3; ++a) {
      const Vector g{{load(b.gradient[a][0]), load(b.gradient[a][1]), load(b.gradient[a][2])}};
      const Vector h = P * g;
      rest = rest + h;
      lanes::scatter_add_padded(fill(-1.0) * h, f, b.node[a + 1]);
    }
    lanes::scatter_add_padded(rest, f, b.node[0]);
  }
}

void ExplicitTets::compute_forces() noexcept {
  std::copy(load_.begin(), load_.end(), f_.begin());
  switch (model_) {
    case ExplicitModel::kLinear:
      return add_forces<ExplicitModel::kLinear>();
    case ExplicitModel::kStVenantKirchhoff:
      return add_forces<ExplicitModel::kStVenantKirchhoff>();
    case ExplicitModel::kStableNeoHookean:
      return add_forces<ExplicitModel::kStableNeoHookean>();
  }
}

void ExplicitTets::restart() noexcept {
  compute_forces();
  for (int i = 0; i < nodes_; ++i) {
    const auto k = as_size(i);
    set_acceleration(i, free_[k] / mass_[k] * (force(i) - damping_[k] * velocity(i)));
  }
}

void ExplicitTets::advance(double dt) noexcept {
  const Double4 step = fill(dt), half = fill(0.5 * dt);
  for (int i = 0; i < nodes_; ++i) {
    const std::ptrdiff_t k = 4 * static_cast<std::ptrdiff_t>(i);
    // u + dt (u̇ + ½ dt ü), and the u̇ that damping sees meanwhile.
    const Double4 mid = madd(half, load(&a_[k]), load(&v_[k]));
    lanes::store(&x_[k], madd(step, mid, load(&x_[k])));
    lanes::store(&v_[k], mid);
  }
  compute_forces();
  for (int i = 0; i < nodes_; ++i) {
    const std::ptrdiff_t k = 4 * static_cast<std::ptrdiff_t>(i);
    const auto n = as_size(i);
    const Double4 mid = load(&v_[k]);
    const Double4 scale = fill(free_[n] / (mass_[n] + 0.5 * dt * damping_[n]));
    const Double4 a = scale * lanes::nmadd(fill(damping_[n]), mid, load(&f_[k]));
    lanes::store(&a_[k], a);
    lanes::store(&v_[k], madd(half, a, mid));
  }
}

template <ExplicitModel model>
double ExplicitTets::compute_squared_frequency() const noexcept {
  Double4 largest = fill(0.0);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Block& b = blocks_[i];
    const Double4 rest = load(spectra_[i].rest), gradients = load(spectra_[i].gradient);
    const Double4 mu = load(b.mu), lambda = load(b.lambda);
    Double4 squared = rest;
    if constexpr (model == ExplicitModel::kStVenantKirchhoff) {
      const Matrix F = compute_gradient(b, x_.data()), C = compute_metric(F);
      const Double4 stretch = bound_eigenvalue(C);
      const Double4 stress = bound_eigenvalue(compute_green_stress(C, mu, lambda));
      squared = madd(rest, stretch, gradients * simd::max_of(stress, fill(0.0)));
      const Double4 crushed = simd::max_of(fill(kCrushedBelow) - compute_determinant(F), fill(0.0));
      if (lanes::any(crushed > fill(0.0))) [[unlikely]] {
        // ∂²J/∂F² has no eigenvalue above the largest stretch.
        const Double4 area = squared_norm(compute_cofactors(F));
        const Double4 extra = fill(kCrushedModulus) * mu * madd(crushed, simd::square_root(stretch), area);
        squared += crushed > fill(0.0) ? gradients * extra : fill(0.0);
      }
    } else if constexpr (model == ExplicitModel::kStableNeoHookean) {
      const Matrix F = compute_gradient(b, x_.data());
      const Double4 J = compute_determinant(F), size = squared_norm(F), one = size + fill(1.0);
      const Double4 slope = lambda * (J - fill(1.0)) - fill(kNeoHookeanRest) * mu;
      // The largest eigenvalue of each of the four parts of ∂P/∂F, added up; at rest their sum is known better.
      const Double4 all = mu * (fill(1.0) - fill(1.0) / one) + fill(2.0) * mu * size / (one * one) +
                          lambda * squared_norm(compute_cofactors(F)) +
                          simd::max_of(slope, -slope) * simd::square_root(bound_eigenvalue(compute_metric(F)));
      squared = gradients * all;
    }
    largest = simd::max_of(largest, squared);
  }
  return std::max({largest[0], largest[1], largest[2], largest[3]});
}

double ExplicitTets::compute_stable_step() const noexcept {
  double squared = 0.0;
  switch (model_) {
    case ExplicitModel::kLinear:
      squared = compute_squared_frequency<ExplicitModel::kLinear>();
      break;
    case ExplicitModel::kStVenantKirchhoff:
      squared = compute_squared_frequency<ExplicitModel::kStVenantKirchhoff>();
      break;
    case ExplicitModel::kStableNeoHookean:
      squared = compute_squared_frequency<ExplicitModel::kStableNeoHookean>();
      break;
  }
  return 2.0 / std::sqrt(squared);
}

double ExplicitTets::compute_elastic_energy() const noexcept {
  double energy = 0.0;
  for (const Block& b : blocks_) {
    const Matrix lanes_F = compute_gradient(b, x_.data());
    for (int lane = 0; lane < lanes::kLanes; ++lane) {
      if (b.node[0][lane] == nodes_) continue;
      Mat3 F;
      for (int k = 0; k < 9; ++k) F(k / 3, k % 3) = lanes_F.m[k / 3][k % 3][lane];
      const double mu = b.mu[lane], lambda = b.lambda[lane], J = F.determinant();
      if (model_ == ExplicitModel::kStableNeoHookean) {
        const double growth = F.squaredNorm() - 3.0;
        energy += 0.5 * mu * (growth - std::log1p(0.25 * growth)) + 0.5 * lambda * (J - 1.0) * (J - 1.0) -
                  kNeoHookeanRest * mu * (J - 1.0);
        continue;
      }
      const bool linear = model_ == ExplicitModel::kLinear;
      const Mat3 E = linear ? Mat3(0.5 * (F + F.transpose()) - Mat3::Identity())
                            : Mat3(0.5 * (F.transpose() * F - Mat3::Identity()));
      energy += mu * E.squaredNorm() + 0.5 * lambda * E.trace() * E.trace();
      const double crushed = linear ? 0.0 : std::max(0.0, kCrushedBelow - J);
      energy += 0.5 * kCrushedModulus * mu * crushed * crushed;
    }
  }
  return energy;
}

double ExplicitTets::compute_kinetic_energy() const noexcept {
  double energy = 0.0;
  for (int i = 0; i < nodes_; ++i) energy += 0.5 * mass(i) * velocity(i).squaredNorm();
  return energy;
}

double ExplicitTets::compute_volume() const noexcept {
  double volume = 0.0;
  for (const Block& b : blocks_) {
    const Double4 J = compute_determinant(compute_gradient(b, x_.data()));
    for (int lane = 0; lane < lanes::kLanes; ++lane) {
      if (b.node[0][lane] == nodes_) continue;
      Mat3 G;
      for (int k = 0; k < 9; ++k) G(k / 3, k % 3) = b.gradient[k / 3][k % 3][lane];
      volume += J[lane] / (6.0 * std::abs(G.determinant()));
    }
  }
  return volume;
}

}  // namespace palpate
