#include "reduced/reduction.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "reduced/flat.h"

namespace palpate::reduced {
namespace {

constexpr int kStep = 0, kTick = 1;  // the body's time steps
constexpr int kNearVertices = 24;    // of the patch, by distance from the tools; the others bear
constexpr int kLoads = 32;           // vertices whose answers to a lasting force are in the basis
constexpr int kQuickLoads = 10;      // and to one within a tick
constexpr int kEchoes = 8;           // and what follows on it
constexpr double kEchoRank = 0.3;    // where there is no room for all, the answers themselves matter more
constexpr int kRigidMotions = 6;
constexpr int kStateVectors = 6;  // velocity, free motions and the like
constexpr int kStateEchoes = 3;   // rounds of what follows on those
constexpr int kMaxVectors = kStateVectors * (1 + kStateEchoes) + kRigidMotions + 3 * (kLoads + kQuickLoads + kEchoes);
/// A vector of which less than this share of its A-norm is new to the basis adds only rounding.
constexpr double kLeastShare = 1e-5;
/// Bounds on how fast what the basis leaves out fades in a tick: neither for good, nor with a jump.
constexpr double kLeastFade = 0.01, kMostFade = 0.2;

std::span<Vec3> as_nodes(Eigen::VectorXd& v) noexcept {
  return {reinterpret_cast<Vec3*>(v.data()), static_cast<std::size_t>(v.size() / 3)};
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
    b.place.resize(n);
  }
  C_.resize(n, kMaxVectors);
  AC_.resize(n, kMaxVectors);
  T_.resize(kMaxVectors, kMaxStates);
  force_ = push_force_ = free_ = tick_free_ = scratch_ = Eigen::VectorXd::Zero(n);
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
  force_.setZero();
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    Vec3 push;
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = as_size(3 * v + k);
      push[k] = push_[at] = fast.impulses[at] - impulses_[at];
      impulses_[at] = fast.impulses[at];
    }
    if (!push.isZero(0.0)) add_to_nodes(v, push / time, force_);
  }
  tick_ = fast.tick;
  push_force_ = force_;
  // The whole body, coarsely.
  body_.solve(kStep, force_);
  Eigen::VectorXd velocity = flat(body_.velocities()) + free_ + force_;
  Eigen::VectorXd place = flat(body_.positions()) + time * velocity;
  // What lies in the basis the fast loop knows better.
  const Eigen::Map<const Eigen::VectorXd> q(fast.q.data(), kMaxStates), speed(fast.speed.data(), kMaxStates);
  const auto take_over = [&](Eigen::VectorXd& x, const Eigen::VectorXd& from, const auto& states) {
    const Eigen::VectorXd own = known->APhi.transpose() * (x - from);
    x.noalias() += known->Phi * (states - own);
  };
  take_over(place, known->place, q);
  take_over(velocity, Eigen::VectorXd::Zero(velocity.size()), speed);
  if (!place.allFinite() || !velocity.allFinite()) return;
  body_.set_positions(as_nodes(place));
  body_.set_velocities(as_nodes(velocity));
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

