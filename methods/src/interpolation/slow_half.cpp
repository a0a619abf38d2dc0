#include <algorithm>
#include <vector>

#include "interpolation/halves.h"
#include "interpolation/simulation.h"

namespace palpate::interpolation {
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
      : settings_(c.settings.get<InterpolationSettings>("interpolation")),
        start_(c.start),
        period_(c.slow_period),
        simulation_(c, make_fingers(c.tool)),
        tool_(c.world.body(c.body())) {
    if (!tool_) return;
    tool_state_.resize(as_size(tool_->state_size()));
    const Pose handle = tool_->handle_pose();
    centre_ = handle.rotation.conjugate() * (tool_->compute_point({}) - handle.position);
  }

  /// Moves the soft bodies by its own law; the world's own step would move them by another.
  StepWish begin(const Feedback& feedback, Model& model, StepReport& report) override {
    simulate(feedback, model, report);
    return {.step = false};
  }

  void finish(bool, Model&, StepReport&) override {}

 private:
  void simulate(const Feedback& feedback, Model& model, StepReport& report) {
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

}  // namespace

std::unique_ptr<SlowHalf> make_slow_half(const MethodContext& context) {
  return std::make_unique<InterpolationSlow>(context);
}

}  // namespace palpate::interpolation
