#include <gtest/gtest.h>

#include <cstring>

#include "../src/jacobian/messages.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/registry.h"
#include "palpate/methods/slow_step.h"

// Methods `jacobian` and `double_coupling`, both halves.
namespace palpate::jacobian_test {
namespace {

using jacobian::Feedback;
using jacobian::Model;

constexpr double kStiffness = 500.0;

enum class Ground { kPlane, kBlock, kBrick };

World make_ground(Ground ground, double friction) {
  WorldSettings settings;
  settings.solver_name = "direct";
  settings.contacts.max_contacts = 100;  // the direct solver's memory grows with their square
  settings.solver.tolerance = 1e-15;
  World world(settings);
  ContactShape shape;
  shape.friction = friction;
  shape.kind = ContactShape::Plane{.offset = ground == Ground::kPlane ? 0.0 : -0.04};
  world.add({"floor", nullptr, shape});
  if (ground == Ground::kBlock) {
    const Material material{.young_modulus = 2e4, .poisson_ratio = 0.3, .density = 1000.0, .stiffness_damping = 0.01};
    auto body =
        std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.12, 0.04, 0.12), {6, 2, 6}), std::span(&material, 1));
    std::vector<Vec3> x(body->positions().begin(), body->positions().end());
    for (Vec3& p : x) p.y() -= 0.02;
    body->set_positions(x);
    for (int n = 0; n < body->node_count(); ++n) {
      if (x[as_size(n)].y() < -0.0399) body->prescribe(n, Vec3::Zero());
    }
    shape.kind = ContactShape::Surface{};
    world.add({"block", std::move(body), shape});
  }
  if (ground == Ground::kBrick) {
    RigidBodySettings s;
    s.surface = make_box(Vec3(0.12, 0.04, 0.12), 1);
    s.mass = compute_mass_properties(s.surface, 500.0);
    s.pose.position = Vec3(0.0, -0.02, 0.0);
    shape.kind = ContactShape::Box{.size = Vec3(0.12, 0.04, 0.12)};
    world.add({"brick", std::make_unique<RigidBody>(s), shape});
  }
  return world;
}

ToolSettings make_cube_tool() {
  ToolSettings tool;
  tool.kind = HeldRigid{.mass = 0.02, .surface = make_box(Vec3(0.03, 0.02, 0.03), 1)};
  tool.coupling = {.stiffness = kStiffness, .damping = 2.0, .rotational_stiffness = 1.0, .rotational_damping = 3e-3};
  return tool;
}

/// Both halves with typed messages. The tool starts with its handle 15 mm above the ground: the cube 5 mm.
struct Rig {
  World world;
  Method method;
  std::unique_ptr<Model> model = std::make_unique<Model>();
  Feedback feedback{};
  DeviceState device;
  double dt, period;

  Rig(World&& made, const ToolSettings& tool, double tick, double slow_period, const JacobianSettings& settings = {},
      const char* name = "jacobian")
      : world(std::move(made)), dt(tick), period(slow_period) {
    device.pose.position = Vec3(0.002, 0.015, 0.001);
    add_tool(world, tool, device.pose);
    world.prepare();
    model->header.sequence = 0;
    MethodSettings all;
    all.get<JacobianSettings>("jacobian") = settings;
    all.get<JacobianSettings>("jacobian").contacts = JacobianSettings::Contacts::kHeld;  // whose messages are looked at
    method = make_method(name, {world, tool, dt, slow_period, device, all});
  }

  Body& tool() { return *world.body(world.tools()[0]); }
  StepReport step() {
    StepReport report;
    ++model->header.sequence;
    step_with(method, feedback, *model, report);
    return report;
  }
  TickResult tick() {
    ++feedback.header.sequence;
    return tick_with(method, device, *model, feedback);
  }
  /// `seconds` of ticks of `tick_length` with a slow step every `every` ticks, the device going to `to` at 50 mm/s.
  TickResult hold(const Vec3& to, double seconds, double tick_length, int every) {
    TickResult out;
    for (int i = 0; i < static_cast<int>(std::lround(seconds / tick_length)); ++i) {
      const Vec3 way = to - device.pose.position;
      const Vec3 move = way.norm() > 0.05 * tick_length ? Vec3(0.05 * tick_length * way.normalized()) : way;
      device.pose.position += move;
      device.velocity.linear = move / tick_length;
      if (i % every == 0) step();
      out = tick();
      EXPECT_TRUE(is_finite(out.wrench));
    }
    return out;
  }
};

