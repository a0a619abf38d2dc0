#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "reduced/flat.h"
#include "reduced/reduction.h"

// What of a basis and a body goes into a model.
namespace palpate::reduced {
namespace {

/// Bounds on how fast what the basis leaves out fades in a tick: neither for good, nor with a jump.
constexpr double kLeastFade = 0.01, kMostFade = 0.2;

}  // namespace

/// ΦᵀMΦ.
Eigen::MatrixXd Reduction::compute_mass(const Basis& basis) const {
  const int r = basis.states;
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(r, r);
  if (knows_sources()) {  // L⁻¹ CᵀMC L⁻ᵀ
    Eigen::MatrixXd half = mass_products_(chosen_, chosen_);
    factor_.triangularView<Eigen::Lower>().solveInPlace(half);
    half.transposeInPlace();
    factor_.triangularView<Eigen::Lower>().solveInPlace(half);
    M = 0.5 * (half + half.transpose());
  } else {
    const RowMatrix root = root_mass_.asDiagonal() * basis.Phi.leftCols(r);
    M.selfadjointView<Eigen::Lower>().rankUpdate(root.transpose());
    M.triangularView<Eigen::StrictlyUpper>() = M.transpose();
  }
  return M;
}

void Reduction::fill(Basis& basis, BodyView<double> out) {
  const int r = basis.states;
  const auto Phi = basis.Phi.leftCols(r);
  auto K = out.K.topLeftCorner(r, r), D = out.D.topLeftCorner(r, r);
  out.damping_one = out.damping_stiffness = 0.0;
  out.has_D = rayleigh_ ? 0.0 : 1.0;
  if (rayleigh_) {  // 1 = A(dt) = (1/dt + α) M + (dt + β) K
    const auto [alpha, beta] = *rayleigh_;
    const Eigen::MatrixXd M = compute_mass(basis);
    K = (Eigen::MatrixXd::Identity(r, r) - (1.0 / dt_ + alpha) * M) / (dt_ + beta);
    D = alpha * M + beta * K;
    out.damping_one = alpha * dt_ / (1.0 + alpha * dt_);
    out.damping_stiffness = beta - out.damping_one * (dt_ + beta);
  } else {
    const Eigen::MatrixXd columns = Phi;
    Eigen::MatrixXd product(Phi.rows(), r);
    for (int i = 0; i < r; ++i) body_.stiffness().multiply(columns.col(i), product.col(i));
    K.noalias() = Phi.transpose() * product;
    for (int i = 0; i < r; ++i) body_.multiply_damping(columns.col(i), product.col(i));
    D.noalias() = Phi.transpose() * product;
  }
  out.states = r;
  // What acts beside the elements: all forces, less theirs, less damping. Theirs were those of where the body is.
  Eigen::VectorXd elastic = start_elastic_, damping(mass_.size());
  turn_ahead(elastic);
  body_.multiply_damping(flat(body_.velocities()), damping);
  basis.force = flat(body_.forces()) - elastic + damping;
  out.node_force = basis.force;
  // The velocity is the first vector, and along the first state, unless it is zero.
  out.start.setZero();
  if (r > 0 && chosen_.front() == 0) out.start[0] = factor_(0, 0);
  Eigen::VectorXd start_force = start_elastic_ + basis.force;
  turn_ahead(start_force);
  out.start_force.setZero();
  out.start_force.head(r).noalias() = Phi.transpose() * start_force;
  out.node_Phi = basis.Phi.cast<float>();
  out.node_start = place_;
  for (int i = 0; i < body_.node_count(); ++i) {
    out.node_mass[i] = body_.masses()[as_size(i)];
    out.node_turn.middleCols<3>(3 * i) = ahead_turned_[as_size(i)];
    out.node_start_turn.middleCols<3>(3 * i) = start_turned_[as_size(i)];
  }
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    auto rows = out.Phi.middleRows<3>(3 * v);
    rows.setZero();
    for (const Weight& w : weights(v)) rows += w.weight * basis.Phi.middleRows<3>(3 * w.node);
  }
}

