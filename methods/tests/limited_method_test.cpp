#include <gtest/gtest.h>

#include <cmath>

#include "palpate/bodies/corotational_hexes.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/limited_settings.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"
#include "point_rig.h"

// `limited` as a whole, both halves and what passes between them, the model one slow period late as with real threads.
namespace palpate::limited_method_test {
namespace {

// A plate of 2 mm, whatever its triangles, from either side, straight and slanted, by a hand at 1 m/s that goes on
// for 30 mm behind it.
TEST(Limited, ThinPlateIsNeverCrossedAtOneMetrePerSecond) {
  for (const int cells : {1, 7, 120}) {
    World world;
    world.add({"plate", TriangleTree(make_box(Vec3(0.3, 0.002, 0.3), cells)), 0.1});
    for (const double side : {1.0, -1.0}) {
      for (const double slant : {0.0, 0.7}) {
        const Vec3 from(0.0021, side * 0.06, 0.0013);
        const Vec3 velocity = Vec3(slant, -side, 0.3 * slant).normalized();
        Loops loops(world, "limited", {}, at(from), 33);
        for (int i = 0; i < 40; ++i) loops.tick(from);  // until there is a model
        for (int i = 0; i < 90; ++i) {
          const TickResult r = loops.tick(from + 0.001 * i * velocity, velocity);
          ASSERT_GE(side * r.tool.position.y(), 0.001) << cells << " " << side << " " << slant << " " << i;
        }
      }
    }
  }
}

// The long version is `palpate reproduce knott-random-walk`.
TEST(Limited, RandomHandsNeverGetInsideAndFeelNoMoreThanTheirCoupling) {
  const TriangleMesh shapes[] = {make_noisy_sphere(0.04, 800, 0.006, 3), make_torus(0.04, 0.012, 40, 20),
                                 make_box(Vec3(0.05, 0.002, 0.05), 3)};
  std::uint64_t seed = 1;
  const auto random = [&] {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(seed >> 11) * 0x1.0p-52 - 1.0;
  };
  const ToolSettings tool;
  for (const TriangleMesh& mesh : shapes) {
    World world;
    world.add({"shape", TriangleTree(mesh), 0.3});
    const TriangleTree& tree = world.static_surfaces()[0].surface;
    Vec3 hand(0.0, 0.07, 0.0);
    Loops loops(world, "limited", tool, at(hand), 33);
    Vec3 last = hand, velocity = Vec3::Zero();
    for (int i = 0; i < 8000; ++i) {
      if (i % 60 == 0) velocity = 0.25 * Vec3(random(), random(), random()) - 2.0 * hand;
      hand += 0.001 * velocity;
      const TickResult r = loops.tick(hand, velocity);
      ASSERT_TRUE(r.wrench.force.allFinite());
      ASSERT_GT(tree.signed_distance(r.tool.position), -1e-9) << i;
      const Vec3 speed = (r.tool.position - last) / 0.001;
      const double coupling =
          tool.coupling.stiffness * (r.tool.position - hand).norm() + tool.coupling.damping * (speed - velocity).norm();
      ASSERT_LE(r.wrench.force.norm(), coupling * (1.0 + 1e-9) + 1e-9) << i;
      last = r.tool.position;
    }
    if (testing::RealtimeGuard::available()) {
      EXPECT_EQ(loops.violations, 0);
    }
  }
}

TEST(Limited, WithoutAModelNothingMovesAndNothingIsFelt) {
  World world;
  world.add({"box", TriangleTree(make_box(Vec3(0.1, 0.1, 0.1), 3)), 0.0});
  Loops loops(world, "limited", {}, at(Vec3(0.0, 0.06, 0.0)), 33);
  loops.stalled = true;
  for (int i = 0; i < 50; ++i) {
    const TickResult r = loops.tick(Vec3(0.0, 0.06 - 0.001 * i, 0.0));
    EXPECT_EQ(r.tool.position, Vec3(0.0, 0.06, 0.0));
    EXPECT_EQ(r.wrench.force, Vec3(0.0, 0.0, 0.0));
  }
}

// The hand goes on while the slow loop stands still: the proxy stops where the model ends, and that is not felt.
TEST(Limited, StalledSlowLoopHoldsTheProxyInTheTrustedBoxWithoutForce) {
  World world;
  world.add({"box", TriangleTree(make_box(Vec3(0.02, 0.02, 0.02), 12)), 0.0});
  Loops loops(world, "limited", {}, at(Vec3(0.0, 0.04, 0.0)), 33);
  for (int i = 0; i < 70; ++i) loops.tick(Vec3(0.0, 0.04, 0.0));
  loops.stalled = true;
  TickResult r;
  for (int i = 0; i < 2000; ++i) {
    r = loops.tick(Vec3(0.001 * i, 0.04, 0.0), Vec3(1.0, 0.0, 0.0));
    ASSERT_EQ(r.wrench.force, Vec3(0.0, 0.0, 0.0)) << i;
  }
  EXPECT_GT(r.tool.position.x(), 0.01);
  EXPECT_LT(r.tool.position.x(), 1.0);
}

constexpr double kEdge = 0.08 / 6;  ///< of the triangles on the soft block [m]

/// A soft block, 0.08 × 0.04 × 0.08 m with its top at y = 0.02, fixed below; and the tool.
struct SoftWorld {
  World world;
  ToolSettings tool;

