#include "models.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/particle.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/core/error.h"
#include "palpate/geometry/shapes.h"

// Bodies held by a hand.
namespace palpate::grip_test {
namespace {

using namespace testing;

const Vec3 kGravity(0.0, -10.0, 0.0);

Grip make_grip(double k, double b) {
  Grip grip;
  grip.stiffness = k;
  grip.damping = b;
  grip.rotational_stiffness = 0.01 * k;
  grip.rotational_damping = 0.01 * b;
  return grip;
}

std::unique_ptr<RigidBody> make_brick(const Pose& handle) {
  RigidBodySettings s;
  s.surface = make_box(Vec3(0.1, 0.06, 0.04), 1);
  s.mass = compute_mass_properties(s.surface, 1000.0);
  s.handle = handle;
  return std::make_unique<RigidBody>(s);
}

std::unique_ptr<BeamChain> make_rod() {
  BeamChainSettings s;
  const std::vector<Vec3> points = {Vec3(0, 0, 0), Vec3(0.05, 0, 0), Vec3(0.1, 0, 0)};
  s.rest = make_chain_poses(points);
  s.section = make_round_section(0.002, 0.3);
  s.material = {.young_modulus = 1e9, .poisson_ratio = 0.3, .density = 2000.0};
  return std::make_unique<BeamChain>(s);
}

void one_step(Body& body, double h) {
  const std::vector<double> steps = {h};
  ASSERT_TRUE(body.linearise(steps));
  std::vector<Vec3> dv(as_size(body.block_count()));
  body.compute_free_motion(0, dv);
  body.advance(h, dv);
}

// At rest the hand carries the weight, and turns against it where the handle is off the centre of mass.
TEST(Grip, PullsTheHandleTowardsItsTarget) {
  Grip grip;
  grip.stiffness = 500.0;
  grip.damping = 2.0;
  grip.rotational_stiffness = 0.3;
  grip.rotational_damping = 0.01;
  grip.target.position = Vec3(0.03, 0.0, 0.0);
  grip.target.rotation = rotation_from_vector(Vec3(0.4, 0.0, 0.0));
  const Pose handle{Vec3(0.01, 0.0, 0.0), Quat::Identity()};
  const Twist velocity{Vec3(0.0, 0.1, 0.0), Vec3(0.0, 0.0, 2.0)};
  const Wrench w = compute_grip_wrench(grip, handle, velocity);
  // k·0.02 m along x, −b·0.1 m/s along y; k_r·0.4 rad about x, −b_r·2 rad/s about z.
  EXPECT_LT((w.force - Vec3(10.0, -0.2, 0.0)).norm(), 1e-13);
  EXPECT_LT((w.torque - Vec3(0.12, 0.0, -0.02)).norm(), 1e-14);
}

TEST(Grip, TorqueIsTheGradientOfItsEnergy) {
  Grip grip;
  grip.rotational_stiffness = 0.4;
  grip.target.rotation = rotation_from_vector(Vec3(-0.4, 0.6, 0.1));
  Pose handle;
  handle.rotation = rotation_from_vector(Vec3(0.3, -0.2, 0.5));
  const auto energy = [&](const Vec3& turn) {
    const Quat q = rotation_from_vector(turn) * handle.rotation;
    return 0.5 * grip.rotational_stiffness * rotation_vector(grip.target.rotation * q.conjugate()).squaredNorm();
  };
  const Vec3 torque = compute_grip_wrench(grip, handle, {}).torque;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 h = 1e-5 * Vec3::Unit(axis);
    // Central difference: truncation h² ~ 1e-10, rounding 1e-16/h ~ 1e-11.
    EXPECT_NEAR(torque[axis], -(energy(h) - energy(-h)) / 2e-5, 1e-9);
  }
}

TEST(Grip, CarriesTheWeight) {
  const double rod_mass = 2000.0 * std::numbers::pi * 0.002 * 0.002 * 0.1;
  const Vec3 lever(0.03, 0.0, 0.01);
  struct Held {
    std::unique_ptr<Body> body;
    double mass;
    Vec3 arm;  // from the handle to the centre of mass
  };
  std::vector<Held> all;
  all.push_back({std::make_unique<Particle>(0.2, Vec3::Zero()), 0.2, Vec3::Zero()});
  all.push_back({make_brick({lever, Quat::Identity()}), 0.24, -lever});
  all.push_back({make_rod(), rod_mass, Vec3(0.05, 0.0, 0.0)});
  for (Held& held : all) {
    Grip grip = make_grip(1000.0, 5.0);
    grip.target = held.body->handle_pose();
    ASSERT_TRUE(held.body->set_grip(grip));
    held.body->set_gravity(kGravity);
    for (int i = 0; i < 4000; ++i) one_step(*held.body, 0.01);
    const Wrench on_body = held.body->compute_grip();
    EXPECT_LT((on_body.force + held.mass * kGravity).norm(), 1e-9);
    // The arm as it lies now: brick and rod have sagged by a few milliradians.
    const Quat turned = held.body->handle_pose().rotation * grip.target.rotation.conjugate();
    const Vec3 arm = turned * held.arm;
    EXPECT_LT((on_body.torque + arm.cross(held.mass * kGravity)).norm(), 1e-3 * held.mass * 10.0 * 0.05);
  }
}

/// A bar of tets along x, held at its left end.
std::unique_ptr<CorotationalTets> make_soft_bar() {
  const Material material{.young_modulus = 2e5, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 3.0};
  auto bar =
      std::make_unique<CorotationalTets>(make_tet_block(Vec3(0.06, 0.02, 0.02), {3, 1, 1}), std::span(&material, 1));
  bar->set_handle({Vec3(-0.03, 0.0, 0.0), Quat::Identity()}, 0.016);
  return bar;
}

// The springs of the held nodes are linear in x and v, so backward Euler takes their force at the end of the step: it
// is all that changes the momentum of a body without weight and damping, whose inner forces have no resultant.
TEST(Grip, SoftBody_GainsTheMomentumThatTheGripGives) {
  const Material material{.young_modulus = 2e5, .poisson_ratio = 0.3, .density = 1000.0};
  CorotationalTets bar(make_tet_block(Vec3(0.06, 0.02, 0.02), {3, 1, 1}), std::span(&material, 1));
  bar.set_handle({Vec3(-0.03, 0.0, 0.0), Quat::Identity()}, 0.016);
  Grip grip = make_grip(800.0, 3.0);
  grip.target = {Vec3(-0.02, 0.01, 0.005), rotation_from_vector(Vec3(0.2, -0.3, 0.4))};
  grip.target_velocity = {Vec3(0.1, 0.2, -0.1), Vec3(1.0, -2.0, 0.5)};
  ASSERT_TRUE(bar.set_grip(grip));
  const double h = 0.002;
  for (int i = 0; i < 50; ++i) {
    const Vec3 before = bar.compute_momentum().linear;
    one_step(bar, h);
    const Vec3 gained = bar.compute_momentum().linear - before;
    EXPECT_LT((gained - h * bar.compute_grip().force).norm(), 1e-13) << i;  // of some 1e-3 kg·m/s
  }
}

TEST(Grip, SoftBody_HangsByItsWeightAndTurnsWithTheHand) {
  auto bar = make_soft_bar();
  Grip grip = make_grip(1000.0, 5.0);
  grip.target = {Vec3(0.1, 0.2, 0.3), rotation_from_vector(Vec3(0.5, -1.0, 0.8))};
  ASSERT_TRUE(bar->set_grip(grip));
  for (int i = 0; i < 4000; ++i) one_step(*bar, 0.01);
  EXPECT_LT((bar->handle_pose().position - grip.target.position).norm(), 1e-9);
  EXPECT_LT(rotation_vector(bar->handle_pose().rotation * grip.target.rotation.conjugate()).norm(), 1e-7);
  EXPECT_LT(bar->compute_grip().force.norm(), 1e-6);
  bar->set_gravity(kGravity);
  for (int i = 0; i < 4000; ++i) one_step(*bar, 0.01);
  EXPECT_LT((bar->compute_grip().force + 0.024 * kGravity).norm(), 1e-9);
  EXPECT_THROW(bar->set_handle({Vec3(1.0, 0.0, 0.0), Quat::Identity()}, 0.01), InputError);
}

// One step of a held particle is backward Euler of the oscillator, by hand: m a = k (x_d − x) + b (v_d − v).
TEST(Grip, StepOfAParticleIsBackwardEuler) {
  const double m = 0.001, k = 1000.0, b = 0.8, h = 0.001;
  Particle p(m, Vec3(0.0, 0.0, 0.0));
  Grip grip = make_grip(k, b);
  grip.target.position = Vec3(0.01, 0.0, 0.0);
  grip.target_velocity.linear = Vec3(0.2, 0.0, 0.0);
  p.set_grip(grip);
  const std::vector<Vec3> v0 = {Vec3(0.5, 0.0, 0.0)};
  p.set_velocities(v0);
  one_step(p, h);
  const double x = p.position().x(), v = p.velocities()[0].x();
  EXPECT_NEAR(m * (v - 0.5) / h, k * (0.01 - x) + b * (0.2 - v), 1e-12);
  EXPECT_NEAR(p.compute_grip().force.x(), k * (0.01 - x) + b * (0.2 - v), 1e-12);
}

// A turned target turns the body with it, however stiff the grip is against the step.
TEST(Grip, FollowsTheHandAtAnyStiffness) {
  for (const double k : {1e2, 1e4, 1e7}) {
    auto brick = make_brick({Vec3(0.02, 0.01, 0.0), rotation_from_vector(Vec3(0.1, 0.0, 0.0))});
    auto rod = make_rod();
    for (Body* body : {static_cast<Body*>(brick.get()), static_cast<Body*>(rod.get())}) {
      Grip grip = make_grip(k, 1e-3 * k);
      grip.target = {Vec3(0.1, 0.2, 0.3), rotation_from_vector(Vec3(0.5, -1.0, 0.8))};
      body->set_grip(grip);
      for (int i = 0; i < 3000; ++i) one_step(*body, 0.01);
      const Pose handle = body->handle_pose();
      EXPECT_LT((handle.position - grip.target.position).norm(), 1e-6) << k;
      EXPECT_LT(rotation_vector(handle.rotation * grip.target.rotation.conjugate()).norm(), 1e-6) << k;
    }
  }
}

// The whole response of a small body is what its solve does to each unit force, grips and prescribed blocks included.
TEST(Response, IsTheSolveOfEveryUnitForce) {
  for (const int prescribed : {-1, 0, 1}) {
    auto brick = make_brick({Vec3(0.02, 0.01, 0.0), Quat::Identity()});
    Particle particle(0.3, Vec3::Zero());
    for (Body* body : {static_cast<Body*>(brick.get()), static_cast<Body*>(&particle)}) {
      body->set_grip(make_grip(500.0, 2.0));
      if (prescribed >= 0 && prescribed < body->block_count()) body->prescribe(prescribed, Vec3(0.1, 0.0, 0.0));
      const std::vector<double> steps = {0.02, 0.001};
      ASSERT_TRUE(body->linearise(steps));
      const int n = 3 * body->block_count();
      for (int which = 0; which < 2; ++which) {
        Mat6 response;
        ASSERT_TRUE(body->compute_response(which, response));
        for (int c = 0; c < n; ++c) {
          BlockRows unit;
          unit.begin_row();
          unit.add(c / 3, Vec3::Unit(c % 3));
          const double one = 1.0;
          std::vector<Vec3> dv(as_size(body->block_count()));
          body->compute_correction(which, unit, {&one, 1}, dv);
          const Eigen::VectorXd expected = steps[as_size(which)] * Eigen::Map<Eigen::VectorXd>(dv[0].data(), n);
          EXPECT_LT((response.col(c).head(n) - expected).norm(), 1e-15);
        }
        EXPECT_LT((response - response.transpose()).norm(), 1e-15);
      }
    }
  }
}

}  // namespace
}  // namespace palpate::grip_test
