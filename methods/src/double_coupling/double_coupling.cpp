#include "double_coupling/double_coupling.h"

#include <array>

#include "tool_grip.h"

// The setup that Otaduy & Gross 2007, section 6, compare against: a tool in each loop and "an additional virtual
// coupling between the haptic tool and the visual tool". Both couplings have the scene's stiffness and damping.
namespace palpate {
namespace double_coupling {
namespace {

struct Model {
  MessageHeader header;
  Pose handle;  ///< of the visual tool, as the device would have it
  Twist velocity;
  std::int32_t contacts = 0;
  std::int32_t valid = 0;
};

struct Feedback {
  MessageHeader header;
  DeviceState tool;  ///< the haptic tool's handle: what the visual tool is held by
};

/// Velocity of a tool's handle; of a point and of a rigid body held at its frame's origin.
Twist handle_velocity(const Body& tool) noexcept {
  const auto v = tool.velocities();
  if (v.size() < 2) return {v[0], Vec3::Zero()};
  return {v[0] + v[1].cross(tool.handle_pose().position - tool.compute_point({})), v[1]};
}

class DoubleSlow final : public TypedSlowHalf<Model, Feedback> {
 public:
  explicit DoubleSlow(const MethodContext& c)
      : world_(c.world),
        tool_(*c.world.bodies()[static_cast<std::size_t>(c.world.tool())].body),
        start_(c.start),
        h_(c.slow_period),
        grip_(c, tool_) {}

  void step(const Feedback& feedback, Model& model, StepReport& report) override {
    tool_.set_grip(grip_.aim(feedback.header.sequence ? feedback.tool : start_));
    model.valid = world_.step(h_, report) ? 1 : 0;
    if (!model.valid) report.converged = false;
    model.handle = grip_.device_pose(tool_);
    model.velocity = handle_velocity(tool_);
    model.contacts = report.contacts;
  }

 private:
  World& world_;
  Body& tool_;
  const DeviceState start_;
  const double h_;
  ToolGrip grip_;
};

/// Real-time: a tick is one 6×6 solve.
class DoubleFast final : public TypedFastHalf<Model, Feedback> {
 public:
  explicit DoubleFast(const MethodContext& c)
      : dt_(c.dt),
        tool_(make_tool(c.tool, c.start.pose, c.world.settings().gravity, false)),
        device_grip_(c, *tool_.body),
        both_(c, *tool_.body) {}

  TickResult tick(const DeviceState& device, const Model& model, Feedback& feedback) noexcept override {
    Body& body = *tool_.body;
    const bool held = model.header.sequence > 0 && model.valid && model.handle.position.allFinite();
    // Two springs on one handle are one of their sum at their mean; of the turns that is exact about one axis, and to
    // the second order in the angle between the two targets otherwise.
    Grip grip = device_grip_.aim(device);
    if (held) {
      const Grip& second = both_.aim({device.time, model.handle, model.velocity});
      grip.stiffness *= 2.0;
      grip.damping *= 2.0;
      grip.rotational_stiffness *= 2.0;
      grip.rotational_damping *= 2.0;
      grip.target.position = 0.5 * (grip.target.position + second.target.position);
      grip.target.rotation = grip.target.rotation.slerp(0.5, second.target.rotation);
      grip.target_velocity.linear = 0.5 * (grip.target_velocity.linear + second.target_velocity.linear);
      grip.target_velocity.angular = 0.5 * (grip.target_velocity.angular + second.target_velocity.angular);
    }
    body.set_grip(grip);
    std::array<Vec3, 2> dv{Vec3::Zero(), Vec3::Zero()};
    const auto changes = std::span(dv).first(static_cast<std::size_t>(body.block_count()));
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
  const double dt_;
  WorldBody tool_;
  ToolGrip device_grip_, both_;
};

}  // namespace
}  // namespace double_coupling

Method make_double_coupling(const MethodContext& context) {
  using namespace double_coupling;
  return {layout_of<Model>(), layout_of<Feedback>(), std::make_unique<DoubleSlow>(context),
          std::make_unique<DoubleFast>(context)};
}

std::string refuse_double_coupling(const World& world, const ToolSettings& tool) {
  if (tool.kind != ToolSettings::Kind::kPoint && tool.kind != ToolSettings::Kind::kRigid)
    return "the hand must hold a rigid tool or a point";
  if (world.tool() < 0) return "the world has no tool in it";
  return {};
}

}  // namespace palpate
