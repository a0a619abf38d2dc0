#include <gtest/gtest.h>

#include <random>

#include "../src/jacobian/contact_space.h"
#include "palpate/bodies/grip.h"
#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/registry.h"
#include "palpate/testing/dense_algebra.h"

// The algebra of method `jacobian`: coupling Jacobians and the linear contact model.
namespace palpate::jacobian {
namespace {

std::mt19937 generator(7);

Eigen::MatrixXd random_matrix(int rows, int cols) {
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  Eigen::MatrixXd out(rows, cols);
  for (double& x : out.reshaped()) x = value(generator);
  return out;
}

Vec3 random_vector(double size) {
  return size * random_matrix(3, 1);
}

/// A body's centre, orientation and velocities, and a handle off the centre.
struct Held {
  Pose pose;
  Twist velocity;
  Vec3 lever;  ///< in the body's frame

  Vec3 arm() const { return pose.rotation * lever; }
  Pose handle() const { return {pose.position + arm(), pose.rotation}; }
  Twist handle_velocity() const { return {velocity.linear + velocity.angular.cross(arm()), velocity.angular}; }
  /// Force, and torque about the centre of mass.
  Vec6 wrench(const Grip& grip) const {
    const Wrench w = compute_grip_wrench(grip, handle(), handle_velocity());
    Vec6 out;
    out << w.force, w.torque + arm().cross(w.force);
    return out;
  }
  Held moved(const Vec6& d) const {
    Held out = *this;
    out.pose.position += d.head<3>();
    out.pose.rotation = rotation_from_vector(d.tail<3>()) * pose.rotation;
    return out;
  }
  Held faster(const Vec6& d) const {
    Held out = *this;
    out.velocity.linear += d.head<3>();
    out.velocity.angular += d.tail<3>();
    return out;
  }
};

// Central differences of step e: truncation e² times the third derivative (all factors are of order k r² ≤ 1000 · 1),
// rounding 1e-16 |F| / e. At e = 1e-5 both are below 1e-6 of the largest entry.
TEST(CouplingJacobian, IsTheDerivativeOfForceAndTorqueOffTheCentre) {
  for (int trial = 0; trial < 50; ++trial) {
    Grip grip;
    grip.stiffness = 800.0;
    grip.damping = 3.0;
    grip.rotational_stiffness = 2.0;
    grip.rotational_damping = 0.02;
    Held held;
    held.pose = {random_vector(0.1), rotation_from_vector(random_vector(2.0))};
    held.velocity = {random_vector(1.0), random_vector(5.0)};
    held.lever = random_vector(0.1);
    // Up to a half turn off the target, and for every fifth none at all.
    const Vec3 turn = trial % 5 == 0 ? Vec3(Vec3::Zero()) : random_vector(1.7);
    grip.target = {random_vector(0.1), rotation_from_vector(turn) * held.pose.rotation};
    grip.target_velocity = {random_vector(1.0), random_vector(5.0)};
    const GripJacobian J = compute_grip_jacobian(grip, held.handle(), held.handle_velocity(), held.arm());
    const double e = 1e-5;
    for (int c = 0; c < 6; ++c) {
      const Vec6 d = e * Vec6::Unit(c);
      const Vec6 K = (held.moved(d).wrench(grip) - held.moved(-d).wrench(grip)) / (2.0 * e);
      const Vec6 B = (held.faster(d).wrench(grip) - held.faster(-d).wrench(grip)) / (2.0 * e);
      EXPECT_LT((J.K.col(c) - K).norm(), 1e-6 * J.K.norm()) << trial << " " << c;
      EXPECT_LT((J.B.col(c) - B).norm(), 1e-6 * J.B.norm()) << trial << " " << c;
    }
  }
}

// With the whole derivative a step is one of Newton on backward Euler: about a balance of finite forces its residual is
// quadratic in the motion. Without the change of lever and rotation vector it is linear. Halving tells them apart.
TEST(CouplingJacobian, MakesTheStepOfARigidBodySecondOrderInItsMotion) {
  const double h = 0.01;
  RigidBodySettings s;
  s.surface = make_box(Vec3(0.1, 0.06, 0.04), 1);
  s.mass = compute_mass_properties(s.surface, 100.0);
  s.handle.position = Vec3(0.04, 0.02, 0.01);
  const auto residual = [&](double size, bool exact) {
    RigidBody body(s);
    Grip grip;
    grip.stiffness = 500.0;
    grip.damping = 1.0;
    grip.rotational_stiffness = 0.5;
    grip.rotational_damping = 1e-3;
    grip.exact = exact;
    grip.target = {s.handle.position + Vec3(0.02, -0.05, 0.03), rotation_from_vector(Vec3(0.5, 0.3, -0.4))};
    body.set_grip(grip);
    Held held;
    held.pose = body.centre_pose();
    held.lever = s.handle.position - s.mass.centre;
    const Vec6 balance = -held.wrench(grip);
    body.external_forces()[0] = balance.head<3>();
    body.external_forces()[1] = balance.tail<3>();
    const std::array<Vec3, 2> v = {size * Vec3(0.3, 0.2, -0.1), size * Vec3(2.0, -3.0, 1.0)};
    body.set_velocities(v);
    std::array<Vec3, 2> dv;
    EXPECT_TRUE(body.linearise({&h, 1}));
    body.compute_free_motion(0, dv);
    held.velocity = {v[0] + dv[0], v[1] + dv[1]};
    held.pose = {held.pose.position + h * held.velocity.linear,
                 rotation_from_vector(h * held.velocity.angular) * held.pose.rotation};
    Vec6 gained;
    gained << body.mass() * dv[0] / h, body.compute_world_inertia() * dv[1] / h;
    return (gained - balance - held.wrench(grip)).norm();
  };
  EXPECT_GT(residual(0.1, true) / residual(0.05, true), 3.5);
  EXPECT_LT(residual(0.1, false) / residual(0.05, false), 2.5);
  EXPECT_LT(residual(0.05, true), 0.1 * residual(0.05, false));
}

// The large system of eq. 10, with everything but the tool as one block of unknowns, against the model of eq. 13.
TEST(LinearModel, GivesTheWrenchOfTheWholeConstrainedSystem) {
  for (const int n : {1, 4, 25}) {
    const int soft = 60;
    const Eigen::MatrixXd R = random_matrix(soft, soft);
    const Eigen::MatrixXd A_u = R * R.transpose() + Eigen::MatrixXd::Identity(soft, soft);
    const Eigen::MatrixXd T = random_matrix(6, 6);
    const Mat6 A = T * T.transpose() + Mat6::Identity();
    const Eigen::MatrixXd J = random_matrix(n, 6), J_u = random_matrix(n, soft);
    const Vec6 force = 10.0 * random_matrix(6, 1);
    const Eigen::VectorXd free = random_matrix(soft, 1);  // u̇⁻
    const Mat6 inverse_A = testing::solve_definite(A, Mat6::Identity());
    const Eigen::MatrixXd Y = testing::solve_definite(A_u, J_u.transpose());
    const Eigen::MatrixXd W = J_u * Y;
    const Eigen::VectorXd velocity = J_u * free;
    const LinearModel model = compute_linear_model({J, W, velocity}, inverse_A);
    const Vec6 wrench = model.offset + model.by_force * force;
    // Velocities after the wrench and its counterpart on the rest meet every constraint.
    const Eigen::MatrixXd A_lambda = J * inverse_A * J.transpose() + W;
    const Eigen::VectorXd lambda = testing::solve_definite(A_lambda, -(J * inverse_A * force + velocity));
    EXPECT_LT((wrench - J.transpose() * lambda).norm(), 1e-9 * wrench.norm()) << n;
    const Vec6 v = inverse_A * (force + wrench);
    const Eigen::VectorXd u = free + Y * lambda;
    EXPECT_LT((J * v + J_u * u).norm(), 1e-9 * (J * v).norm() + 1e-12) << n;
  }
}

// Forty feet of a rigid tool on a rigid floor: the forces are not unique, the wrench is. It takes away the velocity
// that the feet forbid: heave, pitch and roll.
TEST(LinearModel, StandsRedundantContacts) {
  const int n = 40;
  Eigen::MatrixXd J(n, 6);
  for (int i = 0; i < n; ++i) {
    const Vec3 foot(0.02 * std::cos(i), -0.01, 0.02 * std::sin(i));
    J.row(i) << Vec3::UnitY().transpose(), foot.cross(Vec3::UnitY()).transpose();
  }
  const Mat6 inverse_A = Vec6(Vec6(1, 1, 1, 500, 500, 500)).asDiagonal();
  const LinearModel model = compute_linear_model({J, Eigen::MatrixXd::Zero(n, n), Eigen::VectorXd::Zero(n)}, inverse_A);
  const Vec6 force = Vec6(1.0, -2.0, 3.0, 0.01, 0.02, -0.01);
  const Vec6 v = inverse_A * (force + model.by_force * force);
  EXPECT_LT((J * v).norm(), 1e-6);
  EXPECT_NEAR(v[0], 1.0, 1e-6);
  EXPECT_NEAR(v[2], 3.0, 1e-6);
  EXPECT_NEAR(v[4], 10.0, 1e-4);
}

/// A ball without friction pushes a brick over a floor at 20 mm/s, at 20 Hz; mean force along the way in the last half
/// second [N]. The model comes at once, or a period late.
double push_a_brick(const Vec3& size, double mass, double friction, bool late) {
  World world;
  ContactShape shape;
  shape.friction = friction;
  shape.kind = ContactShape::Plane{};
  world.add({"floor", nullptr, shape});
  RigidBodySettings brick;
  brick.surface = make_box(size, 1);
  brick.mass = compute_mass_properties(brick.surface, mass / size.prod());
  brick.pose.position.y() = 0.5 * size.y();
  shape.kind = ContactShape::Box{.size = size};
  world.add({"brick", std::make_unique<RigidBody>(brick), shape});
  ToolSettings tool;
  tool.kind = HeldRigid{.mass = 0.05, .surface = make_sphere(0.015, 3)};
  tool.friction = 0.0;
  tool.coupling = {.stiffness = 600.0, .damping = 2.0, .rotational_stiffness = 0.5, .rotational_damping = 1e-3};
  DeviceState hand;
  hand.pose.position = Vec3(-0.5 * size.x() - 0.0165, 0.018, 0.0);
  hand.velocity.linear.x() = 0.02;
  add_tool(world, tool, hand.pose);
  world.prepare();
  MethodSettings settings;
  settings.get<JacobianSettings>("jacobian").contacts =
      JacobianSettings::Contacts::kHeld;  // whose bodies are looked at
  HandDriven method(make_method("jacobian", {world, tool, 0.001, 0.05, hand, settings}));
  double sum = 0.0;
  for (int i = 0; i < 2000; ++i) {
    hand.time = 0.001 * i;
    hand.pose.position.x() += 0.001 * hand.velocity.linear.x();
    if (i % 50 == 0) {
      StepReport report;
      method.begin_step(report, hand.time);
      if (!late || i > 0) method.deliver();
    }
    const TickResult out = method.tick(hand);
    if (i >= 1500) sum -= out.wrench.force.x() / 500.0;
  }
  return sum;
}

// What slides steadily is pushed with μ m g, whenever the model comes: bodies go on until the next one. If they stood
// still, a period at 20 mm/s would be 1 mm, 0.6 N more at its end; allowed are 5 %, 13 mN.
TEST(Jacobian, ABrickThatSlidesIsPushedWithItsFriction) {
  const double mass = 0.0672, friction = 0.4;
  for (const bool late : {false, true})
    EXPECT_NEAR(push_a_brick(Vec3(0.04, 0.04, 0.06), mass, friction, late), friction * mass * 9.81,
                0.05 * friction * mass * 9.81)
        << late;
}

}  // namespace
}  // namespace palpate::jacobian
