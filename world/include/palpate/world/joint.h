#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "palpate/bodies/body.h"
#include "palpate/constraints/problem.h"

namespace palpate {

/// What holds two bodies together, or one to the world.
///
/// Both ends have a material point and, where the body has frames (rigid bodies, chains), a frame fixed to it whose
/// x axis is the joint's. Finite elements and particles can be tied by their points only: kBall, kCurve, kBox.
struct Joint {
  enum class Kind : std::uint8_t {
    kBall,    ///< the points coincide: also an attachment of anything to anything, and tied ends
    kFixed,   ///< points and frames coincide
    kHinge,   ///< points and x axes coincide: turns about x
    kSlider,  ///< frames stay parallel, a's point on b's x axis: slides along x
    kCurve,   ///< a's point stays on the polyline `curve` of b's material points, between its ends
    kBox,     ///< a's point stays in the box [box_lower, box_upper] of the world
  };
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  std::string name;
  Kind kind = Kind::kBall;
  std::int32_t body_a = -1;
  std::int32_t body_b = -1;    ///< −1: the world, where point_b.offset is a position and frame_b an orientation
  BodyPoint point_a, point_b;  ///< the ends, as material points of the two bodies
  Quat frame_a = Quat::Identity(), frame_b = Quat::Identity();  ///< of the ends, in the frames of the material there
  /// The error of an angle counts as a distance of so much a radian [m]; about the size of the bodies.
  double arm = 0.05;

  /// Whether a soft body or a chain that is tied by a ball or fixed touches the other body, beyond `clearance` of the
  /// tie. Two rigid bodies at a joint never touch each other, because parts of a mechanism overlap there;
  /// nor does what slides along a curve or an axis, because it may be inside.
  bool collide = true;
  /// Nearer to the tie than this they do not touch [m]: a wire that is tied to a surface begins in it. More than a beam
  /// or a cell is long, as a rule: a contact on the very beam whose end is tied can ask for what the knot forbids.
  double clearance = 0.015;

  /// The hinge's angle [rad] (from b to a, about x) or the slider's way [m], zero where the frames coincide. On a
  /// curve: the way along it [m], from its first point.
  double lower = -kInfinity;
  double upper = kInfinity;
  double stiffness = 0.0;  ///< spring about or along it [N·m/rad or N/m]
  double damping = 0.0;    ///< [N·m·s/rad or N·s/m]
  double rest = 0.0;       ///< where the spring pulls to [rad or m]
  double max_drive = 0.0;  ///< most torque or force of motor and dry friction [N·m or N]
  double speed = 0.0;      ///< that the motor keeps; zero: dry friction [rad/s or m/s]

  std::vector<BodyPoint> curve;  ///< two points or more
  Vec3 box_lower = Vec3::Constant(-kInfinity), box_upper = Vec3::Constant(kInfinity);
};

/// One row that a joint asks for: the velocity of point a minus that of b along `direction`, or of the frames about it.
struct JointRow {
  bool turn = false;  ///< it is about `direction`, and not along it
  /// Unit, world frame; of a turn the unit axis times the joint's arm [m], so that the row is a distance.
  Vec3 direction = Vec3::Zero();
  double error = 0.0;  ///< now [m]
};

/// One constraint that a joint asks for in this step.
struct JointConstraint {
  Constraint constraint;  ///< kind, rows and bounds
  std::array<JointRow, 6> rows;
  double compliance = 0.0;  ///< of its rows [m/N]
  /// Where it acts on b: `share` of it on the second of these points, the rest on the first, because a place on a curve
  /// lies between two.
  std::array<BodyPoint, 2> points_b;
  double share = 0.0;
};

/// Most constraints of one joint in a step.
inline constexpr std::size_t kMaxJointConstraints = 8;
using JointConstraints = std::array<JointConstraint, kMaxJointConstraints>;

/// Writes the constraints that the joint asks for with bodies as they are (null: the world) and a step of h [s], in the
/// world frame; returns how many. Any thread that may read the bodies; allocates nothing.
std::size_t compute_joint_constraints(const Joint& joint, const Body* a, const Body* b, double h,
                                      JointConstraints& out) noexcept;

/// Where the two ends of a joint are, world frame.
struct JointEnds {
  Vec3 p_a, p_b;  ///< their points [m]
  Quat q_a, q_b;  ///< their frames
};
JointEnds find_joint_ends(const Joint& joint, const Body* a, const Body* b) noexcept;

/// The same for ends that are given and need not be where the bodies are. Not for curves, whose place depends on the
/// body. A slider acts on b where a's end is. Real-time: any thread, allocates nothing.
std::size_t compute_joint_constraints(const Joint& joint, const JointEnds& ends, double h,
                                      JointConstraints& out) noexcept;

/// How far the joint is from holding [m]: of its points, and of its axes or frames times its arm.
double compute_joint_error(const Joint& joint, const Body* a, const Body* b) noexcept;

/// A joint at a place of the world, with both ends set from where the bodies are now (null: the world).
Joint make_joint(Joint::Kind kind, const Body* a, const Body* b, const Pose& place);

}  // namespace palpate
