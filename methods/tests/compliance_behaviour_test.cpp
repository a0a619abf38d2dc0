#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"
#include "palpate/testing/realtime_guard.h"

// `compliance` at two rates: what it must keep whatever the rates are, and what it does when something is missing.
namespace palpate::compliance_behaviour_test {
namespace {

constexpr double kGravity = 9.81, kDt = 0.001, kSlow = 0.02;

/// Both loops in lockstep, a model one slow period late.
struct TwoRates {
  World world;
  ToolSettings tool;
  DeviceState device;
  MethodSettings settings;
  std::optional<HandDriven> method;
  StepReport report;  ///< of the last slow step
  long ticks = 0;
  bool stalled = false;  ///< no slow step begins
  long violations = 0;   ///< of real-time rules in ticks

  void begin() { add_tool(world, tool, device.pose); }
  void start() {
    world.prepare();
    method.emplace(make_method("compliance", {world, tool, kDt, kSlow, device, settings}));
  }
  TickResult tick() {
    const double time = kDt * static_cast<double>(ticks);
    const long period = std::lround(kSlow / kDt);
    if (ticks % period == 0 && !stalled) {
      if (method->under_way() > 0) method->deliver();
      report = {};
      method->begin_step(report, time);
    }
    ++ticks;
    device.time = time;
    const testing::RealtimeGuard guard;
    const TickResult result = method->tick(device);
    violations += guard.violations().total();
    return result;
  }
  /// The hand goes to `at` at a constant speed; the last tick's result.
  TickResult go(const Vec3& at, double seconds) {
    const int n = static_cast<int>(std::lround(seconds / kDt));
    const Vec3 from = device.pose.position;
    TickResult result;
    for (int i = 1; i <= n; ++i) {
      device.pose.position = from + (at - from) * i / n;
      device.velocity.linear = (at - from) / seconds;
      result = tick();
    }
    device.velocity.linear.setZero();
    return result;
  }
};

template <typename Kind>
ContactShape make_shape(Kind kind, double friction) {
  ContactShape shape;
  shape.kind = kind;
  shape.friction = friction;
  return shape;
}

ToolSettings make_wire(int beams, double length) {
  ToolSettings tool;
  tool.kind =
      HeldChain{.radius = 0.001,
                .length = length,
                .beams = beams,
                .material = {.young_modulus = 5e7, .poisson_ratio = 0.3, .density = 1500.0, .mass_damping = 2.0}};
  tool.coupling = {.stiffness = 500.0, .damping = 1.0, .rotational_stiffness = 0.05, .rotational_damping = 5e-4};
  return tool;
}

double weight_of(const ToolSettings& tool) {
  const HeldChain& wire = *tool.as<HeldChain>();
  return wire.material.density * M_PI * wire.radius * wire.radius * wire.length * kGravity;
}

/// A soft block of 4 cm that stands on a floor, a wire of 10 cm tied to its top.
void make_tied(TwoRates& run, double young_modulus) {
  run.world.add({"floor", nullptr, make_shape(ContactShape::Plane{}, 0.4)});
  const Material material{
      .young_modulus = young_modulus, .poisson_ratio = 0.35, .density = 800.0, .stiffness_damping = 0.005};
  TetMesh mesh = make_tet_block(Vec3(0.04, 0.04, 0.04), {2, 2, 2});
  for (Vec3& v : mesh.vertices) v.y() += 0.0201;
  run.world.add({"block", std::make_unique<CorotationalTets>(mesh, std::span(&material, 1)),
                 make_shape(ContactShape::Surface{}, 0.4)});
  run.tool = make_wire(10, 0.1);
  run.device.pose.position = Vec3(0.0, 0.1401, 0.0);
  run.begin();
  Joint joint = make_joint(Joint::Kind::kBall, run.world.bodies()[2].body.get(), run.world.bodies()[1].body.get(),
                           {Vec3(0.0, 0.0401, 0.0), Quat::Identity()});
  joint.body_a = 2;
  joint.body_b = 1;
  run.world.add(joint);
}
constexpr double kBlockWeight = 800.0 * 0.04 * 0.04 * 0.04 * kGravity;

// At rest nothing depends on the rates: held or carried on, the hand bears the weight of block and wire.
TEST(Compliance, HangingBlockWeighsWhatItWeighs) {
  for (const double lookahead : {0.0, 1.0, 2.0}) {
    TwoRates run;
    make_tied(run, 2e4);
    run.settings.get<ComplianceSettings>("compliance").lookahead = lookahead;
    run.start();
    run.go(Vec3(0.0, 0.18, 0.0), 0.5);
    const TickResult result = run.go(Vec3(0.0, 0.18, 0.0), 4.0);
    const double weight = kBlockWeight + weight_of(run.tool);
    // What is left swings and decays; measured 6e-6 of the weight.
    EXPECT_NEAR(result.wrench.force.y(), -weight, 1e-4 * weight) << lookahead;
    EXPECT_LT(std::hypot(result.wrench.force.x(), result.wrench.force.z()), 1e-2 * weight) << lookahead;
    EXPECT_EQ(run.violations, 0) << lookahead;
  }
}

// The paper's force is that of the constraints on the tool alone: it lacks the wire's own weight, and nothing else.
TEST(Compliance, ConstraintForceIsGripForceLessTheToolsWeight) {
  TickResult results[2];
  for (const bool constraints : {false, true}) {
    TwoRates run;
    make_tied(run, 2e4);
    using Force = ComplianceSettings::Force;
    run.settings.get<ComplianceSettings>("compliance").force = constraints ? Force::kConstraints : Force::kGrip;
    run.start();
    run.go(Vec3(0.0, 0.18, 0.0), 0.5);
    results[constraints ? 1 : 0] = run.go(Vec3(0.0, 0.18, 0.0), 4.0);
  }
  const double wire = weight_of(make_wire(10, 0.1));
  EXPECT_NEAR(results[1].wrench.force.y() - results[0].wrench.force.y(), wire, 1e-2 * wire);
}

// Constraints that the tool has no part in and that find no room act on with the force of the slow solve: at rest that
// is the right one, and the report says that there was no room.
TEST(Compliance, WithoutRoomForOthersTheBlockStillStands) {
  TickResult results[2];
  for (const int rows : {0, 60}) {
    TwoRates run;
    make_tied(run, 2e4);
    run.settings.get<ComplianceSettings>("compliance").environment_rows = rows;
    run.start();
    results[rows ? 1 : 0] = run.go(run.device.pose.position, 2.0);
    EXPECT_EQ(run.report.overflow, rows == 0);
  }
  // The block sags on the floor and the wire holds it back a little; at rest the rest decays. Measured: 2e-7 N.
  EXPECT_GT(results[1].wrench.force.norm(), 0.02);
  EXPECT_LT((results[0].wrench.force - results[1].wrench.force).norm(), 1e-5);
}

/// A ball of 3 mm on a soft block that is fixed below, pressed and pulled sideways.
void make_ball_on_block(TwoRates& run, double friction) {
  const Material material{.young_modulus = 5e4, .poisson_ratio = 0.35, .density = 1000.0, .stiffness_damping = 0.01};
  auto block =
      std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.12, 0.03, 0.06), {4, 1, 2}), std::span(&material, 1));
  for (int n = 0; n < block->node_count(); ++n) {
    if (block->rest_positions()[as_size(n)].y() < -0.0149) block->prescribe(n, Vec3::Zero());
  }
  run.world.add({"block", std::move(block), make_shape(ContactShape::Surface{}, friction)});
  run.tool.kind = HeldPoint{.radius = 0.003};
  run.tool.coupling = {.stiffness = 500.0, .damping = 1.0};
  run.device.pose.position = Vec3(-0.02, 0.0185, 0.001);
  run.begin();
  run.start();
}