JacobianSettings make_exact(JacobianSettings::Form form, JacobianSettings::Answer answer) {
  JacobianSettings s;
  s.form = form;
  s.answer = answer;
  s.tolerance = 1e-15;
  s.max_iterations = 2000;
  return s;
}

/// Force and torque about `about` that the contacts of the last slow step put on the tool.
Wrench sum_contacts(const World& world, const Vec3& about) {
  Wrench sum;
  for (std::size_t i = 0; i < world.memory().contacts.size(); ++i) {
    const Contact& c = world.memory().contacts[i];
    const double sign = (c.body_a == world.tools()[0] ? 1.0 : 0.0) - (c.body_b == world.tools()[0] ? 1.0 : 0.0);
    const Vec3 f = sign * world.memory().contact_forces[i];
    sum.force += f;
    sum.torque += ((c.body_a == world.tools()[0] ? c.point_a : c.point_b) - about).cross(f);
  }
  return sum;
}

// One rate, one input, one state: the haptic tool gets the wrench that the constrained solve gives the visual one. The
// tool falls onto a hand that stands pressed in and turned, so that it tilts as well.
void expect_the_constrained_solve(Ground ground) {
  for (const auto form : {JacobianSettings::Form::kInequality, JacobianSettings::Form::kEquality}) {
    for (const auto answer : {JacobianSettings::Answer::kSlow, JacobianSettings::Answer::kFast}) {
      const double h = 0.01;
      Rig rig(make_ground(ground, 0.3), make_cube_tool(), h, h, make_exact(form, answer));
      rig.device.pose.position.y() = 0.003;
      rig.device.pose.rotation = rotation_from_vector(Vec3(0.05, 0.0, 0.1));
      rig.tick();
      double largest = 0.0, turned = 0.0;
      for (int i = 0; i < 30; ++i) {
        const StepReport report = rig.step();
        const TickResult fast = rig.tick();
        const Wrench visual = rig.tool().compute_grip();
        largest = std::max(largest, visual.force.norm());
        turned = std::max(turned, visual.torque.norm());
        EXPECT_LT((fast.wrench.force + visual.force).norm(), 1e-9 * largest) << i;
        EXPECT_LT((fast.wrench.torque + visual.torque).norm(), 1e-9 * turned) << i;
        if (i > 10) {
          EXPECT_GT(report.contacts, 0);
        }
      }
      EXPECT_GT(largest, 0.5);
    }
  }
}

TEST(Jacobian, WithEqualRatesTheModelIsTheConstrainedSolve) {
  expect_the_constrained_solve(Ground::kBlock);
}

// A rigid body goes on by its inertia from where the slow step left it: with equal rates, from that step's beginning.
TEST(Jacobian, WithEqualRatesTheModelOfRigidBodiesIsToo) {
  expect_the_constrained_solve(Ground::kBrick);
}

