#include "accelerance/joint_frames.h"

#include "accelerance/pointer_finder.h"

namespace palpate::accelerance {

JointFrames::JointFrames(const World& world) {
  for (const Joint& joint : world.joints()) {
    const auto body_of = [&](int i) { return i < 0 ? nullptr : world.bodies()[as_size(i)].body.get(); };
    const Body *a = body_of(joint.body_a), *b = body_of(joint.body_b);
    const JointEnds now = find_joint_ends(joint, a, b);
    const auto in_body = [](const Body* body, const Vec3& p, const Quat& q) {
      if (!body || body->block_count() == 0) return Pose{p, q};
      const Pose centre = centre_pose(body);
      const Quat to_body = centre.rotation.conjugate();
      return Pose{to_body * (p - centre.position), to_body * q};
    };
    const bool local = joint.kind != Joint::Kind::kCurve && joint.kind != Joint::Kind::kBox;
    ends_.push_back({joint, in_body(a, now.p_a, now.q_a), in_body(b, now.p_b, now.q_b), local});
  }
}

JointEnds JointFrames::find_ends(const LocalJoint& local, std::span<const Pose> poses) const noexcept {
  const Ends& ends = at(local);
  const auto in_world = [&](int neighbour, const Pose& end) {
    if (neighbour < 0) return end;
    const Pose& body = poses[as_size(neighbour)];
    return Pose{body.position + body.rotation * end.position, body.rotation * end.rotation};
  };
  const Pose a = in_world(local.a, ends.a), b = in_world(local.b, ends.b);
  return {a.position, b.position, a.rotation, b.rotation};
}

}  // namespace palpate::accelerance