TEST(Compliance, BallSlidesWithTheFrictionForceAndSticksBelowIt) {
  TwoRates run;
  make_ball_on_block(run, 0.5);
  run.go(Vec3(-0.02, 0.014, 0.001), 0.3);
  TickResult result = run.go(Vec3(-0.02, 0.014, 0.001), 1.0);
  const double pressed = result.wrench.force.y();
  EXPECT_GT(pressed, 0.5);
  // Sideways with a third of what friction holds: the ball stays where it is, once the block has given way.
  const double aside = 0.3 * 0.5 * pressed / 500.0;
  run.go(Vec3(-0.02 + aside, 0.014, 0.001), 0.3);
  result = run.go(Vec3(-0.02 + aside, 0.014, 0.001), 1.0);
  const Vec3 stuck = result.tool.position;
  result = run.go(Vec3(-0.02 + aside, 0.014, 0.001), 2.0);
  EXPECT_LT((result.tool.position - stuck).norm(), 1e-5);
  EXPECT_LT(result.wrench.force.x(), -0.1 * 0.5 * pressed);
  // Dragged over 3 cm in a second: the pull is μ times the pressure. Contact normals lean where the block is dented, a
  // few degrees; so the mean over the way is compared. Measured: 0.499.
  double pull = 0.0, pressure = 0.0;
  for (int i = 0; i < 30; ++i) {
    result = run.go(run.device.pose.position + Vec3(0.001, 0.0, 0.0), 1.0 / 30.0);
    if (i < 10) continue;
    pull -= result.wrench.force.x();
    pressure += result.wrench.force.y();
  }
  EXPECT_NEAR(pull / pressure, 0.5, 0.02);
  EXPECT_EQ(run.violations, 0);
}