// At rest the hand feels what the ground bears, whatever the rates: the constrained solve of the slow loop alone.
TEST(Jacobian, AtRestTheHandFeelsWhatTheGroundBears) {
  for (const Ground ground : {Ground::kPlane, Ground::kBlock, Ground::kBrick}) {
    Rig rig(make_ground(ground, 0.3), make_cube_tool(), 0.001, 0.05);
    const Vec3 start = rig.device.pose.position;
    const TickResult pressed = rig.hold(start - Vec3(0.0, 0.012, 0.0), 2.0, 0.001, 50);
    const double borne = sum_contacts(rig.world, Vec3::Zero()).force.y();
    EXPECT_GT(borne, 0.3);
    EXPECT_NEAR(pressed.wrench.force.y(), borne, 0.01 * borne) << static_cast<int>(ground);
    EXPECT_GT(pressed.contacts, 0);
    // 7 mm on 500 N/m if the ground does not yield; the brick stands on the floor, so it does not either.
    if (ground != Ground::kBlock) {
      EXPECT_NEAR(pressed.wrench.force.y(), 7e-3 * kStiffness, 0.01 * borne);
    }
    const TickResult lifted = rig.hold(start, 1.0, 0.001, 50);
    EXPECT_LT(lifted.wrench.force.norm(), 1e-3) << static_cast<int>(ground);
  }
}

// A tool drawn away from its contact feels nothing of it, although no new model comes: it moves as one without a model.
// The paper's form holds it back.
TEST(Jacobian, RecedingContactDoesNotPullUnlessItIsThePapers) {
  for (const bool paper : {false, true}) {
    JacobianSettings settings;
    settings.form = paper ? JacobianSettings::Form::kEquality : JacobianSettings::Form::kInequality;
    Rig rig(make_ground(Ground::kBlock, 0.0), make_cube_tool(), 0.001, 0.1, settings);
    const Vec3 start = rig.device.pose.position;
    rig.hold(start - Vec3(0.0, 0.010, 0.0), 1.0, 0.001, 100);
    double pull = 0.0;
    for (int i = 0; i < 90; ++i) {
      rig.device.pose.position.y() += 2e-4;
      rig.device.velocity.linear = Vec3(0.0, 0.2, 0.0);
      const TickResult out = rig.tick();
      pull = std::max(pull, -out.wrench.force.y());
      // Past the block's rest height nothing can touch it.
      if (!paper && rig.feedback.tool[1] > 0.0105) {
        EXPECT_EQ(out.contacts, 0);
      }
    }
    // What remains is the tool's own inertia: 20 g on an underdamped coupling, let go at about 0.2 m/s.
    if (paper) {
      EXPECT_GT(pull, 1.0);
    } else {
      EXPECT_LT(pull, 0.2 * std::sqrt(kStiffness * 0.02));
    }
  }
}

// A ball on an arm. On a plane its one contact lies below its centre: τ = r × F about the handle. On a soft block the
// contacts are many: their moments about the handle are what the hand must hold.
TEST(Jacobian, OffCentreToolGivesTheTorqueOfStatics) {
  for (const Ground ground : {Ground::kPlane, Ground::kBlock}) {
    ToolSettings tool = make_cube_tool();
    TriangleMesh& surface = tool.as<HeldRigid>()->surface;
    surface = make_sphere(0.01, 4);
    const Vec3 arm(0.03, 0.0, 0.01);
    for (Vec3& v : surface.vertices) v += arm;
    Rig rig(make_ground(ground, 0.0), tool, 0.001, 0.1);
    const TickResult out = rig.hold(rig.device.pose.position - Vec3(0.0, 0.010, 0.0), 2.0, 0.001, 100);
    EXPECT_GT(out.wrench.force.y(), 0.3);
    const Wrench borne = sum_contacts(rig.world, out.tool.position);
    EXPECT_LT((out.wrench.force - borne.force).norm(), 0.01 * borne.force.norm());
    EXPECT_LT((out.wrench.torque - borne.torque).norm(), 0.01 * borne.torque.norm());
    // The lowest vertex of the ball's 160 touches up to 0.1 of its radius beside its axis.
    const Vec3 wanted = (out.tool.rotation * arm).cross(out.wrench.force);
    EXPECT_LT((out.wrench.torque - wanted).norm(), 0.1 * 0.01 * out.wrench.force.norm());
  }
}

