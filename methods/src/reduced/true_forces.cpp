#include "reduced/true_forces.h"

#include <algorithm>

#include "reduced/flat.h"

namespace palpate::reduced {
namespace {

/// Of a tick, in nodes; a piece of the elements takes as long as two. About 0.05 ms: a body of some hundred tets is
/// looked at in every tick, one of some thousand in every tenth.
constexpr int kWork = 400;
constexpr int kPieceWork = 2;
/// Models that live longer than two of these are left to themselves [s]: at 10 Hz bodies go so far from where they were
/// linearised that what the elements say swung two of twelve scenes up.
constexpr double kLongestPeriod = 0.06;

}  // namespace

TrueForces::TrueForces(std::unique_ptr<ElasticForces> elements, int nodes, double dt, double slow_period)
    : elements_(std::move(elements)),
      dt_(dt),
      is_trusted_(slow_period <= kLongestPeriod),
      look_ticks_((2 * nodes + kPieceWork * elements_->pieces() + kWork - 1) / kWork),
      places_(as_size(nodes), Vec3::Zero()),
      forces_(places_),
      looked_(Eigen::VectorXd::Zero(kMaxStates)),
      known_(looked_),
      force_(looked_),
      pull_(looked_),
      change_(looked_),
      scratch_(looked_),
      single_states_(Eigen::VectorXf::Zero(kMaxStates)),
      sum_(single_states_),
      single_forces_(Eigen::VectorXf::Zero(3 * nodes)) {}

/// What a model lacks acts explicitly and late. A force of relative size ε that is late by L takes εL of the damping
/// that goes with the stiffness, β of the material and dt of the backward Euler step, or swings up what has less. So no
/// more is taken than that share of what the model has.
double TrueForces::compute_most_lacking(const BodyView<const double>& model) const noexcept {
  if (!is_trusted_) return 0.0;
  constexpr double kMeanAge = 1.5;  // of a look, in looks
  const double beta = model.has_D != 0.0 ? 0.0 : model.damping_stiffness;
  return std::min(1.0, (beta + dt_) / (kMeanAge * look_ticks_ * dt_));
}

void TrueForces::set_pull(const BodyView<const double>& model, const Eigen::Ref<const Eigen::VectorXd>& force,
                          const Eigen::Ref<const Eigen::VectorXd>& q) noexcept {
  const int r = static_cast<int>(model.states);
  // What the model itself has for the change of the forces from x₀ to here, and what it lacks.
  change_.setZero();
  change_.head(r).noalias() -= model.K.topLeftCorner(r, r) * q.head(r);
  subtract_turning(model.turning.topLeftCorner(r, std::min(r, kTurningStates)), q.head(r), change_.head(r));
  pull_ = force - model.elastic - change_;
  const double lacks = pull_.norm(), most = compute_most_lacking(model) * change_.norm();
  if (lacks > most) pull_ *= most / lacks;
  pull_ += model.elastic;
}

void TrueForces::begin(const BodyView<const double>& model) noexcept {
  set_pull(model, model.start_elastic, model.start_place);
}

void TrueForces::forget() noexcept {
  has_forces_ = false;
  phase_ = Phase::kPlace;
  at_ = 0;
}

void TrueForces::keep(const BodyView<const double>& model, const Eigen::VectorXd& old_q,
                      const Eigen::VectorXd& q) noexcept {
  if (phase_ == Phase::kPlace) at_ = 0;  // nodes would lie where two models have them
  for (Eigen::VectorXd* states : {&looked_, &known_}) {
    scratch_ = old_q - *states;
    *states = q;
    states->noalias() -= model.seen.transpose() * scratch_;
  }
  if (!has_forces_) return;
  // At once: with the forces of the model's start, a slow period old, slender bodies would swing up until the next
  // look.
  sum_.setZero();
  project(model, 0, static_cast<int>(forces_.size()));
  finish_look(model);
  if (phase_ == Phase::kProject) {  // that was it
    phase_ = Phase::kPlace;
    at_ = 0;
  }
}

void TrueForces::finish_look(const BodyView<const double>& model) noexcept {
  force_ = sum_.cast<double>();
  set_pull(model, force_, known_);
}

void TrueForces::project(const BodyView<const double>& model, int first, int end) noexcept {
  const Eigen::Map<const Eigen::VectorXd> forces(forces_[as_size(first)].data(), 3 * (end - first));
  auto single = single_forces_.segment(3 * first, 3 * (end - first));
  single = forces.cast<float>();
  sum_.noalias() += model.node_Phi.middleRows(3 * first, 3 * (end - first)).transpose() * single;
}

void TrueForces::work(const BodyView<const double>& model, const Eigen::VectorXd& q) noexcept {
  if (!is_trusted_) return;
  if (phase_ == Phase::kPlace && at_ == 0) {
    looked_ = q;
    single_states_ = q.cast<float>();
  }
  int left = kWork;
  do {
    left -= go_on(model, left);
  } while (left > 0 && !(phase_ == Phase::kPlace && at_ == 0));
}

/// Does at most as much of a phase as `left` allows, but something; returns what that was.
int TrueForces::go_on(const BodyView<const double>& model, int left) noexcept {
  const bool elements = phase_ == Phase::kElements;
  const int first = at_, all = elements ? elements_->pieces() : static_cast<int>(places_.size());
  const int unit = elements ? kPieceWork : 1;
  at_ = std::min(all, at_ + std::max(1, left / unit));
  const int count = at_ - first;
  switch (phase_) {
    case Phase::kPlace: {
      auto way = single_forces_.segment(3 * first, 3 * count);
      way.noalias() = model.node_Phi.middleRows(3 * first, 3 * count) * single_states_;
      Eigen::Map<Eigen::VectorXd>(places_[as_size(first)].data(), 3 * count) =
          model.node_place.segment(3 * first, 3 * count) + way.cast<double>();
      if (at_ == all) elements_->begin(places_);
      break;
    }
    case Phase::kElements:
      elements_->add(first, at_);
      if (at_ < all) break;
      elements_->finish(forces_);
      known_ = looked_;
      has_forces_ = true;
      sum_.setZero();
      break;
    case Phase::kProject:
      project(model, first, at_);
      if (at_ == all) finish_look(model);
      break;
  }
  if (at_ == all) {
    at_ = 0;
    phase_ = phase_ == Phase::kPlace ? Phase::kElements : phase_ == Phase::kElements ? Phase::kProject : Phase::kPlace;
  }
  return unit * count;
}

}  // namespace palpate::reduced
