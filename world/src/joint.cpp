#include "palpate/world/joint.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"

namespace palpate {
namespace {

Vec3 point_of(const Body* body, const BodyPoint& point) noexcept {
  return body ? body->compute_point(point) : point.offset;
}

Quat frame_of(const Body* body, const BodyPoint& point, const Quat& frame) noexcept {
  return body ? (body->compute_frame(point) * frame).normalized() : frame;
}

/// A joint with its ends where they are now.
struct Ends : JointEnds {
  const Joint& joint;
  const Body* b;  ///< null: the world, or not asked for

  Ends(const Joint& j, const JointEnds& ends) noexcept : JointEnds(ends), joint(j), b(nullptr) {}
  Ends(const Joint& j, const Body* body_a, const Body* body_b) noexcept
      : JointEnds{point_of(body_a, j.point_a), point_of(body_b, j.point_b), frame_of(body_a, j.point_a, j.frame_a),
                  frame_of(body_b, j.point_b, j.frame_b)},
        joint(j),
        b(body_b) {}

  Vec3 axis() const noexcept { return q_b * Vec3::UnitX(); }
  Vec3 turn_error() const noexcept { return rotation_vector(q_a * q_b.conjugate()); }
  /// The turn that took b's axis to a's.
  Vec3 axis_error() const noexcept { return axis().cross(q_a * Vec3::UnitX()); }
  double angle() const noexcept {
    const Quat relative = q_b.conjugate() * q_a;
    return std::remainder(2.0 * std::atan2(relative.x(), relative.w()), 2.0 * M_PI);
  }
};

class Writer {
 public:
  Writer(JointConstraints& out, const Ends& ends, double h) noexcept : out_(out), ends_(ends), h_(h) {}

  std::size_t count() const noexcept { return count_; }

  JointConstraint& begin(ConstraintKind kind) noexcept {
    JointConstraint& c = out_[count_++];
    c = {};
    c.constraint.kind = kind;
    c.constraint.rows = 0;
    c.points_b = points_b;
    c.share = share;
    return c;
  }

  static void add_row(JointConstraint& c, bool turn, const Vec3& direction, double error) noexcept {
    c.rows[as_size(c.constraint.rows++)] = {turn, direction, error};
  }

  void add_turn_rows(JointConstraint& c, const Vec3& error, std::span<const Vec3> axes) const noexcept {
    const double arm = ends_.joint.arm;
    for (const Vec3& axis : axes) add_row(c, true, arm * axis, arm * error.dot(axis));
  }

  void add_one_sided(bool turn, const Vec3& direction, double error) noexcept {
    JointConstraint& c = begin(ConstraintKind::kBounded);
    c.constraint.upper = Joint::kInfinity;
    add_row(c, turn, direction, error);
  }

  /// Limits, spring and drive along or about one direction, in which the joint has gone `way`.
  void add_axis(bool turn, const Vec3& axis, double way, double lower, double upper) noexcept {
    const Joint& j = ends_.joint;
    const double scale = turn ? j.arm : 1.0;
    const Vec3 direction = scale * axis;
    if (std::isfinite(lower)) add_one_sided(turn, direction, scale * (way - lower));
    if (std::isfinite(upper)) add_one_sided(turn, -direction, scale * (upper - way));
    // Backward Euler of torque −k (θ − θ₀) − c θ̇ as a soft row: δ + C λ = 0 with C = s²/(k + c/h), δ = s (θ⁺ − θ₀) less
    // the damper's share of where it starts.
    if (j.stiffness > 0.0 || j.damping > 0.0) {
      const double total = j.stiffness + j.damping / h_;
      JointConstraint& c = begin(ConstraintKind::kEquality);
      c.compliance = scale * scale / total;
      add_row(c, turn, direction, scale * (way - j.rest) * (j.stiffness / total));
    }
    if (j.max_drive > 0.0) {
      JointConstraint& c = begin(ConstraintKind::kBounded);
      c.constraint.lower = -j.max_drive / scale;
      c.constraint.upper = j.max_drive / scale;
      add_row(c, turn, direction, -h_ * scale * j.speed);
    }
  }

