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
/// Large bodies have fewer states: everything that is done with all nodes takes their number, or its square.
constexpr int kLargeBodyStates = 64;
constexpr int kMaxVectors = kMaxStates + kSpare + kEchoes;
/// A vector of which less than this share of its A-norm is new to the basis adds only rounding.
constexpr double kLeastShare = 1e-5;

}  // namespace

/// Of the loads those that are worth a solution, at most so many, in their order. What a slow step does with them is
/// known already: E A(ΔT)⁻¹ Eᵀ is the Gram matrix of their answers with A(ΔT).
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
  std::vector<int> kept = choice.chosen();
  std::sort(kept.begin(), kept.end());
  std::vector<Load> chosen;
  for (const int i : kept) chosen.push_back(loads_[as_size(i)]);
  loads_ = std::move(chosen);
}

/// AX = A(h) X with the stiffness of now.
void Reduction::multiply(double h, const Eigen::Ref<const Eigen::MatrixXd>& X, Eigen::Ref<Eigen::MatrixXd> AX) const {
  body_.stiffness().multiply_columns(X, AX);
  if (rayleigh_) {
    const auto [alpha, beta] = *rayleigh_;
    for (Eigen::Index i = 0; i < X.cols(); ++i)
      AX.col(i) = (h + beta) * AX.col(i) + (1.0 / h + alpha) * mass_.cwiseProduct(X.col(i));
    return;
  }
  Eigen::VectorXd damping(X.rows());
  for (Eigen::Index i = 0; i < X.cols(); ++i) {
    body_.multiply_damping(X.col(i), damping);
    AX.col(i) = h * AX.col(i) + damping + mass_.cwiseProduct(X.col(i)) / h;
  }
}

/// A(dt) times columns of C.
void Reduction::multiply_system(int first, int end) {
  multiply(dt_, C_.middleCols(first, end - first), AC_.middleCols(first, end - first));
}

/// X ← A(h)⁻¹ X with the stiffness of now, nearly so if the factor is an older one.
void Reduction::solve_well(int which, Eigen::Ref<Eigen::MatrixXd> X) {
  if (!aged_) return body_.solve(which, X);
  // Conjugate gradients, column by column. The older factor nearly solves.
  constexpr int kIterations = 2;
  Eigen::MatrixXd left = X, step(X.rows(), X.cols()), along = Eigen::MatrixXd::Zero(X.rows(), X.cols()),
                  A_along = along;
  Eigen::VectorXd before = Eigen::VectorXd::Ones(X.cols());
  X.setZero();
  for (int i = 0; i < kIterations; ++i) {
    step = left;
    aged_->solve(which, step);
    const Eigen::VectorXd now = left.cwiseProduct(step).colwise().sum();
    along = step + along * now.cwiseQuotient(before).asDiagonal();
    before = now;
    multiply(time_step(which), along, A_along);
    for (Eigen::Index c = 0; c < X.cols(); ++c) {
      clear_prescribed(A_along.col(c));
      if (!(now[c] > 0.0)) continue;
      const double length = now[c] / along.col(c).dot(A_along.col(c));
      X.col(c) += length * along.col(c);
      left.col(c) -= length * A_along.col(c);
    }
  }
}

/// Columns of C from what acts to what A(h) makes of it, with A(dt) times that unless the factor is an older one.
void Reduction::solve(int which, int first, int end) {
  if (first == end) return;
  auto X = C_.middleCols(first, end - first);
  if (aged_) return aged_->solve(which, X);
  AC_.middleCols(first, end - first) = X;
  body_.solve(which, X);
  if (!rayleigh_) return multiply_system(first, end);
  // A(h) = (1/h + α) M + (h + β) K, so A(dt) X is a sum of A(h) X and M X.
  const double h = time_step(which);
  const auto [alpha, beta] = *rayleigh_;
  const double share = (dt_ + beta) / (h + beta), mass_share = 1.0 / dt_ + alpha - share * (1.0 / h + alpha);
  for (int i = first; i < end; ++i) AC_.col(i) = share * AC_.col(i) + mass_share * mass_.cwiseProduct(C_.col(i));
}

/// The same for answers to loads, or what follows on them: those of earlier steps are taken where there are any, and a
/// few of them renewed.
void Reduction::solve_loads(int which, std::span<const Load> loads, bool echo, int first) {
  const int end = first + static_cast<int>(loads.size());
  if (!aged_) return solve(which, first, end);
  constexpr int kRenewed = 12;
  AnswerMemory& memory = *answer_memory_[as_size(which)];
  std::vector<int> columns;  // to be solved for
  int renewed = 0;
  for (int i = first; i < end; ++i) {
    const Load& load = loads[as_size(i - first)];
    const int known = memory.find({load.vertex, load.axis, echo});
    const bool old = known >= 0 && memory.generation(known) < aged_->generation(which) && renewed < kRenewed;
    if (known < 0 || old)
      columns.push_back(i);
    else
      C_.col(i) = memory.answer(known);
    renewed += old ? 1 : 0;
  }
  Eigen::MatrixXd solved = C_(Eigen::all, columns);
  if (!columns.empty()) aged_->solve(which, solved);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const Load& load = loads[as_size(columns[k] - first)];
    C_.col(columns[k]) = solved.col(static_cast<Eigen::Index>(k));
    memory.answer(memory.add({load.vertex, load.axis, echo}, aged_->generation(which))) = C_.col(columns[k]);
  }
}

