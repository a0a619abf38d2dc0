#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "contact_bodies.h"
#include "palpate/core/error.h"
#include "palpate/world/world.h"

// Bodies that are tied to each other, and touch each other where they are not.
namespace palpate::tie_test {
namespace {

using namespace testing;

constexpr double kRadius = 0.001, kTop = 0.01;

std::unique_ptr<BeamChain> make_wire(const std::vector<Vec3>& points, double radius) {
  BeamChainSettings chain;
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(radius, 0.3);
  chain.material = {
      .young_modulus = 2e7, .poisson_ratio = 0.3, .density = 1500.0, .mass_damping = 2.0, .stiffness_damping = 5e-4};
  return std::make_unique<BeamChain>(chain);
}

/// A wire that stands out from the middle of a soft block's top, to which its end is tied, and falls onto it.
struct TiedWire {
  World world;
  int block = 0, wire = 0;

  TiedWire(bool collide, double clearance) {
    auto soft = make_soft_block(Vec3(0.08, 2.0 * kTop, 0.04), {4, 1, 2});
    for (int n = 0; n < soft->node_count(); ++n) {
      if (soft->positions()[as_size(n)].y() < 0.0) soft->prescribe(n, Vec3::Zero());
    }
    block = world.add({"block", std::move(soft), shape_of(Surface{}, 0.3)});
    std::vector<Vec3> points;
    for (int i = 0; i <= 6; ++i) points.emplace_back(0.005 * i, kTop + 0.0025 * i, 0.001);
    wire = world.add({"wire", make_wire(points, kRadius), shape_of(Chain{}, 0.3)});
    Joint j = make_joint(Joint::Kind::kBall, world.body(wire), world.body(block), {points[0], Quat::Identity()});
    j.body_a = wire;
    j.body_b = block;
    j.collide = collide;
    j.clearance = clearance;
    world.add(j);
    world.prepare();
  }
  void run(double seconds) {
    for (int i = 0; i < static_cast<int>(seconds / 0.002); ++i) {
      StepReport report;
      ASSERT_TRUE(world.step(0.002, report));
    }
  }
  Vec3 node(int i) { return dynamic_cast<const BeamChain&>(*world.body(wire)).node_pose(i).position; }
};

// The wire weighs 0.14 mN a centimetre: what it sinks into the block is far below a tenth of its radius.
TEST(Tie, WireLiesOnWhatItIsTiedTo) {
  TiedWire tied(true, 0.006);
  tied.run(1.0);
  StepReport report;
  ASSERT_TRUE(tied.world.step(0.002, report));
  EXPECT_LT(report.penetration, 1e-5);
  // Nearer to the tie the wire, which begins in the surface, presses the block aside.
  for (int i = 3; i <= 6; ++i) EXPECT_GT(tied.node(i).y(), kTop + 0.9 * kRadius) << i;
  EXPECT_LT(tied.node(6).y(), kTop + 0.004) << "it has fallen";
  EXPECT_GT(tied.world.compute_contact_force(tied.wire).y(), 0.0);
}

TEST(Tie, WithoutCollidingItFallsThrough) {
  TiedWire tied(false, 0.005);
  tied.run(0.3);
  EXPECT_LT(tied.node(6).y(), kTop - kRadius);
  EXPECT_TRUE(tied.world.memory().contacts.empty());
}

// Where they are tied the wire begins in the surface: without room around the tie it is pushed out of it, and pulls.
TEST(Tie, NothingTouchesNearerThanTheClearance) {
  for (const double clearance : {0.004, 0.012}) {
    TiedWire tied(true, clearance);
    for (int i = 0; i < 20; ++i) {
      const Vec3 tie = tied.node(0);  // where the step finds it
      tied.run(0.002);
      // On the block the tie is where it is on the wire but for the solver's tolerance.
      for (const Contact& c : tied.world.memory().contacts)
        EXPECT_GE(std::min((c.point_a - tie).norm(), (c.point_b - tie).norm()), clearance - 1e-6);
    }
    EXPECT_FALSE(tied.world.memory().contacts.empty()) << clearance;
  }
}

// A tie that is pulled apart (the wire came from elsewhere, as a tool comes from the fast loop) has a place on each
// body. Contacts near either of them would fight the tie: what one parts, the other pulls together.
TEST(Tie, NothingTouchesNearTheTieOnEitherBodyWhileItIsPulledApart) {
  constexpr double kClearance = 0.006;
  for (const Vec3& moved : {Vec3(0.002, -0.008, 0.0), Vec3(0.0, -0.004, 0.003)}) {
    TiedWire tied(true, kClearance);
    tied.run(0.3);
    auto& wire = dynamic_cast<BeamChain&>(*tied.world.body(tied.wire));
    const Vec3 on_block = tied.node(0);
    wire.set_node_pose(0, {on_block + moved, wire.node_pose(0).rotation});
    const Vec3 on_wire = tied.node(0);
    tied.run(0.002);
    EXPECT_FALSE(tied.world.memory().contacts.empty());
    for (const Contact& c : tied.world.memory().contacts) {
      ASSERT_EQ(c.body_a, tied.block);
      EXPECT_GE((c.point_a - on_block).norm(), kClearance) << c.gap;
      EXPECT_GE((c.point_b - on_wire).norm(), kClearance) << c.gap;
    }
  }
}

TEST(Tie, PartsOfAMechanismDoNotTouchEachOther) {
  World world;
  for (int i = 0; i < 2; ++i)
    world.add({"box", make_rigid({Vec3(0.08 * i, 0.0, 0.0), Quat::Identity()}, make_box(Vec3::Constant(0.1), 1)),
               box_shape(Vec3::Constant(0.1))});
  Joint j = make_joint(Joint::Kind::kBall, world.body(0), world.body(1), {Vec3(0.04, 0.0, 0.0), Quat::Identity()});
  j.body_a = 0;
  j.body_b = 1;
  world.add(j);
  world.prepare();
  StepReport report;
  ASSERT_TRUE(world.step(0.01, report));
  EXPECT_TRUE(world.memory().contacts.empty());
}

TEST(Tie, ClearanceBelowZeroIsRefused) {
  World world;
  world.add({"box", make_rigid({}, make_box(Vec3::Constant(0.1), 1)), {}});
  Joint j;
  j.body_a = 0;
  j.clearance = -0.001;
  EXPECT_THROW(world.add(j), InputError);
}

/// A wire over a fixed round bar with a weight at each end, the right one `ratio` times as heavy; how fast it goes down
/// after `seconds` [m/s].
double slide_over_bar(double ratio, double friction, double seconds) {
  constexpr double kBar = 0.03, kThin = 0.0008, kAround = kBar + kThin;
  World world;
  TriangleMesh bar = make_cylinder(kBar, 0.04, 64, 1);
  for (Vec3& v : bar.vertices) v = Vec3(v.x(), v.z(), -v.y());
  world.add({"bar", std::make_unique<StaticBody>(bar), shape_of(Surface{}, friction)});
  std::vector<Vec3> points;
  for (int i = 4; i > 0; --i) points.emplace_back(-kAround, -0.01 * i, 0.0);
  for (int i = 0; i <= 10; ++i) {
    const double angle = std::numbers::pi * (1.0 - 0.1 * i);
    points.emplace_back(kAround * std::cos(angle), kAround * std::sin(angle), 0.0);
  }
  for (int i = 1; i <= 4; ++i) points.emplace_back(kAround, -0.01 * i, 0.0);
  const int wire = world.add({"wire", make_wire(points, kThin), shape_of(Chain{}, friction)});
  for (const bool right : {false, true}) {
    const Vec3 end = right ? points.back() : points.front();
    const int weight = world.add({"weight", std::make_unique<Particle>(right ? 0.02 * ratio : 0.02, end), {}});
    Joint j = make_joint(Joint::Kind::kBall, world.body(weight), world.body(wire), {end, Quat::Identity()});
    j.body_a = weight;
    j.body_b = wire;
    j.collide = false;
    world.add(j);
  }
  world.prepare();
  for (int i = 0; i < static_cast<int>(seconds / 0.001); ++i) {
    StepReport report;
    EXPECT_TRUE(world.step(0.001, report));
  }
  return -world.body(static_cast<int>(world.bodies().size()) - 1)->velocities()[0].y();
}

// Euler's capstan equation: what slips has tensions in the ratio e^(μφ), here φ = π. A tenth below it the wire holds, a
// tenth above it slides: the weights then gain (0.1/2.1) g, 0.14 m/s in 0.3 s.
TEST(Capstan, WireOverABarHoldsUpToTheRatioAndNotBeyond) {
  const double limit = std::exp(0.3 * std::numbers::pi);
  EXPECT_LT(slide_over_bar(0.9 * limit, 0.3, 0.3), 0.01);
  EXPECT_GT(slide_over_bar(1.1 * limit, 0.3, 0.3), 0.07);
}

}  // namespace
}  // namespace palpate::tie_test
