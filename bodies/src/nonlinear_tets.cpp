#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/bodies/elastic_forces.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "hyperelastic.h"
#include "node_turns.h"
#include "palpate/bodies/polar.h"
#include "tet_model.h"
#include "volume_patches.h"

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

}  // namespace

/// What is known before the base class exists.
struct NonlinearTets::Set {
  Model model;
  std::vector<Element> elements;
  std::unique_ptr<VolumePatches> patches;
};

NonlinearTets::Set NonlinearTets::make_set(const TetMesh& mesh, std::span<const Material> materials,
                                           const NonlinearTetSettings& settings) {
  validate_tet_model(mesh, materials);
  Set set;
  const std::vector<RestTet> rest = make_rest_tets(mesh, materials);
  set.model = make_tet_model<Model>(mesh, materials, rest);
  std::vector<double> lambda;
  for (const RestTet& tet : rest) lambda.push_back(moduli_of(*tet.material, settings.model).lambda);
  set.patches = std::make_unique<VolumePatches>(
      mesh, rest, lambda, VolumePatches::Settings{settings.patch_above_poisson, settings.patch_size});
  set.patches->add_to(set.model.groups);
  for (std::size_t t = 0; t < rest.size(); ++t) {
    const RestTet& tet = rest[t];
    Element& e = set.elements.emplace_back();
    std::copy(tet.node.begin(), tet.node.end(), e.node.begin());
    e.share = set.patches->place(t);
    e.gradient = tet.gradient;
    e.volume = tet.volume;
    e.mu = moduli_of(*tet.material, settings.model).mu;
    e.lambda = e.share >= 0 ? 0.0 : lambda[t];
    e.beta = tet.material->stiffness_damping;
    e.density = tet.material->density;
  }
  return set;
}

NonlinearTets::NonlinearTets(const TetMesh& mesh, std::span<const Material> materials,
                             const NonlinearTetSettings& settings)
    : NonlinearTets(make_set(mesh, materials, settings), settings) {}

NonlinearTets::NonlinearTets(Set&& set, const NonlinearTetSettings& settings)
    : FemBody(std::move(set.model), settings.fem),
      elements_(std::move(set.elements)),
      patches_(std::move(set.patches)),
      model_(settings.model),
      project_(settings.project) {
  for (Element& e : elements_) {
    int pair = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = a + 1; b < 4; ++b) e.slot[pair++] = pattern().find(e.node[b], e.node[a]);
    }
  }
  patches_->find_slots(pattern());
}

NonlinearTets::~NonlinearTets() = default;

int NonlinearTets::patch_count() const noexcept {
  return patches_->size();
}

std::vector<NonlinearTets::RestElement> NonlinearTets::list_elements() const {
  std::vector<RestElement> out;
  for (const Element& e : elements_) out.push_back({e.node, e.gradient, e.volume, e.mu, e.lambda, e.density});
  return out;
}

Mat3 NonlinearTets::compute_gradient(const Element& e, std::span<const Vec3> x) noexcept {
  const Vec3 u = x[e.node[1]] - x[e.node[0]], v = x[e.node[2]] - x[e.node[0]], w = x[e.node[3]] - x[e.node[0]];
  Mat3 F;
  // A column at a time, in registers: as a sum of three matrices it goes to memory and back in pieces that do not
  // match.
  for (int i = 0; i < 3; ++i) F.col(i) = e.gradient[1][i] * u + e.gradient[2][i] * v + e.gradient[3][i] * w;
  return F;
}

/// θ.
double NonlinearTets::compute_dilatation(HyperelasticModel model, const Mat3& F) noexcept {
  return model == HyperelasticModel::kStVenantKirchhoff ? 0.5 * (F.squaredNorm() - 3.0) : F.determinant() - 1.0;
}

/// ∂θ/∂F.
Mat3 NonlinearTets::compute_dilatation_gradient(const Mat3& F) const noexcept {
  return model_ == HyperelasticModel::kStVenantKirchhoff ? F : cofactors(F);
}

/// λθ of the element, or of its patch.
double NonlinearTets::compute_pressure(HyperelasticModel model, const VolumePatches& patches, const Element& e,
                                       const Mat3& F) noexcept {
  return e.share >= 0 ? patches.pressure(e.share) : e.lambda * compute_dilatation(model, F);
}

void NonlinearTets::gather_pressures() const noexcept {
  if (patches_->size() == 0) return;
  for (const Element& e : elements_) {
    if (e.share >= 0) patches_->share(e.share).dilatation = e.volume * compute_dilatation(compute_gradient(e));
  }
  patches_->gather_pressures();
}

/// Pressures and gradients.
void NonlinearTets::gather_patches() const noexcept {
  if (patches_->size() == 0) return;
  for (const Element& e : elements_) {
    if (e.share < 0) continue;
    const Mat3 F = compute_gradient(e), D = e.volume * compute_dilatation_gradient(F);
    VolumePatches::Share& share = patches_->share(e.share);
    share.dilatation = e.volume * compute_dilatation(F);
    for (int a = 0; a < 3; ++a) Eigen::Map<Vec3>(share.gradient[a]) = D * e.gradient[a + 1];
  }
  patches_->gather_pressures();
  patches_->gather_gradients();
}