// Coulomb while sliding: the contact's tangential force is μ times the normal one, against the motion, and stays so
// between two models.
TEST(Jacobian, SlidingForceLiesOnTheFrictionCone) {
  Rig rig(make_ground(Ground::kPlane, 0.25), make_cube_tool(), 0.001, 0.05);
  Vec3 to = rig.device.pose.position - Vec3(0.0, 0.012, 0.0);
  rig.hold(to, 0.6, 0.001, 50);
  to.x() += 0.03;
  const TickResult out = rig.hold(to, 0.5, 0.001, 50);
  // The tool has the hand's speed by then, so that the hand feels the contact alone.
  EXPECT_NEAR(-out.wrench.force.x() / out.wrench.force.y(), 0.25, 0.0025);
  EXPECT_NEAR(out.wrench.force.z(), 0.0, 1e-3 * out.wrench.force.y());
}

TEST(Jacobian, PointToolFeelsTheGround) {
  for (const auto form : {JacobianSettings::Form::kInequality, JacobianSettings::Form::kEquality}) {
    ToolSettings tool = make_cube_tool();
    tool.kind = HeldPoint{.mass = 0.02};
    JacobianSettings settings;
    settings.form = form;
    Rig rig(make_ground(Ground::kPlane, 0.0), tool, 0.001, 0.02, settings);
    const TickResult out = rig.hold(rig.device.pose.position - Vec3(0.0, 0.020, 0.0), 1.5, 0.001, 20);
    // 5 mm below the plane. A tick's place is known to its tolerance, and its velocity to that over dt. The paper's
    // contacts keep a velocity, not a place: what the tool sank in before it was stopped stays.
    const double wrong = form == JacobianSettings::Form::kEquality
                             ? 1e-3 * kStiffness
                             : settings.tolerance * (kStiffness + tool.coupling.damping / 0.001);
    EXPECT_NEAR(out.wrench.force.y(), 5e-3 * kStiffness, wrong);
  }
}

// A brick that stands on the floor gives way by nothing when it is pressed harder, with the model that it has: what
// holds it is felt through it. By itself it would go by 0.5 mm in this time (1.5 N more and more on 0.288 kg).
TEST(Jacobian, ModelFeelsThroughWhatHoldsTheOthers) {
  Rig rig(make_ground(Ground::kBrick, 0.5), make_cube_tool(), 0.001, 0.02);
  const TickResult before = rig.hold(rig.device.pose.position - Vec3(0.0, 0.012, 0.0), 0.6, 0.001, 20);
  ASSERT_GT(rig.model->contacts, 0);
  TickResult after;
  for (int i = 0; i < 18; ++i) {
    rig.device.pose.position.y() -= 0.003 / 18.0;
    after = rig.tick();
  }
  EXPECT_NEAR(after.tool.position.y(), before.tool.position.y(), 2e-5);
}

TEST(Jacobian, OverfullModelKeepsTheDeepestAndSaysSo) {
  JacobianSettings settings;
  settings.max_contacts = 3;
  Rig few(make_ground(Ground::kBlock, 0.3), make_cube_tool(), 0.001, 0.02, settings);
  Rig all(make_ground(Ground::kBlock, 0.3), make_cube_tool(), 0.001, 0.02);
  few.device.pose.position.y() = all.device.pose.position.y() = 0.012;
  few.tick();
  all.tick();
  const StepReport report = few.step();
  EXPECT_FALSE(all.step().overflow);
  ASSERT_GT(all.model->contacts, 3);
  EXPECT_EQ(few.model->contacts, 3);
  EXPECT_EQ(few.model->left_out, all.model->contacts - 3);
  EXPECT_TRUE(report.overflow);
  std::vector<double> kept, found;
  for (int i = 0; i < 3; ++i) kept.push_back(few.model->delta[as_size(3 * i)]);
  for (int i = 0; i < all.model->contacts; ++i) found.push_back(all.model->delta[as_size(3 * i)]);
  std::sort(found.begin(), found.end());
  for (const double gap : kept) EXPECT_LE(gap, found[2] + 1e-12);
}

