#include <gtest/gtest.h>

#include <cstring>

#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/testing/by_the_clock.h"
#include "palpate/testing/realtime_guard.h"
#include "touch_rig.h"

// Several tools in one world.
namespace palpate::tools_test {
namespace {

using namespace testing;

/// A cube of 40 mm and 0.2 kg that floats, and two balls on either side of it, 5 mm away.
struct Squeezed {
  World world = make_world();
  ToolSettings tool = make_tool_settings();
  std::unique_ptr<Device> left = make_hand(-1.0), right = make_hand(1.0);

  static World make_world() {
    WorldSettings settings;
    settings.gravity = Vec3::Zero();
    World out(settings);
    RigidBodySettings cube;
    cube.surface = make_box(Vec3::Constant(0.04), 1);
    cube.mass = compute_mass_properties(cube.surface, 0.2 / std::pow(0.04, 3));
    ContactShape shape;
    shape.kind = ContactShape::Box{.size = Vec3::Constant(0.04)};
    shape.friction = 0.5;
    out.add({"cube", std::make_unique<RigidBody>(cube), shape});
    return out;
  }
  static ToolSettings make_tool_settings() {
    ToolSettings out;
    out.kind = HeldPoint{.radius = 0.005};
    out.coupling = {.stiffness = 500.0, .damping = 2.0};
    return out;
  }
  /// Goes 8 mm towards the cube within half a second: 3 mm deeper than it can.
  static std::unique_ptr<Device> make_hand(double side) {
    KeyframePathSettings path;
    path.times = {0.0, 0.5};
    path.positions = {Vec3(side * 0.03, 0.0, 0.0), Vec3(side * 0.022, 0.0, 0.0)};
    return std::make_unique<ScriptedDevice>(make_path(path));
  }

  Squeezed() {
    add_tool(world, tool, left->read(0.0).pose);
    add_tool(world, tool, right->read(0.0).pose);
    world.prepare();
  }