/// How far the nodes go in the time `ahead` [s] if the forces of the last period go on, by the model before.
Eigen::VectorXd Reduction::predict_way(double ahead) const {
  const Basis& b = bases_[newest_];
  const int r = b.states;
  const auto Phi = b.Phi.leftCols(r), APhi = b.APhi.leftCols(r);
  const Eigen::VectorXd start = APhi.transpose() * (place_ - b.place);
  Eigen::VectorXd q = start, speed = APhi.transpose() * flat(body_.velocities()), change(r);
  const Eigen::VectorXd push = b.c + Phi.transpose() * push_force_;
  for (double t = 0.5 * dt_; t < ahead; t += dt_) {
    change = push;
    change.noalias() -= b.K * (q + dt_ * speed);
    change.noalias() -= b.D * speed;
    subtract_turning(b.turning, q, change);
    speed += change;
    q += dt_ * speed;
  }
  return Phi * (q - start);
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
  Eigen::VectorXd force_now;
  // A body that nothing holds is not predicted: on `free-soft` that made the error 18 % instead of 7 (20 Hz), why is
  // not known.
  if (ahead > 0.0 && bases_[newest_].used && !free_body_) {
    if (!body_.begin_linearise(time_steps)) return false;
    force_now = flat(body_.forces());
    Eigen::VectorXd way = predict_way(ahead);
    way *= limit_stretch(way);
    if (way.allFinite()) {
      way += place_;
      body_.set_positions(as_nodes(way));
    }
  }
  if (!body_.linearise(time_steps)) return false;
  body_.compute_free_motion(kStep, as_nodes(free_));
  body_.compute_free_motion(kTick, as_nodes(tick_free_));
  if (force_now.size() == 0) return true;
  // What the forces ahead differ by from those that act now moves nothing yet.
  force_now -= flat(body_.forces());
  clear_prescribed(force_now);
  for (const int which : {kStep, kTick}) {
    force_ = force_now;
    body_.solve(which, force_);
    (which == kStep ? free_ : tick_free_) += force_;
  }
  return true;
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
  basis.place = flat(body_.positions());
  choose_vertices(distances);
  int count = 0;
  add_vector(flat(body_.velocities()), count);
  add_vector(place_ - basis.place, count);
  add_vector(tick_free_, count);
  add_vector(free_, count);
  if (!push_force_.isZero(0.0)) {
    for (const int which : {kTick, kStep}) {
      force_ = push_force_;
      body_.solve(which, force_);
      add_vector(force_, count);
    }
  }
  const int own = count;
  if (free_body_) add_rigid_motions(count);
  const int must = count;
  for (int round = 0; round < kStateEchoes; ++round) count = add_echoes(round == 0 ? 0 : count - own, own, count);
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
  basis.c = out.c.head(basis.states);
  fill_residuals(out);
  fill_handover(before, basis, out);
  const auto is_finite = [](const auto&... parts) { return (parts.allFinite() && ...); };
  return is_finite(out.place, out.c, out.start, basis.turning, W_, W_step_);
}

void Reduction::fill(const Basis& basis, BodyView<double> out) {
  const int r = basis.states;
  const auto Phi = basis.Phi.leftCols(r);
  auto K = out.K.topLeftCorner(r, r), D = out.D.topLeftCorner(r, r);
  out.damping_one = out.damping_stiffness = 0.0;
  out.has_D = rayleigh_ ? 0.0 : 1.0;
  if (rayleigh_) {  // 1 = A(dt) = (1/dt + α) M + (dt + β) K
    const auto [alpha, beta] = *rayleigh_;
    const Eigen::MatrixXd root = mass_.cwiseSqrt().asDiagonal() * Phi;
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(r, r);
    M.selfadjointView<Eigen::Lower>().rankUpdate(root.transpose());
    M.triangularView<Eigen::StrictlyUpper>() = M.transpose();
    K = (Eigen::MatrixXd::Identity(r, r) - (1.0 / dt_ + alpha) * M) / (dt_ + beta);
    D = alpha * M + beta * K;
    out.damping_one = alpha * dt_ / (1.0 + alpha * dt_);
    out.damping_stiffness = beta - out.damping_one * (dt_ + beta);
  } else {
    Eigen::MatrixXd product(Phi.rows(), r);
    for (int i = 0; i < r; ++i) body_.stiffness().multiply(Phi.col(i), product.col(i));
    K.noalias() = Phi.transpose() * product;
    for (int i = 0; i < r; ++i) body_.multiply_damping(Phi.col(i), product.col(i));
    D.noalias() = Phi.transpose() * product;
  }
  out.states = r;
  out.start_place.setZero();
  out.start.setZero();
  out.c.setZero();
  // Both are among the first vectors, so all of them is in the basis.
  out.start_place.head(r).noalias() = basis.APhi.leftCols(r).transpose() * (place_ - basis.place);
  out.start.head(r).noalias() = basis.APhi.leftCols(r).transpose() * flat(body_.velocities());
  out.c.head(r).noalias() = Phi.transpose() * flat(body_.forces());
  out.c.head(r).noalias() += out.D.topLeftCorner(r, r) * out.start.head(r);
  const auto place = body_.surface().positions;
  out.place = flat(place);
  for (int v = 0; v < static_cast<int>(place.size()); ++v) {
    auto rows = out.Phi.middleRows<3>(3 * v);
    rows.setZero();
    for (const Weight& w : weights(v)) rows.leftCols(r).noalias() += w.weight * Phi.middleRows<3>(3 * w.node);
  }
}

