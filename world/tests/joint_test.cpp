#include <numbers>

#include "bricks.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/particle.h"
#include "palpate/core/error.h"

// What holds bodies together.
namespace palpate::joint_test {
namespace {

using namespace testing;

int add_particle(World& world, double mass, const Vec3& at) {
  return world.add({"particle", std::make_unique<Particle>(mass, at), {}});
}

Body* body_of(World& world, int i) {
  return i < 0 ? nullptr : world.bodies()[as_size(i)].body.get();
}

int tie(World& world, Joint::Kind kind, int a, int b, const Pose& place) {
  Joint j = make_joint(kind, body_of(world, a), body_of(world, b), place);
  j.body_a = a;
  j.body_b = b;
  return world.add(std::move(j));
}

double error_of(World& world, int joint) {
  const Joint& j = world.joints()[as_size(joint)];
  return compute_joint_error(j, body_of(world, j.body_a), body_of(world, j.body_b));
}

/// Time between the first and the last upward zero crossing of f, over their number.
template <typename F>
double measure_period(World& world, double seconds, double h, F&& f) {
  double last = f(), first_crossing = -1.0, last_crossing = -1.0;
  int crossings = 0;
  for (int i = 1; i * h < seconds; ++i) {
    StepReport report;
    EXPECT_TRUE(world.step(h, report));
    const double now = f();
    if (last < 0.0 && now >= 0.0) {
      const double t = h * (i - now / (now - last));
      if (first_crossing < 0.0) first_crossing = t;
      last_crossing = t;
      ++crossings;
    }
    last = now;
  }
  return crossings > 1 ? (last_crossing - first_crossing) / (crossings - 1) : std::nan("");
}

// A compound pendulum on a hinge: T = 2π √(I/(m g l)), small swings (0.02 rad: amplitude correction 2.5e-5).
TEST(Hinge, CompoundPendulumHasItsPeriod) {
  World world;
  BrickOptions o;
  o.size = Vec3(0.04, 0.4, 0.04);
  const double l = 0.2, swing = 0.02;
  o.pose.position = Vec3(l * std::sin(swing), -l * std::cos(swing), 0.0);
  o.pose.rotation = rotation_from_vector(Vec3(0.0, 0.0, swing));
  const int bar = add_brick(world, o);
  const int joint =
      tie(world, Joint::Kind::kHinge, bar, -1, {Vec3::Zero(), Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ())});
  world.prepare();
  const double inertia = (0.4 * 0.4 + 0.04 * 0.04) / 12.0 + l * l;
  const double expected = 2.0 * std::numbers::pi * std::sqrt(inertia / (kGravity * l));
  const double period = measure_period(world, 10.0, 5e-4, [&] { return position_of(world, bar).x(); });
  EXPECT_NEAR(period, expected, 1e-3 * expected);
  EXPECT_LT(error_of(world, joint), 1e-7);
}

// Two equal point masses on two equal rods: ω² = (2 ± √2) g/l, started in one mode and in the other.
TEST(Ball, DoublePendulumHasBothItsPeriods) {
  const double l = 0.5;
  for (const double sign : {1.0, -1.0}) {
    World world;
    // In mode (2 ∓ √2) the second angle is ±√2 of the first.
    const double first = 0.01, second = sign * std::sqrt(2.0) * first;
    Vec3 at = Vec3::Zero();
    std::vector<int> rods;
    for (const double angle : {first, second}) {
      // A rod whose mass sits at its lower end: a small cube; its inertia is 2e-7 of m l².
      at += l * Vec3(std::sin(angle), -std::cos(angle), 0.0);
      BrickOptions o;
      o.size = Vec3::Constant(5e-4);
      o.density = 8e9;
      o.touches = false;
      o.pose.position = at;
      o.pose.rotation = rotation_from_vector(Vec3(0.0, 0.0, angle));
      rods.push_back(add_brick(world, o));
    }
    const int top = tie(world, Joint::Kind::kBall, rods[0], -1, {});
    tie(world, Joint::Kind::kBall, rods[1], rods[0], {position_of(world, rods[0]), Quat::Identity()});
    world.prepare();
    const double omega = std::sqrt((2.0 - sign * std::sqrt(2.0)) * kGravity / l);
    const double period = measure_period(world, 12.0, 5e-4, [&] { return position_of(world, rods[0]).x(); });
    EXPECT_NEAR(period, 2.0 * std::numbers::pi / omega, 2e-3 * period) << sign;
    EXPECT_LT(error_of(world, top), 1e-7);
  }
}

TEST(Hinge, KeepsItsAxisOverAHundredThousandSteps) {
  World world;
  BrickOptions o;
  o.size = Vec3(0.1, 0.3, 0.05);
  o.touches = false;
  o.pose.position = Vec3(0.15, 0.0, 0.0);
  o.velocity.angular = Vec3(0.0, 0.0, 5.0);
  o.velocity.linear = Vec3(0.0, 0.75, 0.0);
  const int door = add_brick(world, o);
  const int joint =
      tie(world, Joint::Kind::kHinge, door, -1, {Vec3::Zero(), Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ())});
  world.prepare();
  double worst = 0.0;
  for (int i = 0; i < 100000; ++i) {
    StepReport report;
    ASSERT_TRUE(world.step(0.002, report));
    worst = std::max(worst, error_of(world, joint));
  }
  // Points part by half of h² ω² l within a step, and that never adds up. At the lowest point ω² = 25 + 2 g · 2l/(I/m).
  const double l = 0.15, inertia = l * l + (0.1 * 0.1 + 0.3 * 0.3) / 12.0;
  EXPECT_LT(worst, 0.5 * 0.002 * 0.002 * (25.0 + 4.0 * kGravity * l / inertia) * l);
}