  std::vector<Method> make(std::string_view name, const RunSettings& s) {
    const auto shared = std::make_shared<SharedTick>();
    std::vector<Method> out;
    for (std::size_t i = 0; i < 2; ++i)
      out.push_back(
          make_method(name, {world, tool, s.dt, s.slow_period, (i == 0 ? left : right)->read(0.0), {}, i, shared}));
    return out;
  }
  RunParts parts(std::vector<Method>& methods, RunSink* sink) {
    return RunParts(std::vector<ToolParts>{{methods[0], *left, at_once()}, {methods[1], *right, at_once()}}, sink);
  }
};

/// Ticks of one of the tools.
std::vector<TickRow> ticks_of(const Rows& rows, std::uint32_t tool) {
  std::vector<TickRow> out;
  std::copy_if(rows.ticks.begin(), rows.ticks.end(), std::back_inserter(out),
               [&](const TickRow& row) { return row.tool_number == tool; });
  return out;
}

// The cube stays in the middle, and each hand feels its own coupling: 500 N/m over the 3 mm that it wants in is 1.5 N,
// equal and opposite. The solver leaves 1e-8 m, the coupling makes 5e-6 N of it.
TEST(Tools, TwoHandsThatSqueezeACubeFeelEqualAndOppositeForces) {
  for (const char* name : {"reference", "reduced", "direct", "compliance", "jacobian", "double_coupling"}) {
    Squeezed scene;
    const RunSettings s = settings_for(1.5);
    std::vector<Method> methods = scene.make(name, s);
    Rows rows;
    const RunSummary summary = run_lockstep(s, scene.parts(methods, &rows));
    ASSERT_EQ(summary.hands.size(), 2u);
    const std::vector<TickRow> left = ticks_of(rows, 0), right = ticks_of(rows, 1);
    ASSERT_EQ(left.size(), 1500u);
    ASSERT_EQ(right.size(), 1500u);
    const double share = std::strcmp(name, "double_coupling") == 0 ? 0.5 : 1.0;  // two springs in series
    EXPECT_NEAR(left.back().wanted.force.x(), -1.5 * share, 2e-3) << name;
    for (std::size_t i = 0; i < left.size(); ++i)
      ASSERT_LT((left[i].wanted.force + right[i].wanted.force).norm(), 1e-4) << name << i;
    EXPECT_NEAR(summary.hands[0].safety.peak_force, summary.hands[1].safety.peak_force, 1e-4) << name;
  }
}

// One step of the world for both: a hand alone would push the cube away, twice stepped it would move twice as far.
TEST(Tools, WorldIsSteppedOnceForAll) {
  Squeezed two;
  const RunSettings s = settings_for(0.2);
  std::vector<Method> methods = two.make("reference", s);
  auto& cube = dynamic_cast<RigidBody&>(*two.world.body(0));
  cube.set_velocities(std::vector<Vec3>{Vec3(0.0, 0.1, 0.0), Vec3::Zero()});
  run_lockstep(s, two.parts(methods, nullptr));
  EXPECT_NEAR(cube.centre_pose().position.y(), 0.02, 1e-9);
}

// What both step together is read by both after it. A hand that read what was before it would be off by the way of a
// millisecond: 8 mm in half a second and 500 N/m make 8 mN.
TEST(Tools, HandWhoseDeviceSpeaksLateIsNoTickBehind) {
  for (const char* name : {"reference", "reduced"}) {
    Squeezed scene;
    const RunSettings s = settings_for(0.5);
    std::vector<Method> methods = scene.make(name, s);
    scene.left = std::make_unique<LateDevice>(std::move(scene.left), 0.05);
    Rows rows;
    run_lockstep(s, scene.parts(methods, &rows));
    const std::vector<TickRow> left = ticks_of(rows, 0), right = ticks_of(rows, 1);
    EXPECT_LT(left.back().wanted.force.x(), -1.0) << name;
    for (std::size_t i = 300; i < left.size(); ++i)
      ASSERT_LT((left[i].wanted.force + right[i].wanted.force).norm(), 1e-4) << name << i;
  }
}

TEST(Tools, EachMayHaveItsOwnMethod) {
  Squeezed scene;
  const RunSettings s = settings_for(1.5);
  std::vector<Method> methods = scene.make("compliance", s);
  methods[1] = std::move(scene.make("direct", s)[1]);
  Rows rows;
  run_lockstep(s, scene.parts(methods, &rows));
  const std::vector<TickRow> left = ticks_of(rows, 0), right = ticks_of(rows, 1);
  EXPECT_NEAR(left.back().wanted.force.x(), -1.5, 2e-3);
  EXPECT_NEAR(right.back().wanted.force.x(), 1.5, 2e-3);
}

std::string error_of(const RunSettings& s, const RunParts& parts) {
  try {
    check_parts(s, parts);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Tools, ThatCannotShareAWorldAreRefusedWithTheReason) {
  Squeezed scene;
  const RunSettings s = settings_for(0.1);
  std::vector<Method> methods = scene.make("compliance", s), others = scene.make("reference", s);
  EXPECT_EQ(error_of(s, scene.parts(methods, nullptr)), "");
  std::swap(methods[1], others[1]);
  EXPECT_NE(error_of(s, scene.parts(methods, nullptr)).find("one steps it in the tick"), std::string::npos);
  std::vector<Method> alone = scene.make("accelerance", s);
  EXPECT_NE(error_of(s, scene.parts(alone, nullptr)).find("by its own law"), std::string::npos);
  Squeezed elsewhere;
  std::vector<Method> far = elsewhere.make("direct", s), near = scene.make("direct", s);
  std::swap(near[1], far[1]);
  EXPECT_NE(error_of(s, scene.parts(near, nullptr)).find("not in the same world"), std::string::npos);
  RunSettings slower = s;
  slower.slow_period = 0.05;
  std::vector<Method> made = scene.make("direct", s);
  EXPECT_NE(error_of(slower, scene.parts(made, nullptr)).find("was made for periods of 0.001 s and 0.02 s"),
            std::string::npos);
  std::vector<ToolParts> five;
  for (int i = 0; i < 5; ++i) five.push_back({made[0], *scene.left, {}});
  EXPECT_NE(error_of(s, RunParts(five)).find("a run of 5 tools; allowed: 1 to 4"), std::string::npos);
}

// In real time too: both at their rate, and nothing allocated in the fast thread (other tests look at that for one).
TEST(Tools, RunInRealTime) {
  expect_by_the_clock([] {
    Squeezed scene;
    RunSettings s = settings_for(1.0);
    std::vector<Method> methods = scene.make("compliance", s);
    Rows rows;
    RealtimeSettings realtime;
    realtime.lock_memory = false;  // other tests share the process
    const RunSummary summary = run_realtime(s, realtime, scene.parts(methods, &rows));
    EXPECT_EQ(summary.hands.size(), 2u);
    const std::vector<TickRow> left = ticks_of(rows, 0), right = ticks_of(rows, 1);
    EXPECT_EQ(left.size(), summary.ticks);
    EXPECT_EQ(right.size(), summary.ticks);
    EXPECT_NEAR(left.back().sent.force.x(), -1.5, 0.05);
    EXPECT_NEAR(right.back().sent.force.x(), 1.5, 0.05);
  });
}

/// Counts what it is told.
struct Watch final : LoopWatch {
  int ticks = 0, finished_ticks = 0, steps = 0, finished_steps = 0, models = 0;
  void before_tick() noexcept override { ++ticks; }
  void after_tick(std::span<const TickRow> rows) noexcept override { finished_ticks += rows.size() == 2 ? 1 : 0; }
  void before_step() override { ++steps; }
  void after_step(const StepRow&, std::span<const ToolMessages> tools) override {
    ++finished_steps;
    for (const ToolMessages& tool : tools) models += tool.slow && tool.model.header().sequence > 0 ? 1 : 0;
  }
};

TEST(LoopWatch, IsToldOfEveryTickAndStepOfAllTools) {
  Squeezed scene;
  const RunSettings s = settings_for(0.1);
  std::vector<Method> methods = scene.make("direct", s);
  Watch watch;
  RunParts parts = scene.parts(methods, nullptr);
  parts.watch = &watch;
  run_lockstep(s, parts);
  EXPECT_EQ(watch.ticks, 100);
  EXPECT_EQ(watch.finished_ticks, 100);
  EXPECT_EQ(watch.steps, 5);
  EXPECT_EQ(watch.finished_steps, 5);
  EXPECT_EQ(watch.models, 10);
}

}  // namespace
}  // namespace palpate::tools_test
