#include "reduced/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reduced/flat.h"

namespace palpate::reduced {
namespace {

constexpr int kStep = 0, kTick = 1;  // the body's time steps
constexpr int kNearVertices = 28;    // of the patch, by distance from the tools
constexpr int kQuickVertices = 10;   // bearing ones whose answer within a tick is in the basis
constexpr int kMaxVectors = 4 + 3 * (kMaxPatchVertices + kQuickVertices);
/// A vector of which less than this share of its A-norm is new to the basis adds only rounding.
constexpr double kLeastShare = 1e-4;

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
    b.C.resize(n, kMaxVectors);
    b.AC.resize(n, kMaxVectors);
    b.T = Eigen::MatrixXd::Zero(kMaxVectors, kMaxStates);
    b.place.resize(n);
  }
  force_ = free_ = tick_free_ = scratch_ = Eigen::VectorXd::Zero(n);
  impulses_.assign(3 * as_size(vertices), 0.0);
  push_ = impulses_;
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
  // The whole body, coarsely.
  body_.solve(kStep, force_);
  Eigen::VectorXd velocity = flat(body_.velocities()) + free_ + force_;
  Eigen::VectorXd place = flat(body_.positions()) + time * velocity;
  // What lies in the basis the fast loop knows better.
  const Eigen::Map<const Eigen::VectorXd> q(fast.q.data(), kMaxStates), speed(fast.speed.data(), kMaxStates);
  const auto take_over = [&](Eigen::VectorXd& x, const Eigen::VectorXd& from, const auto& states) {
    const Eigen::VectorXd own = known->AC.transpose() * (x - from);
    x.noalias() += known->C * (known->T * (states - known->T.transpose() * own));
  };
  take_over(place, known->place, q);
  take_over(velocity, Eigen::VectorXd::Zero(velocity.size()), speed);
  if (!place.allFinite() || !velocity.allFinite()) return;
  body_.set_positions(as_nodes(place));
  body_.set_velocities(as_nodes(velocity));
}

void Reduction::choose_vertices(std::span<const double> distance) {
  const auto count = weight_begin_.size() - 1;
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int v) { return weights(v).empty(); });
  const auto push = [&](int v) { return Eigen::Map<const Vec3>(&push_[as_size(3 * v)]).norm(); };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return distance[as_size(a)] < distance[as_size(b)]; });
  patch_.assign(order.begin(), order.begin() + std::min<std::ptrdiff_t>(kNearVertices, std::ssize(order)));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return push(a) > push(b); });
  bearing_.clear();
  for (const int v : order) {
    if (push(v) == 0.0) break;
    if (bearing_.size() < kQuickVertices) bearing_.push_back(v);
    if (patch_.size() < kMaxPatchVertices && std::find(patch_.begin(), patch_.end(), v) == patch_.end())
      patch_.push_back(v);
  }
}

void Reduction::multiply_system(const Eigen::Ref<const Eigen::VectorXd>& x, Eigen::Ref<Eigen::VectorXd> y) {
  body_.multiply_damping(x, y);
  body_.stiffness().multiply(x, scratch_);
  y += dt_ * scratch_;
  for (int i = 0; i < body_.node_count(); ++i)
    y.segment<3>(3 * i) += body_.masses()[as_size(i)] / dt_ * x.segment<3>(3 * i);
}

void Reduction::add_vector(Basis& basis, const Eigen::Ref<const Eigen::VectorXd>& x, int& count) {
  basis.C.col(count) = x;
  for (int i = 0; i < body_.node_count(); ++i) {
    if (body_.is_prescribed(i)) basis.C.col(count).segment<3>(3 * i).setZero();
  }
  ++count;
}

int Reduction::add_answers(Basis& basis, int which, std::span<const int> vertices, int count) {
  const int first = count;
  for (const int v : vertices) {
    for (int k = 0; k < 3; ++k, ++count) {
      basis.C.col(count).setZero();
      add_to_nodes(v, Vec3::Unit(k), basis.C.col(count));
    }
  }
  if (count > first) body_.solve(which, basis.C.middleCols(first, count - first));
  return count;
}

/// T such that (CT)ᵀ A (CT) = 1: Cholesky's factor of the Gram matrix, row by row, leaving out what adds nothing.
/// Vectors that come first matter most.
void Reduction::orthonormalise(Basis& basis, int count) {
  const auto C = basis.C.leftCols(count);
  for (int i = 0; i < count; ++i) multiply_system(basis.C.col(i), basis.AC.col(i));
  const Eigen::MatrixXd gram = C.transpose() * basis.AC.leftCols(count);
  basis.T.setZero();
  int r = 0;
  for (int i = 0; i < count && r < kMaxStates; ++i) {
    // c_i less its parts along the states so far, twice for the rounding.
    Eigen::VectorXd t = Eigen::VectorXd::Unit(count, i);
    const auto T = basis.T.topLeftCorner(count, r);
    for (int k = 0; k < 2; ++k) t -= T * (T.transpose() * (gram * t));
    const double left = t.dot(gram * t);
    if (!(left > kLeastShare * kLeastShare * gram(i, i)) || !(gram(i, i) > 0.0)) continue;
    basis.T.col(r++).head(count) = t / std::sqrt(left);
  }
  states_ = r;
}

