#include <cstring>

#include "../src/accelerance/response.h"
#include "accelerance_rig.h"

// Accelerances: the direct way and test simulations.
namespace palpate::accelerance {
namespace {

enum class Arrangement { kFree, kResting, kSliding, kStack, kHinged };

/// The box that is pushed is always body 0; others follow.
World make_arrangement(Arrangement what) {
  World world = make_empty(what == Arrangement::kFree ? Vec3::Zero() : Vec3(0.0, -kGravity, 0.0));
  BoxSettings box{.position = Vec3(0.0, 0.025, 0.0)};
  if (what == Arrangement::kSliding) box.velocity = Vec3(0.6, 0.0, 0.1);
  if (what == Arrangement::kHinged) box.position.y() = 0.3;
  RigidBody& first = add_box(world, box);
  if (what == Arrangement::kStack) add_box(world, {.position = Vec3(0.004, 0.075, 0.002), .mass = 0.3});
  if (what == Arrangement::kHinged) {
    RigidBody& second = add_box(world, {.position = Vec3(0.06, 0.3, 0.0), .mass = 0.2});
    Joint hinge = make_joint(Joint::Kind::kHinge, &first, &second, {Vec3(0.03, 0.3, 0.0), Quat::Identity()});
    hinge.body_a = 0;
    hinge.body_b = 1;
    world.add(hinge);
  }
  if (what != Arrangement::kFree && what != Arrangement::kHinged) add_floor(world, 0.4);
  world.prepare();
  return world;
}

std::vector<std::int32_t> boxes_of(const World& world) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < world.bodies().size(); ++i) {
    if (world.bodies()[i].body) out.push_back(static_cast<std::int32_t>(i));
  }
  return out;
}

// Both ways give ∂u̇/∂f of the same step. Test simulations are differences with a force of 1e-4 N, so they are off by
// what the law curves within it (sliding: 1e-4 N over a friction of 2 N) and by the solver's 1e-13 m over h² and the
// force, 4e-7 of the largest entry; the direct way by its compliance, 1e-7 of what a row held by several contacts at
// once would give way if free, which is at most 1/I times the arm, 120 /kg·m.
TEST(Response, DirectWayIsTheTangentThatTestSimulationsFind) {
  for (const auto what :
       {Arrangement::kFree, Arrangement::kResting, Arrangement::kSliding, Arrangement::kStack, Arrangement::kHinged}) {
    World world = make_arrangement(what);
    StepReport report;
    const double h = 0.05;
    ASSERT_TRUE(world.step(h, report));
    const std::vector<std::int32_t> boxes = boxes_of(world);
    std::vector<Response::TestPoint> points;
    for (const std::int32_t b : boxes) points.push_back({b, Vec3(-0.025, 0.01, 0.005), 1e-4});
    const JointFrames joints(world);
    Response response(world, joints, h);
    Eigen::MatrixXd direct, tests;
    ASSERT_TRUE(response.compute_by_tests(points, tests));
    ASSERT_TRUE(response.try_step(Response::Contacts::kKept));
    response.compute_direct(boxes, 64, false, direct);
    const double largest = std::max(1e-3, tests.cwiseAbs().maxCoeff());
    for (std::size_t k = 0; k < boxes.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      const Eigen::MatrixXd by_force =
          direct.middleCols(6 * column, 3) + direct.middleCols(6 * column + 3, 3) * skew(points[k].arm);
      EXPECT_LT((by_force - tests.middleCols(3 * column, 3)).cwiseAbs().maxCoeff(), 2e-4 * largest + 1e-6 * 120.0)
          << static_cast<int>(what) << "\n"
          << by_force << "\n\n"
          << tests.middleCols(3 * column, 3);
    }
    if (what == Arrangement::kFree) {
      EXPECT_NEAR(direct(0, 0), 2.0, 1e-9);  // 1/m
    }
    if (what == Arrangement::kResting) {
      EXPECT_LT(direct.cwiseAbs().maxCoeff(), 1e-2);  // held
    }
    if (what == Arrangement::kHinged) {
      EXPECT_GT(direct.topRightCorner(6, 6).cwiseAbs().maxCoeff(), 0.1);  // felt through the joint
    }
  }
}

