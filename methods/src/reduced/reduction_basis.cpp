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
constexpr double kEchoRank = 0.3;  // where there is no room for all, the answers themselves matter more …
constexpr int kFewStates = 60;     // … unless there are fewer states than this: then what may be touched matters less
constexpr int kRigidMotions = 6;
constexpr int kStateEchoes = 3;  // rounds of what follows on the states' own vectors
/// So many more vectors than there is room for are made: of some little is new beside the others.
constexpr int kSpare = 12;
constexpr int kMaxVectors = kMaxStates + kSpare + kEchoes;
/// A vector of which less than this share of its A-norm is new to the basis adds only rounding.
constexpr double kLeastShare = 1e-4;

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

/// A(dt) times columns of C, into AC.
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

/// Columns of C from what acts to what A(h) makes of it.
void Reduction::solve(int which, int first, int end, int thread) {
  if (first == end) return;
  auto X = C_.middleCols(first, end - first);
  aged_ ? aged_->solve(which, X) : body_.solve(which, X, scratch_[as_size(thread)]);
}

/// A(h) = (1/h + α) M + (h + β) K, so A(dt) x is a sum of A(h) x and M x.
Reduction::Shares Reduction::compute_shares(int which) const noexcept {
  const double h = time_step(which);
  const auto [alpha, beta] = *rayleigh_;
  const double share = (dt_ + beta) / (h + beta);
  return {share, 1.0 / dt_ + alpha - share * (1.0 / h + alpha)};
}