TEST(Compliance, RepeatsBitForBit) {
  std::vector<Vec3> first;
  for (const int time : {0, 1}) {
    TwoRates run;
    make_ball_on_block(run, 0.3);
    for (int i = 0; i < 20; ++i) {
      const TickResult r = run.go(run.device.pose.position + Vec3(0.0005, i < 10 ? -0.0004 : 0.0, 0.0), 0.02);
      if (time == 0)
        first.push_back(r.wrench.force);
      else
        EXPECT_EQ(std::memcmp(first[as_size(i)].data(), r.wrench.force.data(), sizeof(Vec3)), 0) << i;
    }
  }
}

TEST(Compliance, WaitsForTheFirstModelWithoutForce) {
  TwoRates run;
  make_tied(run, 2e4);
  run.start();
  const Pose before = run.world.bodies()[2].body->handle_pose();
  for (int i = 0; i < 20; ++i) {
    run.device.pose.position.x() += 1e-4;
    const TickResult result = run.tick();
    EXPECT_EQ(result.wrench.force.norm(), 0.0);
    EXPECT_EQ((result.tool.position - before.position).norm(), 0.0);
  }
  run.tick();
  EXPECT_GT(run.tick().wrench.force.norm(), 0.0);
}

// A slow loop that stands still leaves a model that ages: bodies stop at the lookahead, and the force stays bounded by
// the coupling's stretch until the safety stage has taken it out.
TEST(Compliance, LateModelStopsTheBodiesAndBoundsTheForce) {
  TwoRates run;
  make_tied(run, 2e4);
  run.start();
  run.go(Vec3(0.0, 0.18, 0.0), 0.5);
  run.stalled = true;
  const TickResult result = run.go(Vec3(0.0, 0.185, 0.0), 1.0);
  EXPECT_LT(result.wrench.force.norm(), 500.0 * 0.02);
  run.stalled = false;
  const TickResult later = run.go(Vec3(0.0, 0.185, 0.0), 3.0);
  EXPECT_NEAR(later.wrench.force.y(), -(kBlockWeight + weight_of(run.tool)), 1e-2);
}