  explicit SoftWorld(const Vec3& start, double young = 5e4, std::array<int, 3> cells = {4, 2, 4},
                     std::unique_ptr<Body> other = nullptr, double single_precision_error = 0.0)
      : world([] {
          WorldSettings s;
          s.gravity = Vec3::Zero();
          return s;
        }()) {
    const Material material{.young_modulus = young, .poisson_ratio = 0.3, .density = 1000.0, .stiffness_damping = 0.01};
    CorotationalHexSettings settings;
    settings.fem.single_precision_error = single_precision_error;
    auto body =
        std::make_unique<CorotationalHexes>(make_hex_grid(Vec3(0.08, 0.04, 0.08), cells), std::span(&material, 1),
                                            make_box(Vec3(0.08, 0.04, 0.08), 6), settings);
    for (int n = 0; n < body->node_count(); ++n) {
      if (body->rest_positions()[as_size(n)].y() < -0.0199) body->prescribe(n, Vec3::Zero());
    }
    ContactShape shape;
    shape.kind = ContactShape::Surface{};
    shape.friction = 0.3;
    world.add({"soft", std::move(body), shape});
    if (other) world.add({"other", std::move(other), shape});
    add_tool(world, tool, {start, Quat::Identity()});
    world.prepare();
  }
};

// With both loops at the same rate the model says of one tick what the world's own step says: the tool's compliance,
// the body's (A_ψ along the normal, A_τ across it), free motions and friction, by two paths that share no code.
TEST(Limited, OneTickAtEqualRatesIsTheWorldsOwnStep) {
  for (const Vec3& push : {Vec3(0.0, -0.004, 0.0), Vec3(0.0005, -0.004, 0.0003), Vec3(0.004, -0.004, -0.002)}) {
    const Vec3 start(0.0035, 0.02 + 1e-6, 0.0012);
    SoftWorld soft(start);
    const Vec3 hand = start + push;
    Loops loops(soft.world, "limited", soft.tool, at(start), 1);
    // A tick without a model, in which the proxy waits, tells the slow half where proxy and hand are.
    loops.stalled = true;
    loops.tick(hand);
    loops.stalled = false;
    loops.tick(hand);  // the slow step; its model comes with the next tick
    const Vec3 truth = soft.world.body(soft.world.tools()[0])->handle_pose().position;
    loops.stalled = true;
    const Vec3 x = loops.tick(hand).tool.position;
    ASSERT_GT((truth - start).norm(), 1e-5);
    // The world's solver stops at 1e-8 m.
    // And it keeps the foot where the step began, while that of the model follows the proxy over the triangle: the
    // yield changes by about as much as the slip is of the triangle's edge.
    const double slip = std::hypot(x.x() - start.x(), x.z() - start.z());
    EXPECT_LT((x - truth).norm(), 2e-7 + std::abs(truth.y() - start.y()) * slip / kEdge)
        << push.transpose() << " : " << (x - start).transpose() << " / " << (truth - start).transpose();
  }
}

// At rest time steps do not matter: the force is that of the whole world at the fast rate. In the middle of the block,
// where nothing pulls to a side: elsewhere friction keeps what each method's way there left in it.
TEST(Limited, SoftBlockAtRestGivesTheTruthsForce) {
  const Vec3 start(0.0, 0.024, 0.0), end(0.0, 0.015, 0.0);
  double forces[3];
  int i = 0;
  for (const char* name : {"reference", "limited", "halfspace"}) {
    SoftWorld soft(start);
    Loops loops(soft.world, name, soft.tool, at(start), 20);
    TickResult r;
    for (int t = 0; t < 900; ++t) {
      const double share = std::min(1.0, t / 200.0);
      r = loops.tick(start + share * (end - start), share < 1.0 ? Vec3((end - start) / 0.2) : Vec3(0.0, 0.0, 0.0));
    }
    forces[i++] = r.wrench.force.y();
    if (testing::RealtimeGuard::available() && i > 1) {
      EXPECT_EQ(loops.violations, 0) << name;
    }
  }
  EXPECT_GT(forces[0], 0.3);
  EXPECT_NEAR(forces[1], forces[0], 0.03 * forces[0]);
  // One half-space does not hold the point at the bottom of its dent as the faces around it do.
  EXPECT_NEAR(forces[2], forces[0], 0.06 * forces[0]);
}

TEST(Limited, SoftRunsRepeatBitForBit) {
  std::vector<double> bits[2];
  for (std::vector<double>& run : bits) {
    const Vec3 start(0.003, 0.024, 0.001);
    SoftWorld soft(start);
    Loops loops(soft.world, "limited", soft.tool, at(start), 33);
    for (int t = 0; t < 300; ++t) {
      const TickResult r = loops.tick(start + Vec3(3e-5 * t, -0.007 * std::sin(0.01 * t), 0.0));
      for (int k = 0; k < 3; ++k) run.push_back(r.wrench.force[k]);
    }
  }
  EXPECT_EQ(std::memcmp(bits[0].data(), bits[1].data(), bits[0].size() * sizeof(double)), 0);
}

// The slow step makes its model beside its contacts where bodies allow two threads; a rigid one, far away, does not.
// And in single precision what the hand feels is the same to a ten-thousandth.
TEST(Limited, ModelMadeBesideTheContactsIsThatMadeAfterThem) {
  constexpr std::size_t kTicks = 400;
  std::vector<double> bits[2][2];
  for (const bool single : {false, true}) {
    for (const bool beside : {false, true}) {
      const Vec3 start(0.003, 0.024, 0.001);
      RigidBodySettings s;
      s.surface = make_box(Vec3(0.06, 0.04, 0.06), 2);
      s.mass = compute_mass_properties(s.surface, 1000.0);
      s.pose.position = Vec3(5.0, 0.0, 0.0);
      SoftWorld soft(start, 5e4, {8, 4, 8}, beside ? nullptr : std::make_unique<RigidBody>(s), single ? 1e-3 : 0.0);
      Body& body = *soft.world.bodies()[0].body;
      ASSERT_TRUE(body.allows_two_threads());
      Loops loops(soft.world, "limited", soft.tool, at(start), 33);
      std::vector<double>& out = bits[single][beside];
      for (std::size_t t = 0; t < kTicks; ++t) {
        const double way = static_cast<double>(t);
        const TickResult r = loops.tick(start + Vec3(3e-5 * way, -0.007 * std::sin(0.01 * way), 0.0));
        for (int k = 0; k < 3; ++k) out.push_back(r.wrench.force[k]);
      }
      EXPECT_EQ(dynamic_cast<FemBody&>(body).is_single_precision(1), single);
      std::vector<double> state(as_size(body.state_size()));
      body.save_state(state);
      out.insert(out.end(), state.begin(), state.end());
    }
    EXPECT_EQ(bits[single][false], bits[single][true]);
  }
  double largest = 0.0, error = 0.0;
  for (std::size_t i = 0; i < 3 * kTicks; ++i) {
    largest = std::max(largest, std::abs(bits[0][0][i]));
    error = std::max(error, std::abs(bits[1][0][i] - bits[0][0][i]));
  }
  EXPECT_GT(largest, 0.1);
  EXPECT_LT(error, 1e-4 * largest);
  EXPECT_GT(error, 0.0);
}

// A brick on a plane: it bears what the hand presses, and slides when it is pushed harder than it rubs.
TEST(Limited, FeelsARigidBodyAndMovesIt) {
  World world;
  ContactShape plane;
  plane.kind = ContactShape::Plane{};
  plane.friction = 0.3;
  world.add({"floor", nullptr, plane});
  RigidBodySettings s;
  s.surface = make_box(Vec3(0.06, 0.04, 0.06), 2);
  s.mass = compute_mass_properties(s.surface, 1000.0);
  s.pose.position = Vec3(0.0, 0.02, 0.0);
  ContactShape box;
  box.kind = ContactShape::Box{.size = Vec3(0.06, 0.04, 0.06)};
  box.friction = 0.3;
  const int brick = world.add({"brick", std::make_unique<RigidBody>(s), box});
  const ToolSettings tool;
  const Vec3 start(0.002, 0.045, 0.001);
  add_tool(world, tool, {start, Quat::Identity()});
  world.prepare();
  Loops loops(world, "limited", tool, at(start), 10);
  TickResult r;
  for (int t = 0; t < 600; ++t) r = loops.tick(start - Vec3(0.0, std::min(0.008, 4e-5 * t), 0.0));
  // 3 mm deep on 1000 N/m; the brick on the floor cannot yield.
  EXPECT_NEAR(r.wrench.force.y(), 3.0, 0.05);
  for (int t = 0; t < 300; ++t) r = loops.tick(Vec3(0.002, 0.037 + 6e-5 * t, 0.001));
  EXPECT_EQ(r.wrench.force.norm(), 0.0);
  // From the side: round it, then 25 mm along x at 5 cm/s.
  for (int t = 0; t < 300; ++t) loops.tick(Vec3(0.002 - 0.00016 * t, 0.055, 0.001));
  for (int t = 0; t < 300; ++t) loops.tick(Vec3(-0.046, 0.055 - 0.00014 * t, 0.001));
  for (int t = 0; t < 800; ++t) r = loops.tick(Vec3(-0.046 + 5e-5 * t, 0.013, 0.001), Vec3(0.05, 0.0, 0.0));
  const Vec3 moved = world.bodies()[as_size(brick)].body->compute_point(BodyPoint::centre());
  EXPECT_GT(moved.x(), 0.015);
  EXPECT_LT(r.wrench.force.x(), -0.2);
  EXPECT_LT((r.tool.position - moved).norm(), 0.04);
}

/// Two slopes that meet along z, at x = 0, `rise` above or below their outer edges.
TriangleMesh make_gable(double rise) {
  TriangleMesh m;
  for (const double x : {-0.05, 0.0, 0.05}) {
    for (const double z : {-0.05, 0.05}) m.vertices.push_back(Vec3(x, x == 0.0 ? rise : 0.0, z));
  }
  m.triangles = {{0, 1, 3}, {0, 3, 2}, {2, 3, 5}, {2, 5, 4}};
  return m;
}

// What people see of the model: a ridge is one convex set, a valley two, one for each slope.
TEST(LimitedView, ShowsConvexSets) {
  for (const double rise : {0.01, -0.01}) {
    World world;
    world.add({"gable", TriangleTree(make_gable(rise)), 0.0});
    DeviceState start;
    start.pose.position = Vec3(0.002, rise + 0.005, 0.0);
    MethodSettings settings;
    settings.get<LimitedSettings>("limited").radius = 0.1;
    Loops loops(world, "limited", {}, start, 10, settings);
    for (int i = 0; i < 15; ++i) loops.tick(start.pose.position);
    ModelView view;
    loops.method.show(view);
    ASSERT_EQ(view.count, 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_GT(view.face[i].normal[1], 0.0F);
      for (std::size_t j = 0; j < 4; ++j) {
        const bool same_slope = view.face[i].normal[0] * view.face[j].normal[0] > 0.0F;
        EXPECT_EQ(view.face[i].set == view.face[j].set, rise > 0.0 || same_slope) << rise;
      }
    }
  }
}

}  // namespace
}  // namespace palpate::limited_method_test
