#pragma once

#include "messages.h"

namespace palpate::accelerance {

/// The joints of a world for a loop that has only poses: what they hold, and where their ends are in their bodies.
class JointFrames {
 public:
  explicit JointFrames(const World& world);

  const Joint& joint(const LocalJoint& local) const noexcept { return at(local).joint; }
  /// A loop with poses can do it: points and frames are all it has. Curves and boxes are held by A alone.
  bool is_local(int joint) const noexcept { return ends_[as_size(joint)].local; }
  JointEnds find_ends(const LocalJoint& local, std::span<const Pose> poses) const noexcept;

 private:
  struct Ends {
    Joint joint;
    Pose a, b;  ///< in the frames at the bodies' centres; of what does not move, in the world's
    bool local = false;
  };
  const Ends& at(const LocalJoint& local) const noexcept { return ends_[as_size(local.joint)]; }

  std::vector<Ends> ends_;
};

}  // namespace palpate::accelerance
