#include "reduced/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reduced/flat.h"

namespace palpate::reduced {
namespace {

constexpr int kNearVertices = 24;  // of the patch, by distance from the tools; the others bear
constexpr int kLoads = 32;         // vertices whose answers to a lasting force are in the basis
constexpr int kQuickLoads = 10;    // and to one within a tick
constexpr int kEchoes = 8;         // and what follows on it
constexpr double kEchoRank = 0.3;  // where there is no room for all, the answers themselves matter more
constexpr int kRigidMotions = 6;
constexpr int kStateVectors = 8;  // velocities now and later, free motions and the like
constexpr int kStateEchoes = 3;   // rounds of what follows on those
constexpr int kMaxVectors = kStateVectors * (1 + kStateEchoes) + kRigidMotions + 3 * (kLoads + kQuickLoads + kEchoes);
/// A vector of which less than this share of its A-norm is new to the basis adds only rounding.
constexpr double kLeastShare = 1e-5;

/// Each node's part of a vector times `find(node)`, 3 × 3.
template <typename Find>
void turn(Eigen::Ref<Eigen::VectorXd> nodes, const Find& find) {
  for (Eigen::Index i = 0; i < nodes.size() / 3; ++i) {
    auto x = nodes.segment<3>(3 * i);
    x = Vec3(find(static_cast<std::size_t>(i)) * x);
  }
}

}  // namespace

Reduction::Reduction(FemBody& body, double dt, double slow_period)
    : body_(body), dt_(dt), slow_period_(slow_period), weight_begin_(1, 0) {
  const BodySurface surface = body.surface();
  const auto vertices = static_cast<int>(surface.positions.size());
  std::vector<BodyPoint> corner(as_size(vertices));
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k)
      corner[as_size(surface.triangles[t][as_size(k)])] =
          BodyPoint::on_surface(static_cast<std::int32_t>(t), Vec3::Unit(k));
  }
  std::vector<BlockRows::Entry> entries(as_size(body.max_row_entries()));
  for (const BodyPoint& point : corner) {
    const int count = point.element < 0 ? 0 : body.compute_point_row(point, Vec3::UnitX(), entries);
    for (int i = 0; i < count; ++i) {
      const BlockRows::Entry& e = entries[as_size(i)];
      if (e.value.x() != 0.0 && !body.is_prescribed(e.block)) weights_.push_back({e.block, e.value.x()});
    }
    weight_begin_.push_back(static_cast<int>(weights_.size()));
  }
  const Eigen::Index n = 3 * body.node_count();
  for (Basis& b : bases_) {
    b.Phi.setZero(n, kMaxStates);
    b.APhi = b.Phi;
    b.turned.assign(as_size(body.node_count()), Mat3::Identity());
  }
  elements_ = body.make_elastic_forces();
  start_turned_ = ahead_turned_ = turns_ = bases_[0].turned;
  node_scratch_.resize(as_size(body.node_count()));
  speed_ = Eigen::VectorXd::Zero(kMaxStates);
  C_.resize(n, kMaxVectors);
  AC_.resize(n, kMaxVectors);
  T_.resize(kMaxVectors, kMaxStates);
  elastic_ = start_elastic_ = force_ = push_force_ = free_ = tick_free_ = scratch_ = Eigen::VectorXd::Zero(n);
  impulses_.assign(3 * as_size(vertices), 0.0);
  push_ = impulses_;
  for (int i = 0; i < body.node_count(); ++i) free_body_ = free_body_ && !body.is_prescribed(i);
  mass_.resize(n);
  const double alpha = body.damping_masses()[0] / body.masses()[0];
  bool uniform = body.uniform_stiffness_damping().has_value();
  for (int i = 0; i < body.node_count(); ++i) {
    mass_.segment<3>(3 * i).setConstant(body.masses()[as_size(i)]);
    const double error = body.damping_masses()[as_size(i)] - alpha * body.masses()[as_size(i)];
    uniform = uniform && std::abs(error) <= 1e-12 * (1.0 + alpha) * body.masses()[as_size(i)];
  }
  if (uniform) rayleigh_ = {alpha, *body.uniform_stiffness_damping()};
  double length = 0.0;
  for (const auto& t : surface.triangles)
    length += (surface.positions[as_size(t[1])] - surface.positions[as_size(t[0])]).norm();
  spacing_ = length / static_cast<double>(surface.triangles.size());
}

