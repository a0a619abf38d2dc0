#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "reduced/choice.h"
#include "reduced/flat.h"
#include "reduced/reduction.h"

// Of which vectors a basis is made.
namespace palpate::reduced {
namespace {

constexpr int kEchoes = 24;        // answers to lasting forces of which there is also what follows on them
constexpr double kEchoRank = 0.3;  // where there is no room for all, the answers themselves matter more
constexpr int kRigidMotions = 6;
constexpr int kStateEchoes = 3;  // rounds of what follows on the states' own vectors
/// So many more vectors than there is room for are made: of some little is new beside the others.
constexpr int kSpare = 12;
constexpr int kMaxVectors = kMaxStates + kSpare + kEchoes;
/// A vector of which less than this share of its A-norm is new to the basis adds only rounding.
constexpr double kLeastShare = 1e-5;

}  // namespace

/// Of the loads those that are worth a solution, at most so many, and in the order of what they are worth. What a slow
/// step does with them is known already: E A(ΔT)⁻¹ Eᵀ is the Gram matrix of their answers with A(ΔT).
void Reduction::choose_loads(int most) {
  const auto count = static_cast<int>(loads_.size());
  std::vector<int> row(as_size(count));
  std::vector<double> rank(as_size(count));
  for (int i = 0; i < count; ++i) {
    const Load& load = loads_[as_size(i)];
    const auto at = std::find(patch_.begin(), patch_.end(), load.vertex) - patch_.begin();
    row[as_size(i)] = static_cast<int>(3 * at) + load.axis;
    rank[as_size(i)] = load.rank;
  }
  const VectorChoice choice(W_step_(row, row), rank, {.most = most, .least_share = kLeastShare});
  std::vector<Load> chosen;
  for (const int i : choice.chosen()) chosen.push_back(loads_[as_size(i)]);
  loads_ = std::move(chosen);
}

/// A(dt) times columns of C.
void Reduction::multiply_system(int first, int end) {
  Eigen::VectorXd scratch(C_.rows());
  for (int i = first; i < end; ++i) {
    const auto x = C_.col(i);
    auto y = AC_.col(i);
    body_.stiffness().multiply(x, scratch);
    if (rayleigh_) {
      y = (dt_ + rayleigh_->beta) * scratch + (1.0 / dt_ + rayleigh_->alpha) * mass_.cwiseProduct(x);
    } else {
      body_.multiply_damping(x, y);
      y += dt_ * scratch + mass_.cwiseProduct(x) / dt_;
    }
  }
}

/// Columns of C from what acts to what A(h) makes of it, with A(dt) times that.
void Reduction::solve(int which, int first, int end) {
  if (first == end) return;
  auto X = C_.middleCols(first, end - first);
  auto AX = AC_.middleCols(first, end - first);
  AX = X;
  body_.solve(which, X);
  if (!rayleigh_) return multiply_system(first, end);
  // A(h) = (1/h + α) M + (h + β) K, so A(dt) X is a sum of A(h) X and M X.
  const double h = which == kStep ? slow_period_ : dt_;
  const auto [alpha, beta] = *rayleigh_;
  const double share = (dt_ + beta) / (h + beta), mass_share = 1.0 / dt_ + alpha - share * (1.0 / h + alpha);
  for (int i = first; i < end; ++i) AC_.col(i) = share * AC_.col(i) + mass_share * mass_.cwiseProduct(C_.col(i));
}

/// What follows on motions: A(ΔT)⁻¹M times those.
void Reduction::add_echoes(int first, int vectors, double rank) {
  C_.middleCols(count_, vectors) = mass_.asDiagonal() * C_.middleCols(first, vectors);
  solve(kStep, count_, count_ + vectors);
  for (int i = first; i < first + vectors; ++i, ++count_) rank_[as_size(count_)] = rank * rank_[as_size(i)];
}

/// From column `first` on. Returns the end of them.
int Reduction::add_answers(int which, std::span<const Load> loads, int first) {
  int end = first;
  for (const Load& load : loads) {
    rank_[as_size(end)] = load.rank;
    C_.col(end).setZero();
    add_to_nodes(load.vertex, Vec3::Unit(load.axis), C_.col(end++));
  }
  solve(which, first, end);
  return end;
}

void Reduction::set_rigid_motions(int first) {
  Vec3 middle = Vec3::Zero();
  for (const Vec3& x : body_.positions()) middle += x / body_.node_count();
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < body_.node_count(); ++i) {
      C_.col(first + 2 * k).segment<3>(3 * i) = Vec3::Unit(k);
      C_.col(first + 2 * k + 1).segment<3>(3 * i) = Vec3::Unit(k).cross(body_.positions()[as_size(i)] - middle);
    }
  }
}

