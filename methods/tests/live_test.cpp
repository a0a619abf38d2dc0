#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "../src/live.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/registry.h"
#include "palpate/testing/realtime_guard.h"

// Contacts that live in the fast loop, by `compliance` and `jacobian`.
namespace palpate::live_test {
namespace {

constexpr double kTick = 0.001;

std::unique_ptr<CorotationalTets> make_block(bool held, double young_modulus, int cells) {
  const Material material{
      .young_modulus = young_modulus, .poisson_ratio = 0.35, .density = 1000.0, .stiffness_damping = 0.005};
  TetMesh mesh = make_tet_block(Vec3(0.06, 0.04, 0.06), {cells, cells, cells});
  for (Vec3& v : mesh.vertices) v.y() += 0.02;
  auto body = std::make_unique<CorotationalTets>(mesh, std::span(&material, 1));
  for (int i = 0; held && i < body->node_count(); ++i) {
    if (body->positions()[as_size(i)].y() < 1e-9) body->prescribe(i, Vec3::Zero());
  }
  return body;
}

ContactShape make_surface(double friction = 0.4) {
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = friction;
  return shape;
}

/// A block of 6 × 4 × 6 cm whose lower side is at y = 0, held there or free.
FemBody& add_block(World& world, bool held, double young_modulus, int cells) {
  auto body = make_block(held, young_modulus, cells);
  FemBody& out = *body;
  world.add({"block", std::move(body), make_surface()});
  return out;
}

ToolSettings make_rod() {
  ToolSettings tool;
  tool.kind = HeldRigid{.mass = 0.03, .surface = make_cylinder(0.01, 0.03, 12, 2)};
  tool.coupling = {.stiffness = 300.0, .damping = 0.5, .rotational_stiffness = 0.2, .rotational_damping = 1e-3};
  return tool;
}

DeviceState at(const Vec3& position, const Vec3& velocity = Vec3::Zero()) {
  DeviceState out;
  out.pose.position = position;
  out.velocity.linear = velocity;
  return out;
}

/// A world, a tool and a method, with models that arrive a slow period after their step began, or at once.
class Rig {
 public:
  explicit Rig(const WorldSettings& of_world = {}) : world(of_world) {}

  void begin(std::string_view method, const ToolSettings& tool, const DeviceState& start, int ticks_a_step,
             bool latency = true) {
    ticks_a_step_ = ticks_a_step;
    latency_ = latency;
    method_.emplace(make_method(method, {world, tool, kTick, kTick * ticks_a_step, start, settings}));
  }

  TickResult tick(DeviceState device) {
    device.time = kTick * static_cast<double>(ticks_);
    if (method_->has_slow_half() && ticks_ % ticks_a_step_ == 0) {
      if (method_->under_way() > 0) method_->deliver();
      method_->begin_step(report, device.time);
      if (!latency_) method_->deliver();
    }
    ++ticks_;
    return method_->tick(device);
  }

  World world;
  MethodSettings settings;
  StepReport report;  ///< of the last slow step