std::vector<std::uint8_t> Reduction::make_fixed() const {
  std::vector<std::uint8_t> fixed(weight_begin_.size() - 1);
  for (std::size_t v = 0; v < fixed.size(); ++v) fixed[v] = weights(static_cast<int>(v)).empty() ? 1 : 0;
  return fixed;
}

void Reduction::add_to_nodes(int vertex, const Vec3& value, Eigen::Ref<Eigen::VectorXd> nodes) const {
  for (const Weight& w : weights(vertex)) nodes.segment<3>(3 * w.node) += w.weight * value;
}

void Reduction::follow(const FastState& fast) {
  const auto known =
      std::find_if(bases_.begin(), bases_.end(), [&](const Basis& b) { return b.used && b.tick == fast.model_tick; });
  if (known == bases_.end() || fast.tick <= tick_) return;
  const double time = static_cast<double>(fast.tick - tick_) * dt_;
  push_force_.setZero();
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    Vec3 push;
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = as_size(3 * v + k);
      push[k] = push_[at] = fast.motion.impulses[at] - impulses_[at];
      impulses_[at] = fast.motion.impulses[at];
    }
    if (!push.isZero(0.0)) add_to_nodes(v, push / time, push_force_);
  }
  tick_ = fast.tick;
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  speed_ = Vector(fast.motion.speed.data(), kMaxStates);
  Eigen::VectorXd place = known->Phi * Vector(fast.motion.since.data(), kMaxStates);
  Eigen::VectorXd velocity = known->Phi * speed_;
  for (std::size_t i = 0; i < turns_.size(); ++i) turns_[i] = Eigen::Map<const Mat3>(&fast.motion.turns[9 * i]);
  turn(place, [&](std::size_t i) { return turns_[i]; });
  turn(velocity, [&](std::size_t i) { return turns_[i]; });
  place += Vector(fast.motion.places.data(), place.size());
  if (!place.allFinite() || !velocity.allFinite()) return;
  followed_ = &*known;
  body_.set_positions(as_nodes(place));
  body_.set_velocities(as_nodes(velocity));
}

/// How far the elements around the nodes have turned from their rest, with the nodes at these places.
void Reduction::compute_turned(std::span<const Vec3> places, std::vector<Mat3>& turned) {
  elements_->begin(places);
  elements_->add(0, elements_->pieces());
  elements_->finish(node_scratch_);
  elements_->compute_turns(0, body_.node_count(), turned);
}

/// The patch: what is near the tools, what was pushed in the last period, hardest first, and what is near other bodies.
/// Loads are ranked by what they may weigh in the next period.
void Reduction::choose_vertices(const Distances& distances) {
  std::vector<int> order(weight_begin_.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int v) { return weights(v).empty(); });
  const auto push = [&](int v) { return Eigen::Map<const Vec3>(&push_[as_size(3 * v)]).norm(); };
  const auto sort_by = [&](const auto& value) {
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) < value(b); });
  };
  const auto add = [&](int v) {
    if (patch_.size() < kMaxPatchVertices && std::find(patch_.begin(), patch_.end(), v) == patch_.end())
      patch_.push_back(v);
  };
  sort_by([&](int v) { return distances.tools[as_size(v)]; });
  const std::ptrdiff_t near = std::ssize(order) <= 2 * kNearVertices ? std::ssize(order) : kNearVertices;
  patch_.assign(order.begin(), order.begin() + near);
  sort_by([&](int v) { return -push(v); });
  quick_.clear();
  for (const int v : order) {
    if (push(v) == 0.0) break;
    if (quick_.size() < kQuickLoads) quick_.push_back(v);
    add(v);
  }
  const auto touches = [&](int v) { return distances.others[as_size(v)] < 0.5 * spacing_; };
  sort_by([&](int v) { return distances.others[as_size(v)]; });
  for (const int v : order) {
    if (touches(v)) add(v);
  }
  const auto rank = [&](int v) {
    const double far = distances.tools[as_size(v)] / spacing_;
    return std::max({push(v) > 0.0 ? 1.0 : 0.0, touches(v) ? 0.7 : 0.0, 1.0 / (1.0 + far * far)});
  };
  loads_ = patch_;
  std::stable_sort(loads_.begin(), loads_.end(), [&](int a, int b) { return rank(a) > rank(b); });
  if (loads_.size() > kLoads) loads_.resize(kLoads);
  load_rank_.clear();
  for (const int v : loads_) load_rank_.push_back(rank(v));
}