/// What follows from the factor of one time step alone: the free motion, the answer to the mean force of the last
/// period, and what forces on the patch's vertices do. False if there is no factor. In one thread for each time step.
bool Reduction::begin_answers(int which) {
  if (!body_.factor(which)) return false;
  const int at = which == kTick ? 0 : 1;
  Eigen::VectorXd free(C_.rows());
  body_.compute_free_motion(which, as_nodes(free));
  if (which == kStep) free_ = free;
  C_.col(2 + at) = free;
  if (own_ > 4) {
    C_.col(4 + at) = push_force_;
    body_.solve(which, C_.col(4 + at));
  }
  Eigen::MatrixXd& W = which == kTick ? W_ : W_step_;
  W.setZero(rows_.rows(), rows_.rows());
  body_.add_compliance(which, rows_, W);
  return true;
}

/// False if the body's systems could not be factored.
bool Reduction::make_vectors() {
  C_.resize(mass_.size(), kMaxVectors);
  AC_.resize(mass_.size(), kMaxVectors);
  rank_.assign(kMaxVectors, 1.0);
  rows_.clear();
  for (const int v : patch_) {
    for (int k = 0; k < 3; ++k) {
      rows_.begin_row();
      for (const Weight& w : weights(v)) rows_.add(w.node, w.weight * Vec3::Unit(k));
    }
  }
  own_ = push_force_.isZero(0.0) ? 4 : 6;
  must_ = own_ + (free_body_ ? kRigidMotions : 0);
  const int sudden = must_ + kStateEchoes * own_, lasting = sudden + static_cast<int>(quick_.size());
  bool has_tick = false, has_step = false;
  const auto answer_in_a_tick = [&] {
    has_tick = begin_answers(kTick);
    if (has_tick) add_answers(kTick, quick_, sudden);
  };
  do_both(answer_in_a_tick, [&] {
    has_step = begin_answers(kStep);
    if (!has_step) return;
    choose_loads(kMaxStates + kSpare - lasting);
    add_answers(kStep, loads_, lasting);
  });
  if (!has_tick || !has_step) return false;
  C_.col(0) = flat(body_.velocities());
  C_.col(1) = place_ - flat(body_.positions());
  for (int i = 0; i < own_; ++i) clear_prescribed(C_.col(i));
  if (free_body_) set_rigid_motions(own_);
  multiply_system(0, must_);
  count_ = must_;
  for (int round = 0; round < kStateEchoes; ++round) add_echoes(round == 0 ? 0 : count_ - own_, own_, 1.0);
  count_ = lasting + static_cast<int>(loads_.size());
  add_echoes(lasting, std::min<int>(kEchoes, static_cast<int>(loads_.size())), kEchoRank);
  return true;
}

/// Φ of those vectors, orthonormal with A(dt), and A(dt)Φ.
void Reduction::make_basis(Basis& basis) {
  // The Gram matrix is a sum over the nodes, half of them beside the other half.
  const Eigen::Index half = C_.rows() / 2;
  Eigen::MatrixXd gram(count_, count_), other(count_, count_);
  const auto multiply = [&](const auto& C, const auto& AC, Eigen::MatrixXd& to) {
    to.triangularView<Eigen::Lower>() = C.transpose() * AC;
  };
  const auto multiply_half = [&] { multiply(C_.topLeftCorner(half, count_), AC_.topLeftCorner(half, count_), other); };
  do_both(multiply_half, [&] {
    multiply(C_.block(half, 0, C_.rows() - half, count_), AC_.block(half, 0, C_.rows() - half, count_), gram);
  });
  gram.triangularView<Eigen::Lower>() += other;
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  const VectorChoice choice(gram, {rank_.data(), as_size(count_)},
                            {.must = must_, .most = kMaxStates, .least_share = kLeastShare});
  // The chosen vectors are Φ Lᵀ.
  const auto r = static_cast<int>(choice.chosen().size());
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(r, r);
  choice.factor().triangularView<Eigen::Lower>().solveInPlace(inverse);
  const auto combine = [&](const Eigen::MatrixXd& from, RowMatrix& to) {
    const Eigen::MatrixXd chosen = from(Eigen::all, choice.chosen());
    to.leftCols(r).noalias() = chosen * inverse.transpose().triangularView<Eigen::Upper>();
    to.rightCols(kMaxStates - r).setZero();
  };
  const auto combine_A = [&] { combine(AC_, basis.APhi); };
  do_both(combine_A, [&] { combine(C_, basis.Phi); });
  basis.states = r;
}

}  // namespace palpate::reduced
