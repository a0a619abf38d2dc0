#include "reduced/nodes.h"

#include <algorithm>
#include <utility>

namespace palpate::reduced {
namespace {

/// Of a tick, in nodes; a piece of the elements takes as long as two. About 0.05 ms: a body of some hundred tets is
/// looked at in every tick, one of some thousand in every tenth.
constexpr int kWork = 400;
constexpr int kPieceWork = 2;
constexpr int kNodesAtOnce = 4 * kWork;
/// Ticks that a look takes from which on it is worth while to tell what the next one will say. What is only a few ticks
/// old is as good, and does not tell of a contact's every start as if it went on.
constexpr int kLeadFrom = 4;
/// Nodes whose rows of Φ stay in the first cache between two products with them.
constexpr int kChunk = 24;

}  // namespace

Nodes::Nodes(std::unique_ptr<ElasticForces> elements, int nodes, double dt)
    : elements_(std::move(elements)),
      dt_(dt),
      leads_((2 * nodes + kPieceWork * elements_->pieces() + kWork - 1) / kWork >= kLeadFrom),
      places_(as_size(nodes), Vec3::Zero()),
      forces_(places_),
      turned_(places_.size(), Mat3::Identity()),
      turns_(turned_),
      base_(Eigen::VectorXd::Zero(kMaxStates)),
      force_(base_),
      pull_(base_),
      lacked_(base_),
      way_(base_),
      next_places_(places_),
      next_forces_(places_),
      next_moves_(places_),
      next_turned_(turned_),
      next_turns_(turned_),
      looked_(base_),
      since_(Eigen::VectorXf::Zero(kMaxStates)),
      speed_(since_),
      sum_(since_),
      momentum_(since_),
      scratch_(base_),
      last_pull_(base_),
      chunk_(Eigen::VectorXf::Zero(3 * kChunk)),
      second_chunk_(chunk_) {}

/// pull = ΦᵀRᵀf + (K + T) q_e. Where q_e is zero it is the force.
void Nodes::set_pull(const BodyView<const double>& model) noexcept {
  const int r = static_cast<int>(model.states);
  scratch_.setZero();
  scratch_.head(r).noalias() -= model.K.topLeftCorner(r, r) * base_.head(r);
  subtract_turning(model.turning.topLeftCorner(r, std::min(r, kTurningStates)), base_.head(r), scratch_.head(r));
  pull_ = force_ - scratch_;
}

void Nodes::begin(const BodyView<const double>& model) noexcept {
  for (int i = 0; i < count(); ++i) {
    places_[as_size(i)] = model.node_start.segment<3>(3 * i);
    turned_[as_size(i)] = model.start_turn(i);
    turns_[as_size(i)] = model.start_turn(i) * model.turn(i).transpose();
  }
  has_forces_ = false;
  rests_ = true;
  base_.setZero();
  force_ = model.start_force;
  lacked_.setZero();
  pull_ = force_;
  guard_.forget();
  phase_ = Phase::kPlace;
  at_ = 0;
}

void Nodes::carry(const BodyView<const double>& model, Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> speed) noexcept {
  rests_ = true;
  // Nodes that were on their way went by a basis that is gone. They set out anew; what was asked of the elements holds.
  if (phase_ == Phase::kPlace) at_ = 0;
  looked_ -= base_;
  scratch_.noalias() = model.carry * looked_;
  looked_ = scratch_;
  q -= base_;
  scratch_.noalias() = model.carry * q;
  q = scratch_;
  scratch_.noalias() = model.carry * speed;
  speed = scratch_;
  base_.setZero();
  for (int i = 0; i < count(); ++i) turns_[as_size(i)] = turned_[as_size(i)] * model.turn(i).transpose();
  scratch_.noalias() = model.carry * lacked_;  // forces go over as states do where A(dt) is one in both bases
  lacked_ = scratch_;
  scratch_.noalias() = model.carry * way_;
  way_ = scratch_;
  force_ = model.start_force;
  if (has_forces_) {  // those in the new basis, at once
    sum_.setZero();
    project(model, forces_, turns_, 0, count());
    force_ = sum_.cast<double>();
  }
  pull_ = force_;
  if (phase_ == Phase::kProject) {
    at_ = 0;
    sum_.setZero();
    momentum_.setZero();
  }
}

void Nodes::start_look(const BodyView<const double>& model, const Eigen::VectorXd& q,
                       const Eigen::Ref<const Eigen::VectorXd>& speed, double work) noexcept {
  looked_ = q;
  since_ = (q - base_).cast<float>();
  speed_ = speed.cast<float>();
  multiply_mass(model, dt_, speed, scratch_);
  looked_kinetic_ = 0.5 * speed.dot(scratch_);
  looked_work_ = work;
}

double Nodes::compute_lead(const Eigen::VectorXd& q) const noexcept {
  constexpr double kMost = 2.0;  // looks are about as far apart as what they say is old
  return !leads_ ? 0.0 : std::clamp(way_.dot(q) - way_.dot(base_), -kMost, kMost);
}

bool Nodes::work(const BodyView<const double>& model, const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> speed,
                 double work) noexcept {
  if (std::exchange(rests_, false)) return false;
  if (phase_ == Phase::kPlace && at_ == 0) start_look(model, q, speed, work);
  ended_ = false;
  int left = kWork;
  do {
    left -= go_on(model, left);
  } while (left > 0 && !ended_);
  if (!ended_) return false;
  speed += momentum_.cast<double>() / dt_;  // as an impulse in a tick, in which A(dt) is one
  scratch_ = pull_ - last_pull_;
  guard_.take_out(model, dt_, scratch_, speed);
  return true;
}

void Nodes::place(const BodyView<const double>& model, int first, int end) noexcept {
  for (; first < end; first += kChunk) {
    const int n = std::min(kChunk, end - first);
    const auto Phi = model.node_Phi.middleRows(3 * first, 3 * n);
    chunk_.head(3 * n).noalias() = Phi * since_;
    second_chunk_.head(3 * n).noalias() = Phi * speed_;
    for (int k = 0; k < n; ++k) {
      const std::size_t i = as_size(first + k);
      next_places_[i] = places_[i] + turns_[i] * chunk_.segment<3>(3 * k).cast<double>();
      next_moves_[i] = turns_[i] * second_chunk_.segment<3>(3 * k).cast<double>();
    }
  }
}

/// Adds ΦᵀRᵀ of the nodes' forces to sum_, and unless R is what it was, of their momentum less what it was before.
void Nodes::project(const BodyView<const double>& model, std::span<const Vec3> forces, std::span<const Mat3> turns,
                    int first, int end) noexcept {
  const bool turned_on = turns.data() != turns_.data();
  for (; first < end; first += kChunk) {
    const int n = std::min(kChunk, end - first);
    const auto Phi = model.node_Phi.middleRows(3 * first, 3 * n).transpose();
    for (int k = 0; k < n; ++k) {
      const Vec3 force = forces[as_size(first + k)] + model.node_force.segment<3>(3 * (first + k));
      chunk_.segment<3>(3 * k) = (turns[as_size(first + k)].transpose() * force).cast<float>();
    }
    sum_.noalias() += Phi * chunk_.head(3 * n);
    if (!turned_on) continue;
    for (int k = 0; k < n; ++k) {
      const std::size_t i = as_size(first + k);
      const Vec3 turned = (turns[i] - turns_[i]).transpose() * next_moves_[i];
      second_chunk_.segment<3>(3 * k) = (model.node_mass[first + k] * turned).cast<float>();
    }
    momentum_.noalias() += Phi * second_chunk_.head(3 * n);
  }
}

void Nodes::end_elements(const BodyView<const double>& model) noexcept {
  elastic_energy_ = elements_->finish(next_forces_);
  double energy = looked_kinetic_ + elastic_energy_;
  for (int i = 0; i < count(); ++i) energy -= model.node_force.segment<3>(3 * i).dot(next_places_[as_size(i)]);
  guard_.see(energy, looked_work_);
  sum_.setZero();
  momentum_.setZero();
}

/// Does at most as much of a phase as `left` allows, but something; returns what that was.
int Nodes::go_on(const BodyView<const double>& model, int left) noexcept {
  const bool elements = phase_ == Phase::kElements;
  const int first = at_, all = elements ? elements_->pieces() : count();
  const int unit = elements ? kPieceWork : 1;
  at_ = std::min(all, at_ + std::max(1, left / unit));
  // Of a body that is not large all nodes at once: one that is looked at when a model comes is not begun anew.
  if (!elements && all <= kNodesAtOnce) at_ = all;
  switch (phase_) {
    case Phase::kPlace:
      place(model, first, at_);
      if (at_ == all) elements_->begin(next_places_);
      break;
    case Phase::kElements:
      elements_->add(first, at_);
      if (at_ == all) end_elements(model);
      break;
    case Phase::kProject: {
      const auto turned = std::span(next_turned_).subspan(as_size(first), as_size(at_ - first));
      elements_->compute_turns(first, at_, turned);
      for (int i = first; i < at_; ++i) next_turns_[as_size(i)] = next_turned_[as_size(i)] * model.turn(i).transpose();
      project(model, next_forces_, next_turns_, first, at_);
      if (at_ < all) break;
      places_.swap(next_places_);
      forces_.swap(next_forces_);
      turned_.swap(next_turned_);
      turns_.swap(next_turns_);
      way_ = looked_ - base_;
      base_ = looked_;
      force_ = sum_.cast<double>();
      last_pull_ = pull_;
      set_pull(model);
      lacked_ = pull_ - last_pull_;
      if (const double length2 = way_.squaredNorm(); length2 > 0.0) way_ /= length2;
      has_forces_ = ended_ = true;
      break;
    }
  }
  const int done = unit * (at_ - first);
  if (at_ == all) {
    at_ = 0;
    phase_ = phase_ == Phase::kPlace ? Phase::kElements : phase_ == Phase::kElements ? Phase::kProject : Phase::kPlace;
  }
  return done;
}

}  // namespace palpate::reduced