 private:
  std::optional<HandDriven> method_;
  int ticks_a_step_ = 1, ticks_ = 0;
  bool latency_ = true;
};

/// Where a hand is at a tick, and how fast it goes to the next.
using Path = DeviceState (*)(int tick);

/// Presses, strokes 10 mm in half a second, and rests.
DeviceState press_stroke_rest(int tick) {
  const double down = std::min(tick, 150) * 3e-5, along = std::clamp(tick - 200, 0, 500) * 2e-5;
  return at(Vec3(0.003 + along, 0.0560 - down, 0.001),
            Vec3(tick >= 200 && tick < 700 ? 0.02 : 0.0, tick < 150 ? -0.03 : 0.0, 0.0));
}

/// Goes on as it began: what a slow step foresees of it is right.
DeviceState press_aslant(int tick) {
  const Vec3 velocity(0.02, -0.02, 0.0);
  return at(Vec3(0.003, 0.0560, 0.001) + kTick * tick * velocity, velocity);
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
  exact.contacts.alarm_distance = 0.001;  // as in the tick
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

// Where nothing but the tool moves, the tick has all of the world: it is the truth at any slow rate, if friction holds
// places in both. A rod slides at 0.3 m/s over 102,400 triangles, with a slow loop of 10 Hz.
TEST(Live, OnWhatDoesNotMoveItIsTheTruth) {
  const auto run = [](std::string_view method, int ticks_a_step) {
    WorldSettings settings;
    settings.contacts.alarm_distance = 0.001;  // as in the tick
    Rig rig(settings);
    StaticSurface bump{"bump", TriangleTree(make_torus(0.05, 0.02, 320, 160)), 0.3};
    rig.world.add(std::move(bump));
    const ToolSettings tool = make_rod();
    DeviceState device = at(Vec3(0.05, 0.036, 0.0));
    add_tool(rig.world, tool, device.pose);
    rig.world.prepare();
    rig.world.set_memory(rig.world.memory());
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
// larger than twice the truth's, and with `jacobian` it goes in no deeper than in the truth by more than 0.2 mm. (With
// `compliance`, whose bodies answer in a tick with little more than their inertia, it does, by 2 mm: the block that
// must give way is late.) The hand waits for the first model.
TEST(Live, RodOverAnEdgeGoesInNoDeeperAndJumpsNoFurther) {
  struct Course {
    double deepest = 0.0, jump = 0.0, largest = 0.0;
  };
  const auto run = [](std::string_view method, int ticks_a_step) {
    Rig rig;
    add_block(rig.world, true, 1e4, 5);
    ToolSettings tool = make_rod();
    tool.as<HeldRigid>()->surface = make_cylinder(0.008, 0.05, 24, 4);
    DeviceState device = at(Vec3(-0.01, 0.052, 0.0));
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
    if (std::string_view(method) == "jacobian") {
      EXPECT_LT(ours.deepest, truth.deepest + 2e-4);
    }
    EXPECT_LT(ours.jump, 2.0 * truth.jump) << method;
  }
}

// A soft block between the two fingers of a clasp, 6 mm closer than the block is wide, held by friction alone, hangs
// for a minute without sinking by more than 10 µm.
TEST(Live, BlockBetweenTwoFingersHangs) {
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
  const DeviceState device = at(Vec3(0.0, 0.02, 0.0));
  add_tool(rig.world, tool, device.pose);
  // It begins squeezed, so that it need not be caught.
  std::vector<Vec3> squeezed(block.positions().begin(), block.positions().end());
  for (Vec3& p : squeezed) p.x() *= 0.027 / 0.03;
  block.set_positions(squeezed);
  rig.world.prepare();
  rig.begin("jacobian", tool, device, 50);
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

TEST(Live, TicksNeitherAllocateNorLock) {
  for (const char* name : {"compliance", "jacobian"}) {
    Rig rig;
    add_block(rig.world, true, 2e4, 4);
    const ToolSettings tool = make_rod();
    DeviceState device = at(Vec3(0.003, 0.0560, 0.001));
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
    DeviceState device = at(Vec3(0.0, 0.0555, 0.0));
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

/// A tool of random kind, place and motion near the block's upper side.
struct RandomTool {
  std::unique_ptr<Body> body;
  ContactShape shape;
};

RandomTool make_random_tool(std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto vector = [&] { return Vec3(unit(random), unit(random), unit(random)); };
  RandomTool out;
  const Vec3 place(0.03 * unit(random), 0.045 + 0.008 * unit(random), 0.03 * unit(random));
  const Vec3 velocity = std::pow(10.0, 1.5 * unit(random) - 1.5) * vector();
  out.shape.friction = 0.3;
  const int kind = static_cast<int>(random() % 4);
  if (kind == 0) {
    auto point = std::make_unique<Particle>(0.01, place);
    const std::array<Vec3, 1> v{velocity};
    point->set_velocities(v);
    out.shape.kind = ContactShape::Point{0.004 + 0.003 * unit(random)};
    out.body = std::move(point);
    return out;
  }
  RigidBodySettings settings;
  settings.surface = kind == 1   ? make_box(Vec3(0.01, 0.012, 0.02), 1)
                     : kind == 2 ? make_cylinder(0.006, 0.03, 12, 3)
                                 : make_torus(0.012, 0.004, 16, 10);
  settings.pose = {place, rotation_from_vector(std::numbers::pi * vector())};
  settings.velocity = {velocity, 5.0 * vector()};
  if (kind == 1)
    out.shape.kind = ContactShape::Hull{};
  else
    out.shape.kind = ContactShape::Surface{};
  out.body = std::make_unique<RigidBody>(settings);
  return out;
}

// What a tick finds on the body that stands for the soft one is what the full finder finds on the soft one itself,
// wherever its nodes are and whatever the tool: same features, same gaps.
TEST(Live, TicksContactsAreThoseOfTheFullFinder) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  const auto block = make_block(true, 2e4, 4);
  const std::vector<Vec3> rest(block->positions().begin(), block->positions().end());
  live::LiveBody twin(*block, live::Answer::kTick, kTick);
  const live::BodyLayout layout(block->node_count(), 0);
  std::vector<double> numbers(layout.size(), 0.0);
  auto model = layout.view(numbers.data());
  model.number.setConstant(-1.0);
  long found = 0;
  constexpr int kTools = 100, kStates = 100;
  for (int t = 0; t < kTools; ++t) {
    const RandomTool tool = make_random_tool(random);
    ContactFinder whole({.alarm_distance = 0.001}), tick({.alarm_distance = 0.001});
    for (ContactFinder* finder : {&whole, &tick}) finder->add(tool.body.get(), tool.shape);
    whole.add(block.get(), make_surface());
    tick.add(&twin, make_surface());
    std::vector<double> state(as_size(tool.body->state_size()));
    tool.body->save_state(state);
    for (int s = 0; s < kStates; ++s) {
      std::vector<Vec3> nodes = rest, change(rest.size(), Vec3::Zero());
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i] += 0.002 * Vec3(unit(random), unit(random), unit(random));
        change[i] = 0.3 * Vec3(unit(random), unit(random), unit(random));
      }
      block->set_positions(nodes);
      block->set_velocities(std::vector<Vec3>(nodes.size(), Vec3::Zero()));
      for (std::size_t i = 0; i < nodes.size(); ++i)
        model.place.segment<3>(3 * static_cast<Eigen::Index>(i)) = nodes[i];
      twin.place(layout.view(static_cast<const double*>(numbers.data())), 0.0, 0.0, 0.0);
      std::vector<double> moved = state;
      for (std::size_t k = 0; k < 3; ++k) moved[k] += 0.002 * unit(random);
      tool.body->restore_state(moved);
      const std::vector<Vec3> still(as_size(tool.body->block_count()), Vec3::Zero());
      const std::array<std::span<const Vec3>, 2> dv{still, change};
      std::vector<Contact> a, b;
      whole.find(kTick, dv, a);
      tick.find(kTick, dv, b);
      ASSERT_EQ(a.size(), b.size()) << "tool " << t << ", state " << s;
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].id, b[i].id);
        ASSERT_NEAR(a[i].gap, b[i].gap, 1e-9);
      }
      found += std::ssize(a);
    }
  }
  EXPECT_GT(found, 10 * kTools * kStates / 2) << "they touch";
}

}  // namespace
}  // namespace palpate::live_test
