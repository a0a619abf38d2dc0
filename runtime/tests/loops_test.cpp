#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "palpate/bodies/rigid_body.h"
#include "palpate/core/clock.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/testing/realtime_guard.h"
#include "touch_rig.h"

namespace palpate::loops_test {
namespace {

using namespace testing;

struct Result {
  RunSummary summary;
  Rows rows;
};

Result run(std::string_view method_name, const RunSettings& settings, double friction = 0.0,
           const HandGuards& guards = at_once()) {
  const std::unique_ptr<Device> device = make_pressing_hand();
  World world = make_world_for(find_method(method_name), friction, device->read(0.0));
  MethodSettings exact;
  // So that no force is off by more than this times the coupling.
  exact.get<JacobianSettings>("jacobian").tolerance = 1e-10;
  exact.get<ComplianceSettings>("compliance").tolerance = 1e-10;
  Method method = make_method(method_name, {world, make_tool_for(find_method(method_name)), settings.dt,
                                            settings.slow_period, device->read(0.0), exact});
  Result out;
  out.summary = run_lockstep(settings, {method, *device, &out.rows, guards});
  return out;
}

TEST(Lockstep, RepeatsBitForBit) {
  for (const MethodInfo& method : registered_methods()) {
    const Result a = run(method.name, settings_for(1.0), 0.2);
    const Result b = run(method.name, settings_for(1.0), 0.2);
    ASSERT_EQ(a.rows.ticks.size(), 1000u);
    ASSERT_EQ(b.rows.ticks.size(), 1000u);
    for (std::size_t i = 0; i < a.rows.ticks.size(); ++i) {
      EXPECT_EQ(std::memcmp(&a.rows.ticks[i].sent, &b.rows.ticks[i].sent, sizeof(Wrench)), 0) << method.name << i;
    }
  }
}

// The memory of models that have been followed by others is used again: a longer run allocates no more for its models.
TEST(Lockstep, ModelsReuseTheMemoryOfEarlierOnes) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  const auto count = [](double seconds) {
    const std::unique_ptr<Device> device = make_pressing_hand();
    World world = make_floor_world(0.0);
    const RunSettings s = settings_for(seconds);
    Method method = make_method("halfspace", {world, {}, s.dt, s.slow_period, device->read(0.0)});
    const RealtimeGuard guard;
    const RunSummary summary = run_lockstep(s, {method, *device, nullptr, at_once()});
    return std::pair(guard.violations().allocations, static_cast<long>(summary.steps));
  };
  const auto [before, steps_before] = count(1.0);
  const auto [after, steps_after] = count(3.0);
  ASSERT_GT(steps_after, steps_before + 20);
  // The queue of those under way takes and gives back a piece of memory for some of them.
  EXPECT_LT(after - before, (steps_after - steps_before) / 2);
}

// On a plane at rest every method is right: 5 mm deep on 1000 N/m.
TEST(Methods, AllGiveStiffnessTimesDepthOnAFlatFloorAtRest) {
  for (const MethodInfo& method : registered_methods()) {
    if (method.name == "interpolation") continue;  // has no coupling: what it feels is the soft body
    const Result r = run(method.name, settings_for(0.5));
    const Vec3 force = r.rows.ticks.back().sent.force;
    // The proxy has settled: what remains is the spring's decay over 0.2 s of rest, far below a micronewton.
    const double springs = method.name == "double_coupling" ? 2.0 : 1.0;  // in series
    EXPECT_LT((force - Vec3(0, 5.0 / springs, 0)).norm(), 1e-6) << method.name << force.transpose();
    EXPECT_EQ(r.rows.ticks.back().contacts, 1) << method.name;
  }
}

TEST(Methods, SlidingForceLiesOnTheFrictionCone) {
  for (const std::string_view name : {"reference", "halfspace"}) {
    const Result r = run(name, settings_for(1.2), 0.2);
    const TickRow& row = r.rows.ticks[900];  // in the middle of the stroke
    ASSERT_GT(row.device_velocity.linear.x(), 0.04);
    // The proxy moves at the hand's speed, so the damper adds nothing sideways that friction does not balance.
    EXPECT_NEAR(-row.wanted.force.x() / row.wanted.force.y(), 0.2, 1e-6) << name;
    EXPECT_NEAR(row.wanted.force.z(), 0.0, 1e-12);
  }
}

TEST(Methods, FreeSpaceIsFree) {
  for (const MethodInfo& method : registered_methods()) {
    RunSettings s = settings_for(0.02);  // the hand is still above the floor
    const Result r = run(method.name, s);
    for (const TickRow& row : r.rows.ticks) EXPECT_LT(row.sent.force.norm(), 0.05) << method.name;
  }
}

// The model of the step begun at t must not be felt before t + latency, and must be felt then.
TEST(Lockstep, ModelArrivesAfterTheLatencyAndNotBefore) {
  for (const double latency : {0.0, 0.007, 0.02, 0.05}) {
    RunSettings s = settings_for(0.5);
    s.latency = 0.6 * latency;
    s.extra_latency = 0.4 * latency;  // adds up
    const Result r = run("direct", s);
    for (const TickRow& row : r.rows.ticks) {
      if (row.time < latency - 1e-9) {
        EXPECT_EQ(row.model_age, 0.0);
      } else {
        EXPECT_GE(row.model_age, latency - 1e-9) << row.time;
        EXPECT_LT(row.model_age, latency + s.slow_period - 0.5 * s.dt) << row.time;
      }
    }
  }
}

/// Writes down what the slow half finds and gives.
struct NumberedMessage {
  MessageHeader header;
  std::uint64_t seen = 0;
};
class CountingSlow final : public TypedSlowHalf<NumberedMessage, NumberedMessage> {
 public:
  explicit CountingSlow(std::vector<std::uint64_t>& found) : found_(found) {}
  StepWish begin(const NumberedMessage& feedback, NumberedMessage&, StepReport&) override {
    found_.push_back(feedback.header.sequence);
    return {};
  }
  void finish(bool, NumberedMessage&, StepReport&) override {}