/// The true derivative of the elastic forces against the first states' motions, by differences: ΦᵀK_TΦ's first
/// columns. The body is elsewhere afterwards.
Eigen::MatrixXd Reduction::compute_true_stiffness(const Basis& basis) {
  const int r = basis.states, count = turning_states(r);
  constexpr double kLength = 1e-4;  // of the way of a difference, as a part of the elements' size
  Eigen::MatrixXd change(mass_.size(), count);
  const Eigen::MatrixXd directions = basis.Phi.leftCols(count);
  Eigen::VectorXd there(mass_.size()), place(mass_.size());
  for (int j = 0; j < count; ++j) {
    const auto direction = directions.col(j);
    const double length = kLength * spacing_ / direction.cwiseAbs().maxCoeff();
    place = ahead_place_ + length * direction;
    body_.set_positions(as_nodes(place));
    body_.compute_elastic_forces(as_nodes(there));
    change.col(j) = (elastic_ - there) / length;
  }
  return basis.Phi.leftCols(r).transpose() * change;
}

/// Not of a body that nothing holds: as it turns, its stresses turn against the forces of its contacts, which do not,
/// and only those contacts, which are not in T, keep it from turning ever faster.
void Reduction::fill_turning(const Basis& basis, const Eigen::MatrixXd& true_stiffness, BodyView<double> out) {
  out.turning.setZero();
  if (free_body_) return;
  const int r = basis.states, count = turning_states(r);
  out.turning.topLeftCorner(r, count) = true_stiffness - out.K.topLeftCorner(r, count);
  auto corner = out.turning.topLeftCorner(count, count);
  corner = (0.5 * (corner + corner.transpose())).eval();
  // T is known in part, and a body that is about to buckle yields ever further in a linear model: so much of T is taken
  // that every motion keeps a share of its stiffness.
  constexpr double kLeastStiffness = 0.5;
  Eigen::MatrixXd sum(r, r);
  for (double share = 1.0; share > 0.1; share *= 0.5) {
    sum = (1.0 - kLeastStiffness) * out.K.topLeftCorner(r, r);
    sum.leftCols(count) += share * out.turning.topLeftCorner(r, count);
    sum.topRightCorner(count, r - count) = sum.bottomLeftCorner(r - count, count).transpose();
    if (Eigen::LLT<Eigen::MatrixXd>(sum).info() != Eigen::Success) continue;
    out.turning *= share;
    return;
  }
  out.turning.setZero();
}

/// How states of the model before, from `first` to before `end`, become those of this one.
void Reduction::fill_handover(const Basis& before, const Basis& basis, int first, int end, BodyView<double> out) const {
  auto carry = out.carry.middleCols(first, end - first);
  carry.setZero();
  if (before.number == 0) return;
  RowMatrix turned(basis.Phi.rows(), end - first);  // Φ of the model before in this one's frames, and M times that
  for (int i = 0; i < body_.node_count(); ++i) {
    Mat3 on = basis.turned[as_size(i)] * before.turned[as_size(i)].transpose();
    if (knows_sources()) on *= body_.masses()[as_size(i)];
    turned.middleRows<3>(3 * i).noalias() = on * before.Phi.middleRows<3>(3 * i).middleCols(first, end - first);
  }
  // S = ΦᵀA(dt)Φ₋ = L⁻¹ (A(dt)C)ᵀΦ₋, by what the columns of C answer to.
  const Eigen::Index unused = knows_sources() ? 0 : basis.states;  // C itself, where AC is there
  const Eigen::MatrixXd products = taken_.rightCols(taken_.cols() - unused).transpose() * turned;
  Eigen::MatrixXd S(basis.states, end - first);
  for (int k = 0; k < basis.states; ++k) {
    const int j = chosen_[as_size(k)];
    const Source& source = sources_[as_size(j)];
    if (source.kind == Source::Kind::kNone || !knows_sources()) {
      S.row(k) = products.row(taken_at_[as_size(C_.cols()) + as_size(j)] - unused);
      continue;
    }
    const Shares shares = compute_shares(source.which);
    S.row(k) = shares.of_mass * products.row(k);
    if (source.kind == Source::Kind::kEcho) {
      S.row(k) += shares.of_source * products.row(taken_at_[as_size(source.of)]);
      continue;
    }
    for (const Weight& w : weights(source.load.vertex)) {
      const double weight = shares.of_source * w.weight / body_.masses()[as_size(w.node)];
      S.row(k) += weight * turned.row(3 * w.node + source.load.axis);
    }
  }
  factor_.triangularView<Eigen::Lower>().solveInPlace(S);
  carry.topRows(basis.states) = S;
}

