#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>

#include "palpate/core/error.h"
#include "palpate/testing/realtime_guard.h"
#include "touch_rig.h"

// Several tools with the method `reduced`, which has one twin of the world for all of them.
namespace palpate::reduced_tools_test {
namespace {

using namespace testing;

const std::vector<Vec3> kSides = {-Vec3::UnitX(), Vec3::UnitX(), -Vec3::UnitY(), Vec3::UnitY()};

ToolSettings make_ball() {
  ToolSettings out;
  out.kind = HeldRigid{.mass = 0.03, .surface = make_sphere(0.008, 4)};
  out.coupling = {.stiffness = 500.0, .damping = 1.0, .rotational_stiffness = 0.2, .rotational_damping = 1e-3};
  return out;
}

/// A soft cube of so many millimetres, held in its middle.
ToolSettings make_soft(double size) {
  ToolSettings out = make_ball();
  out.kind = HeldSoft{.volume = make_tet_block(Vec3::Constant(1e-3 * size), {2, 2, 2}),
                      .material = {.young_modulus = 1e5, .density = 1000.0, .stiffness_damping = 0.002},
                      .hold_radius = 6e-4 * size};  // the middle and the six around it
  return out;
}

/// A soft cube of 40 mm that floats, of 27 nodes, so that the states of `reduced` can be all of its motions; and tools
/// on its sides, which go 8 mm towards it within half a second: 3 mm deeper than they can without pressing it.
class Squeezed {
 public:
  explicit Squeezed(std::vector<ToolSettings> held) : world(make_settings()), tools(std::move(held)) {
    const Material material{.young_modulus = 2e4,
                            .poisson_ratio = 0.35,
                            .density = 1000.0,
                            .mass_damping = 1.0,
                            .stiffness_damping = 0.005};
    auto owned =
        std::make_unique<CorotationalTets>(make_tet_block(Vec3::Constant(0.04), {2, 2, 2}), std::span(&material, 1));
    block = owned.get();
    ContactShape shape;
    shape.kind = ContactShape::Surface{};
    shape.friction = 0.5;
    world.add({"block", std::move(owned), shape});
    for (std::size_t i = 0; i < tools.size(); ++i) {
      devices.push_back(make_hand(tools[i], kSides[i]));
      starts.push_back(devices.back()->read(0.0));
      add_tool(world, tools[i], starts.back().pose);
    }
    world.prepare();
  }

  static WorldSettings make_settings() {
    WorldSettings out;
    out.gravity = Vec3::Zero();
    out.solver = {.tolerance = 1e-13, .max_iterations = 5000};
    out.contacts = out.contacts.for_ticks();  // as in the method's tick
    return out;
  }

  std::vector<Method> make(std::string_view name, const RunSettings& s) {
    const auto shared = std::make_shared<SharedTick>();
    shared->tools = tools;
    std::vector<Method> out;
    for (std::size_t i = 0; i < tools.size(); ++i)
      out.push_back(make_method(name, {world, tools[i], s.dt, s.slow_period, starts[i], {}, i, shared}));
    return out;
  }

  RunParts parts(std::vector<Method>& methods, RunSink* sink) {
    std::vector<ToolParts> out;
    for (std::size_t i = 0; i < tools.size(); ++i) out.push_back({methods[i], *devices[i], at_once()});
    return RunParts(std::move(out), sink);
  }

  World world;
  std::vector<ToolSettings> tools;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<DeviceState> starts;
  FemBody* block = nullptr;