 private:
  std::vector<std::uint64_t>& found_;
};
class CountingFast final : public TypedFastHalf<NumberedMessage, NumberedMessage> {
 public:
  explicit CountingFast(std::vector<std::uint64_t>& models) : models_(models) { models_.reserve(1000); }
  TickResult tick(const DeviceState&, const NumberedMessage& model, NumberedMessage&) noexcept override {
    if (model.header.sequence > 0) models_.push_back(model.header.sequence);
    return {};
  }

 private:
  std::vector<std::uint64_t>& models_;
};

// A run goes on where the last one of the same method stopped: in either runtime no number comes twice, and the first
// slow step finds the hand where it was.
TEST(RunMemory, LetsARunGoOnWithItsNumbers) {
  std::vector<std::uint64_t> feedbacks, models;
  Method method{layout_of<NumberedMessage>(), layout_of<NumberedMessage>(), std::make_unique<CountingSlow>(feedbacks),
                std::make_unique<CountingFast>(models)};
  const std::unique_ptr<Device> device = make_pressing_hand();
  const RunSettings s = settings_for(0.1);
  World world;
  RunMemory memory;
  RunParts parts(method, *device, nullptr, at_once());
  parts.memory = &memory;
  run_lockstep(s, parts);
  EXPECT_EQ(feedbacks.front(), 0u);
  const std::uint64_t last = models.back();
  feedbacks.clear();
  models.clear();
  run_lockstep(s, parts);
  EXPECT_EQ(feedbacks.front(), 100u);  // ticks of the first run
  EXPECT_GT(models.front(), last);
  feedbacks.clear();
  run_realtime(s, {}, parts);
  EXPECT_GE(feedbacks.front(), 200u);
}

bool same_bits(const TickRow& a, const TickRow& b) {
  return a.time == b.time && a.device.position == b.device.position && a.tool.position == b.tool.position &&
         a.wanted.force == b.wanted.force && a.sent.force == b.sent.force && a.sent.torque == b.sent.torque &&
         a.energy == b.energy && a.model_age == b.model_age && a.events == b.events && a.contacts == b.contacts;
}

// Whatever the parts are long, and wherever in a slow period or in a model's way they end.
TEST(RunMemory, ARunWithAHundredPausesIsBitForBitTheRunWithout) {
  for (const char* name : {"reference", "direct", "halfspace", "limited", "compliance", "jacobian"}) {
    const MethodInfo& info = find_method(name);
    RunSettings s = settings_for(1.1);
    s.slow_period = 0.0174;
    s.latency = 0.031;  // two models under way at a time
    const auto run_parts = [&](bool paused) {
      const std::unique_ptr<Device> device = make_pressing_hand(4);
      World world = make_world_for(info, 0.3, device->read(0.0));
      Method method = make_method(info, {world, make_tool_for(info), s.dt, s.slow_period, device->read(0.0)});
      Rows rows;
      RunMemory memory;
      RunParts parts(method, *device, &rows);  // with the ramp: it must not begin again
      parts.memory = &memory;
      RunSettings part = s;
      for (int i = 0; paused && i < 100; ++i) {
        part.seconds = 0.001 * (1 + 7 * i % 18);
        run_lockstep(part, parts);
      }
      part.seconds = s.seconds - memory.time;
      run_lockstep(part, parts);
      return rows;
    };
    const Rows whole = run_parts(false), paused = run_parts(true);
    ASSERT_EQ(whole.ticks.size(), paused.ticks.size()) << name;
    ASSERT_EQ(whole.steps.size(), paused.steps.size()) << name;
    double felt = 0.0;
    for (std::size_t i = 0; i < whole.ticks.size(); ++i) {
      ASSERT_TRUE(same_bits(whole.ticks[i], paused.ticks[i])) << name << " " << i;
      felt = std::max(felt, whole.ticks[i].sent.force.norm());
    }
    EXPECT_GT(felt, 1.0) << name;
  }
}

// From real time to virtual time and back: time, energy and force go on, and nothing comes in by the ramp again.
TEST(RunMemory, APauseInRealTimeGoesOnWithTheForceThereWas) {
  const std::unique_ptr<Device> device = make_pressing_hand(4);
  const RunSettings s = settings_for(0.5);
  World world = make_floor_world(0.3);
  Method method = make_method("halfspace", {world, {}, s.dt, s.slow_period, device->read(0.0)});
  Rows rows;
  RunMemory memory;
  HandGuards guards = at_once();
  RunParts parts({{method, *device, guards, true}}, &rows);
  parts.memory = &memory;
  run_realtime(s, {}, parts);
  ASSERT_FALSE(rows.ticks.empty());
  const TickRow last = rows.ticks.back();
  rows.ticks.clear();
  run_lockstep(settings_for(0.05), parts);
  EXPECT_NEAR(rows.ticks.front().time, 0.5, 1e-9);
  EXPECT_LT((rows.ticks.front().sent.force - last.sent.force).norm(), 0.2 * last.sent.force.norm() + 0.05);
  EXPECT_EQ(rows.ticks.front().events & kRamping, 0u);
  EXPECT_NEAR(rows.ticks.front().energy, last.energy, 0.01);
  EXPECT_NE(last.energy, 0.0);
  run_realtime(settings_for(0.05), {}, parts);
  EXPECT_NEAR(rows.ticks.back().time, 0.6, 0.01);
}

TEST(Lockstep, SlowPeriodNeedNotBeAMultipleOfTheTick) {
  RunSettings s = settings_for(1.0);
  s.slow_period = 1.0 / 60.0;
  const Result r = run("direct", s);
  ASSERT_EQ(r.rows.steps.size(), 60u);
  for (std::size_t i = 0; i < 60; ++i) {
    const double late = r.rows.steps[i].time - static_cast<double>(i) / 60.0;
    EXPECT_GE(late, -1e-9);
    EXPECT_LT(late, s.dt);
  }
}

TEST(Lockstep, StalledSlowLoopFadesTheForceAndNeverLetsItGrow) {
  RunSettings s = settings_for(1.2);
  s.stall_from = 0.4;
  s.stall_until = 1.0;
  HandGuards guards = at_once();
  guards.safety.stale_after = 0.06;
  guards.safety.fade_time = 0.1;
  const Result r = run("halfspace", s, 0.0, guards);
  EXPECT_NEAR(r.rows.ticks[400].sent.force.y(), 5.0, 1e-3);
  double previous = r.rows.ticks[461].sent.force.norm();
  for (std::size_t i = 462; i < 1000; ++i) {
    const double now = r.rows.ticks[i].sent.force.norm();
    EXPECT_LE(now, previous + 1e-12) << i;
    previous = now;
  }
  EXPECT_LT(r.rows.ticks[900].sent.force.norm(), 1e-9);
  EXPECT_NEAR(r.rows.ticks[1199].wanted.force.y(), 5.0, 0.1);
  EXPECT_GT(r.rows.ticks[1199].sent.force.y(), 0.0);  // coming back
  EXPECT_GT(r.summary.hand().safety.stale_model, 500u);
}

// The force that a method asks for is limited by the device's own maximum, whatever the scene allows.
TEST(FastLoop, DeviceLimitHoldsAgainstTheScene) {
  struct Weak : Device {
    DeviceInfo information;
    const DeviceInfo& info() const noexcept override { return information; }
    DeviceState read(double time) noexcept override {
      DeviceState s;
      s.time = time;
      s.pose.position = Vec3(0, -0.05, 0);
      return s;
    }
    void write(const SafeWrench& w) noexcept override { largest = std::max(largest, w.force().norm()); }
    double largest = 0.0;
  } device;
  device.information.max_force = 1.5;
  World world = make_floor_world(0.0);
  DeviceState start;
  start.pose.position = Vec3(0, 0.01, 0);
  RunSettings s = settings_for(0.5);
  Method method = make_method("reference", {world, {}, s.dt, s.slow_period, start});
  const RunSummary summary = run_lockstep(s, {method, device, nullptr, at_once()});
  EXPECT_NEAR(device.largest, 1.5, 1e-9);
  EXPECT_GT(summary.hand().safety.clamped, 400u);
}

/// Guards all that happens from reading the device to writing to it: device, method, passivity and safety.
struct GuardedDevice : Device {
  std::unique_ptr<Device> inner = make_pressing_hand();
  std::optional<testing::RealtimeGuard> guard;
  long ticks = 0, violations = 0;
  const DeviceInfo& info() const noexcept override { return inner->info(); }
  DeviceState read(double time) noexcept override {
    guard.emplace();
    return inner->read(time);
  }
  void write(const SafeWrench& wrench) noexcept override {
    inner->write(wrench);
    violations += guard->violations().total();
    ++ticks;
    guard.reset();
  }
};

TEST(FastLoop, NoTickOfAnyMethodAllocatesLocksOrDoesIo) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const MethodInfo& info : registered_methods()) {
    World world = make_world_for(info, 0.3, make_pressing_hand()->read(0.0));
    GuardedDevice device;
    const RunSettings s = settings_for(2.0);
    HandGuards guards = at_once();
    guards.passivity.emplace();
    Method method =
        make_method(info, {world, make_tool_for(info), s.dt, s.slow_period, make_pressing_hand()->read(0.0)});
    run_lockstep(s, {method, device, nullptr, guards});
    EXPECT_EQ(device.ticks, 2000) << info.name;
    EXPECT_EQ(device.violations, 0) << info.name;
  }
}