  std::array<BodyPoint, 2> points_b;
  double share = 0.0;

 private:
  JointConstraints& out_;
  const Ends& ends_;
  double h_;
  std::size_t count_ = 0;
};

const std::array<Vec3, 3> kAxes = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};

void add_point_rows(JointConstraint& c, const Vec3& error, std::span<const Vec3> axes) noexcept {
  for (const Vec3& axis : axes) Writer::add_row(c, false, axis, error.dot(axis));
}

/// The place on a polyline nearest to p.
struct CurvePlace {
  std::size_t segment = 0;
  double share = 0.0;   ///< between its ends; outside [0, 1] only beyond the curve's own ends
  double way = 0.0;     ///< from the first point [m]
  double length = 0.0;  ///< of the whole [m]
  Vec3 point = Vec3::Zero(), tangent = Vec3::UnitX();
};

CurvePlace find_on_curve(const Joint& joint, const Body* b, const Vec3& p) noexcept {
  CurvePlace best;
  double least = Joint::kInfinity;
  Vec3 from = point_of(b, joint.curve[0]);
  for (std::size_t i = 0; i + 1 < joint.curve.size(); ++i) {
    const Vec3 to = point_of(b, joint.curve[i + 1]);
    const Vec3 span = to - from;
    const double length = span.norm();
    const double raw = length > 0.0 ? (p - from).dot(span) / (length * length) : 0.0;
    const double inside = std::clamp(raw, 0.0, 1.0);
    const double distance = (p - from - inside * span).squaredNorm();
    if (distance < least && length > 0.0) {
      least = distance;
      const bool before = i == 0 && raw < 0.0, after = i + 2 == joint.curve.size() && raw > 1.0;
      const double share = before || after ? raw : inside;
      best.segment = i;
      best.share = share;
      best.way = best.length + share * length;
      best.point = from + share * span;
      best.tangent = span / length;
    }
    best.length += length;
    from = to;
  }
  return best;
}

void add_curve(Writer& writer, const Ends& ends) noexcept {
  const CurvePlace place = find_on_curve(ends.joint, ends.b, ends.p_a);
  writer.points_b = {ends.joint.curve[place.segment], ends.joint.curve[place.segment + 1]};
  writer.share = std::clamp(place.share, 0.0, 1.0);
  std::array<Vec3, 2> across;
  make_tangents(place.tangent, across[0], across[1]);
  add_point_rows(writer.begin(ConstraintKind::kEquality), ends.p_a - place.point, across);
  writer.add_axis(false, place.tangent, place.way, std::max(0.0, ends.joint.lower),
                  std::min(place.length, ends.joint.upper));
}

void add_box(Writer& writer, const Ends& ends) noexcept {
  const Joint& j = ends.joint;
  for (int k = 0; k < 3; ++k) {
    if (std::isfinite(j.box_lower[k])) writer.add_one_sided(false, Vec3::Unit(k), ends.p_a[k] - j.box_lower[k]);
    if (std::isfinite(j.box_upper[k])) writer.add_one_sided(false, -Vec3::Unit(k), j.box_upper[k] - ends.p_a[k]);
  }
}

void add_slider(Writer& writer, const Ends& ends) {
  // b's end of the rows is its material point where a's end is now, so that b's turning counts.
  if (ends.b)
    writer.points_b[0] = ends.b->find_point(ends.p_a);
  else
    writer.points_b[0].offset = ends.p_a;
  std::array<Vec3, 2> across;
  make_tangents(ends.axis(), across[0], across[1]);
  JointConstraint& c = writer.begin(ConstraintKind::kEquality);
  add_point_rows(c, ends.p_a - ends.p_b, across);
  writer.add_turn_rows(c, ends.turn_error(), kAxes);
  writer.add_axis(false, ends.axis(), (ends.p_a - ends.p_b).dot(ends.axis()), ends.joint.lower, ends.joint.upper);
}

std::size_t write(const Ends& ends, double h, JointConstraints& out) noexcept {
  const Joint& joint = ends.joint;
  Writer writer(out, ends, h);
  writer.points_b[0] = joint.point_b;
  switch (joint.kind) {
    case Joint::Kind::kBall:
      add_point_rows(writer.begin(ConstraintKind::kEquality), ends.p_a - ends.p_b, kAxes);
      break;
    case Joint::Kind::kFixed: {
      JointConstraint& c = writer.begin(ConstraintKind::kEquality);
      add_point_rows(c, ends.p_a - ends.p_b, kAxes);
      writer.add_turn_rows(c, ends.turn_error(), kAxes);
      break;
    }
    case Joint::Kind::kHinge: {
      std::array<Vec3, 2> across;
      make_tangents(ends.axis(), across[0], across[1]);
      JointConstraint& c = writer.begin(ConstraintKind::kEquality);
      add_point_rows(c, ends.p_a - ends.p_b, kAxes);
      writer.add_turn_rows(c, ends.axis_error(), across);
      writer.add_axis(true, ends.axis(), ends.angle(), joint.lower, joint.upper);
      break;
    }
    case Joint::Kind::kSlider:
      add_slider(writer, ends);
      break;
    case Joint::Kind::kCurve:
      add_curve(writer, ends);
      break;
    case Joint::Kind::kBox:
      add_box(writer, ends);
      break;
  }
  return writer.count();
}

}  // namespace

