#include <algorithm>
#include <cmath>

#include "reduced/flat.h"
#include "reduced/reduction.h"

// Where a body will be when its model comes and while that is used.
namespace palpate::reduced {
namespace {

/// All nodes are stepped ahead in so many steps where a slow period is short: there is no time for more. While a longer
/// one lasts the body sways on, and is held where the basis lacks a velocity: one more step for each millisecond.
constexpr int kLeastSteps = 6, kMostSteps = 24;
constexpr double kShortPeriod = 0.05, kPeriodForAStep = 0.001;  // [s]
/// The most velocities that the basis is told of the time for which the model is used, in which half of the steps fall;
/// and the states of which one may be such a velocity.
constexpr int kMostSamples = 9, kStatesForASample = 12;

}  // namespace

/// How far the states go until the body is linearised and while the model is used, if the forces of the last period go
/// on. The fast loop will go that way until the model comes, for it has no other states; how fast nodes are on it goes
/// to predicted_, in frames that have not turned from the shape at rest.
Reduction::WayAhead Reduction::predict_states(double ahead) {
  const Basis& b = *followed_;
  const int r = b.states;
  const auto Phi = b.Phi.leftCols(r);
  force_ = start_elastic_ + b.force + push_force_;
  turn_nodes(force_, [&](std::size_t i) { return Mat3(turns_[i].transpose()); });
  const Eigen::VectorXd push = Phi.transpose() * force_;
  Eigen::MatrixXd samples = Eigen::MatrixXd::Zero(r, kSamples);
  Eigen::VectorXd q = Eigen::VectorXd::Zero(r), at_ahead = q, speed = speed_.head(r), change(r);
  const double end = end_of_use(ahead);
  predicted_.setZero(place_.size(), kSamples);
  int sample = 0;
  for (double t = 0.5 * dt_; t < end; t += dt_) {
    if (t < ahead) at_ahead = q;
    if (sample < kSamples && t > end - slow_period_ + sample * slow_period_ / (kSamples - 1) - dt_) {
      samples.col(sample) = q;
      predicted_.col(sample++).noalias() = Phi * speed;
    }
    change = push - b.damping_one * speed;
    change.noalias() -= b.K * (q + (dt_ + b.damping_stiffness) * speed);
    if (b.has_D) change.noalias() -= b.D * speed;
    subtract_turning(b.turning, q, change);
    speed += change;
    q += dt_ * speed;
  }
  for (Eigen::Index k = 0; k < kSamples; ++k)
    turn_nodes(predicted_.col(k), [&](std::size_t i) { return Mat3(b.turned[i].transpose()); });
  return {at_ahead, samples};
}

/// A step of all nodes, by the factor of A(h') that stands in the place of the tick's:
///   f − K (h v + h² (½ − β) a) − D (v + h (1 − γ) a) + M a = γh A(h') a₁,
///   x₁ = x + h v + h² ((½ − β) a + β a₁),  v₁ = v + h ((1 − γ) a + γ a₁).
/// K and D are those of the last model, in frames that turn with the elements; f are the forces where the nodes are.
void Reduction::step_nodes(const StepAhead& step, NodesAhead& nodes) {
  const auto [h, gamma, beta] = step;
  const std::vector<Mat3>& model_turned = bases_[newest_].turned;
  const auto to_model = [&](std::size_t i) { return Mat3(model_turned[i] * nodes.turned[i].transpose()); };
  Eigen::VectorXd way = h * nodes.velocity + h * h * (0.5 - beta) * nodes.acceleration;
  Eigen::VectorXd speed = nodes.velocity + h * (1.0 - gamma) * nodes.acceleration;
  Eigen::VectorXd next = nodes.elastic + followed_->force + push_force_ + mass_.cwiseProduct(nodes.acceleration);
  for (Eigen::VectorXd* x : {&way, &speed, &next}) turn_nodes(*x, to_model);
  Eigen::VectorXd held(way.size());
  if (rayleigh_) {  // K (way + β speed) + αM speed
    way += rayleigh_->beta * speed;
    next -= rayleigh_->alpha * mass_.cwiseProduct(speed);
  } else {
    body_.multiply_damping(speed, held);
    next -= held;
  }
  body_.stiffness().multiply(way, held);
  next -= held;
  clear_prescribed(next);
  body_.solve(kTick, next, scratch_[0]);
  next /= gamma * h;
  turn_nodes(next, [&](std::size_t i) { return Mat3(nodes.turned[i] * model_turned[i].transpose()); });
  nodes.place += h * nodes.velocity + h * h * ((0.5 - beta) * nodes.acceleration + beta * next);
  nodes.velocity += h * ((1.0 - gamma) * nodes.acceleration + gamma * next);
  nodes.acceleration.swap(next);
  compute_turned(as_nodes(nodes.place), 0, nodes.elastic, nodes.turned);
}

/// The same as predict_states() for all nodes, in count_steps() steps: where the body is linearised, and how fast nodes
/// are when the next model comes and while it is used. States cannot tell the basis what it lacks: where it keeps a
/// body from bending, they do not bend either. False if it is not known, as of a large body, which has no factor of
/// now.
///
/// The factor is that of factor_ahead(). The first step is one of implicit Euler
/// (γ = β = 1), which has no use for an acceleration and takes out what is locked in the states now. The others are
/// generalised α (Chung & Hulbert 1993) with αm = −1, αf = 0: of second order, and what is stiff dies away at once.
/// There γ = 3/2, and β = 9/8 instead of 1, so that 2M + γhD + βh²K is γh A(3h/4), which is Euler's matrix too.
bool Reduction::predict_nodes(double ahead, Eigen::VectorXd& place, Eigen::MatrixXd& velocities) {
  const double end = end_of_use(ahead), h = step_ahead_;
  if (!(h > 0.0)) return false;
  const int samples = count_samples();
  const int steps = std::clamp(static_cast<int>(std::lround(end / h + 1.0 - kFirstShare)), 1, 2 * count_steps());
  NodesAhead nodes{place_, flat(body_.velocities()), Eigen::VectorXd::Zero(place_.size()), start_elastic_,
                   start_turned_};
  place = place_;
  velocities.setZero(place_.size(), samples);  // one that lies beyond the last step is not in the basis
  const auto take = [&](double t) {            // what is wanted of the nearest step
    const auto is_near = [&](double wanted) { return std::abs(t - wanted) <= 0.5001 * h; };
    if (is_near(ahead)) place = nodes.place;
    for (int k = 0; k < samples; ++k) {
      if (!is_near(std::max(0.0, end - slow_period_ * (samples - 1 - k) / (samples - 1)))) continue;
      velocities.col(k) = nodes.velocity;
      turn_nodes(velocities.col(k), [&](std::size_t i) { return Mat3(nodes.turned[i].transpose()); });
    }
  };
  take(0.0);
  for (int k = 0; k < steps; ++k) {
    step_nodes(k == 0 ? StepAhead{kFirstShare * h, 1.0, 1.0} : StepAhead{h, 1.5, 1.125}, nodes);
    take((k + kFirstShare) * h);
  }
  return place.allFinite() && velocities.allFinite();
}

int Reduction::count_steps() const noexcept {
  if (large_) return kLeastSteps;  // it has fewer states, and a step of it takes long
  const double longer = (slow_period_ - kShortPeriod) / kPeriodForAStep;
  return static_cast<int>(std::lround(std::clamp(kLeastSteps + longer, double{kLeastSteps}, double{kMostSteps})));
}

int Reduction::count_samples() const noexcept {
  return std::min({count_steps() / 2, kMostSamples, std::max(kSamples, most_states_ / kStatesForASample)});
}

/// The factor by which all nodes will be stepped ahead for the next model, if that is used for as long as this one. It
/// takes the place of A(dt)'s, which this model needs no longer. None for a body so small that its states can do all:
/// they foresee all, tick by tick.
void Reduction::factor_ahead(double ahead) {
  const double h = end_of_use(ahead) / (count_steps() - 1 + kFirstShare);
  step_ahead_ = h > 0.0 && !aged_ && unknowns_ > most_states_ && body_.factor_instead(kTick, kFirstShare * h) ? h : 0.0;
}

/// RΦ of the model that the fast loop has times these states.
Eigen::VectorXd Reduction::turn_way(const Eigen::VectorXd& states) const {
  Eigen::VectorXd way = followed_->Phi.leftCols(states.size()) * states;
  turn_nodes(way, [&](std::size_t i) { return turns_[i]; });
  return way;
}

/// All forces, in frames that have not turned from the shape at rest, where the first and the last of these states have
/// the nodes. In the second thread.
void Reduction::ask_elements(const Eigen::MatrixXd& samples) {
  force_changes_.resize(place_.size(), 2);
  std::vector<Mat3> turned(turns_.size());
  Eigen::VectorXd forces;
  for (int k = 0; k < 2; ++k) {
    Eigen::VectorXd place = turn_way(k == 0 ? samples.leftCols<1>() : samples.rightCols<1>());
    place = place_ + limit_stretch(place, Way::kStraight) * place;
    compute_turned(as_nodes(place), 1, forces, turned);
    force_changes_.col(k) = forces + followed_->force;
    turn_nodes(force_changes_.col(k), [&](std::size_t i) { return Mat3(turned[i].transpose()); });
  }
}

/// The share of the way on which no edge of the surface changes by more than a part of its length. On a straight way
/// one that turns changes too.
double Reduction::limit_stretch(const Eigen::VectorXd& way, Way kind) const {
  constexpr double kMostStretch = 0.2;
  double most = kMostStretch;
  const BodySurface surface = body_.surface();
  const auto way_of = [&](int vertex) {
    Vec3 out = Vec3::Zero();
    for (const Weight& w : weights(vertex)) out += w.weight * way.segment<3>(3 * w.node);
    return out;
  };
  for (const auto& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int i = t[k], j = t[(k + 1) % 3];
      const Vec3 edge = surface.positions[as_size(i)] - surface.positions[as_size(j)], change = way_of(i) - way_of(j);
      const double length = edge.norm();
      most =
          std::max(most, (kind == Way::kStraight ? change.norm() : std::abs((edge + change).norm() - length)) / length);
    }
  }
  return kMostStretch / most;
}