// Models that are not finite or have absurd counts, and none at all.
TEST(Jacobian, BadInputIsFreeSpaceAndNeverLeaves) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto form : {JacobianSettings::Form::kInequality, JacobianSettings::Form::kEquality}) {
    for (int what = 0; what < 6; ++what) {
      JacobianSettings settings;
      settings.form = form;
      Rig rig(make_ground(Ground::kBlock, 0.3), make_cube_tool(), 0.001, 0.02, settings);
      rig.hold(rig.device.pose.position - Vec3(0.0, 0.01, 0.0), 0.4, 0.001, 20);
      rig.step();
      ASSERT_GT(rig.model->contacts, 0);
      if (what == 0) rig.model->W[1] = rig.model->by_force(1, 1) = nan;
      if (what == 1) rig.model->J[0][4] = rig.model->offset[1] = nan;
      if (what == 2) rig.model->delta[0] = rig.model->by_force(0, 0) = std::numeric_limits<double>::infinity();
      if (what == 3) rig.model->contacts = 1000000;
      if (what == 4) rig.model->contacts = -5;
      if (what == 5) rig.model->contacts = 0;
      TickResult out;
      for (int i = 0; i < 300; ++i) {
        out = rig.tick();
        ASSERT_TRUE(is_finite(out.wrench)) << what;
      }
      // The tool has gone to the hand.
      EXPECT_LT(out.wrench.force.norm(), 1e-3) << what;
    }
  }
}

/// One frictionless contact straight up that gives way by 1 mm/N and lies `depth` above where the tool started [m].
void publish_spring(Rig& rig, double depth) {
  Model& m = *rig.model;
  ++m.header.sequence;
  m.contacts = 1;
  m.tool = {rig.device.pose.position, Quat::Identity()};
  m.friction[0] = 0.0;
  m.J[0] << 0.0, 1.0, 0.0, 0.0, 0.0, 0.0;
  m.J[1] << 1.0, 0.0, 0.0, 0.0, 0.0, 0.0;
  m.J[2] << 0.0, 0.0, 1.0, 0.0, 0.0, 0.0;
  m.delta = {-depth, 0.0, 0.0};
  m.lambda = {0.0, 0.0, 0.0};
  Eigen::Map<Mat3>(m.W.data()) = 1e-3 * Mat3::Identity();
}

// A contact spring K = 1000 N/m, raised by d against the coupling k: F = d k K / (k + K). When the next model has it
// 2 mm higher, blending spreads the 0.67 N over the period; at the end both ways lead to the same force.
TEST(Jacobian, BlendingTakesTheStepOutOfANewModel) {
  const double period = 0.1, spring = 1000.0;
  double jump[2] = {0.0, 0.0};
  for (const int blended : {0, 1}) {
    JacobianSettings settings;
    settings.blend = blended;
    Rig rig(make_ground(Ground::kPlane, 0.0), make_cube_tool(), 0.001, period, settings);
    publish_spring(rig, 0.003);
    for (int i = 0; i < 300; ++i) rig.tick();
    double before = rig.tick().wrench.force.y();
    const double share = kStiffness * spring / (kStiffness + spring);
    EXPECT_NEAR(before, 0.003 * share, 1e-3);
    publish_spring(rig, 0.005);
    for (int i = 0; i < 300; ++i) {
      const double now = rig.tick().wrench.force.y();
      jump[blended] = std::max(jump[blended], std::abs(now - before));
      before = now;
    }
    EXPECT_NEAR(before, 0.005 * share, 1e-3);
  }
  EXPECT_GT(jump[0], 0.05);
  EXPECT_LT(jump[1], 0.02);
}

