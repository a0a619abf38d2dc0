#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "palpate/core/error.h"
#include "palpate/runtime/run.h"
#include "palpate/scene/builtin.h"
#include "palpate/scene/scene.h"
#include "sample_scenes.h"

// One tool or several: the two forms of a scene file, and what is made of them.
namespace palpate::scene_tools_test {
namespace {

using testing::kTwoHands;

Scene read_two() {
  return parse_scene(kTwoHands, "folder/two.json");
}

template <typename Do>
std::string error_of(Do action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string read_error(const std::string& text) {
  return error_of([&] { parse_scene(text, "x.json"); });
}

/// A scene over a static box, with `keys` before it.
std::string scene_text(const std::string& keys) {
  return R"({"format": 1, "bodies": [{"type": "static", "shape": {"type": "box"}}], )" + keys + "}";
}

constexpr const char* kTap = R"("hand": {"type": "scripted", "path": {"type": "tap"}})";

TEST(SceneTools, TwoHandsSurviveReadWriteRead) {
  const Scene scene = read_two();
  ASSERT_EQ(scene.tools.size(), 2u);
  const std::string text = write_scene(scene);
  EXPECT_EQ(parse_scene(text, scene.source.file), scene);
  EXPECT_EQ(write_scene(parse_scene(text, scene.source.file)), text);
}

TEST(SceneTools, DeviceIsReadWrittenAndRefusedWithWhatIsAllowed) {
  const std::string device = R"("device": {"name": "haply", "scale": 4, "clutch_button": 1, "anchor": "origin"}, )";
  const Scene scene = parse_scene(scene_text(device + kTap), "x.json");
  ASSERT_TRUE(scene.first().device);
  EXPECT_EQ(scene.first().device->name, "haply");
  EXPECT_EQ(scene.first().device->mapping.scale, 4.0);
  EXPECT_EQ(scene.first().device->mapping.clutch_button, 1);
  EXPECT_EQ(scene.first().device->anchor, DeviceAnchor::kOrigin);
  EXPECT_EQ(parse_scene(write_scene(scene), "x.json"), scene);
  EXPECT_FALSE(parse_scene(scene_text(kTap), "x.json").first().device);
  const auto refusal = [](const std::string& keys) {
    return read_error(scene_text("\"device\": {" + keys + "}, " + kTap));
  };
  EXPECT_NE(refusal(R"("name": "hapley")").find("Did you mean \"haply\"?"), std::string::npos);
  EXPECT_NE(refusal(R"("name": "force-dimension:/tmp/evil.so")").find("said on the command line"), std::string::npos);
  EXPECT_NE(refusal(R"("drift": 0.7)").find("device.drift = 0.7: must be 0 to 0.5"), std::string::npos);
  const std::string both = scene_text(R"("device": {}, "tools": [{)" + std::string(kTap) + "}]");
  EXPECT_NE(read_error(both).find("give one of the two"), std::string::npos);
}

TEST(SceneTools, KeysOfADeviceAreSetFromText) {
  SceneDevice device;
  set_key(device, "rotation", "0,1.5,0", "here");
  set_key(device, "force_scale", "0.5", "here");
  set_key(device, "anchor", "origin", "here");
  EXPECT_EQ(device.mapping.rotation, Vec3(0.0, 1.5, 0.0));
  EXPECT_EQ(device.mapping.force_scale, 0.5);
  EXPECT_EQ(device.anchor, DeviceAnchor::kOrigin);
  const SceneDevice before = device;
  EXPECT_NE(error_of([&] { set_key(device, "scale", "0", "here"); }).find("scale = 0: must be 0.01 to 100"),
            std::string::npos);
  EXPECT_NE(error_of([&] { set_key(device, "scal", "1", "here"); }).find("Did you mean \"scale\"?"), std::string::npos);
  EXPECT_NE(error_of([&] { set_key(device, "scale", "\"", "here"); }), "");
  EXPECT_EQ(device, before);
}

TEST(SceneTools, EachKeepsWhatIsItsOwn) {
  const Scene scene = read_two();
  const HeldTool &left = scene.tools[0], &right = scene.tools[1];
  EXPECT_EQ(left.name, "left");
  EXPECT_TRUE(std::holds_alternative<SceneRigidTool>(left.tool.kind));
  EXPECT_EQ(left.method, "jacobian");
  EXPECT_EQ(left.guards.input.max_speed, 2.0);
  EXPECT_EQ(left.guards.safety.max_force, 3.0);
  EXPECT_FALSE(left.guards.passivity);
  EXPECT_EQ(right.tool.coupling.stiffness, 200.0);
  EXPECT_TRUE(std::holds_alternative<SceneSimulatedHand>(right.hand.kind));
  EXPECT_EQ(right.method, "reference");
  EXPECT_EQ(right.guards.input, InputGuardSettings{});
  EXPECT_EQ(right.guards.passivity.value().allowance, 0.01);
}

// Any difference between two tools, and any tool more or less, is a difference of the scenes.
TEST(SceneTools, ScenesThatDifferInTheSecondToolOnlyDiffer) {
  const Scene scene = read_two();
  const auto differs = [&](auto change) {
    Scene other = scene;
    change(other.tools[1]);
    return !(other == scene) && !(parse_scene(write_scene(other), scene.source.file) == scene);
  };
  EXPECT_TRUE(differs([](HeldTool& t) { t.name = "other"; }));
  EXPECT_TRUE(differs([](HeldTool& t) { t.tool.coupling.damping *= 2.0; }));
  EXPECT_TRUE(differs([](HeldTool& t) { t.method = "direct"; }));
  EXPECT_TRUE(differs([](HeldTool& t) { t.guards.passivity.reset(); }));
  EXPECT_TRUE(differs([](HeldTool& t) { t.guards.safety.max_force -= 1.0; }));
  EXPECT_TRUE(differs([](HeldTool& t) { t.guards.input.hold_time = 0.01; }));
  EXPECT_TRUE(differs([](HeldTool& t) { t.hand = {}, t.hand.kind = SceneScriptedHand{.path = SceneTapPath{}}; }));
}

TEST(SceneTools, ListOfOneThatIsCalledToolIsTheSingleForm) {
  const Scene single =
      parse_scene(scene_text(std::string(R"("method": "direct", "safety": {"max_force": 2}, )") + kTap), "x.json");
  const Scene list = parse_scene(
      scene_text(std::string(R"("tools": [{"name": "tool", "method": "direct", "safety": {"max_force": 2}, )") + kTap +
                 "}]"),
      "x.json");
  EXPECT_EQ(single, list);
  EXPECT_EQ(write_scene(list), write_scene(single));
  EXPECT_EQ(write_scene(list).find("\"tools\""), std::string::npos);
}

TEST(SceneTools, ListOfOneWithAnotherNameStaysAList) {
  const Scene scene = parse_scene(scene_text(std::string(R"("tools": [{)") + kTap + "}]"), "x.json");
  EXPECT_EQ(scene.first().name, "tool 1");
  const std::string text = write_scene(scene);
  EXPECT_NE(text.find("\"tools\""), std::string::npos);
  EXPECT_EQ(text.find("\"name\": \"tool"), std::string::npos) << "a standard name is not written";
  EXPECT_EQ(parse_scene(text, "x.json"), scene);
}

TEST(SceneTools, WhatOneLeavesOutIsAsTheScenesOwnKeysSay) {
  const Scene scene =
      parse_scene(scene_text(std::string(R"("method": "limited", "input": {"hold_time": 0.03, "max_speed": 4},
    "safety": {"max_force": 8, "ramp_time": 0.1}, "passivity": {"allowance": 0.02, "debt_limit": 0.5},
    "tools": [{"method": "direct", "input": {"max_speed": 3}, "safety": {"max_force": 5},
      "passivity": {"allowance": 0.03}, )") +
                             kTap + "}, {" + kTap + "}]"),
                  "x.json");
  const HeldTool &one = scene.tools.at(0), &two = scene.tools.at(1);
  EXPECT_EQ(one.method, "direct");
  EXPECT_EQ(two.method, "limited");
  EXPECT_EQ(one.guards.input.max_speed, 3.0);
  EXPECT_EQ(one.guards.input.hold_time, 0.03);
  EXPECT_EQ(two.guards.input.max_speed, 4.0);
  EXPECT_EQ(one.guards.safety.max_force, 5.0);
  EXPECT_EQ(one.guards.safety.ramp_time, 0.1);
  EXPECT_EQ(two.guards.safety.max_force, 8.0);
  EXPECT_EQ(one.guards.passivity.value().allowance, 0.03);
  EXPECT_EQ(one.guards.passivity.value().debt_limit, 0.5);
  EXPECT_EQ(two.guards.passivity.value().allowance, 0.02);
  EXPECT_EQ(parse_scene(write_scene(scene), "x.json"), scene) << "what was shared is said with each tool";
}

TEST(SceneTools, ModelsAreStaleByTheRatesForEveryToolThatSaysNothingElse) {
  Scene scene = read_two();
  EXPECT_EQ(scene.tools[0].guards.safety.stale_after, 0.5);
  EXPECT_EQ(scene.tools[1].guards.safety.stale_after, scene.run.latency + 2.0 * scene.run.slow_period);
  set_slow_period(scene, 0.02);
  for (const HeldTool& held : scene.tools) EXPECT_EQ(held.guards.safety.stale_after, 0.02 + 2.0 * 0.02) << held.name;
}

TEST(SceneToolErrors, BothFormsAtOnceAreRefused) {
  const std::string list = std::string(R"("tools": [{)") + kTap + "}],\n";
  EXPECT_EQ(read_error(scene_text(list + kTap)), "x.json:2: hand: stands beside \"tools\"; give one of the two");
  EXPECT_EQ(read_error(scene_text(list + R"("tool": {"type": "point"})")),
            "x.json:2: tool: stands beside \"tools\"; give one of the two");
}

TEST(SceneToolErrors, NamePlaceValueAndWhatIsAllowed) {
  const auto tools = [](const std::string& items) { return read_error(scene_text("\"tools\": [" + items + "]")); };
  const std::string hand = kTap;
  EXPECT_EQ(tools(""), "x.json:1: tools is empty; give at least one");
  std::string five;
  for (int i = 0; i < 5; ++i) five += (i ? ", {" : "{") + hand + "}";
  EXPECT_EQ(tools(five), "x.json:1: tools: has 5 items; at most 4");
  EXPECT_EQ(tools("{}"), "x.json:1: tools[0]: key \"hand\" is missing: who or what moves the device");
  EXPECT_EQ(tools("{\"name\": \"a\", " + hand + "},\n{\"name\": \"a\", " + hand + "}"),
            "x.json:2: tools[1]: name = \"a\": another tool has it too");
  EXPECT_EQ(tools("{\"name\": \"tool 2\", " + hand + "}, {" + hand + "}"),
            "x.json:1: tools[1]: name = \"tool 2\": another tool has it too");
  EXPECT_EQ(tools("{\"name\": \"box\", " + hand + "}"), "x.json:1: tools[0]: name = \"box\": a body has it too");
  EXPECT_NE(tools("{\"name\": \"../up\", " + hand + "}").find("without slashes, quotes and control characters"),
            std::string::npos);
  EXPECT_NE(tools("{\"name\": \"" + std::string(41, 'x') + "\", " + hand + "}").find("must be 1 to 40 bytes"),
            std::string::npos);
  EXPECT_EQ(tools("{\"safety\": {\"max_force\": 2000}, " + hand + "}"),
            "x.json:1: tools[0].safety.max_force = 2000: must be above 0 and at most 1000 N");
  EXPECT_NE(tools("{\"method\": \"jacobean\", " + hand + "}").find("tools[0].method = \"jacobean\": must be one of"),
            std::string::npos);
}

TEST(SceneToolErrors, ToolsThatAProgramMadeAreHeldToTheSame) {
  const Scene scene = read_two();
  EXPECT_NO_THROW(validate(scene));
  const auto error_after = [&](auto change) {
    Scene bad = scene;
    change(bad);
    return error_of([&] { make_world(bad); });
  };
  EXPECT_EQ(error_after([](Scene& s) { s.tools.clear(); }), "folder/two.json: tools: has 0 items; must be 1 to 4");
  EXPECT_EQ(error_after([](Scene& s) { s.tools.resize(5, s.tools[0]); }),
            "folder/two.json: tools: has 5 items; at most 4");
  EXPECT_EQ(error_after([](Scene& s) { s.tools[1].name = "left"; }),
            "folder/two.json: tools[1]: name = \"left\": another tool has it too");
  EXPECT_EQ(error_after([](Scene& s) { s.tools[1].tool.coupling.stiffness = -1.0; }),
            "folder/two.json: tools[1].tool.coupling.stiffness = -1: must be above 0 and at most 1000000 N/m");
}

TEST(SceneToolErrors, HandThatCannotBeMadeNamesItsTool) {
  Scene scene = read_two();
  std::string text = kTwoHands;
  const std::size_t hand = text.find("\"type\": \"simulated\"");
  text.replace(hand, 19, "\"type\": \"replay\", \"file\": \"gone.palpate\"");
  text.erase(text.find(", \"path\"", hand), text.find("] }", hand) + 3 - text.find(", \"path\"", hand));
  const std::string error = read_error(text);
  EXPECT_NE(error.find("tools[1].hand: "), std::string::npos) << error;
  EXPECT_NE(error.find("gone.palpate"), std::string::npos) << error;
}

TEST(SceneTools, EveryToolIsABodyOfTheWorldWhereItsHandStarts) {
  const Scene scene = read_two();
  World world = make_world(scene);
  ASSERT_EQ(world.bodies().size(), 3u);
  EXPECT_EQ(world.bodies()[1].name, "left");
  EXPECT_EQ(world.bodies()[2].name, "right");
  ASSERT_EQ(world.tools().size(), 2u);
  EXPECT_EQ(world.tools()[0], 1);
  EXPECT_EQ(world.tools()[1], 2);
  EXPECT_EQ(make_device(scene, 0)->read(0.0).pose.position, Vec3(-0.05, 0.0, 0.0));
  EXPECT_EQ(make_device(scene, 1)->read(0.0).pose.position, Vec3(0.05, 0.0, 0.0));
  EXPECT_TRUE(make_tool_settings(scene, 0).is<HeldRigid>());
  EXPECT_TRUE(make_tool_settings(scene, 1).is<HeldPoint>());
}

TEST(SceneTools, PointsAreBodiesOfTheWorldOnlyIfSomethingElseMoves) {
  const std::string point = std::string("{") + kTap + "}";
  const std::string ball = std::string(R"({"tool": {"type": "rigid", "shape": {"type": "sphere"}}, )") + kTap + "}";
  const auto count = [](const std::string& items) {
    const World world = make_world(parse_scene(scene_text("\"tools\": [" + items + "]"), "x.json"));
    std::size_t tools = 0;
    for (const WorldBody& body : world.bodies()) tools += body.name.starts_with("tool ") ? 1u : 0u;
    return tools;
  };
  EXPECT_EQ(count(point + "," + point), 0u);
  EXPECT_EQ(count(point + "," + ball), 2u);
  EXPECT_EQ(count(ball + "," + point), 2u);
}

TEST(SceneTools, JointsKnowThemByName) {
  Scene scene = read_two();
  SceneJoint joint;
  joint.a = "right";
  joint.b = "left";
  scene.joints = {joint};
  const World world = make_world(scene);
  ASSERT_EQ(world.joints().size(), 1u);
  EXPECT_EQ(world.joints()[0].body_a, 2);
  EXPECT_EQ(world.joints()[0].body_b, 1);
  scene.joints[0].a = "tool";
  const std::string error = error_of([&] { make_world(scene); });
  EXPECT_NE(error.find("no body that moves is called \"tool\"; there are: block, left, right"), std::string::npos)
      << error;
}

// One of them by its own law, or one in the tick and one in the slow loop: then they would both move the same bodies.
TEST(SceneTools, MethodsThatCannotShareAWorldSaySo) {
  Scene scene = read_two();
  World world = make_world(scene);
  const auto left = make_device(scene, 0), right = make_device(scene, 1);
  Device* devices[] = {left.get(), right.get()};
  EXPECT_EQ(make_methods(scene, "reference", world, devices).size(), 2u);
  scene.tools[0].method = "reference";
  scene.tools[1].method = "compliance";
  const std::string error = error_of([&] { make_methods(scene, {}, world, devices); });
  EXPECT_NE(error.find("methods reference and compliance cannot share a world"), std::string::npos) << error;
  EXPECT_EQ(error.substr(0, 15), "folder/two.json") << error;
}

TEST(SceneTools, FilesOfEveryToolMoveWithTheScene) {
  Scene scene = read_two();
  for (HeldTool& held : scene.tools) held.tool.kind = SceneRigidTool{.shape = {.kind = MeshShape{.file = "ball.obj"}}};
  const Scene moved = move_scene(scene, "other/two.json");
  for (const HeldTool& held : moved.tools) {
    const auto& shape = std::get<SceneRigidTool>(held.tool.kind).shape;
    EXPECT_EQ(std::get<MeshShape>(shape.kind).file, "../folder/ball.obj") << held.name;
  }
}

/// Half a turn about z.
Vec3 half_turn(const Vec3& p) {
  return {-p.x(), -p.y(), p.z()};
}

/// How far the nearest point is, at most, from each of `points` turned [m].
double compute_asymmetry(const std::vector<Vec3>& points, const std::vector<Vec3>& others) {
  double worst = 0.0;
  for (const Vec3& p : points) {
    double nearest = 1.0;
    for (const Vec3& q : others) nearest = std::min(nearest, (half_turn(p) - q).norm());
    worst = std::max(worst, nearest);
  }
  return worst;
}

// What makes the two hands' forces equal and opposite: bodies, tools and motions map onto each other.
TEST(TwoHands, HalfATurnAboutZMapsTheSceneOntoItself) {
  for (const char* name : {"two-hands", "two-hands-points"}) {
    const Scene scene = load_builtin_scene(name);
    ASSERT_EQ(scene.tools.size(), 2u);
    const std::unique_ptr<Device> left = make_device(scene, 0), right = make_device(scene, 1);
    for (double t = 0.0; t < scene.run.seconds; t += 0.01) {
      const DeviceState l = left->read(t), r = right->read(t);
      ASSERT_LT((half_turn(l.pose.position) - r.pose.position).norm(), 1e-15) << name << " at " << t;
      ASSERT_LT((half_turn(l.velocity.linear) - r.velocity.linear).norm(), 1e-15) << name << " at " << t;
      // Turned about z alone, both have the same rotation.
      ASSERT_EQ(l.pose.rotation.coeffs(), r.pose.rotation.coeffs()) << name << " at " << t;
    }
    const World world = make_world(scene);
    const std::span<const Vec3> nodes = world.bodies()[0].body->surface().positions;
    const std::vector<Vec3> block(nodes.begin(), nodes.end());
    EXPECT_LT(compute_asymmetry(block, block), 1e-15) << name;
    const ToolSettings a = make_tool_settings(scene, 0), b = make_tool_settings(scene, 1);
    const auto *rigid_a = a.as<HeldRigid>(), *rigid_b = b.as<HeldRigid>();
    ASSERT_EQ(rigid_a == nullptr, rigid_b == nullptr) << name;
    if (rigid_a) {
      EXPECT_LT(compute_asymmetry(rigid_a->surface.vertices, rigid_b->surface.vertices), 1e-15) << name;
    }
    EXPECT_EQ(a.coupling, b.coupling);
    EXPECT_EQ(scene.tools[0].guards, scene.tools[1].guards);
  }
}

TEST(SceneTools, RecordingNamesThemAndTheirMethods) {
  const Scene scene = read_two();
  const RecordingHeader own = make_recording_header(scene, "", true);
  ASSERT_EQ(own.tools.size(), 2u);
  EXPECT_EQ(own.tools[0].name, "left");
  EXPECT_EQ(own.tools[0].method, "jacobian");
  EXPECT_EQ(own.tools[1].method, "reference");
  EXPECT_EQ(make_recording_header(scene, "direct", true).tools[0].method, "direct");
  EXPECT_EQ(own.scene, scene.source.text);
}

/// A hand at rest 5 mm below where a tool of 10 mm would lie on a static box of 20 mm.
constexpr const char* kRest =
    R"("hand": {"type": "scripted", "path": {"type": "keyframes", "interpolation": "linear",
       "keyframes": [{"time": 0, "position": [0.003, 0.025, 0.001]}, {"time": 0.2, "position": [0.003, 0.015, 0.001]},
                     {"time": 1, "position": [0.003, 0.015, 0.001]}]}})";

struct Rows final : RunSink {
  std::vector<TickRow> ticks;
  void add(const TickRow& row) override { ticks.push_back(row); }
  void add(const StepRow&) override {}
};

RunSummary run(const Scene& scene, const std::string& method, Rows& rows) {
  World world = make_world(scene);
  const std::unique_ptr<Device> device = make_device(scene);
  std::vector<Method> methods = make_methods(scene, method, world, std::array{device.get()});
  return run_lockstep(scene.run, {methods[0], *device, &rows, scene.first().guards});
}

// A point with a radius lies on what does not move at its radius, whoever computes it.
TEST(SceneTools, BallOnAStaticBoxRestsAtItsRadius) {
  const Scene scene = parse_scene(
      R"({"format": 1, "seconds": 1, "tool": {"type": "point", "radius": 0.01}, "bodies": [{"type": "static",
          "shape": {"type": "box", "size": [0.1, 0.02, 0.1]}}], )" +
          std::string(kRest) + "}",
      "x.json");
  for (const char* method : {"reference", "limited", "direct", "jacobian", "compliance"}) {
    Rows rows;
    run(scene, method, rows);
    ASSERT_FALSE(rows.ticks.empty());
    EXPECT_NEAR(rows.ticks.back().tool.position.y(), 0.02, 1e-6) << method;
    EXPECT_NEAR(rows.ticks.back().wanted.force.y(), 0.005 * scene.first().tool.coupling.stiffness, 0.01) << method;
  }
}