// The same rules for methods that meet moving bodies with a tool of their own: ticks in contact, sliding and leaving.
TEST(FastLoop, NoTickWithARigidToolOnASoftBlockBreaksTheRulesAndAllRepeat) {
  ToolSettings tool;
  tool.kind = HeldRigid{.mass = 0.02, .surface = make_sphere(0.008, 3)};
  tool.coupling = {.stiffness = 400.0, .damping = 1.0, .rotational_stiffness = 0.2, .rotational_damping = 1e-3};
  const DeviceState start = make_pressing_hand()->read(0.0);
  for (const MethodInfo& info : registered_methods()) {
    std::vector<Rows> runs(2);
    for (Rows& rows : runs) {
      World world = make_block_world(info, tool, start.pose);
      // Those without a slow half step the whole world in a tick, which allocates until it has seen as many contacts.
      if (!info.refuse({world, tool}).empty()) break;
      GuardedDevice device;
      RunSettings s = settings_for(1.0);
      s.slow_period = s.latency = 0.05;
      Method method = make_method(info, {world, tool, s.dt, s.slow_period, start});
      if (!method.slow) break;
      run_lockstep(s, {method, device, &rows, at_once()});
      EXPECT_EQ(device.ticks, 1000) << info.name;
      if (testing::RealtimeGuard::available()) {
        EXPECT_EQ(device.violations, 0) << info.name;
      }
    }
    for (std::size_t i = 0; i < runs[1].ticks.size(); ++i)
      ASSERT_EQ(std::memcmp(&runs[0].ticks[i].sent, &runs[1].ticks[i].sent, sizeof(Wrench)), 0) << info.name << i;
    if (!runs[1].ticks.empty()) {
      EXPECT_GT(runs[1].ticks[600].sent.force.y(), 0.2) << info.name;
    }
  }
}