// The filter is a low-pass of first order on the model: a contact wrench of 1 N that appears with a model has reached
// 1 − 1/e after one time constant, less what the coupling lags by (b/k = 4 ms of 100 ms).
TEST(Jacobian, FilterLetsTheModelInByItsTimeConstant) {
  JacobianSettings settings;
  settings.form = JacobianSettings::Form::kEquality;
  settings.filter_time = 0.1;
  Rig rig(make_ground(Ground::kPlane, 0.0), make_cube_tool(), 0.001, 0.1, settings);
  rig.model->header.sequence = 1;
  rig.model->contacts = 1;
  rig.model->by_force.setZero();
  rig.model->offset << 0.0, 1.0, 0.0, 0.0, 0.0, 0.0;
  TickResult out;
  for (int i = 0; i < 100; ++i) out = rig.tick();
  EXPECT_NEAR(out.wrench.force.y(), 1.0 - std::exp(-1.0), 0.03);
  for (int i = 0; i < 900; ++i) out = rig.tick();
  EXPECT_NEAR(out.wrench.force.y(), 1.0, 1e-3);
}

TEST(Jacobian, RefusesWhatItCannotDo) {
  World world = make_ground(Ground::kBlock, 0.3);
  const ToolSettings tool = make_cube_tool();
  EXPECT_FALSE(find_method("jacobian").refuse({world, tool}).empty());
  add_tool(world, tool, {});
  EXPECT_TRUE(find_method("jacobian").refuse({world, tool}).empty());
  ToolSettings chain = tool;
  chain.kind = HeldChain{};
  EXPECT_FALSE(find_method("jacobian").refuse({world, chain}).empty());
  EXPECT_FALSE(find_method("double_coupling").refuse({world, chain}).empty());
  MethodSettings settings;
  settings.get<JacobianSettings>("jacobian").max_contacts = 41;
  world.prepare();
  EXPECT_THROW(make_method("jacobian", {world, tool, 0.001, 0.02, {}, settings}), InputError);
}

// Two equal springs one after the other on a rigid floor: half the stiffness.
TEST(DoubleCoupling, IsTwoSpringsInARow) {
  World made = make_ground(Ground::kPlane, 0.3);
  const ToolSettings tool = make_cube_tool();
  DeviceState device;
  device.pose.position = Vec3(0.0, 0.015, 0.0);
  add_tool(made, tool, device.pose);
  made.prepare();
  HandDriven method(make_method("double_coupling", {made, tool, 0.001, 0.02, device}));
  TickResult out;
  device.pose.position.y() = 0.004;
  for (int i = 0; i < 3000; ++i) {
    if (i % 20 == 0) method.step();
    out = method.tick(device);
  }
  EXPECT_NEAR(out.wrench.force.y(), 0.5 * kStiffness * 0.006, 1e-3 * 0.5 * kStiffness * 0.006);
  EXPECT_NEAR(out.tool.position.y(), 0.007, 1e-5);
}

/// A brick in the air on a slider along y with dry friction of 1 N, whichever way its axis looks.
World make_rubbing_slider(bool up) {
  WorldSettings settings;
  settings.gravity = Vec3::Zero();
  World world(settings);
  RigidBodySettings s;
  s.surface = make_box(Vec3(0.12, 0.04, 0.12), 1);
  s.mass = compute_mass_properties(s.surface, 500.0);
  s.pose.position = Vec3(0.0, -0.02, 0.0);
  ContactShape shape;
  shape.kind = ContactShape::Box{.size = Vec3(0.12, 0.04, 0.12)};
  const int brick = world.add({"brick", std::make_unique<RigidBody>(s), shape});
  const Vec3 axis = up ? Vec3(Vec3::UnitY()) : Vec3(-Vec3::UnitY());
  Joint j = make_joint(Joint::Kind::kSlider, world.body(brick), nullptr,
                       {Vec3(0.0, -0.02, 0.0), Quat::FromTwoVectors(Vec3::UnitX(), axis)});
  j.body_a = brick;
  j.max_drive = 1.0;
  world.add(j);
  return world;
}