bool Reduction::make_model(std::uint64_t tick, std::span<const double> distance, BodyView<double> out) {
  const std::array<double, 2> time_steps{slow_period_, dt_};
  if (!body_.linearise(time_steps)) return false;
  tick_ = tick;
  newest_ = (newest_ + 1) % bases_.size();
  Basis& basis = bases_[newest_];
  basis.tick = tick;
  basis.used = true;
  basis.place = flat(body_.positions());
  body_.compute_free_motion(kStep, as_nodes(free_));
  body_.compute_free_motion(kTick, as_nodes(tick_free_));
  choose_vertices(distance);
  int count = 0;
  add_vector(basis, flat(body_.velocities()), count);
  add_vector(basis, tick_free_, count);
  add_vector(basis, free_, count);
  count = add_answers(basis, kTick, bearing_, count);
  count = add_answers(basis, kStep, patch_, count);
  basis.C.rightCols(basis.C.cols() - count).setZero();
  basis.AC.rightCols(basis.C.cols() - count).setZero();
  orthonormalise(basis, count);
  fill(basis, out);
  fill_residuals(out);
  return true;
}

void Reduction::fill(const Basis& basis, BodyView<double> out) {
  const int r = states_;
  const Eigen::MatrixXd Phi = basis.C * basis.T.leftCols(r);
  Eigen::MatrixXd product(Phi.rows(), r);
  for (int i = 0; i < r; ++i) body_.stiffness().multiply(Phi.col(i), product.col(i));
  out.K.topLeftCorner(r, r).noalias() = Phi.transpose() * product;
  for (int i = 0; i < r; ++i) body_.multiply_damping(Phi.col(i), product.col(i));
  out.D.topLeftCorner(r, r).noalias() = Phi.transpose() * product;
  out.states = r;
  out.start.setZero();
  out.c.setZero();
  // The velocity is the first vector, so all of it is in the basis.
  out.start.head(r).noalias() = basis.T.leftCols(r).transpose() * (basis.AC.transpose() * flat(body_.velocities()));
  out.c.head(r).noalias() = Phi.transpose() * flat(body_.forces());
  out.c.head(r).noalias() += out.D.topLeftCorner(r, r) * out.start.head(r);
  const auto place = body_.surface().positions;
  out.place = flat(place);
  for (int v = 0; v < static_cast<int>(place.size()); ++v) {
    auto rows = out.Phi.middleRows<3>(3 * v).leftCols(r);
    rows.setZero();
    for (const Weight& w : weights(v)) rows.noalias() += w.weight * Phi.middleRows<3>(3 * w.node);
  }
}

/// What a tick does to vertices beyond what the states do: exactly within the patch, by the vertex's own mass and
/// stiffness elsewhere.
void Reduction::fill_residuals(BodyView<double> out) {
  const int r = states_, p = static_cast<int>(patch_.size());
  out.patch_vertices = p;
  out.number.setConstant(-1.0);
  rows_.clear();
  for (int i = 0; i < p; ++i) {
    out.patch[i] = patch_[as_size(i)];
    out.number[patch_[as_size(i)]] = i;
    for (int k = 0; k < 3; ++k) {
      rows_.begin_row();
      for (const Weight& w : weights(patch_[as_size(i)])) rows_.add(w.node, w.weight * Vec3::Unit(k));
    }
  }
  W_.setZero(3 * p, 3 * p);
  body_.add_compliance(kTick, rows_, W_);
  Eigen::MatrixXd own(3 * p, r);
  for (int i = 0; i < p; ++i) own.middleRows<3>(3 * i) = out.Phi.middleRows<3>(3 * patch_[as_size(i)]).leftCols(r);
  W_.noalias() -= dt_ * own * own.transpose();
  out.patch_R.topLeftCorner(3 * p, 3 * p) = W_;
  const auto& K = body_.stiffness();
  for (int v = 0; v + 1 < static_cast<int>(weight_begin_.size()); ++v) {
    double answer = 0.0;
    for (const Weight& w : weights(v)) {
      // (A⁻¹)_ii is at least 1 / A_ii.
      const double A = body_.masses()[as_size(w.node)] / dt_ + dt_ * K.diagonal(w.node).trace() / 3.0;
      answer += w.weight * w.weight * dt_ / A;
    }
    out.single[v] = std::max(0.0, answer - dt_ * out.Phi.middleRows<3>(3 * v).leftCols(r).squaredNorm() / 3.0);
  }
  out.fade = 0.1;
}

}  // namespace palpate::reduced