TEST(Compliance, SurvivesABodyThatIsNotFinite) {
  TwoRates run;
  make_tied(run, 2e4);
  run.start();
  run.go(Vec3(0.0, 0.18, 0.0), 0.5);
  // A soft body gone to infinity: the slow half says so, the fast half lets go.
  std::vector<Vec3> wild(run.world.bodies()[1].body->velocities().size(), Vec3::Constant(HUGE_VAL));
  run.world.bodies()[1].body->set_velocities(wild);
  TickResult result;
  for (int i = 0; i < 60; ++i) result = run.tick();
  EXPECT_FALSE(run.report.converged);
  EXPECT_EQ(result.wrench.force.norm(), 0.0);
}

// Fifty beams along the edge between a floor and a wall: a hundred contacts, which is more than a tick has room for.
TEST(Compliance, OverfullModelKeepsTheDeepestContacts) {
  TwoRates run;
  run.world.add({"floor", nullptr, make_shape(ContactShape::Plane{}, 0.3)});
  run.world.add({"wall", nullptr, make_shape(ContactShape::Plane{.normal = Vec3::UnitZ()}, 0.3)});
  run.tool = make_wire(50, 0.3);
  run.settings.get<ComplianceSettings>("compliance").contacts = ComplianceSettings::Contacts::kHeld;
  // The handle's −y, along which the wire lies, is the world's x.
  run.device.pose = {Vec3(0.0, 0.0012, 0.0012), Quat(Eigen::AngleAxisd(M_PI / 2.0, Vec3::UnitZ()))};
  run.begin();
  run.start();
  const TickResult result = run.go(Vec3(0.0, -0.001, -0.001), 0.5);
  EXPECT_TRUE(run.report.overflow);
  EXPECT_TRUE(is_finite(result.wrench));
  EXPECT_GT(result.contacts, 5);
  EXPECT_EQ(run.violations, 0);
  // The handle, pressed 2 mm into both, stays out of both but for the slip of one slow period.
  EXPECT_GT(result.tool.position.y(), 0.0005);
  EXPECT_GT(result.tool.position.z(), 0.0005);
}

// A wire that lies on the floor is pushed at its lowest line. That push has no lever about the wire's axis, whose
// moment of inertia is tiny: a foot that rolled along with the wire would come up behind it and let it in by its
// diameter.
TEST(Compliance, WireThatIsPressedDoesNotRollIntoTheFloor) {
  for (const double friction : {0.0, 0.3}) {
    TwoRates run;
    run.world.add({"floor", nullptr, make_shape(ContactShape::Plane{}, friction)});
    run.tool = make_wire(10, 0.1);
    run.tool.coupling.rotational_stiffness = run.tool.coupling.rotational_damping = 0.0;  // free to roll
    run.device.pose = {Vec3(0.0, 0.0012, 0.0), Quat(Eigen::AngleAxisd(M_PI / 2.0, Vec3::UnitZ()))};
    run.begin();
    run.start();
    run.go(Vec3(0.0, -0.002, 0.0), 0.2);
    // Sideways too, so that friction turns it.
    const Vec3 aside[] = {{0.0, -0.002, 0.01}, {0.0, -0.002, -0.01}, {0.0, -0.002, 0.0}};
    for (const Vec3& to : aside) {
      const TickResult result = run.go(to, 0.2);
      EXPECT_GT(result.tool.position.y(), 0.95 * run.tool.radius()) << friction;
    }
    EXPECT_LT(run.report.penetration, 0.05 * run.tool.radius()) << friction;
  }
}

TEST(Compliance, RefusesWhatItCannotDo) {
  World still;
  still.add(StaticSurface{"box", TriangleTree(make_box(Vec3(0.2, 0.04, 0.2), 4)), 0.5});
  EXPECT_FALSE(find_method("compliance").refuse({still, ToolSettings{}}).empty());
  World world;
  world.add({"floor", nullptr, make_shape(ContactShape::Plane{}, 0.3)});
  ToolSettings wire = make_wire(51, 0.3);
  add_tool(world, wire, {});
  EXPECT_FALSE(find_method("compliance").refuse({world, wire}).empty());
  wire.as<HeldChain>()->beams = 50;
  EXPECT_TRUE(find_method("compliance").refuse({world, wire}).empty());
}

}  // namespace
}  // namespace palpate::compliance_behaviour_test
