#pragma once

#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"
#include "palpate/testing/realtime_guard.h"

// What the tests of methods with a point in the hand share.
namespace palpate {

/// The two loops in lockstep: a slow step every `slow` ticks, its model `slow` ticks later.
struct Loops {
  World& world;
  HandDriven method;
  DeviceState device;
  int slow;
  int tick_number = 0;
  long violations = 0;
  bool stalled = false;

  Loops(World& w, const char* name, const ToolSettings& tool, const DeviceState& start, int slow_ticks,
        const MethodSettings& settings = {})
      : world(w),
        method(make_method(name, {w, tool, 0.001, 0.001 * slow_ticks, start, settings})),
        device(start),
        slow(slow_ticks) {}

  TickResult tick(const Vec3& hand, const Vec3& velocity = Vec3::Zero()) {
    device.pose.position = hand;
    device.velocity.linear = velocity;
    if (tick_number % slow == 0) {
      if (method.under_way() > 0) method.deliver();
      StepReport report;
      if (method.has_slow_half() && !stalled) method.begin_step(report);
    }
    ++tick_number;
    const testing::RealtimeGuard guard;
    const TickResult result = method.tick(device);
    violations += guard.violations().total();
    return result;
  }
};

inline DeviceState at(const Vec3& p) {
  DeviceState d;
  d.pose.position = p;
  return d;
}

}  // namespace palpate