/// Without what patches store.
double NonlinearTets::compute_energy_density(HyperelasticModel model, const Element& e, const Mat3& F) noexcept {
  const double theta = compute_dilatation(model, F), volumetric = 0.5 * e.lambda * theta * theta;
  if (model == HyperelasticModel::kStVenantKirchhoff) {
    const Mat3 E = 0.5 * (F.transpose() * F - Mat3::Identity());
    const double crushed = std::max(0.0, kCrushedBelow - F.determinant());
    return e.mu * E.squaredNorm() + volumetric + 0.5 * kCrushedModulus * e.mu * crushed * crushed;
  }
  // J − a = (J − 1) − ¾ μ/λ, squared out so that rest costs exactly nothing and small strain does not cancel.
  const double growth = F.squaredNorm() - 3.0;
  return 0.5 * e.mu * (growth - std::log1p(0.25 * growth)) + volumetric - kNeoHookeanRest * e.mu * theta;
}

Mat3 NonlinearTets::compute_stress(HyperelasticModel model, const Element& e, const Mat3& F, double pressure) noexcept {
  if (model == HyperelasticModel::kStVenantKirchhoff) {
    const Mat3 twice_E = F.transpose() * F - Mat3::Identity();
    Mat3 P = F * (e.mu * twice_E + pressure * Mat3::Identity());
    const double crushed = kCrushedBelow - F.determinant();
    if (crushed > 0.0) P -= kCrushedModulus * e.mu * crushed * cofactors(F);
    return P;
  }
  return e.mu * (1.0 - 1.0 / (F.squaredNorm() + 1.0)) * F + (pressure - kNeoHookeanRest * e.mu) * cofactors(F);
}

NonlinearTets::Derivative NonlinearTets::compute_derivative(const Element& e, const Mat3& F,
                                                            bool project) const noexcept {
  const SignedSvd svd = compute_signed_svd(F);
  const Vec3& s = svd.sigma;
  Derivative d{svd.U, svd.V, Mat3::Zero(), Mat3::Zero(), Mat3::Zero()};
  const bool green = model_ == HyperelasticModel::kStVenantKirchhoff;
  const double pressure = compute_pressure(e, F), J = s.prod();
  // The part of Ψ that is a function of J alone: its first and second derivative.
  const bool crushed = J < kCrushedBelow;
  const double slope =
      green ? (crushed ? kCrushedModulus * e.mu * (J - kCrushedBelow) : 0.0) : pressure - kNeoHookeanRest * e.mu;
  const double curvature = green ? (crushed ? kCrushedModulus * e.mu : 0.0) : e.lambda;
  const double invariant = s.squaredNorm() + 1.0;
  const double direct = e.mu * (1.0 - 1.0 / invariant), growth = 2.0 * e.mu / (invariant * invariant);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double area_i = s[j] * s[k], area_j = s[i] * s[k];
    double shear, spin;  // eigenvalues for D_ij = D_ji and for D_ij = −D_ji
    d.stretch(i, i) = curvature * area_i * area_i;
    d.stretch(i, j) = curvature * area_i * area_j + slope * s[k];
    if (green) {
      d.stretch(i, i) += e.mu * (3.0 * s[i] * s[i] - 1.0) + pressure + e.lambda * s[i] * s[i];
      d.stretch(i, j) += e.lambda * s[i] * s[j];
      const double common = pressure + e.mu * (s[i] * s[i] + s[j] * s[j] - 1.0);
      shear = common + e.mu * s[i] * s[j];
      spin = common - e.mu * s[i] * s[j];
    } else {
      d.stretch(i, i) += direct + growth * s[i] * s[i];
      d.stretch(i, j) += growth * s[i] * s[j];
      shear = spin = direct;
    }
    d.stretch(j, i) = d.stretch(i, j);
    shear -= slope * s[k];
    spin += slope * s[k];
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

bool NonlinearTets::assemble(const Assembly& out) noexcept {
  const auto at = [](double* base, std::int32_t node) { return Eigen::Map<Vec3>(base + 3 * std::ptrdiff_t{node}); };
  set_blocks_zero(out);
  gather_patches();
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
      for (int b = a + 1; b < 4; ++b, ++pair) {
        const Mat3 K = e.volume * d.block(turned[b], turned[a]);
        Eigen::Map<Mat3>(out.blocks + 9 * std::ptrdiff_t{e.slot[pair]}) += K;
        if (!out.damping_blocks) continue;
        Eigen::Map<Mat3>(out.damping_blocks + 9 * std::ptrdiff_t{e.slot[pair]}) += e.beta * K;
      }
    }
  }
  patches_->add_stiffness(out.blocks, out.damping_blocks);
  return false;
}

