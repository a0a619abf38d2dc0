#include <gtest/gtest.h>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"

// `reference` and `direct` with every kind of tool in every kind of world.
namespace palpate::world_tool_test {
namespace {

constexpr double kGravity = 9.81;

enum class Ground { kStatic, kSoft, kRigid };

int add_ground(World& world, Ground ground) {
  ContactShape plane;
  plane.kind = ContactShape::Plane{.offset = -0.04};
  plane.friction = 0.5;
  world.add({"floor", nullptr, plane});
  ContactShape shape;
  shape.friction = 0.5;
  if (ground == Ground::kStatic) {
    world.add(StaticSurface{"box", TriangleTree(make_box(Vec3(0.2, 0.04, 0.2), 4)), 0.5});
    return -1;
  }
  if (ground == Ground::kSoft) {
    const Material material{.young_modulus = 3e4, .poisson_ratio = 0.3, .density = 1000.0, .stiffness_damping = 0.01};
    auto body =
        std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.16, 0.04, 0.16), {4, 2, 4}), std::span(&material, 1));
    for (int n = 0; n < body->node_count(); ++n) {
      if (body->rest_positions()[n].y() < -0.0199) body->prescribe(n, Vec3::Zero());
    }
    shape.kind = ContactShape::Surface{};
    return world.add({"soft", std::move(body), shape});
  }
  RigidBodySettings s;
  s.surface = make_box(Vec3(0.2, 0.06, 0.2), 1);
  s.mass = compute_mass_properties(s.surface, 500.0);
  s.pose.position = Vec3(0.0, -0.01, 0.0);
  shape.kind = ContactShape::Box{.size = Vec3(0.2, 0.06, 0.2)};
  return world.add({"brick", std::make_unique<RigidBody>(s), shape});
}

enum class Kind { kPoint, kRigid, kChain, kSoft };

ToolSettings make_tool(Kind kind) {
  ToolSettings tool;
  tool.coupling = {.stiffness = 300.0, .damping = 1.0, .rotational_stiffness = 0.2, .rotational_damping = 1e-3};
  if (kind == Kind::kRigid) tool.kind = HeldRigid{.mass = 0.05, .surface = make_cylinder(0.01, 0.03, 16, 2)};
  if (kind == Kind::kChain) {
    auto& chain = tool.kind.emplace<HeldChain>();
    chain.radius = 0.002;
    chain.length = 0.06;
    chain.beams = 4;
    chain.material = {.young_modulus = 5e8, .poisson_ratio = 0.3, .density = 1500.0, .mass_damping = 10.0};
  }
  if (kind == Kind::kSoft) {
    auto& soft = tool.kind.emplace<HeldSoft>();
    soft.material = {
        .young_modulus = 1e5, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 5.0, .stiffness_damping = 0.01};
    soft.volume = make_tet_block(Vec3(0.02, 0.03, 0.02), {1, 2, 1});
    for (Vec3& x : soft.volume.vertices) x.y() -= 0.015;
    soft.hold_radius = 0.016;
  }
  return tool;
}

struct HeldTool {
  World world;
  std::optional<HandDriven> method;
  DeviceState device;
  double period = 0.0;

  HeldTool(const char* name, Ground ground, Kind kind, double h) {
    add_ground(world, ground);
    const ToolSettings tool = make_tool(kind);
    // So that the tool's lowest point starts 5 mm above the ground at y = 0.02.
    const double below = kind == Kind::kRigid ? 0.015 : kind == Kind::kChain ? 0.06 : kind == Kind::kSoft ? 0.03 : 0.0;
    device.pose.position = Vec3(0.003, 0.025 + below, 0.004);
    add_tool(world, tool, device.pose);
    world.prepare();
    method.emplace(make_method(name, {world, tool, h, h, device}));
  }

  /// One step of the slow half, if there is one, and one tick.
  TickResult tick() {
    if (method->has_slow_half()) {
      method->tick(device);  // so that the step has heard of this device state
      method->step();
    }
    return method->tick(device);
  }
};

class EveryToolEveryWorld : public ::testing::TestWithParam<std::tuple<const char*, Ground, Kind>> {};

