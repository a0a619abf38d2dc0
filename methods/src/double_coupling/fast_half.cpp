#include <array>

#include "double_coupling/halves.h"
#include "tool_grip.h"

namespace palpate::double_coupling {
namespace {

/// Real-time: a tick is one 6×6 solve.
class DoubleFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit DoubleFast(const MethodContext& c)
      : dt_(c.dt),
        tool_(make_tool(c.tool, c.start.pose, c.world.settings().gravity, false)),
        device_grip_(c, *tool_.body),
        second_(make_second_grip(c, *tool_.body)) {
    take_motion(c, *tool_.body);
  }

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override {
    Body& body = *tool_.body;
    const bool held = model.header.sequence > 0 && model.valid && model.handle.position.allFinite();
    Grip grip = device_grip_.aim(device);
    if (held) add(second_.aim({device.time, model.handle, model.velocity}), grip);
    body.set_grip(grip);
    std::array<Vec3, 2> dv{Vec3::Zero(), Vec3::Zero()};
    const auto changes = std::span(dv).first(as_size(body.block_count()));
    TickResult out;
    if (body.linearise({&dt_, 1})) {
      body.compute_free_motion(0, changes);
      body.advance(dt_, changes);
      const Wrench on_tool = compute_grip_wrench(device_grip_.grip(), body.handle_pose(), handle_velocity(body));
      out.wrench = {-on_tool.force, -on_tool.torque};
    }
    out.tool = device_grip_.device_pose(body);
    out.contacts = held ? model.contacts : 0;
    feedback.tool.time = device.time;
    feedback.tool.pose = out.tool;
    feedback.tool.velocity = handle_velocity(body);
    feedback.tool.buttons = device.buttons;
    return out;
  }

 private:
  /// Two springs on one handle are one of their sum, at the mean of their ends weighed by stiffness, and likewise two
  /// dampers; of the turns that is exact about one axis, and to the second order in the angle between the two ends
  /// otherwise.
  static void add(const Grip& second, Grip& grip) noexcept {
    const auto share = [](double of, double with) { return of + with > 0.0 ? of / (of + with) : 0.0; };
    const double spring = share(second.stiffness, grip.stiffness), damper = share(second.damping, grip.damping);
    const double turning = share(second.rotational_stiffness, grip.rotational_stiffness);
    const double spinning = share(second.rotational_damping, grip.rotational_damping);
    grip.stiffness += second.stiffness;
    grip.damping += second.damping;
    grip.rotational_stiffness += second.rotational_stiffness;
    grip.rotational_damping += second.rotational_damping;
    grip.target.position += spring * (second.target.position - grip.target.position);
    grip.target.rotation = grip.target.rotation.slerp(turning, second.target.rotation);
    grip.target_velocity.linear += damper * (second.target_velocity.linear - grip.target_velocity.linear);
    grip.target_velocity.angular += spinning * (second.target_velocity.angular - grip.target_velocity.angular);
  }

  const double dt_;
  WorldBody tool_;
  ToolGrip device_grip_, second_;
};

}  // namespace

std::unique_ptr<FastHalf> make_fast_half(const MethodContext& context) {
  return std::make_unique<DoubleFast>(context);
}

}  // namespace palpate::double_coupling