void NonlinearTets::compute_elastic_forces(std::span<Vec3> forces) const noexcept {
  std::fill(forces.begin(), forces.end(), Vec3::Zero());
  gather_pressures();
  for (const Element& e : elements_) {
    subtract_forces(e, e.volume * compute_stress(e, compute_gradient(e)), forces);
  }
}

/// P b_a at the nodes, P times the volume; node 0 gets what balances the others.
void NonlinearTets::subtract_forces(const Element& e, const Mat3& P, std::span<Vec3> forces) noexcept {
  Vec3 rest = Vec3::Zero();
  for (int a = 1; a < 4; ++a) {
    const Vec3 f = P * e.gradient[a];
    forces[e.node[a]] -= f;
    rest += f;
  }
  forces[e.node[0]] += rest;
}

/// First the dilatations of all elements, for patches, then their forces, eight elements a piece.
class NonlinearTets::Pieces final : public ElasticForces {
 public:
  explicit Pieces(const NonlinearTets& body)
      : model_(body.model_),
        elements_(body.elements_),
        patches_(*body.patches_),
        positions_(as_size(body.node_count())),
        forces_(positions_),
        turns_(body.node_count(), static_cast<int>(elements_.size())) {
    turns_.connect([&](const auto& take) {
      for (std::size_t e = 0; e < elements_.size(); ++e) {
        for (const std::int32_t node : elements_[e].node) take(static_cast<int>(e), node);
      }
    });
  }

  int pieces() const noexcept override { return first_forces() + whole(); }
  void begin(std::span<const Vec3> positions) noexcept override {
    std::copy(positions.begin(), positions.end(), positions_.begin());
    std::fill(forces_.begin(), forces_.end(), Vec3::Zero());
    energy_ = 0.0;
  }
  void add(int first, int end) noexcept override {
    for (int piece = first; piece < end; ++piece) {
      const int at = piece < first_forces() ? piece : piece - first_forces();
      if (at == 0 && piece > 0) patches_.gather_pressures();
      const auto members = std::span(elements_).subspan(as_size(kElements * at));
      for (const Element& e : members.first(std::min<std::size_t>(kElements, members.size()))) {
        const Mat3 F = compute_gradient(e, positions_);
        if (piece >= first_forces()) {
          subtract_forces(e, e.volume * compute_stress(model_, e, F, compute_pressure(model_, patches_, e, F)),
                          forces_);
          energy_ += e.volume * compute_energy_density(model_, e, F);
          const Mat3 R = compute_rotation(F);
          turns_.set(static_cast<int>(&e - elements_.data()), [&](int i, int j) { return R(i, j); });
        } else if (e.share >= 0) {
          patches_.share(e.share).dilatation = e.volume * compute_dilatation(model_, F);
        }
      }
    }
  }
  double finish(std::span<Vec3> out) noexcept override {
    std::copy(forces_.begin(), forces_.end(), out.begin());
    return energy_ + patches_.compute_energy();
  }
  void compute_turns(int first, int end, std::span<Mat3> turns) const noexcept override {
    turns_.compute(first, end, turns);
  }

 private:
  static constexpr int kElements = 8;
  int whole() const noexcept { return (static_cast<int>(elements_.size()) + kElements - 1) / kElements; }
  int first_forces() const noexcept { return patches_.size() == 0 ? 0 : whole(); }

  const HyperelasticModel model_;
  const std::vector<Element> elements_;
  VolumePatches patches_;
  std::vector<Vec3> positions_, forces_;
  double energy_ = 0.0;  ///< of the pieces so far, without that of patches [J]
  NodeTurns turns_;
};

std::unique_ptr<ElasticForces> NonlinearTets::make_elastic_forces() const {
  return std::make_unique<Pieces>(*this);
}

double NonlinearTets::compute_elastic_energy() const noexcept {
  gather_pressures();
  double energy = patches_->compute_energy();
  for (const Element& e : elements_) energy += e.volume * compute_energy_density(model_, e, compute_gradient(e));
  return energy;
}

double NonlinearTets::compute_stable_step() const noexcept {
  gather_patches();
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
    double squared = solver.eigenvalues()[11] / (0.25 * e.density * e.volume);
    if (e.share >= 0) squared += patches_->compute_squared_frequency(e.share, e.density);
    largest = std::max(largest, squared);
  }
  return 2.0 / std::sqrt(largest);
}

/// Of Cauchy's stress P Fᵀ / J.
void NonlinearTets::add_stress(std::span<std::array<double, 2>> nodes) const noexcept {
  gather_pressures();
  for (const Element& e : elements_) {
    const Mat3 F = compute_gradient(e);
    const Mat3 stress = compute_stress(e, F) * F.transpose() / std::max(std::abs(F.determinant()), 1e-6);
    const Mat3 deviator = stress - stress.trace() / 3.0 * Mat3::Identity();
    const double von_mises = std::sqrt(1.5) * deviator.norm();
    for (const std::int32_t node : e.node) {
      nodes[node][0] += e.volume * von_mises;
      nodes[node][1] += e.volume;
    }
  }
}

}  // namespace palpate