TEST(Hinge, StopsAtItsLimitAndItsSpringHasItsPeriod) {
  World world;
  BrickOptions o;
  o.touches = false;
  o.pose.position = Vec3(0.1, 0.0, 0.0);
  const int flap = add_brick(world, o);
  const int joint =
      tie(world, Joint::Kind::kHinge, flap, -1, {Vec3::Zero(), Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ())});
  world.joints()[as_size(joint)].lower = -0.5;
  world.prepare();
  run(world, 3.0, 0.005);
  const Vec3 p = position_of(world, flap);
  EXPECT_NEAR(std::atan2(p.y(), p.x()), -0.5, 1e-6);

  WorldSettings weightless;
  weightless.gravity = Vec3::Zero();
  World spring(weightless);
  o.velocity.angular = Vec3(0.0, 0.0, 0.1);
  o.velocity.linear = Vec3(0.0, 0.01, 0.0);
  const int wing = add_brick(spring, o);
  const int held =
      tie(spring, Joint::Kind::kHinge, wing, -1, {Vec3::Zero(), Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ())});
  spring.joints()[as_size(held)].stiffness = 2.0;
  spring.prepare();
  const double inertia = 0.01 / 6.0 + 0.01;
  const double expected = 2.0 * std::numbers::pi * std::sqrt(inertia / 2.0);
  const double period = measure_period(spring, 3.0, 2e-4, [&] { return position_of(spring, wing).y(); });
  EXPECT_NEAR(period, expected, 1e-3 * expected);
}

// A slider on a slope runs with g sin α, and its dry friction holds up to its limit.
TEST(Slider, RunsAlongItsAxisAndItsFrictionHolds) {
  for (const double drive : {0.0, 10.0}) {
    World world;
    BrickOptions o;
    o.touches = false;
    const int car = add_brick(world, o);
    const Vec3 axis = Vec3(1.0, -1.0, 0.0).normalized();
    const int joint =
        tie(world, Joint::Kind::kSlider, car, -1, {Vec3::Zero(), Quat::FromTwoVectors(Vec3::UnitX(), axis)});
    world.joints()[as_size(joint)].max_drive = drive;
    world.prepare();
    run(world, 0.5, 0.001);
    const Vec3 v = rigid(world, car).velocities()[0];
    // m = 1 kg, so the slope pulls with 6.94 N: less than 10 N.
    const double expected = drive > 0.0 ? 0.0 : 0.5 * kGravity * std::sqrt(0.5);
    EXPECT_NEAR(v.dot(axis), expected, 1e-6);
    EXPECT_LT(v.cross(axis).norm(), 1e-9);
    EXPECT_LT(error_of(world, joint), 1e-9);
  }
}

TEST(Fixed, CarriesForceAndMoment) {
  World world;
  BrickOptions o;
  o.touches = false;
  const int first = add_brick(world, o);
  o.pose.position = Vec3(0.1, 0.0, 0.0);
  const int second = add_brick(world, o);
  tie(world, Joint::Kind::kFixed, first, -1, {Vec3(-0.05, 0.0, 0.0), Quat::Identity()});
  const int joint = tie(world, Joint::Kind::kFixed, second, first, {Vec3(0.05, 0.0, 0.0), Quat::Identity()});
  world.prepare();
  run(world, 1.0, 0.01);
  EXPECT_LT(error_of(world, joint), 1e-8);
  // The wall carries two bricks of 1 kg: 2 g, with the moment 2 g · 0.1 m about its end.
  // The solver stops at 1e-9 m, which is 1e-5 N through W = h²/m.
  EXPECT_NEAR(world.memory().joint_forces[1], 2.0 * kGravity, 2e-5);
  const double arm = world.joints()[0].arm;
  EXPECT_NEAR(world.memory().joint_forces[5] * arm, 2.0 * kGravity * 0.1, 2e-5 * 0.1);
}

