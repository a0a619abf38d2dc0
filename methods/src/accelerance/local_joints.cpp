#include <algorithm>
#include <cmath>

#include "accelerance/local.h"

// The joints of LocalDynamics.
namespace palpate::accelerance {
namespace {

/// The ends of a row's lever: what a force along it does to the bodies.
struct RowArms {
  Vec6 a, b;
};

/// Of a joint whose ends are there, with bodies there; b's is zero if it does not move.
RowArms find_arms(const JointRow& row, const Joint& joint, const JointEnds& ends, const LocalJoint& local,
                  std::span<const Pose> poses) noexcept {
  const auto lever = [&](int neighbour, const Vec3& point, double sign) {
    Vec6 out = Vec6::Zero();
    if (neighbour < 0) return out;
    if (!row.turn) out.head<3>() = sign * row.direction;
    const Vec3 arm = point - poses[as_size(neighbour)].position;
    out.tail<3>() = sign * (row.turn ? row.direction : Vec3(arm.cross(row.direction)));
    return out;
  };
  const Vec3& on_b = joint.kind == Joint::Kind::kSlider ? ends.p_a : ends.p_b;
  return {lever(local.a, ends.p_a, 1.0), lever(local.b, on_b, -1.0)};
}

}  // namespace

/// Makes the rows that give way ready, with the forces that they had.
void LocalDynamics::start_joints(std::span<const Pose> poses) noexcept {
  row_count_ = 0;
  for (std::size_t i = 0; i < as_size(model_->local_joints); ++i) {
    const LocalJoint& local = model_->local_joint[i];
    const Joint& joint = joints_.joint(local);
    const JointEnds ends = joints_.find_ends(local, poses);
    const std::size_t count = compute_joint_constraints(joint, ends, h_, joint_constraints_);
    std::size_t place = 0;
    for (std::size_t k = 0; k < count && place < LocalJoint::kMaxBounded; ++k) {
      const JointConstraint& c = joint_constraints_[k];
      if (c.constraint.kind != ConstraintKind::kBounded) continue;
      Row& row = rows_[row_count_++];
      const RowArms arms = find_arms(c.rows[0], joint, ends, local, poses);
      row.a = local.a;
      row.b = local.b;
      row.J_a = arms.a;
      row.J_b = arms.b;
      row.lower = c.constraint.lower;
      row.upper = c.constraint.upper;
      row.force = &joint_forces_[i][place++];
      // A limit that is passed holds; it is the global step that turns the joint back.
      const bool limit = !std::isfinite(row.upper);
      row.wish = -c.rows[0].error / h_;
      if (limit) row.wish = std::min(row.wish, overlap_ == Overlap::kMoved ? 0.0 : push_out_speed_);
      const double response = h_ * compute_row_response(row);
      row.inverse = response > 0.0 ? 1.0 / response : 0.0;
    }
  }
}

double LocalDynamics::compute_row_response(const Row& row) const noexcept {
  const auto part = [&](int of, const Vec6& J, int by, const Vec6& by_J) {
    return of < 0 || by < 0 ? 0.0 : J.dot(read_block(of, by) * by_J);
  };
  return part(row.a, row.J_a, row.a, row.J_a) + part(row.b, row.J_b, row.b, row.J_b) +
         part(row.a, row.J_a, row.b, row.J_b) + part(row.b, row.J_b, row.a, row.J_a);
}

double LocalDynamics::compute_row_rate(const Row& row) const noexcept {
  const auto rate = [&](int k, const Vec6& J) { return k < 0 ? 0.0 : J.dot(ends_[as_size(k)]); };
  return rate(row.a, row.J_a) + rate(row.b, row.J_b);
}

void LocalDynamics::apply_row(const Row& row, double change) noexcept {
  if (change == 0.0) return;
  if (row.a >= 0) push(row.a, change * row.J_a);
  if (row.b >= 0) push(row.b, change * row.J_b);
}

double LocalDynamics::sweep_rows() noexcept {
  double largest = 0.0;
  for (const Row& row : rows()) {
    const double wanted = *row.force + row.inverse * (row.wish - compute_row_rate(row));
    const double change = std::clamp(wanted, row.lower, row.upper) - *row.force;
    if (!std::isfinite(change)) continue;
    apply_row(row, change);
    *row.force += change;
    largest = std::max(largest, std::abs(change));
  }
  return largest;
}

void LocalDynamics::hold_joints(std::span<Pose> poses, std::span<Vec6> velocities) noexcept {
  constexpr int kSweeps = 2;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < as_size(model_->local_joints); ++i)
      hold_joint(model_->local_joint[i], poses, velocities);
  }
}

/// Moves and turns both bodies, and changes their velocities, by their own masses so that the joint holds: momentum
/// stays what it is.
void LocalDynamics::hold_joint(const LocalJoint& local, std::span<Pose> poses, std::span<Vec6> velocities) noexcept {
  const Joint& joint = joints_.joint(local);
  const JointEnds ends = joints_.find_ends(local, poses);
  const std::size_t count = compute_joint_constraints(joint, ends, h_, joint_constraints_);
  const auto answer = [&](int k, const Vec6& J) {
    Vec6 out = Vec6::Zero();
    if (k < 0) return out;
    const Neighbour& n = model_->neighbour[as_size(k)];
    out << n.inverse_mass * J.head<3>(), n.inverse_inertia * J.tail<3>();
    return out;
  };
  Vec6 shift_a = Vec6::Zero(), shift_b = Vec6::Zero();
  for (std::size_t k = 0; k < count; ++k) {
    const JointConstraint& c = joint_constraints_[k];
    if (c.constraint.kind != ConstraintKind::kEquality || c.compliance > 0.0) continue;
    for (int r = 0; r < c.constraint.rows; ++r) {
      const JointRow& row = c.rows[as_size(r)];
      const RowArms J = find_arms(row, joint, ends, local, poses);
      const Vec6 Y_a = answer(local.a, J.a), Y_b = answer(local.b, J.b);
      const double own = J.a.dot(Y_a) + J.b.dot(Y_b);
      if (!(own > 0.0)) continue;
      const double way = -(row.error + J.a.dot(shift_a) + J.b.dot(shift_b)) / own;
      double rate = 0.0;
      if (local.a >= 0) rate += J.a.dot(velocities[as_size(local.a)]);
      if (local.b >= 0) rate += J.b.dot(velocities[as_size(local.b)]);
      shift_a += way * Y_a;
      shift_b += way * Y_b;
      if (local.a >= 0) velocities[as_size(local.a)] -= rate / own * Y_a;
      if (local.b >= 0) velocities[as_size(local.b)] -= rate / own * Y_b;
    }
  }
  const auto move = [&](int k, const Vec6& shift) {
    if (k < 0 || !shift.allFinite()) return;
    Pose& pose = poses[as_size(k)];
    pose.position += shift.head<3>();
    pose.rotation = (rotation_from_vector(shift.tail<3>()) * pose.rotation).normalized();
  };
  move(local.a, shift_a);
  move(local.b, shift_b);
}

}  // namespace palpate::accelerance
