#include "accelerance/local.h"

#include <cmath>

namespace palpate::accelerance {
namespace {

Vec3 velocity_at(const Vec6& u, const Vec3& arm) noexcept {
  return u.head<3>() + u.tail<3>().cross(arm);
}

}  // namespace

/// Of two neighbours, the part of A for six or three inputs; the missing ones are zero.
Mat6 LocalDynamics::read_block(int row, int column) const noexcept {
  Mat6 out = Mat6::Zero();
  const Eigen::Index columns = model_->columns;
  const Eigen::Map<const Eigen::MatrixXd> A(model_->A.data(), 6 * model_->neighbours, columns * model_->neighbours);
  out.leftCols(columns) = A.block(6 * row, columns * column, 6, columns);
  return out;
}

void LocalDynamics::take(const Model& model, double h, Overlap overlap) noexcept {
  model_ = &model;
  h_ = h;
  overlap_ = overlap;
  for (int k = 0; k < model.neighbours; ++k) {
    const auto column = as_size(k);
    own_[column] = read_block(k, k);
    coupled_count_[column] = 0;
    for (int j = 0; j < model.neighbours; ++j) {
      const bool coupled = j == k || !read_block(j, k).isZero(0.0);
      are_coupled_[as_size(j)][column] = coupled;
      if (coupled) coupled_[column][as_size(coupled_count_[column]++)] = static_cast<std::int8_t>(j);
    }
  }
  for (std::size_t i = 0; i < as_size(model.local_contacts); ++i) {
    const LocalContact& c = model.local_contact[i];
    Ready& r = ready_[i];
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    r.axes << c.normal, t1, t2;
    r.drift = r.axes.transpose() * c.drift;
    r.J_b.setZero();
    r.Y_b.setZero();
    r.force = c.force;
  }
  for (std::size_t i = 0; i < as_size(model.local_joints); ++i) joint_forces_[i] = model.local_joint[i].force;
}

void LocalDynamics::start(std::span<const Pose> poses, std::span<const Vec6> velocities) noexcept {
  for (std::size_t k = 0; k < as_size(model_->neighbours); ++k) {
    velocities_[k] = velocities[k];
    ends_[k] = velocities[k] + h_ * model_->neighbour[k].acceleration;
  }
  for (std::size_t i = 0; i < as_size(model_->local_contacts); ++i) {
    const LocalContact& c = model_->local_contact[i];
    Ready& r = ready_[i];
    const Pose& a = poses[as_size(c.a)];
    const auto lever = [&](const Vec3& arm) {
      Mat63 J;
      J << r.axes, skew(arm) * r.axes;
      return J;
    };
    const Vec3 arm_a = a.rotation * c.foot_a;
    r.J_a = lever(arm_a);
    Vec3 apart = a.position + arm_a - c.foot_b;
    if (c.b >= 0) {
      const Pose& b = poses[as_size(c.b)];
      const Vec3 arm_b = b.rotation * c.foot_b;
      r.J_b = -lever(arm_b);
      apart = a.position + arm_a - b.position - arm_b;
    }
    r.gap = c.normal.dot(apart) + c.offset;
    r.wish = -r.gap / h_;
    if (r.gap < 0.0) r.wish = overlap_ == Overlap::kMoved ? 0.0 : std::min(r.wish, push_out_speed_);
    find_own_response(c, r);
  }
  start_joints(poses);
  start_warm();
}

/// Begins with the last step's forces, less where that would be too much: what stopped a body in one tick would throw
/// it in the next, and a few sweeps do not take all of it back. Forces λ change the kinetic energy by s p + s² q if s
/// of them act (and contacts that are apart may close); the best s between 0 and 1 is taken, so they never add to it.
void LocalDynamics::start_warm() noexcept {
  const auto contacts = as_size(model_->local_contacts);
  const auto compute_power = [&](bool wished) {
    double sum = 0.0;
    for (std::size_t i = 0; i < contacts; ++i) {
      const Ready& r = ready_[i];
      if (r.force.isZero(0.0)) continue;
      sum += wished ? r.force.x() * r.wish : r.force.dot(velocity(model_->local_contact[i], r));
    }
    for (const Row& row : rows()) sum += *row.force * (wished ? row.wish : compute_row_rate(row));
    return sum;
  };
  const auto act = [&](double share) {
    for (std::size_t i = 0; i < contacts; ++i) apply(model_->local_contact[i], ready_[i], share * ready_[i].force);
    for (const Row& row : rows()) apply_row(row, share * *row.force);
  };
  const double before = compute_power(false), p = before - compute_power(true);
  act(1.0);
  const double q = 0.5 * (compute_power(false) - before);
  const double best = q > 0.0 ? std::clamp(-0.5 * p / q, 0.0, 1.0) : p < 0.0 ? 1.0 : 0.0;
  if (!(best < 1.0)) return;
  act(best - 1.0);
  for (std::size_t i = 0; i < contacts; ++i) ready_[i].force *= best;
  for (const Row& row : rows()) *row.force *= best;
}

/// With the arms as they are now: Gauss–Seidel with an answer that is too small diverges.
void LocalDynamics::find_own_response(const LocalContact& c, Ready& r) const noexcept {
  const auto a = as_size(c.a);
  r.Y_a = h_ * own_[a] * r.J_a;
  Mat3 K = r.J_a.transpose() * r.Y_a;
  if (c.b >= 0) {
    const auto b = as_size(c.b);
    r.Y_b = h_ * own_[b] * r.J_b;
    K += r.J_b.transpose() * r.Y_b;
    if (are_coupled_[a][b])
      K += h_ * (r.J_a.transpose() * read_block(c.a, c.b) * r.J_b + r.J_b.transpose() * read_block(c.b, c.a) * r.J_a);
  }
  r.inverse_normal = K(0, 0) > 0.0 ? 1.0 / K(0, 0) : 0.0;
  // One number for both tangents, the larger answer: a step along the slip itself is what makes friction oppose it.
  const double mean = 0.5 * (K(1, 1) + K(2, 2));
  const double most = mean + std::hypot(0.5 * (K(1, 1) - K(2, 2)), 0.5 * (K(1, 2) + K(2, 1)));
  r.inverse_tangents = most > 0.0 ? 1.0 / most : 0.0;
}

void LocalDynamics::part(std::span<Pose> poses) const noexcept {
  // Far below what is seen, far above rounding: contacts at rest are left alone.
  constexpr double kSlack = 1e-6;
  std::array<Vec3, kMaxNeighbours> shift;
  shift.fill(Vec3::Zero());
  for (std::size_t i = 0; i < as_size(model_->local_contacts); ++i) {
    const LocalContact& c = model_->local_contact[i];
    const Ready& r = ready_[i];
    if (r.gap > -kSlack || c.limit >= 0.0) continue;
    Vec3& a = shift[as_size(c.a)];
    const double done = c.normal.dot(c.b < 0 ? a : Vec3(a - shift[as_size(c.b)]));
    const double missing = -r.gap * std::min(1.0, h_ / kPartTime) - done;
    if (missing <= 0.0) continue;
    const auto ease = [&](int k) { return c.normal.dot(own_[as_size(k)].topLeftCorner<3, 3>() * c.normal); };
    const double of_a = ease(c.a), of_b = c.b < 0 ? 0.0 : ease(c.b);
    if (!(of_a + of_b > 0.0)) continue;
    a += missing * of_a / (of_a + of_b) * c.normal;
    if (c.b >= 0) shift[as_size(c.b)] -= missing * of_b / (of_a + of_b) * c.normal;
  }
  for (std::size_t k = 0; k < as_size(model_->neighbours); ++k) {
    if (shift[k].allFinite()) poses[k].position += shift[k];
  }
}

void LocalDynamics::push(int neighbour, const Vec6& change) noexcept {
  const auto column = as_size(neighbour);
  if (coupled_count_[column] == 1) {
    ends_[column] += h_ * (own_[column] * change);
    return;
  }
  const Eigen::Index rows = 6 * model_->neighbours, columns = model_->columns;
  for (std::int32_t i = 0; i < coupled_count_[column]; ++i) {
    const int j = coupled_[column][as_size(i)];
    const double* A = model_->A.data() + columns * neighbour * rows + 6 * j;
    Vec6& to = ends_[as_size(j)];
    for (Eigen::Index c = 0; c < columns; ++c) to += h_ * change[c] * Eigen::Map<const Vec6>(A + c * rows);
  }
}

Vec3 LocalDynamics::point_acceleration(int neighbour, const Vec3& arm) const noexcept {
  return velocity_at(acceleration(neighbour), arm);
}

Mat3 LocalDynamics::point_response(int neighbour, const Vec3& arm) const noexcept {
  const Mat6& A = own_[as_size(neighbour)];
  const Mat63 by_force = A.leftCols<3>() + A.rightCols<3>() * skew(arm);
  return by_force.topRows<3>() - skew(arm) * by_force.bottomRows<3>();
}

/// Of a against b along the contact's axes at the end of the step [m/s].
Vec3 LocalDynamics::velocity(const LocalContact& c, const Ready& r) const noexcept {
  Vec3 v = r.J_a.transpose() * ends_[as_size(c.a)];
  if (c.b >= 0) v += r.J_b.transpose() * ends_[as_size(c.b)];
  return v - r.drift;
}

void LocalDynamics::apply(const LocalContact& c, const Ready& r, const Vec3& change) noexcept {
  if (change.isZero(0.0)) return;
  push_along(c.a, r.J_a, r.Y_a, change);
  if (c.b >= 0) push_along(c.b, r.J_b, r.Y_b, change);
}

double LocalDynamics::sweep() noexcept {
  using Vec2 = Eigen::Vector2d;
  double largest = sweep_rows();
  for (std::size_t i = 0; i < as_size(model_->local_contacts); ++i) {
    const LocalContact& c = model_->local_contact[i];
    Ready& r = ready_[i];
    const Vec6& a = ends_[as_size(c.a)];
    const bool pair = c.b >= 0;
    const Vec6& b = ends_[as_size(pair ? c.b : c.a)];  // unused without one
    double limit = c.limit;
    if (limit < 0.0) {
      double nears = r.J_a.col(0).dot(a);
      if (pair) nears += r.J_b.col(0).dot(b);
      if (!(r.force.x() > 0.0) && nears >= r.wish) continue;
      const double push = std::max(-r.force.x(), r.inverse_normal * (r.wish - nears));
      if (!std::isfinite(push)) continue;
      using One = Eigen::Matrix<double, 1, 1>;
      push_along(c.a, r.J_a.col(0), r.Y_a.col(0), One(push));
      if (pair) push_along(c.b, r.J_b.col(0), r.Y_b.col(0), One(push));
      r.force.x() += push;
      largest = std::max(largest, std::abs(push));
      if (!(c.friction > 0.0) && r.force.tail<2>().isZero(0.0)) continue;
      limit = c.friction * r.force.x();
    }
    Vec2 slips = r.J_a.rightCols<2>().transpose() * a - r.drift.tail<2>();
    if (pair) slips += r.J_b.rightCols<2>().transpose() * b;
    Vec2 rubs = r.force.tail<2>() - r.inverse_tangents * slips;
    if (const double size = rubs.norm(); size > limit) rubs *= limit / size;
    const Vec2 change = rubs - r.force.tail<2>();
    if (!change.allFinite()) continue;
    push_along(c.a, r.J_a.rightCols<2>(), r.Y_a.rightCols<2>(), change);
    if (pair) push_along(c.b, r.J_b.rightCols<2>(), r.Y_b.rightCols<2>(), change);
    r.force.tail<2>() = rubs;
    largest = std::max(largest, change.norm());
  }
  return largest;
}

}  // namespace palpate::accelerance