/// What follows on motions: A(ΔT)⁻¹M times those.
void Reduction::add_echoes(int first, int vectors) {
  C_.middleCols(count_, vectors) = mass_.asDiagonal() * C_.middleCols(first, vectors);
  solve(kStep, count_, count_ + vectors);
  count_ += vectors;
}

/// From column `first` on. Returns the end of them.
int Reduction::add_answers(int which, std::span<const Load> loads, int first) {
  int end = first;
  for (const Load& load : loads) {
    rank_[as_size(end)] = load.rank;
    C_.col(end).setZero();
    add_to_nodes(load.vertex, Vec3::Unit(load.axis), C_.col(end++));
  }
  solve_loads(which, loads, false, first);
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
  if (!(aged_ ? aged_->advance(which) : body_.factor(which))) return false;
  Eigen::MatrixXd X(mass_.size(), own_ / 2 - 1);
  if (own_ > 4) {
    X.col(1) = push_force_;
    turn_ahead(X.col(1));
  }
  if (aged_) {  // as FemBody's free motion, with the factor that there is
    body_.stiffness().multiply(flat(body_.velocities()), X.col(0));
    X.col(0) = flat(body_.forces()) - time_step(which) * X.col(0);
    clear_prescribed(X.col(0));
    solve_well(which, X);
  } else {
    Eigen::VectorXd free(mass_.size());
    body_.compute_free_motion(which, as_nodes(free));
    X.col(0) = free;
    body_.solve(which, X.rightCols(X.cols() - 1));
  }
  const int at = which == kTick ? 2 : 3;
  for (int i = 0; i < X.cols(); ++i) C_.col(at + 2 * i) = X.col(i);
  Eigen::MatrixXd& W = which == kTick ? W_ : W_step_;
  W.setZero(rows_.rows(), rows_.rows());
  return aged_ ? aged_->add_compliance(which, rows_, W) : body_.add_compliance(which, rows_, W);
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
  const int later = std::max(0, static_cast<int>(predicted_.cols()) - 1);
  const auto changes = static_cast<int>(force_changes_.cols());
  must_ = own_ + later + changes + (free_body_ ? kRigidMotions : 0);
  const int sudden = must_ + kStateEchoes * own_, lasting = sudden + static_cast<int>(quick_.size());
  bool has_tick = false, has_step = false;
  const auto answer_in_a_tick = [&] {
    has_tick = begin_answers(kTick);
    if (has_tick) add_answers(kTick, quick_, sudden);
  };
  do_both(answer_in_a_tick, [&] {
    has_step = begin_answers(kStep);
    if (!has_step) return;
    choose_loads((large_ ? kLargeBodyStates : kMaxStates) + kSpare - lasting);
    add_answers(kStep, loads_, lasting);
  });
  if (!has_tick || !has_step) return false;
  C_.col(0) = start_velocity_;
  C_.col(1).setZero();
  if (predicted_.cols() > 0) C_.col(1) = predicted_.col(0);
  C_.middleCols(own_, later) = predicted_.rightCols(later);
  for (int i = 0; i < own_ + later; ++i) clear_prescribed(C_.col(i));
  solve_well(kStep, force_changes_);
  C_.middleCols(own_ + later, changes) = force_changes_;
  if (free_body_) set_rigid_motions(own_ + later + changes);
  multiply_system(0, must_);
  count_ = must_;
  for (int round = 0; round < kStateEchoes; ++round) add_echoes(round == 0 ? 0 : count_ - own_, own_);
  // What follows on the answers.
  const int end = lasting + static_cast<int>(loads_.size()), echoes = std::min<int>(kEchoes, end - lasting);
  C_.middleCols(end, echoes) = mass_.asDiagonal() * C_.middleCols(lasting, echoes);
  solve_loads(kStep, {loads_.data(), as_size(echoes)}, true, end);
  for (int i = 0; i < echoes; ++i) rank_[as_size(end + i)] = kEchoRank * rank_[as_size(lasting + i)];
  count_ = end + echoes;
  if (!aged_) return true;
  const int middle = (must_ + count_) / 2;
  const auto multiply_first = [&] { multiply_system(must_, middle); };
  do_both(multiply_first, [&] { multiply_system(middle, count_); });
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
  const VectorChoice choice(
      gram, {rank_.data(), as_size(count_)},
      {.must = must_, .most = large_ ? kLargeBodyStates : kMaxStates, .least_share = kLeastShare});
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