void Reduction::multiply_system(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) {
  body_.multiply_damping(x, y);
  body_.stiffness().multiply(x, scratch_);
  y += dt_ * scratch_;
  for (int i = 0; i < body_.node_count(); ++i)
    y.segment<3>(3 * i) += body_.masses()[as_size(i)] / dt_ * x.segment<3>(3 * i);
}

void Reduction::add_vector(const Eigen::Ref<const Eigen::VectorXd>& x, int& count) {
  C_.col(count) = x;
  clear_prescribed(C_.col(count));
  multiply_system(C_.col(count), AC_.col(count));
  ++count;
}

/// Columns of C from what acts to what A(h) makes of it, with A(dt) times that.
void Reduction::solve(int which, int first, int end) {
  auto X = C_.middleCols(first, end - first);
  auto AX = AC_.middleCols(first, end - first);
  AX = X;
  if (first < end) body_.solve(which, X);
  if (!rayleigh_) {
    for (int i = first; i < end; ++i) multiply_system(C_.col(i), AC_.col(i));
    return;
  }
  // A(h) = (1/h + α) M + (h + β) K, so A(dt) X is a sum of A(h) X and M X.
  const double h = which == kStep ? slow_period_ : dt_;
  const auto [alpha, beta] = *rayleigh_;
  const double share = (dt_ + beta) / (h + beta);
  AX = share * AX + (1.0 / dt_ + alpha - share * (1.0 / h + alpha)) * (mass_.asDiagonal() * X);
}

/// What follows on motions: A(ΔT)⁻¹M times those.
int Reduction::add_echoes(int first, int vectors, int count) {
  C_.middleCols(count, vectors) = mass_.asDiagonal() * C_.middleCols(first, vectors);
  solve(kStep, count, count + vectors);
  return count + vectors;
}

int Reduction::add_answers(int which, std::span<const int> vertices, int count) {
  const int first = count;
  for (const int v : vertices) {
    for (int k = 0; k < 3; ++k, ++count) {
      C_.col(count).setZero();
      add_to_nodes(v, Vec3::Unit(k), C_.col(count));
    }
  }
  solve(which, first, count);
  return count;
}

void Reduction::add_rigid_motions(int& count) {
  Vec3 middle = Vec3::Zero();
  for (const Vec3& x : body_.positions()) middle += x / body_.node_count();
  for (int k = 0; k < 3; ++k) {
    for (const bool turn : {false, true}) {
      for (int i = 0; i < body_.node_count(); ++i) {
        const Vec3 arm = body_.positions()[as_size(i)] - middle;
        C_.col(count).segment<3>(3 * i) = turn ? Vec3(Vec3::Unit(k).cross(arm)) : Vec3(Vec3::Unit(k));
      }
      multiply_system(C_.col(count), AC_.col(count));
      ++count;
    }
  }
}

/// T such that (CT)ᵀ A (CT) = 1, one vector after the other: the first `must` in their order, then always that of which
/// most is new, by its rank.
int Reduction::orthonormalise(int must, std::span<const double> rank) {
  const auto count = static_cast<int>(rank.size());
  Eigen::MatrixXd gram(count, count);
  gram.triangularView<Eigen::Lower>() = C_.leftCols(count).transpose() * AC_.leftCols(count);
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  Eigen::VectorXd left = gram.diagonal();  // squared A-norm of what is new of each
  const Eigen::VectorXd whole = left;
  T_.setZero();
  int r = 0;
  for (int round = 0; round < count && r < kMaxStates; ++round) {
    int best = -1;
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
      const double share = whole[i] > 0.0 ? left[i] / whole[i] : 0.0;
      if (!(share > kLeastShare * kLeastShare)) continue;
      const double value = i < must ? 1e6 - i : rank[as_size(i)] * rank[as_size(i)] * share;
      if (value > most) {
        most = value;
        best = i;
      }
    }
    if (best < 0) break;
    Eigen::VectorXd t = Eigen::VectorXd::Unit(count, best);
    const auto T = T_.topLeftCorner(count, r);
    for (int k = 0; k < 2; ++k) t -= T * (T.transpose() * (gram * t));  // twice for the rounding
    const Eigen::VectorXd along = gram * t;
    const double norm2 = t.dot(along);
    left[best] = 0.0;
    if (!(norm2 > kLeastShare * kLeastShare * whole[best])) continue;
    T_.col(r++).head(count) = t / std::sqrt(norm2);
    left -= along.cwiseAbs2() / norm2;
  }
  return r;
}