/// What a tick, and a slow step, do to vertices beyond what the states do: exactly within the patch, by the vertex's
/// own mass and stiffness elsewhere.
void Reduction::fill_residuals(BodyView<double> out) {
  const int r = static_cast<int>(out.states), p = static_cast<int>(patch_.size());
  out.patch_vertices = p;
  out.number.setConstant(-1.0);
  Eigen::MatrixXd own(3 * p, r);
  for (int i = 0; i < p; ++i) {
    out.patch[i] = patch_[as_size(i)];
    out.number[patch_[as_size(i)]] = i;
    own.middleRows<3>(3 * i) = out.Phi.middleRows<3>(3 * patch_[as_size(i)]).leftCols(r);
  }
  out.patch_W.topLeftCorner(3 * p, 3 * p) = W_;
  W_.noalias() -= dt_ * own * own.transpose();

  // A(ΔT) of the states; that of the tick is one, and M = dt (1 − D − dt K).
  const auto K = out.K.topLeftCorner(r, r), D = out.D.topLeftCorner(r, r);
  const double T = slow_period_;
  Eigen::MatrixXd A = (1.0 - dt_ / T) * D + (T - dt_ * dt_ / T) * K;
  A.diagonal().array() += dt_ / T;
  // ΦL⁻ᵀ with A(ΔT) = L Lᵀ. Of the patch it is nearly all of W; elsewhere it is a rough measure, for which single
  // precision will do.
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(r, r);
  Eigen::LLT<Eigen::MatrixXd>(A).matrixL().solveInPlace(inverse);
  own = (own * inverse.transpose().triangularView<Eigen::Upper>()).eval();
  const SingleRowMatrix Phi_single = out.Phi.leftCols(r).cast<float>();
  const Eigen::MatrixXf inverse_single = inverse.transpose().cast<float>();
  SingleRowMatrix by_step(Phi_single.rows(), r);
  by_step.noalias() = Phi_single * inverse_single.triangularView<Eigen::Upper>();
  double missing = 0.0;
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    const auto Phi = out.Phi.middleRows<3>(3 * v).leftCols(r);
    const auto at = static_cast<int>(out.number[v]);
    double tick = 0.0, step = 0.0;
    if (at >= 0) {
      tick = W_.block<3, 3>(3 * at, 3 * at).trace();
      step = W_step_.block<3, 3>(3 * at, 3 * at).trace() - T * own.middleRows<3>(3 * at).squaredNorm();
      missing += std::max(0.0, step);
    } else {
      for (const Weight& w : weights(v)) {  // (A⁻¹)_ii is at least 1 / A_ii
        const double m = body_.masses()[as_size(w.node)], k = body_.stiffness().diagonal(w.node).trace() / 3.0;
        tick += 3.0 * w.weight * w.weight * dt_ / (m / dt_ + dt_ * k);
        step += 3.0 * w.weight * w.weight * T / (m / T + T * k);
      }
      tick = std::max(0.0, tick - dt_ * Phi.squaredNorm());
      step = std::max(0.0, step - T * static_cast<double>(by_step.middleRows<3>(3 * v).squaredNorm()));
      out.single[v] = tick / 3.0;
    }
    out.fade[v] = std::clamp(step > 0.0 ? tick / step : kMostFade, kLeastFade, kMostFade);
  }
  const double whole = W_step_.trace();
  out.left_out = whole > 0.0 ? std::min(1.0, missing / whole) : 0.0;
}

}  // namespace palpate::reduced