// Dry friction holds against a push up to its bound and gives way beyond it, whichever way its axis looks; in the
// paper's form too, which once took it for one-sided.
TEST(Jacobian, DryFrictionOfAJointHoldsBothWaysUpToItsBound) {
  for (const auto form : {JacobianSettings::Form::kEquality, JacobianSettings::Form::kInequality}) {
    double heights[2][2];
    for (const bool up : {true, false}) {
      JacobianSettings settings;
      settings.form = form;
      Rig rig(make_rubbing_slider(up), make_cube_tool(), 0.001, 0.02, settings);
      const auto height = [&] { return rig.world.bodies()[0].body->compute_point({}).y(); };
      const Vec3 touching = rig.device.pose.position - Vec3(0.0, 0.005, 0.0);
      // About half of the bound. The blow with which the tool arrives may move the brick; after it nothing does.
      rig.hold(touching - Vec3(0.0, 0.001, 0.0), 1.0, 0.001, 20);
      const double landed = heights[up][0] = height();
      EXPECT_GT(landed, -0.0202);
      const TickResult light = rig.hold(rig.device.pose.position, 0.5, 0.001, 20);
      EXPECT_GT(light.wrench.force.y(), 0.2) << static_cast<int>(form) << up;
      EXPECT_NEAR(height(), landed, 1e-6) << static_cast<int>(form) << up;
      // Four times the bound: it yields until at most the bound is left.
      const TickResult strong = rig.hold(touching - Vec3(0.0, 0.008, 0.0), 2.0, 0.001, 20);
      heights[up][1] = height();
      EXPECT_LT(height(), -0.024) << static_cast<int>(form) << up;
      EXPECT_LT(strong.wrench.force.y(), 1.05) << static_cast<int>(form) << up;
    }
    for (const int i : {0, 1}) EXPECT_NEAR(heights[true][i], heights[false][i], 1e-6) << static_cast<int>(form);
  }
}

// Two springs in a row: a wall is felt with k₁k₂/(k₁ + k₂).
TEST(DoubleCoupling, SecondCouplingIsInSeriesWithTheFirst) {
  for (const double scale : {0.25, 1.0, 4.0}) {
    World world = make_ground(Ground::kPlane, 0.0);
    const ToolSettings tool = make_cube_tool();
    DeviceState device;
    device.pose.position = Vec3(0.0, 0.015, 0.0);
    add_tool(world, tool, device.pose);
    world.prepare();
    MethodSettings settings;
    settings.get<DoubleCouplingSettings>("double_coupling") = {.stiffness = scale, .damping = 2.0};
    HandDriven driver(make_method("double_coupling", {world, tool, 0.001, 0.01, device, settings}));
    TickResult out;
    for (int i = 0; i < 4000; ++i) {
      device.pose.position.y() = std::max(0.004, 0.015 - 1e-5 * i);  // 6 mm below where the cube rests on the plane
      if (i % 10 == 0) driver.step(0.001 * i);
      out = driver.tick(device);
    }
    EXPECT_NEAR(out.wrench.force.y(), 0.006 * kStiffness * scale / (1.0 + scale), 1e-3) << scale;
  }
}

// On a wall that does not give way the force is k times the depth of the place that the hand was taken to have.
TEST(Direct, PredictionTakesTheHandToTheEndOfTheStep) {
  double force[2];
  const double period = 0.05, speed = 0.02;
  for (const bool predict : {false, true}) {
    World world = make_ground(Ground::kPlane, 0.0);
    ToolSettings tool = make_cube_tool();
    tool.coupling.damping = 0.0;
    DeviceState device;
    device.pose.position = Vec3(0.0, 0.012, 0.0);
    add_tool(world, tool, device.pose);
    world.prepare();
    MethodSettings settings;
    settings.get<DirectSettings>("direct").predict = predict;
    HandDriven driver(make_method("direct", {world, tool, 0.001, period, device, settings}));
    device.velocity.linear.y() = -speed;
    for (int i = 0; i <= 500; ++i) {
      device.pose.position.y() = 0.012 - speed * 0.001 * i;
      if (i % 50 == 0) driver.step(0.001 * i);
      force[predict] = driver.tick(device).wrench.force.y();
    }
  }
  EXPECT_NEAR(force[true] - force[false], kStiffness * speed * (period - 0.001), 1e-6);
}

}  // namespace
}  // namespace palpate::jacobian_test