/// How far the nodes go in the time `ahead` [s] if the forces of the last period go on, by the model that the fast loop
/// has; and how they move when the next one comes and while it is used, which its basis should have.
Eigen::VectorXd Reduction::predict_way(double ahead) {
  const Basis& b = *followed_;
  const int r = b.states;
  const auto Phi = b.Phi.leftCols(r);
  force_ = start_elastic_ + b.force + push_force_;
  turn(force_, [&](std::size_t i) { return Mat3(turns_[i].transpose()); });
  const Eigen::VectorXd push = Phi.transpose() * force_;
  Eigen::VectorXd q = Eigen::VectorXd::Zero(r), at_ahead = q, speed = speed_.head(r), change(r);
  // It is used for a slow period, in the middle of which `ahead` is.
  const double end = ahead + 0.5 * (slow_period_ - dt_);
  predicted_.setZero(place_.size(), kSamples);
  int sample = 0;
  for (double t = 0.5 * dt_; t < end; t += dt_) {
    if (t < ahead) at_ahead = q;
    if (sample < kSamples && t > end - slow_period_ + sample * slow_period_ / (kSamples - 1) - dt_)
      predicted_.col(sample++).noalias() = Phi * speed;
    change = push;
    change.noalias() -= b.K * (q + dt_ * speed);
    change.noalias() -= b.D * speed;
    subtract_turning(b.turning, q, change);
    speed += change;
    q += dt_ * speed;
  }
  Eigen::VectorXd way = Phi * at_ahead;
  turn(way, [&](std::size_t i) { return turns_[i]; });
  return way;
}

/// The share of the way on which no edge of the surface changes by more than a part of its length.
double Reduction::limit_stretch(const Eigen::VectorXd& way) const {
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
      const double length = (surface.positions[as_size(i)] - surface.positions[as_size(j)]).norm();
      most = std::max(most, (way_of(i) - way_of(j)).norm() / length);
    }
  }
  return kMostStretch / most;
}

/// Linearises where the body will be; free motions are those from where it is. The body is left ahead.
bool Reduction::linearise_ahead(double ahead) {
  const std::array<double, 2> time_steps{slow_period_, dt_};
  place_ = flat(body_.positions());
  body_.compute_elastic_forces(as_nodes(start_elastic_));
  bool moved = false;
  predicted_.resize(place_.size(), 0);
  // A body that nothing holds is not predicted: on `free-soft` that made the error 18 % instead of 7 (20 Hz), why is
  // not known.
  if (ahead > 0.0 && followed_ && !free_body_) {
    Eigen::VectorXd way = predict_way(ahead);
    way *= limit_stretch(way);
    if (way.allFinite()) {
      way += place_;
      body_.set_positions(as_nodes(way));
      moved = true;
    }
  }
  ahead_place_ = flat(body_.positions());
  compute_turned(body_.positions(), ahead_turned_);
  if (!moved) start_turned_ = ahead_turned_;
  if (moved) compute_turned(as_nodes(place_), start_turned_);
  if (!body_.linearise(time_steps)) return false;
  body_.compute_free_motion(kStep, as_nodes(free_));
  body_.compute_free_motion(kTick, as_nodes(tick_free_));
  elastic_ = start_elastic_;
  if (!moved) return true;
  // What the forces ahead differ by from those that act now moves nothing yet.
  body_.compute_elastic_forces(as_nodes(elastic_));
  for (const int which : {kStep, kTick}) {
    force_ = start_elastic_;
    turn_ahead(force_);
    force_ -= elastic_;
    clear_prescribed(force_);
    body_.solve(which, force_);
    (which == kStep ? free_ : tick_free_) += force_;
  }
  return true;
}