 private:
  static std::unique_ptr<Device> make_hand(const ToolSettings& tool, const Vec3& side) {
    double half = 0.0;
    const auto* soft = tool.as<HeldSoft>();
    for (const Vec3& v : soft ? soft->volume.vertices : tool.as<HeldRigid>()->surface.vertices)
      half = std::max(half, v.dot(side));
    // Beside the axis lies no node of the block, so that rounding does not decide what is met.
    const Vec3 aside(0.0, 0.0, 0.0023);
    KeyframePathSettings path;
    path.times = {0.0, 0.5};
    path.positions = {(0.025 + half) * side + aside, (0.017 + half) * side + aside};
    return std::make_unique<ScriptedDevice>(make_path(path));
  }
};

RunSettings equal_rates(double seconds) {
  RunSettings out = settings_for(seconds);
  out.slow_period = out.dt;
  out.latency = 0.0;
  return out;
}

std::vector<TickRow> run(Squeezed scene, std::string_view method, const RunSettings& s) {
  std::vector<Method> methods = scene.make(method, s);
  Rows rows;
  run_lockstep(s, scene.parts(methods, &rows));
  return rows.ticks;
}

/// The largest difference between the forces of `reduced` and of the truth, with equal rates and no latency, over the
/// largest force of that hand.
double compute_difference(const std::vector<ToolSettings>& tools) {
  const RunSettings s = equal_rates(0.7);
  const std::vector<TickRow> truth = run(Squeezed(tools), "reference", s), ours = run(Squeezed(tools), "reduced", s);
  EXPECT_EQ(truth.size(), ours.size());
  std::vector<double> largest(tools.size(), 0.0), difference(tools.size(), 0.0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto tool = truth[i].tool_number;
    largest[tool] = std::max(largest[tool], truth[i].wanted.force.norm());
    difference[tool] = std::max(difference[tool], (ours[i].wanted.force - truth[i].wanted.force).norm());
  }
  double out = 0.0;
  for (std::size_t tool = 0; tool < tools.size(); ++tool) {
    EXPECT_GT(largest[tool], 0.5) << "it is touched";
    out = std::max(out, difference[tool] / largest[tool]);
  }
  return out;
}

// As for one tool (Reduced.EqualRatesWithoutLatencyIsReference), with two and with four.
TEST(ReducedTools, EqualRatesWithoutLatencyIsReferenceForEveryHand) {
  EXPECT_LT(compute_difference(std::vector(2, make_ball())), 1e-10);
  EXPECT_LT(compute_difference(std::vector(4, make_ball())), 1e-10);
}

// The twin's soft tools are made anew, each by its own settings: one of the other's size would meet the block 2 mm
// sooner or later, and be off by as much as its force. A soft tool that is alone is not the truth to rounding either
// where it lies face to face: measured 1e-5 with two, 5e-7 and 1e-3 with one.
TEST(ReducedTools, SoftToolsAreEachTheirOwn) {
  EXPECT_LT(compute_difference({make_soft(16.0), make_soft(20.0)}), 1e-2);
}

// Twice stepped in a tick a body would move twice as far. No hand has come near it by then.
TEST(ReducedTools, TwinIsSteppedOnceForAll) {
  Squeezed scene({make_ball(), make_ball()});
  const RunSettings s = settings_for(0.2);
  scene.block->set_velocities(std::vector<Vec3>(as_size(scene.block->node_count()), Vec3(0.0, 0.1, 0.0)));
  std::vector<Method> methods = scene.make("reduced", s);
  run_lockstep(s, scene.parts(methods, nullptr));
  Vec3 middle = Vec3::Zero();
  for (const Vec3& p : scene.block->positions()) middle += p / scene.block->node_count();
  // The slow loop last saw it at 180 ms; the material's damping by mass takes a share of 1/s.
  EXPECT_NEAR(middle.y(), 0.1 * (1.0 - std::exp(-0.18)), 2e-4);
}

/// Counts what is forbidden in the ticks of all tools.
struct Guard final : LoopWatch {
  std::optional<RealtimeGuard> guard;
  long forbidden = 0;
  void before_tick() noexcept override { guard.emplace(); }
  void after_tick(std::span<const TickRow>) noexcept override {
    forbidden += guard->violations().total();
    guard.reset();
  }
};

TEST(ReducedTools, TicksNeitherAllocateNorLock) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "a sanitizer owns malloc";
  Squeezed scene({make_ball(), make_ball()});
  const RunSettings s = settings_for(1.0);
  std::vector<Method> methods = scene.make("reduced", s);
  Guard guard;
  Rows rows;
  RunParts parts = scene.parts(methods, &rows);
  parts.watch = &guard;
  run_lockstep(s, parts);
  EXPECT_EQ(guard.forbidden, 0);
  EXPECT_GT(rows.ticks.back().wanted.force.norm(), 0.3) << "it is touched";
}

// Only the first tool's messages have a model in them, but every hand's force fades when none comes any more.
TEST(ReducedTools, SlowLoopThatStandsStillFadesEveryHand) {
  Squeezed scene({make_ball(), make_ball()});
  RunSettings s = settings_for(1.5);
  s.stall_from = 0.8;
  s.stall_until = 2.0;
  std::vector<Method> methods = scene.make("reduced", s);
  Rows rows;
  run_lockstep(s, scene.parts(methods, &rows));
  for (const TickRow& row : rows.ticks) {
    if (row.time > 0.7 && row.time < 0.8) {
      EXPECT_GT(row.sent.force.norm(), 0.5) << row.tool_number;
    }
    if (row.time > 1.4) {
      EXPECT_EQ(row.sent.force, Vec3(Vec3::Zero())) << row.tool_number;
    }
  }
}

TEST(ReducedTools, ModelThatCouldNotBeMadeGivesNoHandAForce) {
  Squeezed scene({make_ball(), make_ball()});
  RunSettings s = settings_for(0.7);
  std::vector<Method> methods = scene.make("reduced", s);
  RunMemory memory;
  Rows rows;
  RunParts parts = scene.parts(methods, &rows);
  parts.memory = &memory;
  run_lockstep(s, parts);
  for (std::size_t i = rows.ticks.size() - 2; i < rows.ticks.size(); ++i)
    ASSERT_GT(rows.ticks[i].wanted.force.norm(), 0.5);
  scene.block->set_gravity(Vec3::Constant(std::numeric_limits<double>::quiet_NaN()));
  s.seconds = 0.1;
  run_lockstep(s, parts);
  for (std::size_t i = rows.ticks.size() - 2; i < rows.ticks.size(); ++i)
    EXPECT_EQ(rows.ticks[i].wanted.force, Vec3(Vec3::Zero()));
}

// The messages are the first tool's. While its device is silent the other hand feels the block all the same, and from
// when both are there the truth. A tick that one of them came late for would show as 0.016 m/s · 1 ms · 1.5 kN/m, as
// long as the hands move.
TEST(ReducedTools, HandWhoseDeviceSpeaksLateComesIn) {
  for (const double since : {0.1, 0.4, 0.7}) {
    std::vector<TickRow> rows[2];
    for (const bool ours : {false, true}) {
      Squeezed scene({make_ball(), make_ball()});
      scene.devices[0] = std::make_unique<LateDevice>(std::move(scene.devices[0]), since);
      // The block is held, or it would be pushed away by the one hand.
      for (int i = 0; i < scene.block->node_count(); ++i) {
        if (scene.block->positions()[as_size(i)].y() < -0.019) scene.block->prescribe(i, Vec3::Zero());
      }
      rows[ours] = run(std::move(scene), ours ? "reduced" : "reference", settings_for(1.2));
    }
    double before = 0.0, largest = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      const TickRow &truth = rows[0][i], &row = rows[1][i];
      if (row.tool_number == 1 && row.time < since) before = std::max(before, row.wanted.force.norm());
      largest = std::max(largest, truth.wanted.force.norm());
      difference = std::max(difference, (row.wanted.force - truth.wanted.force).norm());
    }
    EXPECT_LT(difference, 0.07 * largest) << since;
    if (since > 0.5) {
      EXPECT_GT(before, 0.5) << "the other hand need not wait";
    }
  }
}

TEST(ReducedTools, AreRefusedBesideOtherMethodsWithTheReason) {
  for (const char* other : {"direct", "reference"}) {
    Squeezed scene({make_ball(), make_ball()});
    const RunSettings s = settings_for(0.1);
    std::vector<Method> methods = scene.make("reduced", s), others = scene.make(other, s);
    EXPECT_NO_THROW(check_parts(s, scene.parts(methods, nullptr)));
    std::swap(methods[1], others[1]);
    std::string error;
    try {
      check_parts(s, scene.parts(methods, nullptr));
    } catch (const InputError& e) {
      error = e.what();
    }
    EXPECT_EQ(error, "methods reduced and " + std::string(other) +
                         " cannot share a world: reduced has a twin of it in the tick, which all tools must be in");
  }
}

}  // namespace
}  // namespace palpate::reduced_tools_test
