#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "live_rig.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/testing/realtime_guard.h"

// Contacts that live in the fast loop, by `compliance` and `jacobian`.
namespace palpate::live_test {
namespace {

using namespace live_rig;

/// Where a hand is at a tick, and how fast it goes to the next.
using Path = DeviceState (*)(int tick);

/// Presses, strokes 10 mm in half a second, and rests.
DeviceState press_stroke_rest(int tick) {
  const double down = std::min(tick, 150) * 3e-5, along = std::clamp(tick - 200, 0, 500) * 2e-5;
  return hand_at(Vec3(0.003 + along, 0.0560 - down, 0.001),
                 Vec3(tick >= 200 && tick < 700 ? 0.02 : 0.0, tick < 150 ? -0.03 : 0.0, 0.0));
}

/// Goes on as it began: what a slow step foresees of it is right.
DeviceState press_aslant(int tick) {
  const Vec3 velocity(0.02, -0.02, 0.0);
  return hand_at(Vec3(0.003, 0.0560, 0.001) + kTick * tick * velocity, velocity);
}

/// Forces of a rod on a held block.
std::vector<Vec3> feel_block(Rig& rig, Path path, std::string_view method, int ticks_a_step, bool latency, int ticks) {
  add_block(rig.world, true, 2e4, 3);
  const ToolSettings tool = make_rod();
  const DeviceState start = path(0);
  add_tool(rig.world, tool, start.pose);
  rig.world.prepare();
  rig.begin(method, tool, start, ticks_a_step, latency);
  std::vector<Vec3> forces;
  for (int i = 0; i < ticks; ++i) forces.push_back(rig.tick(path(i)).wrench.force);
  return forces;
}

double largest_of(const std::vector<Vec3>& forces) {
  double out = 0.0;
  for (const Vec3& f : forces) out = std::max(out, f.norm());
  return out;
}

// With equal rates and no latency a tick begins with what the slow step begins with, has the same W, and finds the same
// contacts: what is left is the solver's tolerance.
TEST(Live, ComplianceAtEqualRatesWithoutLatencyIsReference) {
  WorldSettings exact;
  exact.solver = {.tolerance = 1e-13, .max_iterations = 5000};
  exact.contacts = exact.contacts.for_ticks();  // as in the tick
  Rig reference(exact), ours(exact);
  ours.settings.get<ComplianceSettings>("compliance").tolerance = 1e-14;
  ours.settings.get<ComplianceSettings>("compliance").max_iterations = 5000;
  const std::vector<Vec3> truth = feel_block(reference, press_aslant, "reference", 1, false, 300);
  const std::vector<Vec3> felt = feel_block(ours, press_aslant, "compliance", 1, false, 300);
  const double largest = largest_of(truth);
  ASSERT_GT(largest, 0.5) << "it is touched";
  for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_LT((felt[i] - truth[i]).norm(), 1e-8 * largest) << "tick " << i;
}

// After a stroke the hand rests: the force is the truth's, and stays. 3 % and 1 % are what the experiment `rest` asks
// for.
TEST(Live, WhatRestsAfterAStrokeFeelsAsTheTruthAndDoesNotCreep) {
  Rig reference;
  const std::vector<Vec3> truth = feel_block(reference, press_stroke_rest, "reference", 1, false, 2500);
  for (const char* method : {"compliance", "jacobian"}) {
    Rig rig;
    const std::vector<Vec3> felt = feel_block(rig, press_stroke_rest, method, 50, true, 2500);
    const double whole = truth.back().norm();
    ASSERT_GT(whole, 0.3);
    EXPECT_LT((felt.back() - truth.back()).norm(), 0.03 * whole) << method;
    EXPECT_LT((felt.back() - felt[felt.size() - 1000]).norm(), 0.01 * whole) << method;
  }
}

// Where nothing but the tool moves, the tick has all of the world: it is the truth at any slow rate. A rod slides at
// 0.3 m/s over 102,400 triangles, with a slow loop of 10 Hz.
TEST(Live, OnWhatDoesNotMoveItIsTheTruth) {
  const auto run = [](std::string_view method, int ticks_a_step) {
    WorldSettings settings;
    settings.contacts = settings.contacts.for_ticks();  // as in the tick
    Rig rig(settings);
    StaticSurface bump{"bump", TriangleTree(make_torus(0.05, 0.02, 320, 160)), 0.3};
    rig.world.add(std::move(bump));
    const ToolSettings tool = make_rod();
    DeviceState device = hand_at(Vec3(0.05, 0.036, 0.0));
    add_tool(rig.world, tool, device.pose);
    rig.world.prepare();
    rig.settings.get<JacobianSettings>("jacobian").tolerance = 4e-10;
    rig.settings.get<JacobianSettings>("jacobian").max_iterations = 200;
    rig.begin(method, tool, device, ticks_a_step, false);
    std::vector<Vec3> forces;
    for (int i = 0; i < 250; ++i) {
      const double angle = 0.006 * i;
      device.pose.position = Vec3(0.05 * std::cos(angle), 0.036 - std::min(i, 100) * 5e-5, 0.05 * std::sin(angle));
      forces.push_back(rig.tick(device).wrench.force);
    }
    return forces;
  };
  const std::vector<Vec3> truth = run("reference", 1), felt = run("jacobian", 100);
  ASSERT_GT(largest_of(truth), 0.3);
  for (std::size_t i = 0; i < truth.size(); ++i) ASSERT_LT((felt[i] - truth[i]).norm(), 1e-12) << "tick " << i;
}

// A rod slides at 0.3 m/s over the edge of a soft block and off it, with a slow loop of 10 Hz: no jump of the force is
// larger than twice the truth's, and it goes in no deeper than in the truth by more than 0.2 mm. The hand waits for the
// first model.
TEST(Live, RodOverAnEdgeGoesInNoDeeperAndJumpsNoFurther) {
  struct Course {
    double deepest = 0.0, jump = 0.0, largest = 0.0;
  };
  const auto run = [](std::string_view method, int ticks_a_step) {
    Rig rig;
    add_block(rig.world, true, 1e4, 5);
    ToolSettings tool = make_rod();
    tool.as<HeldRigid>()->surface = make_cylinder(0.008, 0.05, 24, 4);
    DeviceState device = hand_at(Vec3(-0.01, 0.052, 0.0));
    device.pose.rotation = rotation_from_vector(Vec3(0.5 * std::numbers::pi, 0.0, 0.0));
    const int body = add_tool(rig.world, tool, device.pose);
    rig.world.prepare();
    rig.begin(method, tool, device, ticks_a_step);
    Course out;
    Vec3 before = Vec3::Zero();
    for (int i = 0; i < 900; ++i) {
      device.pose.position =
          Vec3(-0.01 + 3e-4 * std::clamp(i - 500, 0, 200), 0.052 - 4e-5 * std::clamp(i - 200, 0, 200), 0.0);
      device.velocity.linear = Vec3(i >= 500 && i < 700 ? 0.3 : 0.0, i >= 200 && i < 400 ? -0.04 : 0.0, 0.0);
      const Vec3 force = rig.tick(device).wrench.force;
      out.jump = std::max(out.jump, (force - before).norm());
      out.largest = std::max(out.largest, force.norm());
      before = force;
      if (method != "reference") {
        out.deepest = std::max(out.deepest, rig.report.penetration);
        continue;
      }
      for (const Contact& c : rig.world.memory().contacts) {
        if (c.body_a == body || c.body_b == body) out.deepest = std::max(out.deepest, -c.gap);
      }
    }
    return out;
  };
  const Course truth = run("reference", 1);
  ASSERT_GT(truth.largest, 0.3);
  for (const char* method : {"compliance", "jacobian"}) {
    const Course ours = run(method, 100);
    EXPECT_GT(ours.largest, 0.3) << method;
    EXPECT_LT(ours.deepest, truth.deepest + 2e-4) << method;
    EXPECT_LT(ours.jump, 2.0 * truth.jump) << method;
  }
}

// A soft block between the two fingers of a clasp, 6 mm closer than the block is wide, held by friction alone, hangs
// for a minute without sinking by more than 10 µm.
class LiveClasp : public ::testing::TestWithParam<const char*> {};

TEST_P(LiveClasp, BlockBetweenTwoFingersHangs) {
  Rig rig;
  FemBody& block = add_block(rig.world, false, 2e4, 3);
  ToolSettings tool;
  TriangleMesh left = make_box(Vec3(0.01, 0.03, 0.03), 1);
  for (Vec3& v : left.vertices) v.x() -= 0.035 - 0.003;
  TriangleMesh right = make_box(Vec3(0.01, 0.03, 0.03), 1);
  for (Vec3& v : right.vertices) v.x() += 0.035 - 0.003;
  const auto shift = static_cast<std::int32_t>(left.vertices.size());
  left.vertices.insert(left.vertices.end(), right.vertices.begin(), right.vertices.end());
  for (auto t : right.triangles) left.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  tool.kind = HeldRigid{.mass = 0.1, .surface = left, .convex = false};
  tool.friction = 0.8;
  tool.coupling = {.stiffness = 500.0, .damping = 1.0, .rotational_stiffness = 1.0, .rotational_damping = 2e-3};
  const DeviceState device = hand_at(Vec3(0.0, 0.02, 0.0));
  add_tool(rig.world, tool, device.pose);
  // It begins squeezed, so that it need not be caught.
  std::vector<Vec3> squeezed(block.positions().begin(), block.positions().end());
  for (Vec3& p : squeezed) p.x() *= 0.027 / 0.03;
  block.set_positions(squeezed);
  rig.world.prepare();
  rig.begin(GetParam(), tool, device, 50);
  const auto height = [&] {
    double sum = 0.0;
    for (const Vec3& p : block.positions()) sum += p.y();
    return sum / block.node_count();
  };
  TickResult last;
  for (int i = 0; i < 5000; ++i) last = rig.tick(device);
  const double weight = 9.81 * 1000.0 * 0.06 * 0.04 * 0.06;
  const double before = height();
  ASSERT_GT(before, 0.01);
  for (int i = 0; i < 60000; ++i) last = rig.tick(device);
  EXPECT_NEAR(-last.wrench.force.y(), weight, 0.01 * weight);
  EXPECT_NEAR(height(), before, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Methods, LiveClasp, ::testing::Values("compliance", "jacobian"));

TEST(Live, TicksNeitherAllocateNorLock) {
  for (const char* name : {"compliance", "jacobian"}) {
    Rig rig;
    add_block(rig.world, true, 2e4, 4);
    const ToolSettings tool = make_rod();
    DeviceState device = hand_at(Vec3(0.003, 0.0560, 0.001));
    add_tool(rig.world, tool, device.pose);
    rig.world.prepare();
    HandDriven method(make_method(name, {rig.world, tool, kTick, 0.02, device, {}}));
    double largest = 0.0;
    long forbidden = 0;
    for (int i = 0; i < 300; ++i) {
      if (i % 20 == 0) method.step(kTick * i);
      device.time = kTick * i;
      device.pose.position.y() = 0.0560 - std::min(i, 150) * 3e-5;
      const testing::RealtimeGuard guard;
      const TickResult result = method.tick(device);
      if (testing::RealtimeGuard::available()) forbidden += guard.violations().total();
      largest = std::max(largest, result.wrench.force.norm());
    }
    EXPECT_EQ(forbidden, 0) << name;
    EXPECT_GT(largest, 0.3) << "it is touched";
  }
}

TEST(Live, ModelThatCouldNotBeMadeGivesNoForce) {
  for (const char* method : {"compliance", "jacobian"}) {
    Rig rig;
    FemBody& block = add_block(rig.world, true, 2e4, 2);
    const ToolSettings tool = make_rod();
    DeviceState device = hand_at(Vec3(0.0, 0.0555, 0.0));
    add_tool(rig.world, tool, device.pose);
    rig.world.prepare();
    rig.begin(method, tool, device, 20, false);
    device.pose.position.y() = 0.05;
    TickResult last;
    for (int i = 0; i < 100; ++i) last = rig.tick(device);
    ASSERT_GT(last.wrench.force.norm(), 0.3);
    std::vector<Vec3> broken(block.positions().begin(), block.positions().end());
    broken.front().setConstant(std::numeric_limits<double>::quiet_NaN());
    block.set_positions(broken);
    for (int i = 0; i < 100; ++i) {
      last = rig.tick(device);
      ASSERT_TRUE(last.wrench.force.allFinite());
    }
    EXPECT_EQ(last.wrench.force, Vec3(Vec3::Zero())) << method;
    EXPECT_FALSE(rig.report.converged) << method;
  }
}

}  // namespace
}  // namespace palpate::live_test