/// From the world's frame, where the body is, to the nodes' frames where it is linearised: Rᵀ.
void Reduction::turn_ahead(Eigen::Ref<Eigen::VectorXd> nodes) const {
  turn(nodes, [&](std::size_t i) { return Mat3(ahead_turned_[i] * start_turned_[i].transpose()); });
}

void Reduction::clear_prescribed(Eigen::Ref<Eigen::VectorXd> nodes) const {
  for (int i = 0; i < body_.node_count(); ++i) {
    if (body_.is_prescribed(i)) nodes.segment<3>(3 * i).setZero();
  }
}

bool Reduction::make_model(std::uint64_t tick, double ahead, const Distances& distances, BodyView<double> out) {
  struct GoBack {  // ahead is only where it is linearised
    FemBody& body;
    Eigen::VectorXd& place;
    ~GoBack() { body.set_positions(as_nodes(place)); }
  } go_back{body_, place_};
  if (!linearise_ahead(ahead)) return false;
  tick_ = tick;
  const Basis& before = bases_[newest_];
  newest_ = (newest_ + 1) % bases_.size();
  Basis& basis = bases_[newest_];
  basis.tick = tick;
  basis.used = true;
  basis.turned = ahead_turned_;
  choose_vertices(distances);
  int count = 0;
  start_velocity_ = flat(body_.velocities());
  turn_ahead(start_velocity_);
  add_vector(start_velocity_, count);
  add_vector(tick_free_, count);
  add_vector(free_, count);
  if (!push_force_.isZero(0.0)) {
    for (const int which : {kTick, kStep}) {
      force_ = push_force_;
      turn_ahead(force_);
      body_.solve(which, force_);
      add_vector(force_, count);
    }
  }
  const int own = count;
  for (Eigen::Index k = 0; k < predicted_.cols(); ++k) {
    turn(predicted_.col(k), [&](std::size_t i) { return Mat3(ahead_turned_[i] * followed_->turned[i].transpose()); });
    add_vector(predicted_.col(k), count);
  }
  if (free_body_) add_rigid_motions(count);
  const int must = count;
  for (int round = 0, from = 0; round < kStateEchoes; ++round) {
    const int at = count;
    count = add_echoes(from, own, count);
    from = at;
  }
  count = add_answers(kTick, quick_, count);
  std::vector<double> rank(as_size(count), 1.0);
  const int lasting = count;
  count = add_answers(kStep, loads_, count);
  for (const double x : load_rank_) rank.insert(rank.end(), 3, x);
  const int echoed = std::min<int>(kEchoes, static_cast<int>(loads_.size()));
  count = add_echoes(lasting, 3 * echoed, count);
  for (int i = 0; i < echoed; ++i) rank.insert(rank.end(), 3, kEchoRank * load_rank_[as_size(i)]);
  basis.states = orthonormalise(must, rank);
  basis.Phi.leftCols(basis.states).noalias() = C_.leftCols(count) * T_.topLeftCorner(count, basis.states);
  basis.APhi.leftCols(basis.states).noalias() = AC_.leftCols(count) * T_.topLeftCorner(count, basis.states);
  basis.Phi.rightCols(kMaxStates - basis.states).setZero();
  basis.APhi.rightCols(kMaxStates - basis.states).setZero();
  fill(basis, out);
  basis.K = out.K.topLeftCorner(basis.states, basis.states);
  basis.D = out.D.topLeftCorner(basis.states, basis.states);
  fill_turning(basis, out);
  basis.turning = out.turning.topLeftCorner(basis.states, std::min(basis.states, kTurningStates));
  fill_residuals(out);
  fill_handover(before, basis, out);
  const auto is_finite = [](const auto&... parts) { return (parts.allFinite() && ...); };
  return is_finite(place_, out.node_force, out.start, out.start_force, out.carry, basis.turning, W_, W_step_);
}

}  // namespace palpate::reduced
