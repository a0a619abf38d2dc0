#include <gtest/gtest.h>

#include <cstring>

#include "../src/interpolation/messages.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/nonlinear_tets.h"
#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/interpolation_settings.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"

// Method `interpolation`: whole slow steps, and what the fast half makes of two states.
namespace palpate::interpolation_test {
namespace {

using namespace interpolation;
using Contact = InterpolationSettings::Contact;
using Display = InterpolationSettings::Display;
using Force = InterpolationSettings::Force;

// Whole slow steps.

struct Bench {
  World world;
  ToolSettings tool;
  InterpolationSettings settings;
  double dt = 0.001, period = 0.02;
  DeviceState hand;
  Method method;
  std::unique_ptr<Model> model = std::make_unique<Model>();
  Feedback feedback{};
  std::uint64_t steps = 0;
  StepReport report;

  void make() { method = make_method("interpolation", {world, tool, dt, period, hand, make_settings()}); }
  MethodSettings make_settings() const {
    MethodSettings s;
    s.get<InterpolationSettings>("interpolation") = settings;
    return s;
  }
  const Model& step() {
    feedback.header.sequence = 1;
    feedback.device = hand;
    report = {};
    model->header = {0.0, ++steps};
    step_with(method, feedback, *model, report);
    return *model;
  }
  FemBody& body() { return dynamic_cast<FemBody&>(*world.bodies()[0].body); }
};

World make_block_world(const Vec3& gravity, double friction, double mass_damping, bool floor = false,
                       const ToolSettings* tool = nullptr, const Pose* start = nullptr) {
  WorldSettings settings;
  settings.gravity = gravity;
  World world(settings);
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = mass_damping};
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  shape.friction = friction;
  world.add(
      {"block",
       std::make_unique<NonlinearTets>(make_tet_block(Vec3(0.06, 0.03, 0.06), {4, 2, 4}), std::span(&material, 1)),
       shape});
  if (floor) {
    ContactShape plane;
    plane.kind = ContactShape::Plane{.offset = -0.015};
    plane.friction = friction;
    world.add({"floor", nullptr, plane});
  }
  if (tool) add_tool(world, *tool, *start);
  world.prepare();
  return world;
}

ToolSettings make_ball(double radius) {
  ToolSettings tool;
  tool.kind = HeldFingers{{{.surface = {}, .radius = radius, .open = {}, .closed = {}}}};
  return tool;
}

// What the finger gave, the free body has: linear momentum in every scheme of contact while the finger pushes, turns
// and rubs; angular momentum too where the finger stands, so that its torque has one point. 1e-9 of the impulse
// exchanged.
TEST(Interpolation, ImpulseOfTheFingerIsTheMomentumOfTheBody) {
  for (const Contact contact : {Contact::kInelastic, Contact::kPaper, Contact::kPenalty}) {
    for (const bool moves : {true, false}) {
      Bench b;
      b.world = make_block_world(Vec3::Zero(), 0.4, 0.0);
      b.tool = make_ball(0.02);
      b.settings.contact = contact;
      b.hand.pose.position = Vec3(0.01, 0.037, 0.005);
      b.make();
      if (!moves) {
        b.body().set_velocities(std::vector<Vec3>(as_size(b.body().node_count()), Vec3(0.1, 0.5, 0.0)));
      }
      const BodyMomentum start = b.body().compute_momentum();
      BodyMomentum given;
      double exchanged = 0.0;
      for (int i = 0; i < 12; ++i) {
        if (moves) {
          b.hand.pose.position += Vec3(0.001, -0.003, 0.0);
          b.hand.pose.rotation = b.hand.pose.rotation * rotation_from_vector(Vec3(0.0, 0.1, 0.05));
        }
        const FingerLoad& felt = b.step().fingers[0];
        given.linear -= b.period * felt.force;
        given.angular -= b.period * (felt.torque + b.hand.pose.position.cross(felt.force));
        exchanged += b.period * felt.force.norm();
      }
      const BodyMomentum now = b.body().compute_momentum();
      EXPECT_GT(exchanged, 1e-3);
      EXPECT_LT((now.linear - start.linear - given.linear).norm(), 1e-9 * exchanged);
      if (!moves) {
        EXPECT_LT((now.angular - start.angular - given.angular).norm(), 1e-9 * 0.04 * exchanged);
      }
    }
  }
}

// A soft block that lies on a hand of one box and has come to rest weighs what it weighs, with either force; so it does
// on four balls, together.
TEST(Interpolation, ABlockOnTheHandWeighsItsWeight) {
  for (const bool balls : {false, true}) {
    for (const Force force : {Force::kMean, Force::kEnd}) {
      Bench b;
      b.world = make_block_world(Vec3(0.0, -9.81, 0.0), 0.5, 30.0);
      b.tool = make_ball(0.01);
      std::vector<Finger>& fingers = b.tool.as<HeldFingers>()->fingers;
      if (balls) {
        fingers.resize(4, fingers[0]);
        for (std::size_t k = 0; k < 4; ++k)
          fingers[k].open.position = fingers[k].closed.position =
              Vec3(k % 2 ? 0.015 : -0.015, -0.0251, k / 2 ? 0.015 : -0.015);
      } else {
        fingers[0].surface = make_box(Vec3(0.08, 0.02, 0.08), 1);
        fingers[0].open.position = fingers[0].closed.position = Vec3(0.0, -0.0251, 0.0);
      }
      b.settings.force = force;
      b.make();
      Vec3 total;
      for (int i = 0; i < 75; ++i) {
        const Model& model = b.step();
        total.setZero();
        for (const FingerLoad& f : model.fingers) total += f.force;
      }
      double mass = 0.0;
      for (const double m : b.body().masses()) mass += m;
      // After 1.5 s at α = 30/s motion has decayed by e^−22 in its slowest part, the fall; what is left trembles on.
      EXPECT_LT((total - Vec3(0.0, -9.81 * mass, 0.0)).norm(), 2e-3 * 9.81 * mass) << balls;
      EXPECT_LT(b.report.penetration, 1e-5);
    }
  }
}

// Two bodies at once on a static surface: each comes to rest on it, none sinks in, and none knows of the other.
TEST(Interpolation, BodiesComeToRestOnAStaticSurface) {
  Bench b;
  WorldSettings settings;
  World world(settings);
  const Material material{.young_modulus = 2e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 30.0};
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  for (const double x : {-0.1, 0.1}) {
    TetMesh mesh = make_tet_block(Vec3(0.04, 0.03, 0.04), {2, 2, 2});
    for (Vec3& v : mesh.vertices) v += Vec3(x, 0.0155, 0.0);
    world.add({"block", std::make_unique<NonlinearTets>(mesh, std::span(&material, 1)), shape});
  }
  TriangleMesh table = make_box(Vec3(0.5, 0.1, 0.5), 2);
  for (Vec3& v : table.vertices) v.y() -= 0.05;
  world.add({"table", TriangleTree(std::move(table)), 0.5});
  world.prepare();
  b.world = std::move(world);
  b.tool = make_ball(0.01);
  b.hand.pose.position = Vec3(0.0, 1.0, 0.0);
  b.make();
  for (int i = 0; i < 50; ++i) b.step();
  EXPECT_LT(b.report.penetration, 1e-9);
  for (const int body : {0, 1}) {
    double lowest = 1.0, fastest = 0.0;
    for (const Vec3& x : b.world.bodies()[as_size(body)].body->surface().positions) lowest = std::min(lowest, x.y());
    for (const Vec3& v : b.world.bodies()[as_size(body)].body->velocities()) fastest = std::max(fastest, v.norm());
    EXPECT_NEAR(lowest, 0.0, 1e-9);
    EXPECT_LT(fastest, 1e-4);
  }
}

// A block on a floor under weight that leans by less than the friction angle stays; by more it gains (sin − μ cos) g.
// The bouncing of its fall makes contact forces uneven but not their mean: within 5 % of g over half a second.
TEST(Interpolation, ABlockSlidesByCoulombsLaw) {
  const double mu = 0.5;
  for (const double lean : {0.35, 0.75}) {
    Bench b;
    b.world = make_block_world(9.81 * Vec3(std::sin(lean), -std::cos(lean), 0.0), mu, 0.0, true);
    b.tool = make_ball(0.01);
    b.hand.pose.position = Vec3(0.0, 1.0, 0.0);
    b.make();
    double mass = 0.0;
    for (const double m : b.body().masses()) mass += m;
    for (int i = 0; i < 25; ++i) b.step();
    const double gained = b.body().compute_momentum().linear.x() / mass / 0.5;
    const double expected = std::max(0.0, 9.81 * (std::sin(lean) - mu * std::cos(lean)));
    EXPECT_NEAR(gained, expected, 0.05 * 9.81) << lean;
  }
}

// A hand that jumps into the middle of a body neither throws it nor blows it up: the finger comes at its greatest
// speed, and the body ends around it, at rest.
TEST(Interpolation, AHandThatJumpsIntoABodyDoesNotExplodeIt) {
  Bench b;
  b.world = make_block_world(Vec3::Zero(), 0.3, 5.0);
  b.tool = make_ball(0.012);
  b.hand.pose.position = Vec3(0.0, 0.5, 0.0);
  b.make();
  b.hand.pose.position = Vec3(0.001, 0.004, 0.002);
  double fastest = 0.0;
  for (int i = 0; i < 60; ++i) {
    b.step();
    EXPECT_TRUE(b.report.converged);
    for (const Vec3& v : b.body().velocities()) fastest = std::max(fastest, v.norm());
  }
  EXPECT_LT(fastest, 5.0 * b.settings.max_speed);  // an elastic body hit at v leaves with at most 2 v, waves with more
}

// A step that is too long is seen, and neither force nor state of it goes anywhere.
TEST(Interpolation, AnUnstableStepIsReportedAndGivesNoForce) {
  Bench b;
  b.world = make_block_world(Vec3(0.0, -9.81, 0.0), 0.3, 0.0);
  b.tool = make_ball(0.02);
  b.hand.pose.position = Vec3(0.0, 0.03, 0.0);
  b.settings.time_step = 0.01;
  b.make();
  bool failed = false;
  for (int i = 0; i < 40; ++i) {
    const Model& model = b.step();
    failed = failed || !b.report.converged;
    for (const FingerLoad& f : model.fingers) EXPECT_TRUE(f.force.allFinite());
    for (const Vec3& x : b.body().positions()) EXPECT_TRUE(x.allFinite());
    if (!b.report.converged) {
      EXPECT_EQ(model.fingers[0].force, Vec3::Zero());
    }
  }
  EXPECT_TRUE(failed);
}

// Where the slow step has fewer integration steps than it needs, simulated time falls behind; the state stays sound.
TEST(Interpolation, TooFewStepsFallBehindAndStayStable) {
  Bench b;
  b.world = make_block_world(Vec3(0.0, -9.81, 0.0), 0.3, 0.0);
  b.tool = make_ball(0.02);
  b.hand.pose.position = Vec3(0.0, 1.0, 0.0);
  b.settings.max_steps = 3;
  b.make();
  for (int i = 0; i < 20; ++i) {
    b.step();
    EXPECT_TRUE(b.report.overflow);
    EXPECT_TRUE(b.report.converged);
    EXPECT_EQ(b.report.iterations, 3);
  }
  // A free fall of less than 20 slow steps.
  const double speed = -b.body().velocities()[0].y();
  EXPECT_GT(speed, 0.01);
  EXPECT_LT(speed, 0.5 * 9.81 * 20 * b.period);
}

// A rigid tool that is a body of the world has no part in the mechanics but is where the hand has it, to be seen.
TEST(Interpolation, AToolInTheWorldIsShownWhereTheHandIs) {
  Bench b;
  TriangleMesh& box = b.tool.kind.emplace<HeldRigid>().surface;
  box = make_box(Vec3(0.02, 0.02, 0.02), 1);
  for (Vec3& v : box.vertices) v += Vec3(0.01, 0.03, 0.0);  // held off its centre
  b.hand.pose.position = Vec3(0.0, 0.2, 0.0);
  b.world = make_block_world(Vec3::Zero(), 0.0, 0.0, false, &b.tool, &b.hand.pose);
  b.make();
  b.hand.pose = {Vec3(0.05, 0.1, -0.02), Quat(Eigen::AngleAxisd(0.8, Vec3(1, 2, 0).normalized()))};
  b.step();
  const Body& tool = *b.world.body(b.world.tools()[0]);
  EXPECT_LT((tool.handle_pose().position - b.hand.pose.position).norm(), 1e-12);
  EXPECT_LT(tool.handle_pose().rotation.angularDistance(b.hand.pose.rotation), 1e-7);
  // Its surface went along.
  const Vec3 corner = b.hand.pose.position + b.hand.pose.rotation * box.vertices[0];
  EXPECT_LT((tool.surface().positions[0] - corner).norm(), 1e-12);
}

// Saving, restoring and test steps must not change what is simulated.
TEST(Interpolation, ExtrapolationSimulatesTheSameStates) {
  std::vector<Vec3> ends[2];
  for (const bool extrapolate : {false, true}) {
    Bench b;
    b.world = make_block_world(Vec3(0.0, -1.0, 0.0), 0.3, 1.0, true);
    b.tool = make_ball(0.02);
    b.hand.pose.position = Vec3(0.0, 0.036, 0.0);
    if (extrapolate) b.settings.display = Display::kExtrapolate;
    b.make();
    double stiffness = 0.0;
    for (int i = 0; i < 12; ++i) {
      b.hand.pose.position.y() -= 0.0005;
      stiffness = b.step().fingers[0].stiffness;
    }
    EXPECT_EQ(stiffness > 1.0, extrapolate);
    ends[extrapolate].assign(b.body().positions().begin(), b.body().positions().end());
  }
  EXPECT_EQ(ends[0], ends[1]);
}

// The fast half, fed with states of our own.

struct Fast {
  Bench b;
  Model model{};
  Feedback feedback{};
  explicit Fast(Display display) {
    b.world = make_block_world(Vec3::Zero(), 0.0, 0.0);
    b.tool = make_ball(0.01);
    b.settings.display = display;
    b.make();
  }
  Vec3 tick() { return tick_with(b.method, b.hand, model, feedback).wrench.force; }
};

const Vec3 kForces[] = {Vec3(1, 0, 0), Vec3(-2, 3, 0), Vec3(-2, 3, 0), Vec3(0, 0, 5), Vec3::Zero()};

TEST(Interpolation, LinearDisplayMovesByTheSlowDifferenceOverItsTicks) {
  Fast fast(Display::kLinear);
  EXPECT_EQ(fast.tick(), Vec3::Zero());  // no model yet
  Vec3 last = Vec3::Zero(), state = Vec3::Zero();
  for (const Vec3& f : kForces) {
    ++fast.model.header.sequence;
    fast.model.fingers[0].force = f;
    for (int i = 0; i < 20; ++i) {
      const Vec3 now = fast.tick();
      EXPECT_LT((now - last - (f - state) / 20.0).norm(), 1e-14);
      last = now;
    }
    EXPECT_LT((last - f).norm(), 1e-14);
    state = f;
  }
  // Late models: the last state is held.
  EXPECT_LT((fast.tick() - state).norm(), 1e-14);
}

// Slopes change by no more than the curvature of the cubics allows: |f''| ≤ 4 |slope − chord| a period squared, here
// twice the largest chord; a corner would change it by the whole difference at once.
TEST(Interpolation, SmoothDisplayHasNoCorners) {
  Fast fast(Display::kSmooth);
  std::vector<Vec3> shown;
  for (const Vec3& f : kForces) {
    ++fast.model.header.sequence;
    fast.model.fingers[0].force = f;
    for (int i = 0; i < 20; ++i) shown.push_back(fast.tick());
    EXPECT_LT((shown.back() - f).norm(), 1e-14);
  }
  const double largest = 2.0 * std::sqrt(38.0);  // |(0,0,5) − (−2,3,0)|, from slope to chord at most twice
  for (std::size_t i = 1; i + 1 < shown.size(); ++i)
    EXPECT_LT((shown[i + 1] - 2.0 * shown[i] + shown[i - 1]).norm(), 4.0 * largest / 400.0) << i;
}

TEST(Interpolation, ExtrapolationFollowsTheStiffnessAndNeverPulls) {
  Fast fast(Display::kExtrapolate);
  fast.model.header.sequence = 1;
  fast.model.fingers[0].force = Vec3(0, 2, 0);
  fast.model.fingers[0].direction = Vec3(0, 1, 0);
  fast.model.fingers[0].stiffness = 500.0;
  fast.b.hand.pose.position = Vec3(0.3, -0.001, 0.0);
  EXPECT_LT((fast.tick() - Vec3(0, 2.5, 0)).norm(), 1e-14);
  fast.b.hand.pose.position = Vec3(0.0, 0.01, 0.0);
  EXPECT_EQ(fast.tick(), Vec3::Zero());
}

TEST(Interpolation, RefusesWhatItCannotMoveInPlainWords) {
  const MethodInfo& info = find_method("interpolation");
  World world = make_block_world(Vec3::Zero(), 0.0, 0.0);
  EXPECT_EQ(info.refuse({world, make_ball(0.01)}), "");
  ToolSettings tool;
  EXPECT_NE(info.refuse({world, tool}).find("radius"), std::string::npos);
  tool.kind = HeldChain{};
  EXPECT_NE(info.refuse({world, tool}).find("bends"), std::string::npos);
  World other;
  EXPECT_EQ(info.refuse({other, make_ball(0.01)}), "there is no soft body");
  const Material material{};
  ContactShape shape;
  shape.kind = ContactShape::Surface{};
  other.add(
      {"cushion",
       std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.1, 0.1, 0.1), {1, 1, 1}), std::span(&material, 1)),
       shape});
  other.prepare();
  EXPECT_NE(info.refuse({other, make_ball(0.01)}).find("cushion"), std::string::npos);
  Bench b;
  b.world = make_block_world(Vec3::Zero(), 0.0, 0.0);
  b.tool = make_ball(0.0);
  EXPECT_THROW(b.make(), InputError);
  b.tool = make_ball(0.01);
  b.settings.margin = 0.0;
  EXPECT_THROW(b.make(), InputError);
}

}  // namespace
}  // namespace palpate::interpolation_test