/// Takes the body to where it will be, and begins to linearise it there.
void Reduction::go_ahead(double ahead) {
  place_ = flat(body_.positions());
  compute_turned(body_.positions(), 0, start_elastic_, start_turned_);
  ahead_place_ = place_;
  elastic_ = start_elastic_;
  ahead_turned_ = start_turned_;
  predicted_.resize(place_.size(), 0);
  force_changes_.resize(place_.size(), 0);
  if (!(ahead > 0.0) || !followed_) return linearise();
  WayAhead by_states;
  Eigen::VectorXd place;
  Eigen::MatrixXd velocities;
  bool knows_nodes = false;
  const auto ask_states = [&] {
    by_states = predict_states(ahead);
    if (by_states.samples.allFinite()) ask_elements(by_states.samples);
  };
  do_both(ask_states, [&] { knows_nodes = predict_nodes(ahead, place, velocities); });
  if (knows_nodes) predicted_.swap(velocities);
  Eigen::VectorXd way = knows_nodes ? Eigen::VectorXd(place - place_) : turn_way(by_states.states);
  way *= limit_stretch(way, knows_nodes ? Way::kTurning : Way::kStraight);
  if (!way.allFinite() || !predicted_.allFinite()) {
    predicted_.resize(place_.size(), 0);
    force_changes_.resize(place_.size(), 0);
    return linearise();
  }
  // Edges are as long as the surface is now, so the body stays where it is until both have looked.
  ahead_place_ += way;
  compute_turned(as_nodes(ahead_place_), 0, elastic_, ahead_turned_);
  body_.set_positions(as_nodes(ahead_place_));
  const auto to_ahead = [&](std::size_t i) { return ahead_turned_[i]; };
  for (Eigen::Index k = 0; k < predicted_.cols(); ++k) turn_nodes(predicted_.col(k), to_ahead);
  if (!force_changes_.allFinite()) force_changes_.resize(place_.size(), 0);
  for (Eigen::Index k = 0; k < force_changes_.cols(); ++k) {
    turn_nodes(force_changes_.col(k), to_ahead);
    force_changes_.col(k) -= elastic_ + followed_->force;
    clear_prescribed(force_changes_.col(k));
  }
  linearise();
}

/// Where the body has been taken.
void Reduction::linearise() {
  start_velocity_ = flat(body_.velocities());
  turn_ahead(start_velocity_);
  // Free motions are those from where the body is. What the forces ahead differ by from those that act there moves
  // nothing yet: it is taken away for the time being, as if it came from outside.
  const std::span<Vec3> outside = body_.external_forces();
  const Eigen::VectorXd kept = flat(outside);
  force_ = start_elastic_;
  turn_ahead(force_);
  flat(outside) += force_ - elastic_;
  body_.begin_linearise(std::array{slow_period_, dt_});
  flat(outside) = kept;
}

}  // namespace palpate::reduced