/// By differences of the elastic forces. Not of a body that nothing holds: as it turns, its stresses turn against the
/// forces of its contacts, which do not, and only those contacts, which are not in T, keep it from turning ever faster.
void Reduction::fill_turning(const Basis& basis, BodyView<double> out) {
  out.turning.setZero();
  if (free_body_) return;
  const int r = basis.states, count = std::min(r, kTurningStates);
  constexpr double kLength = 1e-4;  // of the way of a difference, as a part of the elements' size
  Eigen::VectorXd here = Eigen::VectorXd::Zero(mass_.size()), there = here, place = here;
  body_.compute_elastic_forces(as_nodes(here));
  for (int j = 0; j < count; ++j) {
    const auto direction = basis.Phi.col(j);
    const double length = kLength * spacing_ / direction.cwiseAbs().maxCoeff();
    place = basis.place + length * direction;
    body_.set_positions(as_nodes(place));
    body_.compute_elastic_forces(as_nodes(there));
    there = (here - there) / length;
    out.turning.col(j).head(r).noalias() = basis.Phi.leftCols(r).transpose() * there;
    out.turning.col(j).head(r) -= out.K.col(j).head(r);
  }
  auto corner = out.turning.topLeftCorner(count, count);
  corner = (0.5 * (corner + corner.transpose())).eval();
  place = basis.place;
  body_.set_positions(as_nodes(place));
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

/// What the model before this one sees of this one: for the fast loop, which goes on from where it is.
void Reduction::fill_handover(const Basis& before, const Basis& basis, BodyView<double> out) const {
  out.before = before.used ? static_cast<double>(before.tick) : -1.0;
  if (!before.used) return;
  out.seen.noalias() = before.APhi.transpose() * basis.Phi;
  out.seen_place.noalias() = before.APhi.transpose() * (basis.place - before.place);
}

/// What a tick, and a slow step, do to vertices beyond what the states do: exactly within the patch, by the vertex's
/// own mass and stiffness elsewhere.
void Reduction::fill_residuals(BodyView<double> out) {
  const int r = static_cast<int>(out.states), p = static_cast<int>(patch_.size());
  out.patch_vertices = p;
  out.number.setConstant(-1.0);
  rows_.clear();
  Eigen::MatrixXd own(3 * p, r);
  for (int i = 0; i < p; ++i) {
    out.patch[i] = patch_[as_size(i)];
    out.number[patch_[as_size(i)]] = i;
    own.middleRows<3>(3 * i) = out.Phi.middleRows<3>(3 * patch_[as_size(i)]).leftCols(r);
    for (int k = 0; k < 3; ++k) {
      rows_.begin_row();
      for (const Weight& w : weights(patch_[as_size(i)])) rows_.add(w.node, w.weight * Vec3::Unit(k));
    }
  }
  W_.setZero(3 * p, 3 * p);
  body_.add_compliance(kTick, rows_, W_);
  out.patch_W.topLeftCorner(3 * p, 3 * p) = W_;
  W_.noalias() -= dt_ * own * own.transpose();

  // A(ΔT) of the states; that of the tick is one, and M = dt (1 − D − dt K).
  const auto K = out.K.topLeftCorner(r, r), D = out.D.topLeftCorner(r, r);
  const double T = slow_period_;
  Eigen::MatrixXd A = (1.0 - dt_ / T) * D + (T - dt_ * dt_ / T) * K;
  A.diagonal().array() += dt_ / T;
  const Eigen::LLT<Eigen::MatrixXd> factor(A);
  W_step_.setZero(3 * p, 3 * p);
  body_.add_compliance(kStep, rows_, W_step_);
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    const auto Phi = out.Phi.middleRows<3>(3 * v).leftCols(r);
    const auto at = static_cast<int>(out.number[v]);
    const double step_states = T * factor.matrixL().solve(Phi.transpose()).squaredNorm();
    double tick = 0.0, step = 0.0;
    if (at >= 0) {
      tick = W_.block<3, 3>(3 * at, 3 * at).trace();
      step = W_step_.block<3, 3>(3 * at, 3 * at).trace() - step_states;
    } else {
      for (const Weight& w : weights(v)) {  // (A⁻¹)_ii is at least 1 / A_ii
        const double m = body_.masses()[as_size(w.node)], k = body_.stiffness().diagonal(w.node).trace() / 3.0;
        tick += 3.0 * w.weight * w.weight * dt_ / (m / dt_ + dt_ * k);
        step += 3.0 * w.weight * w.weight * T / (m / T + T * k);
      }
      tick = std::max(0.0, tick - dt_ * Phi.squaredNorm());
      step = std::max(0.0, step - step_states);
      out.single[v] = tick / 3.0;
    }
    out.fade[v] = std::clamp(step > 0.0 ? tick / step : kMostFade, kLeastFade, kMostFade);
  }
}

}  // namespace palpate::reduced
