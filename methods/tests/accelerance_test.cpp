#include <cmath>
#include <numbers>

#include "accelerance_rig.h"
#include "palpate/core/error.h"
#include "palpate/methods/accelerance_settings.h"

// Methods `accelerance` and `impulse`: what the hand feels.
namespace palpate::accelerance {
namespace {

using Way = AcceleranceSettings::Way;

/// A cube of 60 kg drifts along −x into a pointer that stands still, without gravity (the paper's section 7.2).
struct Encounter {
  static constexpr double kMass = 60.0, kSpeed = 0.017;
  std::vector<double> force;
  double impulse = 0.0, peak = 0.0, left_with = 0.0;
};

Encounter meet(const char* method, double period, double stiffness, const AcceleranceSettings& settings = {}) {
  World world = make_empty(Vec3::Zero());
  add_box(world, {.position = Vec3(0.053, 0.0, 0.0),
                  .size = Vec3::Constant(0.1),
                  .mass = Encounter::kMass,
                  .velocity = Vec3(-Encounter::kSpeed, 0.0, 0.0)});
  ToolSettings tool = make_ball(0.0, stiffness);
  tool.coupling.damping = 0.0;
  Rig rig(std::move(world), tool, Vec3::Zero(), period, settings, method);
  Encounter out;
  rig.run(1.5, {}, [&] {
    const double f = -rig.last.wrench.force.x();
    out.force.push_back(f);
    out.impulse += f * rig.dt;
    out.peak = std::max(out.peak, f);
  });
  out.left_with = rig.world.bodies()[0].body->velocities()[0].x();
  return out;
}

// The undamped bounce: F = v √(km) sin(ωt), and twice the momentum. A symplectic step of ω dt = 0.004 has the period
// and the peak to (ω dt)²; the time of touch is known to a tick, which is ω dt/2 of the momentum at most.
TEST(Accelerance, FreeCubeBouncesAsTheSpringDemandsAtAnySlowRate) {
  const double stiffness = 1000.0, w = std::sqrt(stiffness / Encounter::kMass);
  const Encounter one = meet("accelerance", 0.001, stiffness);
  for (const Way way : {Way::kDirect, Way::kTests}) {
    AcceleranceSettings settings;
    settings.way = way;
    const Encounter many = meet("accelerance", 0.05, stiffness, settings);
    EXPECT_NEAR(many.peak, Encounter::kSpeed * Encounter::kMass * w, 1e-4);
    EXPECT_NEAR(many.impulse, 2.0 * Encounter::kMass * Encounter::kSpeed, 0.002 * many.impulse);
    EXPECT_NEAR(many.left_with, Encounter::kSpeed, 0.004 * Encounter::kSpeed);
    // A force along x does nothing else to a free cube, so the model is exact and the slow rate does not matter.
    for (std::size_t i = 60; i < one.force.size(); ++i) ASSERT_NEAR(many.force[i], one.force[i], 1e-9) << i;
  }
}

// Impulses reach the cube up to two periods late: it has gone deeper by then, and leaves faster than it came.
TEST(Impulse, DelayMakesForceAndMomentumTooLarge) {
  const double stiffness = 1000.0;
  const Encounter late = meet("impulse", 0.05, stiffness);
  const double exact = Encounter::kSpeed * std::sqrt(stiffness * Encounter::kMass);
  EXPECT_GT(late.peak, 1.1 * exact);
  EXPECT_GT(late.left_with, 1.1 * Encounter::kSpeed);
  // But nothing is lost: what the hand gave is what the cube got, to the steps that are still under way.
  EXPECT_NEAR(late.impulse, Encounter::kMass * (late.left_with + Encounter::kSpeed), 1e-9);
}

/// A flat pointer, which keeps what it pushes from turning.
ToolSettings make_pusher() {
  ToolSettings tool;
  tool.kind = HeldRigid{.surface = make_box(Vec3(0.01, 0.02, 0.04), 1)};
  tool.friction = 0.0;
  tool.coupling.damping = 10.0;
  return tool;
}

// A hand of mass M pushed with F, and a cube of mass m that rubs: a = (F − μ m g)/(M + m), whatever the slow rate. The
// cube starts from rest, so it must give way within the period in which the force exceeds friction.
TEST(Accelerance, PushedCubeAcceleratesAsMassAndFrictionDemand) {
  constexpr double kForce = 3.0, kHand = 0.2, kCube = 0.5, kFriction = 0.4;
  for (const double period : {0.1, 0.05, 0.02}) {
    World world = make_empty();
    add_box(world, {.position = Vec3(0.0, 0.025, 0.0), .mass = kCube, .friction = kFriction});
    add_floor(world, kFriction);
    Rig rig(std::move(world), make_pusher(), Vec3(-0.0305, 0.025, 0.0), period);
    rig.run(2.0 * period);  // until there is a model
    std::vector<double> speed;
    rig.run(
        0.9,
        [&] {
          double& v = rig.device.velocity.linear.x();
          v += rig.dt * (kForce + rig.last.wrench.force.x()) / kHand;
          if (speed.size() < 200) v = std::min(v, 0.05);
          rig.device.pose.position.x() += rig.dt * v;
        },
        [&] { speed.push_back(rig.neighbour(0) ? rig.neighbour(0)->velocity.x() : NAN); });
    const double expected = (kForce - kFriction * kCube * kGravity) / (kHand + kCube);
    // The swing of hand and cube on the spring has died away by e⁻²⁰ after 0.5 s; what is left is the solver's 1e-4 N.
    EXPECT_NEAR((speed[890] - speed[600]) / 0.290, expected, 1e-3 * expected) << period;
    EXPECT_EQ(rig.last.contacts, 4);
  }
}

// Let go, a sliding cube stops after v²/(2 μ g) and stays: friction in the fast loop must not drag it backwards.
TEST(Accelerance, CubeThatIsLetGoStopsAtCoulombDistance) {
  World world = make_empty();
  add_box(world, {.position = Vec3(0.0, 0.025, 0.0)});
  add_floor(world, 0.4);
  Rig rig(std::move(world), make_pusher(), Vec3(-0.0305, 0.025, 0.0), 0.05);
  rig.run(0.1);
  rig.go(Vec3(0.2, 0.0, 0.0), 0.3);
  const double from = rig.neighbour(0)->pose.position.x(), speed = rig.neighbour(0)->velocity.x();
  ASSERT_GT(speed, 0.15);
  double backwards = 0.0;
  rig.device.velocity.linear.setZero();
  rig.device.pose.position.x() -= 0.01;  // away at once
  rig.run(0.3, {}, [&] { backwards = std::min(backwards, rig.neighbour(0)->velocity.x()); });
  const double way = rig.neighbour(0)->pose.position.x() - from;
  // Constant deceleration over ticks overestimates the way by half a tick's, v dt/2.
  EXPECT_NEAR(way, speed * speed / (2.0 * 0.4 * kGravity), 0.5 * speed * rig.dt + 1e-5);
  EXPECT_GT(backwards, -1e-4);
}

ToolSettings make_two_fingers() {
  ToolSettings tool;
  auto& fingers = tool.kind.emplace<HeldFingers>().fingers;
  tool.friction = 0.8;
  tool.coupling.damping = 4.0;
  for (const double side : {-1.0, 1.0}) {
    Finger f;
    f.radius = 0.008;
    f.open.position = Vec3(side * 0.045, 0.0, 0.0);
    f.closed.position = Vec3(side * 0.0275, 0.0, 0.0);
    fingers.push_back(f);
  }
  return tool;
}

TEST(Accelerance, CubeHeldByTwoFingersWeighsWhatItWeighs) {
  constexpr double kMass = 0.2;
  World world = make_empty();
  add_box(world, {.position = Vec3(0.0, 0.025, 0.0), .mass = kMass, .friction = 0.8});
  add_floor(world, 0.5);
  Rig rig(std::move(world), make_two_fingers(), Vec3(0.0, 0.025, 0.0), 0.05);
  rig.device.grip_rate = 2.0;
  rig.run(0.5, [&] { rig.device.grip = std::min(1.0, rig.device.grip + 2.0 * rig.dt); });
  rig.device.grip_rate = 0.0;
  rig.run(0.3);
  // Each ball is 5.5 mm deep on 1000 N/m.
  EXPECT_NEAR(rig.last.finger_forces[0].x(), -5.5, 1e-3);
  EXPECT_NEAR(rig.last.finger_forces[1].x(), 5.5, 1e-3);
  rig.go(Vec3(0.0, 0.1, 0.0), 1.0);
  rig.run(1.0);
  EXPECT_NEAR(-rig.last.wrench.force.y(), kMass * kGravity, 1e-3 * kMass * kGravity);
  EXPECT_NEAR(rig.neighbour(0)->pose.position.y(), 0.125, 0.002);
  EXPECT_LT(rig.last.wrench.torque.norm(), 1e-3);  // held in the middle
  // Without friction at the fingers it would not come along: opened, it falls.
  rig.run(0.1, [&] { rig.device.grip = 0.0; });
  EXPECT_EQ(rig.last.contacts, 0);
  EXPECT_LT(rig.world.bodies()[0].body->velocities()[0].y(), -0.3);
}

// A plate that presses on 36 cubes at once and slides over them: each gives k times the depth, and friction μ times
// that. The paper's method was unstable with eight.
TEST(Accelerance, ThirtySixNeighboursAtOnceStayStable) {
  WorldSettings quick;
  quick.solver.tolerance = 1e-9;
  World world(quick);
  for (int i = 0; i < 36; ++i)
    add_box(world, {.position = Vec3(0.021 * (i % 6) - 0.0525, 0.01, 0.021 * (i / 6) - 0.0525),
                    .size = Vec3::Constant(0.02),
                    .mass = 0.01});
  add_floor(world, 0.4);
  ToolSettings tool;
  tool.kind = HeldRigid{.surface = make_box(Vec3(0.18, 0.01, 0.18), 1)};
  tool.friction = 0.4;
  Rig rig(std::move(world), tool, Vec3(0.0, 0.028, 0.0), 0.05);
  rig.go(Vec3(0.0, -0.01, 0.0), 0.4);
  rig.run(0.2);
  EXPECT_EQ(rig.feedback.bodies, 36);
  EXPECT_NEAR(rig.last.wrench.force.y(), 36.0, 0.036);  // 1 mm deep on 1000 N/m each; 1 µm of overlap is left alone
  double worst = 0.0;
  rig.go(Vec3(0.05, 0.0, 0.0), 0.2, [&] { worst = std::max(worst, std::abs(rig.last.wrench.force.y() - 36.0)); });
  EXPECT_LT(worst, 0.5);
  EXPECT_NEAR(rig.last.wrench.force.x(), -0.4 * 36.0, 0.1);
}

// A cube of a gram on a pointer of 5 kN/m, hit at a corner: dt² k/m is 5, which an explicit step does not survive.
TEST(Accelerance, LightCubeOnAStiffPointerStaysStable) {
  World world = make_empty(Vec3::Zero());
  add_box(world, {.size = Vec3::Constant(0.01), .mass = 0.001});
  ToolSettings tool = make_ball(0.002, 5000.0);
  Rig rig(std::move(world), tool, Vec3(-0.008, 0.004, 0.004), 0.05);
  rig.run(0.1);
  rig.go(Vec3(0.1, 0.0, 0.0), 0.2);
  const Feedback::Body* cube = rig.neighbour(0);
  ASSERT_NE(cube, nullptr);
  // It cannot leave faster than an elastic bounce would have it: twice the pointer's speed.
  EXPECT_GT(cube->velocity.x(), 0.05);
  EXPECT_LT(cube->velocity.head<3>().norm(), 0.2);
}

// What slides off an edge feels nothing any more, although no new model comes.
TEST(Accelerance, PointerThatLeavesAFaceLeavesItsPlane) {
  World world = make_empty();
  add_box(world, {.position = Vec3(0.0, 0.025, 0.0), .mass = 50.0, .friction = 0.0});
  add_floor(world, 0.0);
  Rig rig(std::move(world), make_ball(0.004), Vec3(0.015, 0.06, 0.0), 0.2);
  rig.run(0.3);
  rig.go(Vec3(0.0, -0.08, 0.0), 0.1);  // 2 mm into the top
  rig.run(0.01);
  EXPECT_NEAR(rig.last.wrench.force.y(), 2.0, 0.01);
  rig.go(Vec3(0.2, 0.0, 0.0), 0.08);  // 6 mm beyond the edge, within one slow period
  EXPECT_EQ(rig.last.contacts, 0);
}

// Torque: a plate that stands on a block with one side only is turned about the handle by where it stands.
TEST(Accelerance, FlatPointerFeelsTorque) {
  World world = make_empty();
  add_box(world, {.position = Vec3(0.03, 0.01, 0.0), .size = Vec3(0.02, 0.02, 0.02), .mass = 1.0});
  add_floor(world, 0.5);
  ToolSettings tool;
  tool.kind = HeldRigid{.surface = make_box(Vec3(0.1, 0.01, 0.04), 1)};
  Rig rig(std::move(world), tool, Vec3(0.0, 0.027, 0.0), 0.05);
  rig.run(0.1);
  rig.go(Vec3(0.0, -0.02, 0.0), 0.2);
  rig.run(0.2);
  EXPECT_NEAR(rig.last.wrench.force.y(), 2.0, 1e-3);
  EXPECT_NEAR(rig.last.wrench.torque.z(), 0.03 * 2.0, 1e-4);
}

// No more neighbours than asked for: the nearest, and the report says so.
TEST(Accelerance, OverflowKeepsTheNearest) {
  World world = make_empty();
  for (int i = 0; i < 4; ++i) add_box(world, {.position = Vec3(0.06 * i, 0.025, 0.0)});
  add_floor(world, 0.4);
  AcceleranceSettings settings;
  settings.reach = 0.2;
  settings.max_neighbours = 2;
  Rig rig(std::move(world), make_ball(0.005), Vec3(0.0, 0.06, 0.0), 0.05, settings);
  rig.run(0.2);
  EXPECT_EQ(rig.model->neighbours, 2);
  EXPECT_TRUE(rig.report.overflow);
  EXPECT_NE(rig.neighbour(0), nullptr);
  EXPECT_NE(rig.neighbour(1), nullptr);
}

// A model that is not finite, or says that it is larger than it can be, is as none.
TEST(Accelerance, BrokenModelGivesNoForce) {
  for (int what = 0; what < 3; ++what) {
    World world = make_empty();
    add_box(world, {.position = Vec3(0.0, 0.025, 0.0)});
    add_floor(world, 0.4);
    Rig rig(std::move(world), make_ball(0.005), Vec3(0.0, 0.053, 0.0), 0.05);
    rig.run(0.2);
    EXPECT_GT(rig.last.wrench.force.y(), 1.0);
    ++rig.model->header.sequence;
    if (what == 0) rig.model->A[0] = NAN;
    if (what == 1) rig.model->neighbours = 1000;
    if (what == 2) rig.model->neighbour[0].nonlinear[2] = HUGE_VAL;
    rig.feedback.header.time = 10.0;
    const TickResult out = tick_with(rig.method, rig.device, *rig.model, rig.feedback);
    EXPECT_EQ(out.wrench.force.norm(), 0.0) << what;
    EXPECT_EQ(rig.feedback.bodies, 0) << what;
  }
}

TEST(Accelerance, RefusesWhatItCannotDoInPlainWords) {
  const MethodInfo& info = find_method("accelerance");
  World still;
  EXPECT_NE(info.refuse({still, ToolSettings{}}).find("nothing in the world can move"), std::string::npos);
  World world = make_empty();
  add_box(world, {});
  world.prepare();
  EXPECT_EQ(info.refuse({world, ToolSettings{}}), "");
  ToolSettings chain;
  chain.kind = HeldChain{};
  EXPECT_NE(info.refuse({world, chain}).find("chain"), std::string::npos);
  MethodSettings settings;
  settings.get<AcceleranceSettings>("accelerance").reach = -1.0;
  try {
    make_method(info, {world, {}, 0.001, 0.05, {}, settings});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("reach = -1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace palpate::accelerance