// A bead on a helix-like polyline, pulled by gravity, comes to rest at its lower end, on the line all the way.
TEST(Curve, KeepsABeadOnTheLineAndStopsItAtTheEnd) {
  World world;
  const int bead = add_particle(world, 0.01, Vec3(0.0, 0.0, 0.0));
  Joint j;
  j.kind = Joint::Kind::kCurve;
  j.body_a = bead;
  for (int i = 0; i <= 10; ++i) {
    const double t = 0.1 * i;
    j.curve.push_back({-1, Vec3::Zero(), Vec3(t, -0.3 * t, 0.1 * t * t)});
  }
  j.damping = 0.02;
  const Vec3 end = j.curve.back().offset;
  const int joint = world.add(std::move(j));
  world.prepare();
  double worst = 0.0;
  for (int i = 0; i < 3000; ++i) {
    StepReport report;
    ASSERT_TRUE(world.step(0.002, report));
    worst = std::max(worst, error_of(world, joint));
  }
  EXPECT_LT((world.bodies()[0].body->compute_point({}) - end).norm(), 1e-5);
  EXPECT_LT(worst, 1e-4);  // at the corners of the line, where the bead turns within a step
}

TEST(Box, KeepsAPointInside) {
  World world;
  const int ball = add_particle(world, 0.1, Vec3(0.0, 0.1, 0.0));
  Joint j;
  j.kind = Joint::Kind::kBox;
  j.body_a = ball;
  j.box_lower = Vec3(-0.1, 0.0, -0.1);
  j.box_upper = Vec3(0.1, 0.3, 0.1);
  world.add(std::move(j));
  world.prepare();
  world.bodies()[0].body->set_velocities(std::vector<Vec3>{Vec3(1.0, 0.0, 0.5)});
  run(world, 1.0, 0.002);
  EXPECT_LT((world.bodies()[0].body->compute_point({}) - Vec3(0.1, 0.0, 0.1)).norm(), 1e-7);
}

// A weight on a thread tied to the underside of a soft block: the thread carries the weight, the block's support both.
TEST(Ball, TiesThreadsToSoftBodiesAndWeights) {
  World world;
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 5.0};
  auto block =
      std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.1, 0.1, 0.1), {4, 4, 4}), std::span(&material, 1));
  for (int n = 0; n < block->node_count(); ++n) {
    if (block->rest_positions()[n].y() > 0.0499) block->prescribe(n, Vec3::Zero());
  }
  const int soft = world.add({"soft", std::move(block), {}});
  BeamChainSettings chain;
  std::vector<Vec3> points;
  for (int i = 0; i <= 5; ++i) points.emplace_back(0.0, -0.05 - 0.02 * i, 0.0);
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(0.001, 0.3);
  chain.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 5.0};
  const int thread = world.add({"thread", std::make_unique<BeamChain>(chain), {}});
  const int weight = add_particle(world, 0.02, Vec3(0.0, -0.15, 0.0));
  const int upper = tie(world, Joint::Kind::kBall, thread, soft, {Vec3(0.0, -0.05, 0.0), Quat::Identity()});
  const int lower = tie(world, Joint::Kind::kBall, weight, thread, {Vec3(0.0, -0.15, 0.0), Quat::Identity()});
  world.prepare();
  run(world, 6.0, 0.01);
  EXPECT_LT(error_of(world, upper), 1e-8);
  EXPECT_LT(error_of(world, lower), 1e-8);
  const double thread_mass = 1000.0 * std::numbers::pi * 1e-6 * 0.1;
  EXPECT_NEAR(world.memory().joint_forces[1], (0.02 + thread_mass) * kGravity, 1e-4);
  EXPECT_NEAR(world.memory().joint_forces[4], 0.02 * kGravity, 1e-4);
}

TEST(Joint, NamesWhatIsWrong) {
  World world;
  const int point = add_particle(world, 1.0, Vec3::Zero());
  Joint j;
  j.name = "bad";
  j.kind = Joint::Kind::kHinge;
  j.body_a = point;
  EXPECT_THROW(world.add(j), InputError);  // a particle has no axis
  j.kind = Joint::Kind::kBall;
  j.body_a = 7;
  EXPECT_THROW(world.add(j), InputError);
  j.body_a = point;
  j.lower = 1.0;
  j.upper = 0.0;
  EXPECT_THROW(world.add(j), InputError);
}

// A saved state repeats the same bits.
TEST(World, RestoredStateRepeatsTheSameBits) {
  World world;
  add_plane(world, 0.5);
  for (int i = 0; i < 6; ++i) {
    BrickOptions o;
    o.pose.position = Vec3(0.02 * i, 0.08 + 0.11 * i, 0.01 * i);
    add_brick(world, o);
  }
  world.prepare();
  run(world, 0.3, 0.01);
  WorldState state;
  world.save_state(state);
  run(world, 0.3, 0.01);
  const Vec3 once = position_of(world, 3);
  world.restore_state(state);
  run(world, 0.3, 0.01);
  EXPECT_EQ(once, position_of(world, 3));
  world.reset();
  EXPECT_EQ(position_of(world, 1), Vec3(0.0, 0.08, 0.0));
}

}  // namespace
}  // namespace palpate::joint_test