// Press 10 mm down, wait: the hand feels the spring's force, upward, equal to what the ground bears; lift off: nothing.
TEST_P(EveryToolEveryWorld, FeelsTheGroundAndLeavesIt) {
  const auto& [name, ground, kind] = GetParam();
  const double h = 0.005;
  HeldTool run(name, ground, kind, h);
  const Vec3 start = run.device.pose.position;
  TickResult result;
  const auto hold = [&](const Vec3& at, double seconds) {
    for (int i = 0; i < static_cast<int>(seconds / h); ++i) {
      const Vec3 way = at - run.device.pose.position;
      const Vec3 move = way.norm() > 1e-4 ? Vec3(1e-4 * way.normalized()) : way;
      run.device.pose.position += move;
      run.device.velocity.linear = move / h;
      result = run.tick();
      ASSERT_TRUE(is_finite(result.wrench));
    }
  };
  hold(start - Vec3(0.0, 0.015, 0.0), 3.0);
  EXPECT_GT(result.contacts, 0);
  EXPECT_GT(result.wrench.force.y(), 0.3);
  EXPECT_LT(result.wrench.force.head<1>().norm() + std::abs(result.wrench.force.z()), 0.5 * result.wrench.force.y());
  // The tool is at rest: what the hand pushes is what the contacts bear, but for the weight of what bends.
  const Vec3 borne = run.world.compute_contact_force(run.world.tools()[0]);
  const double weight = kind == Kind::kChain  ? 1500.0 * M_PI * 4e-6 * 0.06 * kGravity
                        : kind == Kind::kSoft ? 1000.0 * 1.2e-5 * kGravity
                                              : 0.0;
  EXPECT_NEAR(borne.y(), result.wrench.force.y() + weight, 0.02 * borne.y());
  hold(start + Vec3(0.0, 0.02, 0.0), 3.0);
  EXPECT_NEAR(result.wrench.force.y(), -weight, 1e-2);
  EXPECT_LT(result.wrench.force.norm(), weight + 1e-2);
}

std::string case_name(const ::testing::TestParamInfo<EveryToolEveryWorld::ParamType>& info) {
  const char* grounds[] = {"Static", "Soft", "Rigid"};
  const char* tools[] = {"Point", "RigidTool", "Chain", "SoftTool"};
  return fmt::format("{}{}{}", std::get<0>(info.param), grounds[static_cast<int>(std::get<1>(info.param))],
                     tools[static_cast<int>(std::get<2>(info.param))]);
}

INSTANTIATE_TEST_SUITE_P(All, EveryToolEveryWorld,
                         ::testing::Combine(::testing::Values("reference", "direct"),
                                            ::testing::Values(Ground::kStatic, Ground::kSoft, Ground::kRigid),
                                            ::testing::Values(Kind::kPoint, Kind::kRigid, Kind::kChain, Kind::kSoft)),
                         case_name);

// A rigid tool pressed off its handle's axis turns the hand: torque = arm × force about the handle.
TEST(RigidTool, TurnsTheHand) {
  World world;
  add_ground(world, Ground::kStatic);
  ToolSettings tool = make_tool(Kind::kRigid);
  // A bar along x, held at its middle, with its +x end over the box's edge at x = 0.1: only −x … touches.
  tool.as<HeldRigid>()->surface = make_box(Vec3(0.1, 0.01, 0.01), 1);
  DeviceState device;
  device.pose.position = Vec3(0.12, 0.0255, 0.0);
  add_tool(world, tool, device.pose);
  world.prepare();
  HandDriven method(make_method("reference", {world, tool, 0.005, 0.005, device}));
  TickResult result;
  for (int i = 0; i < 400; ++i) {
    if (i < 100) device.pose.position.y() -= 5e-5;
    result = method.tick(device);
  }
  EXPECT_GT(result.wrench.force.y(), 0.1);
  // The contact lies towards −x, pushes up: the torque on the hand is about −z.
  EXPECT_LT(result.wrench.torque.z(), -1e-3);
}

TEST(Methods, RefuseWhatTheyCannotDo) {
  World world;
  add_ground(world, Ground::kSoft);
  const ToolSettings point = make_tool(Kind::kPoint);
  EXPECT_FALSE(find_method("halfspace").refuse({world, point}).empty());
  World still;
  still.add(StaticSurface{"box", TriangleTree(make_box(Vec3(0.2, 0.04, 0.2), 4)), 0.5});
  EXPECT_TRUE(find_method("halfspace").refuse({still, point}).empty());
  EXPECT_FALSE(find_method("halfspace").refuse({still, make_tool(Kind::kChain)}).empty());
}

}  // namespace
}  // namespace palpate::world_tool_test