/// The same for answers to loads of a large body, or what follows on them: those of earlier steps are taken where there
/// are any, and a few of them renewed.
void Reduction::recall_answers(int which, std::span<const Load> loads, bool echo, int first) {
  const int end = first + static_cast<int>(loads.size());
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

/// What follows on motions: A(ΔT)⁻¹M times those, from column `first` on.
void Reduction::add_echoes(int of, int vectors, int first, int thread) {
  C_.middleCols(first, vectors) = mass_.asDiagonal() * C_.middleCols(of, vectors);
  for (int i = 0; i < vectors; ++i)
    sources_[as_size(first + i)] = {.kind = Source::Kind::kEcho, .which = kStep, .of = of + i};
  solve(kStep, first, first + vectors, thread);
}

/// What follows on the answers to the first of the lasting loads, which are in the columns from `of` on.
void Reduction::add_load_echoes(int of, int vectors, int first, int thread) {
  const double share = most_states_ < kFewStates ? 1.0 : kEchoRank;
  for (int i = 0; i < vectors; ++i) rank_[as_size(first + i)] = share * rank_[as_size(of + i)];
  if (!aged_) return add_echoes(of, vectors, first, thread);
  C_.middleCols(first, vectors) = mass_.asDiagonal() * C_.middleCols(of, vectors);
  recall_answers(kStep, {loads_.data(), as_size(vectors)}, true, first);
}

/// Their rows of W; none if some are not in the patch.
std::vector<int> Reduction::find_rows(std::span<const Load> loads) const {
  std::vector<int> rows;
  for (const Load& load : loads) {
    const auto at = std::find(patch_.begin(), patch_.end(), load.vertex);
    if (at == patch_.end()) return {};
    rows.push_back(static_cast<int>(3 * (at - patch_.begin())) + load.axis);
  }
  return rows;
}

/// From column `first` on.
void Reduction::add_answers(int which, std::span<const Load> loads, int first, int thread) {
  if (loads.empty()) return;
  const auto count = static_cast<int>(loads.size());
  for (int i = 0; i < count; ++i) {
    rank_[as_size(first + i)] = loads[as_size(i)].rank;
    sources_[as_size(first + i)] = {.kind = Source::Kind::kLoad, .which = which, .load = loads[as_size(i)]};
  }
  // W was made of the same forces, and half of the way to the answers was gone for it.
  const std::vector<int> rows = aged_ ? std::vector<int>() : find_rows(loads);
  if (!rows.empty())
    return body_.solve_rows_of_compliance(which, rows, C_.middleCols(first, count), scratch_[as_size(thread)]);
  C_.middleCols(first, count).setZero();
  for (int i = 0; i < count; ++i)
    add_to_nodes(loads[as_size(i)].vertex, Vec3::Unit(loads[as_size(i)].axis), C_.col(first + i));
  aged_ ? recall_answers(which, loads, false, first) : solve(which, first, first + count, thread);
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

/// The first columns, which have to be in the basis, but for those that begin_answers() makes.
void Reduction::set_own_vectors() {
  const auto changes = static_cast<int>(force_changes_.cols());
  const int later = must_ - own_ - changes - (free_body_ ? kRigidMotions : 0);
  C_.col(0) = start_velocity_;
  C_.col(1).setZero();
  if (predicted_.cols() > 0) C_.col(1) = predicted_.col(0);
  C_.middleCols(own_, later) = predicted_.rightCols(later);
  for (int i = 0; i < own_ + later; ++i) clear_prescribed(C_.col(i));
  solve_well(kStep, force_changes_);
  C_.middleCols(own_ + later, changes) = force_changes_;
  if (free_body_) set_rigid_motions(own_ + later + changes);
}

/// False if the body's systems could not be factored.
bool Reduction::make_vectors() {
  C_.resize(mass_.size(), kMaxVectors);
  rank_.assign(kMaxVectors, 1.0);
  sources_.assign(kMaxVectors, {});
  rows_.clear();
  for (const int v : patch_) {
    for (int k = 0; k < 3; ++k) {
      rows_.begin_row();
      for (const Weight& w : weights(v)) rows_.add(w.node, w.weight * Vec3::Unit(k));
    }
  }
  own_ = push_force_.isZero(0.0) ? 4 : 6;
  const int later = std::max(0, static_cast<int>(predicted_.cols()) - 1);
  must_ = own_ + later + static_cast<int>(force_changes_.cols()) + (free_body_ ? kRigidMotions : 0);
  const int sudden = must_ + kStateEchoes * own_, lasting = sudden + static_cast<int>(quick_.size());
  bool has_tick = false, has_step = false;
  const auto begin_tick = [&] { has_tick = begin_answers(kTick); };
  do_both(begin_tick, [&] {
    has_step = begin_answers(kStep);
    if (has_step) choose_loads(std::max(0, most_states_ + kSpare - lasting));
  });
  if (!has_tick || !has_step) return false;
  const int end = lasting + static_cast<int>(loads_.size()), echoes = std::min<int>(kEchoes, end - lasting);
  count_ = end + echoes;
  AC_.resize(mass_.size(), knows_sources() ? must_ : count_);
  // The first lasting answers and what follows on them in one thread, the states' own and what follows on those in the
  // other, with so many of the answers that both take about as long. Old factors are for one thread at a time.
  const std::span<const Load> loads = loads_;
  constexpr int kMoreBeside = 12;
  const int first_loads = std::min(echoes + kMoreBeside, end - lasting);
  const auto answer_first_loads = [&](int thread) {
    add_answers(kStep, loads.first(as_size(first_loads)), lasting, thread);
    add_load_echoes(lasting, echoes, end, thread);
  };
  const auto answer_beside = [&] {
    add_answers(kTick, quick_, sudden, 1);
    if (!aged_) answer_first_loads(1);
  };
  do_both(answer_beside, [&] {
    if (aged_) answer_first_loads(0);
    set_own_vectors();
    for (int round = 0; round < kStateEchoes; ++round)
      add_echoes(round == 0 ? 0 : must_ + (round - 1) * own_, own_, must_ + round * own_, 0);
    add_answers(kStep, loads.subspan(as_size(first_loads)), lasting + first_loads, 0);
    if (knows_sources()) multiply_system(0, must_);
  });
  if (knows_sources()) return true;
  const auto multiply_first = [&] { multiply_system(0, count_ / 2); };
  do_both(multiply_first, [&] { multiply_system(count_ / 2, count_); });
  return true;
}

/// Of these rows of C and AC: CᵀMC, if it is of use, and AC's columns times C. Lower triangles, where they are square.
void Reduction::compute_products(Eigen::Index first, Eigen::Index rows, Eigen::MatrixXd& mass,
                                 Eigen::MatrixXd& system) const {
  const auto C = C_.block(first, 0, rows, count_);
  const auto AC = AC_.middleRows(first, rows);
  if (!knows_sources()) {
    system.resize(count_, count_);
    system.triangularView<Eigen::Lower>() = C.transpose() * AC;
    return;
  }
  system.noalias() = C.transpose() * AC;
  mass.setZero(count_, count_);
  constexpr Eigen::Index kBlock = 384;  // rows, so that they stay in a cache
  Eigen::MatrixXd root(kBlock, count_);
  for (Eigen::Index at = 0; at < rows; at += kBlock) {
    const Eigen::Index n = std::min(kBlock, rows - at);
    root.topRows(n) = root_mass_.segment(first + at, n).asDiagonal() * C.middleRows(at, n);
    mass.selfadjointView<Eigen::Lower>().rankUpdate(root.topRows(n).transpose());
  }
}

/// CᵀA(dt)C: of the first columns it is `system`, and of the others it follows from what they answer to.
Eigen::MatrixXd Reduction::compute_gram(const Eigen::MatrixXd& system) const {
  Eigen::MatrixXd gram(count_, count_);
  gram.leftCols(system.cols()) = system;
  for (auto j = static_cast<int>(system.cols()); j < count_; ++j) {
    const Source& source = sources_[as_size(j)];
    const Shares shares = compute_shares(source.which);
    for (int i = j; i < count_; ++i) {
      double f = 0.0;
      if (source.kind == Source::Kind::kEcho) {
        f = mass_products_(i, source.of);
      } else {
        for (const Weight& w : weights(source.load.vertex)) f += w.weight * C_(3 * w.node + source.load.axis, i);
      }
      gram(i, j) = shares.of_source * f + shares.of_mass * mass_products_(i, j);
    }
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

/// Which columns the basis and S are made of: those chosen; those that they follow on; and of those chosen whose A(dt)c
/// is in AC, that, as numbers from C's columns on.
void Reduction::list_taken() {
  taken_columns_ = chosen_;
  taken_at_.assign(as_size(C_.cols() + AC_.cols()), -1);
  const auto note = [&] {
    for (std::size_t k = 0; k < taken_columns_.size(); ++k) taken_at_[as_size(taken_columns_[k])] = static_cast<int>(k);
  };
  note();
  for (const int j : chosen_) {
    const Source& source = sources_[as_size(j)];
    const bool multiplied = source.kind == Source::Kind::kNone || !knows_sources();
    const int needed = multiplied ? static_cast<int>(C_.cols()) + j : source.of;
    if (!multiplied && source.kind != Source::Kind::kEcho) continue;
    if (taken_at_[as_size(needed)] >= 0) continue;
    taken_columns_.push_back(needed);
    note();
  }
}

/// Puts these rows of those columns side by side. If Mc is known, that of AC's columns is AC divided by the masses.
void Reduction::take_rows(Eigen::Index first, Eigen::Index rows) {
  for (std::size_t k = 0; k < taken_columns_.size(); ++k) {
    auto to = taken_.col(static_cast<Eigen::Index>(k)).segment(first, rows);
    const Eigen::Index j = taken_columns_[k] - C_.cols();
    if (j < 0)
      to = C_.col(taken_columns_[k]).segment(first, rows);
    else if (knows_sources())
      to = AC_.col(j).segment(first, rows).cwiseQuotient(mass_.segment(first, rows));
    else
      to = AC_.col(j).segment(first, rows);
  }
}

/// Φ of those vectors, orthonormal with A(dt).
void Reduction::make_basis(Basis& basis) {
  // Products are sums over the nodes, half of them beside the other half.
  const Eigen::Index all = C_.rows(), half = all / 2;
  Eigen::MatrixXd system, other_mass, other_system;
  const auto multiply_half = [&] { compute_products(0, half, other_mass, other_system); };
  do_both(multiply_half, [&] { compute_products(half, all - half, mass_products_, system); });
  system += other_system;
  if (knows_sources()) {
    mass_products_ += other_mass;
    mass_products_.triangularView<Eigen::StrictlyUpper>() = mass_products_.transpose();
  }
  const VectorChoice choice(compute_gram(system), {rank_.data(), as_size(count_)},
                            {.must = must_, .most = most_states_, .least_share = kLeastShare});
  // The chosen vectors are Φ Lᵀ.
  chosen_ = choice.chosen();
  factor_ = choice.factor();
  const auto r = static_cast<int>(chosen_.size());
  inverse_.setIdentity(r, r);
  factor_.triangularView<Eigen::Lower>().solveInPlace(inverse_);
  list_taken();
  taken_.resize(all, static_cast<Eigen::Index>(taken_columns_.size()));
  const auto combine = [&](Eigen::Index first, Eigen::Index rows) {
    take_rows(first, rows);
    auto Phi = basis.Phi.middleRows(first, rows);
    Phi.leftCols(r).noalias() = taken_.block(first, 0, rows, r) * inverse_.transpose().triangularView<Eigen::Upper>();
    Phi.rightCols(kMaxStates - r).setZero();
  };
  const auto combine_half = [&] { combine(0, half); };
  do_both(combine_half, [&] { combine(half, all - half); });
  basis.states = r;
}

}  // namespace palpate::reduced
