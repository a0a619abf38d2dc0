#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "../src/accelerance/messages.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/accelerance_settings.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"

// What the tests of `accelerance` and `impulse` share: small worlds of boxes, and both halves driven by hand.
namespace palpate::accelerance {

inline constexpr double kGravity = 9.81;

struct BoxSettings {
  Vec3 position = Vec3::Zero();
  Vec3 size = Vec3::Constant(0.05);
  double mass = 0.5;
  double friction = 0.4;
  Vec3 velocity = Vec3::Zero();
};

inline RigidBody& add_box(World& world, const BoxSettings& b) {
  RigidBodySettings s;
  s.surface = make_box(b.size, 1);
  s.mass = compute_mass_properties(s.surface, b.mass / b.size.prod());
  s.pose.position = b.position;
  s.velocity.linear = b.velocity;
  ContactShape shape;
  shape.kind = ContactShape::Box{.size = b.size};
  shape.friction = b.friction;
  auto body = std::make_unique<RigidBody>(s);
  RigidBody& out = *body;
  world.add({"box", std::move(body), shape});
  return out;
}

/// A solver down to rounding, so that what is compared is the method.
inline World make_empty(const Vec3& gravity = Vec3(0.0, -kGravity, 0.0)) {
  WorldSettings s;
  s.gravity = gravity;
  s.solver_name = "direct";
  s.solver.tolerance = 1e-13;
  s.contacts.max_contacts = 200;
  return World(s);
}

inline void add_floor(World& world, double friction) {
  ContactShape plane;
  plane.kind = ContactShape::Plane{};
  plane.friction = friction;
  world.add({"floor", nullptr, plane});
}

inline ToolSettings make_ball(double radius, double stiffness = 1000.0) {
  ToolSettings tool;
  tool.kind = HeldPoint{.radius = radius};
  tool.coupling.stiffness = stiffness;
  return tool;
}

/// Both halves of a method. The fast half waits with a model until it begins, so handing it over at once is the same as
/// a period later.
struct Rig {
  World world;
  Method method;
  double dt, period, time = 0.0;
  std::unique_ptr<Model> model = std::make_unique<Model>();
  Feedback feedback{};
  DeviceState device;
  StepReport report;
  TickResult last;
  std::uint64_t steps = 0;

  Rig(World&& made, const ToolSettings& tool, const Vec3& start, double slow_period,
      const AcceleranceSettings& settings = {}, const char* name = "accelerance", double tick = 0.001)
      : world(std::move(made)), dt(tick), period(slow_period) {
    device.pose.position = start;
    if (!tool.is<HeldFingers>()) add_tool(world, tool, device.pose);
    world.prepare();
    MethodSettings all;
    all.get<AcceleranceSettings>("accelerance") = settings;
    method = make_method(name, {world, tool, dt, period, device, all});
  }

  /// Ticks until `seconds` have passed, with slow steps; `move` sets the device before each tick.
  void run(double seconds, const std::function<void()>& move = {}, const std::function<void()>& after = {}) {
    const int count = static_cast<int>(std::lround(seconds / dt));
    for (int i = 0; i < count; ++i) {
      if (time >= static_cast<double>(steps) * period - 0.5 * dt) {
        model->header = {time, ++steps};
        report = {};
        step_with(method, feedback, *model, report);
      }
      if (move) move();
      feedback.header = {time, feedback.header.sequence + 1};
      last = tick_with(method, device, *model, feedback);
      time += dt;
      if (after) after();
    }
  }
  /// Moves the device straight at `speed` [m/s] for `seconds`.
  void go(const Vec3& velocity, double seconds, const std::function<void()>& after = {}) {
    device.velocity.linear = velocity;
    run(
        seconds, [&] { device.pose.position += dt * velocity; }, after);
    device.velocity.linear.setZero();
  }
  /// The fast loop's state of a body; null if it is no neighbour.
  const Feedback::Body* neighbour(int body) const {
    for (std::int32_t i = 0; i < feedback.bodies; ++i) {
      if (feedback.body[as_size(i)].body == body) return &feedback.body[as_size(i)];
    }
    return nullptr;
  }
};

}  // namespace palpate::accelerance