/// Nine cubes on a table, and the tool, if it is a body, above the one in the middle.
World make_cube_world(const ToolSettings& tool, const Pose& start) {
  World world;
  ContactShape shape;
  shape.friction = 0.4;
  shape.kind = ContactShape::Plane{.offset = -0.02};
  world.add({"table", nullptr, shape});
  shape.kind = ContactShape::Box{.size = Vec3::Constant(0.02)};
  RigidBodySettings cube;
  cube.surface = make_box(Vec3::Constant(0.02), 1);
  cube.mass = compute_mass_properties(cube.surface, 2000.0);
  for (int i = 0; i < 9; ++i) {
    cube.pose.position = Vec3(0.02 * (i % 3), -0.01, 0.02 * (i / 3) - 0.02);
    world.add({"cube", std::make_unique<RigidBody>(cube), shape});
  }
  add_tool(world, tool, start);
  world.prepare();
  return world;
}

// The same rules for methods that move bodies in the fast loop: they are pressed, dragged along and left.
TEST(FastLoop, NoTickAmongRigidCubesBreaksTheRulesAndAllRepeat) {
  ToolSettings tool;
  tool.kind = HeldPoint{.radius = 0.004};
  tool.friction = 0.5;
  const DeviceState start = make_pressing_hand()->read(0.0);
  for (const std::string_view name : {"accelerance", "impulse"}) {
    std::vector<Rows> runs(2);
    for (Rows& rows : runs) {
      World world = make_cube_world(tool, start.pose);
      GuardedDevice device;
      RunSettings s = settings_for(1.0);
      s.slow_period = s.latency = 0.05;
      Method method = make_method(name, {world, tool, s.dt, s.slow_period, start});
      run_lockstep(s, {method, device, &rows, at_once()});
      EXPECT_EQ(device.ticks, 1000) << name;
      if (testing::RealtimeGuard::available()) {
        EXPECT_EQ(device.violations, 0) << name;
      }
    }
    for (std::size_t i = 0; i < runs[1].ticks.size(); ++i)
      ASSERT_EQ(std::memcmp(&runs[0].ticks[i].sent, &runs[1].ticks[i].sent, sizeof(Wrench)), 0) << name << i;
    EXPECT_GT(runs[1].ticks[600].sent.force.y(), 0.2) << name;
  }
}

