#include "interpolation/interpolation.h"

#include <algorithm>
#include <cmath>

#include "interpolation/messages.h"
#include "interpolation/simulation.h"
#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {
namespace interpolation {
namespace {

using Display = InterpolationSettings::Display;

/// How far a test step takes a finger to find its stiffness [m].
constexpr double kProbe = 2e-4;

/// Where a hand will be.
DeviceState predict(DeviceState hand, double ahead) noexcept {
  hand.pose.position += ahead * hand.velocity.linear;
  hand.pose.rotation = (rotation_from_vector(ahead * hand.velocity.angular) * hand.pose.rotation).normalized();
  hand.grip = std::clamp(hand.grip + ahead * hand.grip_rate, 0.0, 1.0);
  return hand;
}

class InterpolationSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit InterpolationSlow(const MethodContext& c)
      : settings_(c.settings.interpolation),
        start_(c.start),
        period_(c.slow_period),
        simulation_(c, make_fingers(c.tool)),
        tool_(c.world.tool() < 0 ? nullptr : c.world.bodies()[static_cast<std::size_t>(c.world.tool())].body.get()) {
    if (!tool_) return;
    tool_state_.resize(static_cast<std::size_t>(tool_->state_size()));
    const Pose handle = tool_->handle_pose();
    centre_ = handle.rotation.conjugate() * (tool_->compute_point({}) - handle.position);
  }

  void step(const Feedback& feedback, Model& model, StepReport& report) override {
    model.contacts = model.steps = 0;
    model.fingers.fill({});
    const DeviceState& hand = feedback.header.sequence ? feedback.device : start_;
    const DeviceState target = settings_.predict ? predict(hand, period_) : hand;
    model.hand = target.pose;
    Felt felt;
    {
      const StageTimer timer(report, Stage::kSolve);
      simulation_.read_bodies();
      if (settings_.display == Display::kExtrapolate) simulation_.save(before_);
      felt = simulation_.advance(target, period_);
    }
    report.iterations = model.steps = felt.steps;
    report.contacts = model.contacts = felt.contacts;
    report.penetration = felt.penetration;
    report.overflow = felt.behind;
    report.converged = felt.finite;
    if (!felt.finite) {
      // Nothing of that step may reach the hand or the screen.
      simulation_.stop_bodies();
      return;
    }
    {
      const StageTimer timer(report, Stage::kCorrect);
      simulation_.write_bodies();
      show_tool(target);
    }
    const StageTimer timer(report, Stage::kModel);
    const std::span<const Proxy> fingers = simulation_.fingers();
    for (std::size_t i = 0; i < fingers.size(); ++i) {
      model.fingers[i].force = felt.force[i];
      model.fingers[i].torque = felt.torque[i];
      model.fingers[i].position = fingers[i].pose.position;
    }
    if (settings_.display == Display::kExtrapolate) probe(target, model);
  }

 private:
  /// The slow step once more for each finger that feels something, taken a little further against its force: what the
  /// force grows by is its stiffness over a slow step.
  void probe(const DeviceState& target, Model& model) {
    simulation_.save(after_);
    for (std::size_t i = 0; i < simulation_.fingers().size(); ++i) {
      FingerLoad& load = model.fingers[i];
      const double size = load.force.norm();
      if (!(size > 0.0)) continue;
      load.direction = load.force / size;
      simulation_.restore(before_);
      simulation_.displace(static_cast<int>(i), -kProbe * load.direction);
      const Felt felt = simulation_.advance(target, period_);
      load.stiffness = std::max(0.0, (felt.force[i].dot(load.direction) - size) / kProbe);
    }
    simulation_.displace(-1, Vec3::Zero());
    simulation_.restore(after_);
  }

  /// A tool that is a body of the world goes where the hand is, to be seen. A particle's state is its place and
  /// velocity, a rigid body's the pose of its centre and its two velocities.
  void show_tool(const DeviceState& hand) noexcept {
    if (!tool_) return;
    std::fill(tool_state_.begin(), tool_state_.end(), 0.0);
    Eigen::Map<Vec3>(tool_state_.data()) = hand.pose.position + hand.pose.rotation * centre_;
    if (tool_state_.size() == 13) Eigen::Map<Eigen::Vector4d>(tool_state_.data() + 3) = hand.pose.rotation.coeffs();
    tool_->restore_state(tool_state_);
  }

  const InterpolationSettings settings_;
  const DeviceState start_;
  const double period_;
  Simulation simulation_;
  Simulation::State before_, after_;  ///< of the slow step, for test steps
  Body* tool_;
  Vec3 centre_ = Vec3::Zero();  ///< of the tool, in its handle's frame
  std::vector<double> tool_state_;
};

/// From the state that is shown to the newest, within a slow period. Starts from what is shown and not from the state
/// before, which is the same unless a model came early or late: so the force never jumps.
class InterpolationFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit InterpolationFast(const MethodContext& c)
      : display_(c.settings.interpolation.display),
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
}  // namespace interpolation

Method make_interpolation(const MethodContext& context) {
  using namespace interpolation;
  check_settings("interpolation", context.settings.interpolation);
  if (const std::string reason = refuse_simulation(context.world, context.tool); !reason.empty())
    fail_input("interpolation: {}", reason);
  return {layout_of<Model>(), layout_of<Feedback>(), std::make_unique<InterpolationSlow>(context),
          std::make_unique<InterpolationFast>(context)};
}

std::string refuse_interpolation(const World& world, const ToolSettings& tool) {
  return interpolation::refuse_simulation(world, tool);
}

}  // namespace palpate