// With local contacts taken out, what is left is the body alone; with their forces added it does what it did.
TEST(Response, LocalContactsAreTakenOutWhole) {
  World world = make_arrangement(Arrangement::kSliding);
  StepReport report;
  ASSERT_TRUE(world.step(0.05, report));
  const std::vector<std::int32_t> boxes = boxes_of(world);
  const JointFrames joints(world);
  Response response(world, joints, 0.05);
  ASSERT_TRUE(response.try_step(Response::Contacts::kKept));
  Eigen::MatrixXd A;
  response.compute_direct(boxes, 64, true, A);
  EXPECT_EQ(response.local_contacts().size(), 4u);
  EXPECT_LT((A.topLeftCorner<3, 3>() - 2.0 * Mat3::Identity()).norm(), 1e-12);
  const Vec6 with = A * response.local_wrenches()[0];
  Vec6 without = response.acceleration(0) - with;
  EXPECT_NEAR(without.y(), -kGravity, 1e-9);
  without.y() = 0.0;
  EXPECT_LT(without.norm(), 1e-9);
  EXPECT_NEAR(response.local_wrenches()[0].y(), 0.5 * kGravity, 1e-8);
}

/// Bits of all bodies after some steps, with or without tests between them.
std::vector<double> run_stack(bool tests) {
  World world = make_arrangement(Arrangement::kStack);
  WorldState state;
  for (int i = 0; i < 6; ++i) {
    StepReport report;
    EXPECT_TRUE(world.step(0.05, report));
    if (!tests) continue;
    const std::vector<std::int32_t> boxes = boxes_of(world);
    std::vector<Response::TestPoint> points;
    for (const std::int32_t b : boxes) points.push_back({b, Vec3(0.0, 0.025, 0.0), 2.0});
    const JointFrames joints(world);
    Response response(world, joints, 0.05);
    Eigen::MatrixXd A;
    EXPECT_TRUE(response.compute_by_tests(points, A));
    response.compute_direct(boxes, 64, true, A);
  }
  world.save_state(state);
  return state.bodies;
}

TEST(Response, TestSimulationsLeaveTheWorldAsItWasBitForBit) {
  const std::vector<double> with = run_stack(true), without = run_stack(false);
  ASSERT_EQ(with.size(), without.size());
  EXPECT_EQ(std::memcmp(with.data(), without.data(), with.size() * sizeof(double)), 0);
}

/// A cube slides into a wall, watched by a pointer that does not touch it.
Rig make_impact(const AcceleranceSettings& settings) {
  World world = make_empty();
  add_box(world, {.position = Vec3(0.0, 0.025, 0.0), .friction = 0.0, .velocity = Vec3(0.3, 0.0, 0.0)});
  add_floor(world, 0.0);
  ContactShape wall;
  wall.kind = ContactShape::Plane{.normal = -Vec3::UnitX(), .offset = -0.1};
  world.add({"wall", nullptr, wall});
  return Rig(std::move(world), make_ball(0.005), Vec3(0.0, 0.1, 0.0), 0.05, settings);
}

// Where the fast loop does contacts itself, the cube meets the wall in the tick in which it gets there, and stands.
TEST(Accelerance, CubeThatMeetsAWallStopsThere) {
  AcceleranceSettings settings;
  settings.reach = 0.5;
  Rig rig = make_impact(settings);
  double farthest = 0.0;
  rig.run(0.6, {}, [&] {
    if (rig.neighbour(0)) farthest = std::max(farthest, rig.neighbour(0)->pose.position.x());
  });
  EXPECT_NEAR(farthest, 0.075, 1e-5);
  EXPECT_LT(std::abs(rig.neighbour(0)->velocity.x()), 1e-4);
  EXPECT_NEAR(rig.neighbour(0)->pose.position.x(), 0.075, 1e-5);
}

// In the paper's form the impact is the nonlinear part: nothing while the cube slides, its momentum at the wall.
TEST(Accelerance, NonlinearPartIsTheImpact) {
  AcceleranceSettings settings;
  settings.local_contacts = false;
  settings.reach = 0.5;
  Rig rig = make_impact(settings);
  double before = 0.0, impact = 0.0;
  rig.run(0.6, {}, [&] {
    const double d = rig.model->neighbour[0].nonlinear.x();
    if (rig.time < 0.15) before = std::max(before, std::abs(d));
    impact = std::min(impact, d);
  });
  EXPECT_LT(before, 1e-9);
  EXPECT_LT(impact, -0.1);
}

}  // namespace
}  // namespace palpate::accelerance
