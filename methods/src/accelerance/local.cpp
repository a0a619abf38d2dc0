#include "accelerance/local.h"

#include <cmath>

namespace palpate::accelerance {
namespace {

using Mat6 = Eigen::Matrix<double, 6, 6>;

/// Of two neighbours, the part of A for six or three inputs; the missing ones are zero.
Mat6 read_block(const Model& m, int row, int column) noexcept {
  Mat6 out = Mat6::Zero();
  const Eigen::Map<const Eigen::MatrixXd> A(m.A.data(), 6 * m.neighbours, m.columns * m.neighbours);
  out.leftCols(m.columns) = A.block(6 * row, m.columns * column, 6, m.columns);
  return out;
}

Vec3 velocity_at(const Vec6& u, const Vec3& arm) noexcept {
  return u.head<3>() + u.tail<3>().cross(arm);
}

}  // namespace

void LocalDynamics::take(const Model& model, double h, Overlap overlap) noexcept {
  model_ = &model;
  h_ = h;
  overlap_ = overlap;
  for (int k = 0; k < model.neighbours; ++k) {
    const auto column = static_cast<std::size_t>(k);
    coupled_count_[column] = 0;
    for (int j = 0; j < model.neighbours; ++j) {
      if (j == k || !read_block(model, j, k).isZero(0.0))
        coupled_[column][static_cast<std::size_t>(coupled_count_[column]++)] = static_cast<std::int8_t>(j);
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(model.local_contacts); ++i) {
    const LocalContact& c = model.local_contact[i];
    Ready& r = ready_[i];
    Vec3 t1, t2;
    make_tangents(c.normal, t1, t2);
    r.axes << c.normal, t1, t2;
    r.arm_b.setZero();
    r.force = c.force;
  }
}

void LocalDynamics::start(std::span<const Pose> poses, std::span<const Vec6> velocities) noexcept {
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k) {
    accelerations_[k] = model_->neighbour[k].acceleration;
    velocities_[k] = velocities[k];
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_->local_contacts); ++i) {
    const LocalContact& c = model_->local_contact[i];
    Ready& r = ready_[i];
    const Pose& a = poses[static_cast<std::size_t>(c.a)];
    r.arm_a = a.rotation * c.foot_a;
    Vec3 apart = a.position + r.arm_a - c.foot_b;
    if (c.b >= 0) {
      const Pose& b = poses[static_cast<std::size_t>(c.b)];
      r.arm_b = b.rotation * c.foot_b;
      apart = a.position + r.arm_a - b.position - r.arm_b;
    }
    r.gap = c.normal.dot(apart) + c.offset;
    r.wish = -r.gap / h_;
    if (r.gap < 0.0) r.wish = overlap_ == Overlap::kMoved ? 0.0 : std::min(r.wish, kPushOut);
    find_own_response(c, r);
    apply(c, r, r.force);
  }
}

/// With the arms as they are now: Gauss–Seidel with an answer that is too small diverges.
void LocalDynamics::find_own_response(const LocalContact& c, Ready& r) const noexcept {
  Mat3 K = point_response(c.a, r.arm_a);
  if (c.b >= 0) {
    K += point_response(c.b, r.arm_b) - point_response(c.a, r.arm_a, c.b, r.arm_b) -
         point_response(c.b, r.arm_b, c.a, r.arm_a);
  }
  K = (h_ * r.axes.transpose() * K * r.axes).eval();
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
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_->local_contacts); ++i) {
    const LocalContact& c = model_->local_contact[i];
    const Ready& r = ready_[i];
    if (r.gap > -kSlack) continue;
    Vec3& a = shift[static_cast<std::size_t>(c.a)];
    const double done = c.normal.dot(c.b < 0 ? a : Vec3(a - shift[static_cast<std::size_t>(c.b)]));
    const double missing = -r.gap * std::min(1.0, h_ / kPartTime) - done;
    if (missing <= 0.0) continue;
    const auto ease = [&](int k) { return c.normal.dot(read_block(*model_, k, k).topLeftCorner<3, 3>() * c.normal); };
    const double of_a = ease(c.a), of_b = c.b < 0 ? 0.0 : ease(c.b);
    if (!(of_a + of_b > 0.0)) continue;
    a += missing * of_a / (of_a + of_b) * c.normal;
    if (c.b >= 0) shift[static_cast<std::size_t>(c.b)] -= missing * of_b / (of_a + of_b) * c.normal;
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(model_->neighbours); ++k) {
    if (shift[k].allFinite()) poses[k].position += shift[k];
  }
}

