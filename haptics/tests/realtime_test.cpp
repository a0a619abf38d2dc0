#include <gtest/gtest.h>

#include "all_paths.h"
#include "palpate/haptics/coupling.h"
#include "palpate/haptics/input_guard.h"
#include "palpate/haptics/passivity.h"
#include "palpate/haptics/replay.h"
#include "palpate/haptics/scripted.h"
#include "palpate/haptics/simulated.h"
#include "palpate/testing/realtime_guard.h"

namespace palpate::realtime_test {
namespace {

using testing::RealtimeGuard;

/// One device through the whole chain of a tick: read, guard, coupling, passivity, safety, write.
long count_violations(Device& device) {
  InputGuard input({}, 1e-3, 0.1);
  PassivityController passivity({});
  SafetyStage safety({}, 1e-3);
  const RealtimeGuard guard;
  for (int tick = 0; tick < 500; ++tick) {
    const double time = tick * 1e-3;
    DeviceState sample = device.read(time);
    if (tick % 100 > 70) sample.pose.position.x() = std::numeric_limits<double>::quiet_NaN();
    const DeviceState& state = input.take(sample, time);
    const VirtualCouplingSettings coupling;
    Wrench wanted;
    wanted.force = compute_spring_force(coupling.stiffness, Vec3(0.01, 0.0, 0.0) - state.pose.position,
                                        coupling.damping, -state.velocity.linear);
    const Wrench damped = passivity.apply(wanted, state, 1e-3);
    const std::uint32_t events = input.events_of_last_tick() | passivity.events_of_last_tick();
    const SafeWrench sent = safety.apply(damped, tick < 250 ? 0.0 : 1.0, events);
    device.write(sent);
    passivity.hold(sent.wrench());
  }
  return guard.violations().total();
}

TEST(RealTime, NoTickOfAnyDeviceAllocatesLocksOrDoesIo) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  ScriptedDevice scripted(make_path(testing::some_sine()));
  EXPECT_EQ(count_violations(scripted), 0);
  std::vector<DeviceState> samples(100);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].time = 0.003 * static_cast<double>(i);
  ReplayDevice replay(samples);
  EXPECT_EQ(count_violations(replay), 0);
  for (const std::string_view preset : simulated_device_presets()) {
    SimulatedDeviceSettings s = simulated_device_preset(preset);
    s.delay_output = true;
    SimulatedDevice simulated(s, make_path(testing::some_sine()));
    EXPECT_EQ(count_violations(simulated), 0) << preset;
  }
}

TEST(RealTime, NoHandPathAllocatesLocksOrDoesIo) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  for (const testing::NamedPath& p : testing::all_paths()) {
    double sum = 0.0;
    const RealtimeGuard guard;
    for (double t = 0.0; t < 8.0; t += 0.01) sum += p.path->at(t).pose.position.x();
    EXPECT_EQ(guard.violations().total(), 0) << p.name << sum;
  }
}

}  // namespace
}  // namespace palpate::realtime_test