TEST(RealtimeGuard, SeesWhatItIsThereToSee) {
  if (!testing::RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  const testing::RealtimeGuard guard;
  std::vector<int>* v = new std::vector<int>(1000);
  delete v;
  EXPECT_GE(guard.violations().allocations, 4);
  EXPECT_EQ(::write(2, "", 0), 0);
  EXPECT_GE(guard.violations().io, 1);
  std::mutex mutex;
  mutex.lock();
  mutex.unlock();
  EXPECT_GE(guard.violations().locks, 1);
}

// The whole fast thread, as it runs in earnest: device, exchange, method, passivity, safety, ring.
TEST(Realtime, BothLoopsKeepTheirRatesAndAgreeWithLockstepAtRest) {
  World world = make_floor_world(0.0);
  GuardedDevice device;
  RunSettings s = settings_for(0.6);
  Method method = make_method("halfspace", {world, {}, s.dt, s.slow_period, make_pressing_hand()->read(0.0)});
  Rows rows;
  RealtimeSettings realtime;
  realtime.lock_memory = false;  // other tests share the process
  const RunSummary summary = run_realtime(s, realtime, {method, device, &rows, at_once()});
  EXPECT_EQ(device.violations, 0);
  EXPECT_EQ(summary.ticks + summary.tick_misses, 600u);
  EXPECT_GE(summary.steps, 10u);
  EXPECT_EQ(rows.ticks.size() + summary.lost_rows, summary.ticks);
  EXPECT_EQ(summary.hand().safety.ticks, summary.ticks);      // the fade-out after the end is not part of the run
  EXPECT_GT(device.ticks, static_cast<long>(summary.ticks));  // but it happened
  ASSERT_FALSE(rows.ticks.empty());
  EXPECT_NEAR(rows.ticks.back().sent.force.y(), 5.0, 1e-3);
  EXPECT_GT(rows.ticks.back().tick_time, 0.0);
  EXPECT_GT(summary.tick_times.count(), 0u);
}

// Extra latency holds every model back, whatever the machine's mood, and all the same lets all of them through.
TEST(Realtime, ExtraLatencyHoldsModelsBack) {
  World world = make_floor_world(0.0);
  const std::unique_ptr<Device> device = make_pressing_hand();
  RunSettings s = settings_for(0.5);
  s.extra_latency = 0.05;  // two and a half slow periods
  Method method = make_method("halfspace", {world, {}, s.dt, s.slow_period, device->read(0.0)});
  Rows rows;
  RealtimeSettings realtime;
  realtime.lock_memory = false;
  run_realtime(s, realtime, {method, *device, &rows, at_once()});
  double youngest = 1.0;
  for (const TickRow& row : rows.ticks) {
    if (row.model_age == 0.0) continue;  // none has come yet
    EXPECT_GE(row.model_age, s.extra_latency) << row.time;
    youngest = std::min(youngest, row.model_age);
  }
  EXPECT_LT(youngest, s.extra_latency + 2.0 * s.slow_period);
}

TEST(Realtime, StopRequestEndsTheRunAndAFailingSlowHalfIsReported) {
  World world = make_floor_world(0.0);
  RealtimeSettings realtime;
  realtime.lock_memory = false;
  const RunSettings s = settings_for(60.0);
  HandGuards guards = at_once();
  guards.safety.fade_time = 0.02;
  {
    const std::unique_ptr<Device> device = make_pressing_hand();
    Method method = make_method("direct", {world, {}, s.dt, s.slow_period, device->read(0.0)});
    std::atomic<bool> stop{false};
    std::thread later([&] {
      sleep_until_ns(monotonic_ns() + 100'000'000);
      stop.store(true);
    });
    RunControl control;
    control.stop = &stop;
    const RunSummary summary = run_realtime(s, realtime, {method, *device, nullptr, guards}, control);
    later.join();
    EXPECT_TRUE(summary.stopped);
    EXPECT_LT(summary.seconds, 30.0);
  }
  {
    struct Failing : SlowHalf {
      StepWish begin_bytes(const std::byte*, std::byte*, StepReport&) override { throw std::runtime_error("no"); }
      void read_tick_bytes(const FreeTick&, std::byte*, StepReport&) noexcept override {}
      void read_solved_bytes(const SolvedStep&, std::byte*, StepReport&) override {}
      void read_advanced_bytes(const AdvancedStep&, std::byte*, StepReport&) override {}
      void finish_bytes(bool, std::byte*, StepReport&) override {}
    };
    const std::unique_ptr<Device> device = make_pressing_hand();
    Method method = make_method("direct", {world, {}, s.dt, s.slow_period, device->read(0.0)});
    method.slow = std::make_unique<Failing>();
    EXPECT_THROW(run_realtime(s, realtime, {method, *device, nullptr, guards}), std::runtime_error);
  }
}

}  // namespace
}  // namespace palpate::loops_test