void LocalDynamics::push(int neighbour, const Vec6& change) noexcept {
  const auto column = static_cast<std::size_t>(neighbour);
  const Eigen::Index rows = 6 * model_->neighbours, columns = model_->columns;
  for (std::int32_t i = 0; i < coupled_count_[column]; ++i) {
    const int j = coupled_[column][static_cast<std::size_t>(i)];
    const double* A = model_->A.data() + columns * neighbour * rows + 6 * j;
    Vec6& to = accelerations_[static_cast<std::size_t>(j)];
    for (Eigen::Index c = 0; c < columns; ++c) to += change[c] * Eigen::Map<const Vec6>(A + c * rows);
  }
}

Vec3 LocalDynamics::point_acceleration(int neighbour, const Vec3& arm) const noexcept {
  return velocity_at(accelerations_[static_cast<std::size_t>(neighbour)], arm);
}

Mat3 LocalDynamics::point_response(int of, const Vec3& arm, int by, const Vec3& by_arm) const noexcept {
  const Mat6 A = read_block(*model_, of, by);
  Eigen::Matrix<double, 6, 3> by_force = A.leftCols<3>();
  if (model_->columns == 6) by_force += A.rightCols<3>() * skew(by_arm);
  return by_force.topRows<3>() - skew(arm) * by_force.bottomRows<3>();
}

/// Of a against b along the contact's axes at the end of the step [m/s].
Vec3 LocalDynamics::velocity(const LocalContact& c, const Ready& r) const noexcept {
  const auto at_end = [&](int k, const Vec3& arm) {
    const auto place = static_cast<std::size_t>(k);
    return velocity_at(velocities_[place] + h_ * accelerations_[place], arm);
  };
  Vec3 v = at_end(c.a, r.arm_a);
  if (c.b >= 0) v -= at_end(c.b, r.arm_b);
  return r.axes.transpose() * v;
}

void LocalDynamics::apply(const LocalContact& c, const Ready& r, const Vec3& change) noexcept {
  if (change.isZero(0.0)) return;
  const Vec3 f = r.axes * change;
  Vec6 wrench;
  wrench << f, r.arm_a.cross(f);
  push(c.a, wrench);
  if (c.b < 0) return;
  wrench << -f, -r.arm_b.cross(f);
  push(c.b, wrench);
}

double LocalDynamics::sweep_contacts() noexcept {
  double largest = 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_->local_contacts); ++i) {
    const LocalContact& c = model_->local_contact[i];
    Ready& r = ready_[i];
    Vec3 v = velocity(c, r);
    if (!(r.force.x() > 0.0) && v.x() >= r.wish) continue;
    Vec3 change(std::max(-r.force.x(), r.inverse_normal * (r.wish - v.x())), 0.0, 0.0);
    if (!std::isfinite(change.x())) continue;
    apply(c, r, change);
    r.force.x() += change.x();
    if (c.friction > 0.0 || !r.force.tail<2>().isZero(0.0)) {
      v = velocity(c, r);
      Eigen::Vector2d rubs = r.force.tail<2>() - r.inverse_tangents * v.tail<2>();
      const double limit = c.friction * r.force.x();
      if (rubs.norm() > limit) rubs *= limit / rubs.norm();
      const Vec3 along(0.0, rubs.x() - r.force.y(), rubs.y() - r.force.z());
      if (along.allFinite()) {
        apply(c, r, along);
        r.force.tail<2>() = rubs;
        change += along;
      }
    }
    largest = std::max(largest, change.norm());
  }
  return largest;
}

}  // namespace palpate::accelerance