std::size_t compute_joint_constraints(const Joint& joint, const Body* a, const Body* b, double h,
                                      JointConstraints& out) noexcept {
  return write(Ends(joint, a, b), h, out);
}

std::size_t compute_joint_constraints(const Joint& joint, const JointEnds& ends, double h,
                                      JointConstraints& out) noexcept {
  return write(Ends(joint, ends), h, out);
}

JointEnds find_joint_ends(const Joint& joint, const Body* a, const Body* b) noexcept {
  return Ends(joint, a, b);
}

double compute_joint_error(const Joint& joint, const Body* a, const Body* b) noexcept {
  const Ends ends(joint, a, b);
  const Vec3 apart = ends.p_a - ends.p_b;
  switch (joint.kind) {
    case Joint::Kind::kBall:
      return apart.norm();
    case Joint::Kind::kFixed:
      return std::max(apart.norm(), joint.arm * ends.turn_error().norm());
    case Joint::Kind::kHinge:
      return std::max(apart.norm(), joint.arm * ends.axis_error().norm());
    case Joint::Kind::kSlider:
      return std::max(ends.axis().cross(apart).norm(), joint.arm * ends.turn_error().norm());
    case Joint::Kind::kCurve:
      return (ends.p_a - find_on_curve(joint, b, ends.p_a).point).norm();
    case Joint::Kind::kBox:
      return (joint.box_lower - ends.p_a).cwiseMax(ends.p_a - joint.box_upper).cwiseMax(0.0).maxCoeff();
  }
  return 0.0;
}

Joint make_joint(Joint::Kind kind, const Body* a, const Body* b, const Pose& place) {
  if (!a) fail_input("a joint needs a body at its first end");
  Joint joint;
  joint.kind = kind;
  joint.point_a = a->find_point(place.position);
  joint.frame_a = a->compute_frame(joint.point_a).conjugate() * place.rotation;
  if (b) {
    joint.point_b = b->find_point(place.position);
    joint.frame_b = b->compute_frame(joint.point_b).conjugate() * place.rotation;
  } else {
    joint.point_b.offset = place.position;
    joint.frame_b = place.rotation;
  }
  return joint;
}

}  // namespace palpate