// Live contacts that a world cannot have are told of; those that were not asked for are not.
TEST(SceneTools, RunSaysWhereContactsAreHeldInsteadOfLive) {
  const auto notes = [](const std::string& bodies, const std::string& settings) {
    Scene scene = parse_scene(R"({"format": 1, "seconds": 0.1, "tool": {"type": "rigid", "shape": {"type": "sphere",
                                  "radius": 0.01}}, "bodies": [)" +
                                  bodies + "], " + settings + kRest + "}",
                              "x.json");
    Rows rows;
    return run(scene, "jacobian", rows).notes;
  };
  const std::string
      box = R"({"type": "static", "shape": {"type": "box", "size": [0.1, 0.02, 0.1]}})",
      brick = R"(, {"type": "rigid", "position": [0, 0.1, 0], "shape": {"type": "box", "size": [0.02, 0.02, 0.02]}})",
      nine =
          R"(, {"type": "rigid", "position": [0, 0.1, 0], "copies": {"x": 9, "y": 1, "z": 1, "spacing": [0.05, 0.1, 0.1]},
                   "shape": {"type": "box", "size": [0.02, 0.02, 0.02]}})";
  EXPECT_TRUE(notes(box, "").empty());
  EXPECT_TRUE(notes(box + brick, "").empty());
  const std::vector<std::string> told = notes(box + nine, "");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0],
            "jacobian: contacts are held until the next model and not live, because more than 8 rigid bodies move");
  EXPECT_TRUE(notes(box + nine, R"("methods": {"jacobian": {"contacts": "held"}}, )").empty());
}

}  // namespace
}  // namespace palpate::scene_tools_test
