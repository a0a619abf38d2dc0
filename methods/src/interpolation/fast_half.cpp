#include <algorithm>
#include <vector>

#include "interpolation/halves.h"

namespace palpate::interpolation {
namespace {

using Display = InterpolationSettings::Display;

/// From the state that is shown to the newest, within a slow period. Starts from what is shown and not from the state
/// before, which is the same unless a model came early or late: so the force never jumps.
class InterpolationFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit InterpolationFast(const MethodContext& c)
      : display_(c.settings.get<InterpolationSettings>("interpolation").display),
        fingers_(make_fingers(c.tool)),
        ticks_per_step_(c.slow_period / c.dt),
        shown_hand_(c.start.pose) {
    // Poses need no surfaces.
    for (Finger& f : fingers_) f.surface = {};
  }

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override {
    feedback.device = device;
    TickResult out;
    out.tool = device.pose;
    if (model.header.sequence == 0) return out;
    if (model.header.sequence != sequence_) {
      sequence_ = model.header.sequence;
      from_ = shown_;
      from_hand_ = shown_hand_;
      ticks_ = 0.0;
    }
    ticks_ += 1.0;
    const double s = std::min(1.0, ticks_ / ticks_per_step_);
    late_ = ticks_ >= ticks_per_step_ + 1.0;
    shown_hand_ = {from_hand_.position + s * (model.hand.position - from_hand_.position),
                   from_hand_.rotation.slerp(s, model.hand.rotation)};
    for (std::size_t i = 0; i < fingers_.size(); ++i) {
      const Pose pose = compute_finger_pose(fingers_[i], device);
      show(i, s, model.fingers[i], pose.position);
      out.finger_forces[i] = shown_[i].force;
      out.wrench.force += shown_[i].force;
      out.wrench.torque += shown_[i].torque + (pose.position - device.pose.position).cross(shown_[i].force);
    }
    if (display_ != Display::kExtrapolate) out.tool = shown_hand_;
    out.contacts = model.contacts;
    out.iterations = model.steps;
    return out;
  }

 private:
  struct Shown {
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
    Vec3 force_slope = Vec3::Zero(), torque_slope = Vec3::Zero();  ///< a slow period
  };

  void show(std::size_t i, double s, const FingerLoad& to, const Vec3& position) noexcept {
    Shown& now = shown_[i];
    const Shown& from = from_[i];
    switch (display_) {
      case Display::kLinear:
        now.force = from.force + s * (to.force - from.force);
        now.torque = from.torque + s * (to.torque - from.torque);
        return;
      case Display::kSmooth:
        now.force = blend(s, from.force, to.force, from.force_slope, now.force_slope);
        now.torque = blend(s, from.torque, to.torque, from.torque_slope, now.torque_slope);
        return;
      case Display::kExtrapolate: {
        const double size = to.force.dot(to.direction);
        const double grown = std::max(0.0, size - to.stiffness * to.direction.dot(position - to.position));
        const double ratio = size > 0.0 ? grown / size : 0.0;
        now.force = ratio * to.force;
        now.torque = ratio * to.torque;
        return;
      }
    }
  }

  /// Cubic Hermite: begins with the slope that is shown, ends with that of the chord. `slope` becomes that at s.
  /// While the next model is late the last state is held.
  Vec3 blend(double s, const Vec3& a, const Vec3& b, const Vec3& slope_a, Vec3& slope) const noexcept {
    const Vec3 chord = b - a, bend = slope_a - chord;
    // a + s chord + s (1 − s)² bend.
    slope = late_ ? Vec3(Vec3::Zero()) : Vec3(chord + (1.0 - s) * (1.0 - 3.0 * s) * bend);
    return a + s * chord + s * (1.0 - s) * (1.0 - s) * bend;
  }

  const Display display_;
  std::vector<Finger> fingers_;
  const double ticks_per_step_;
  std::uint64_t sequence_ = 0;
  double ticks_ = 0.0;
  bool late_ = false;
  std::array<Shown, kMaxFingers> from_{}, shown_{};
  Pose from_hand_, shown_hand_;
};

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<InterpolationFast>(context);
}

}  // namespace palpate::interpolation
