#include <cmath>

#include "../src/accelerance/local.h"
#include "accelerance_rig.h"

// Method `accelerance`: where energy and joints stay what they are.
namespace palpate::accelerance {
namespace {

// A ball that goes on at 0.3 m/s knocks a light cube away. The spring takes as long as it takes (ω = 162 /s, so 20 ms),
// and gives the cube at most twice the ball's speed, wherever in that time a slow step begins. The last tick's force,
// held for the 50 ms of a slow step, gives it up to 2 m/s.
TEST(Accelerance, KnockedCubeIsNotShotByTheSlowLoop) {
  for (const double offset : {0.0, 0.003, 0.006, 0.009, 0.012}) {  // 10 ms of the ball's way each
    World world = make_empty(Vec3::Zero());
    const BoxSettings box{.position = Vec3(0.05 + offset, 0.0, 0.0), .size = Vec3::Constant(0.04), .mass = 0.038};
    const RigidBody& cube = add_box(world, box);
    Rig rig(std::move(world), make_ball(0.015), Vec3(-0.05, 0.0, 0.0), 0.05);
    double fastest = 0.0, peak = 0.0;
    rig.go(Vec3(0.3, 0.0, 0.0), 0.5, [&] {
      fastest = std::max(fastest, cube.velocities()[0].norm());
      peak = std::max(peak, rig.last.wrench.force.norm());
    });
    EXPECT_GT(peak, 1.0) << offset;
    EXPECT_GT(fastest, 0.3) << offset;
    EXPECT_LT(fastest, 0.6) << offset;
  }
}

// A body that comes upon the pointer faster than models do is let out at 0.1 m/s: no step of the force.
TEST(Accelerance, BodyThatAppearsOnThePointerIsLetOut) {
  constexpr double kDepth = 0.004, kStiffness = 1000.0;
  World world = make_empty(Vec3::Zero());
  add_box(world, {.position = Vec3(0.5, 0.0, 0.0), .mass = 5000.0});
  ToolSettings tool = make_ball(0.0, kStiffness);
  tool.coupling.damping = 0.0;
  Rig rig(std::move(world), tool, Vec3::Zero(), 0.05);
  rig.run(0.1);
  rig.device.pose.position.x() = 0.475 + kDepth;  // as if it had been there
  double before = 0.0, steepest = 0.0;
  rig.run(0.2, {}, [&] {
    const double force = rig.last.wrench.force.norm();
    steepest = std::max(steepest, (force - before) / rig.dt);
    before = force;
  });
  EXPECT_NEAR(before, kStiffness * kDepth, 0.02 * kStiffness * kDepth);  // five tons hardly give way
  EXPECT_LT(steepest, 1.05 * kStiffness * 0.1);
}

/// A cube on the ground, as a model of its own.
std::unique_ptr<Model> make_cube_on_ground(double mass, double size) {
  auto model = std::make_unique<Model>();
  clear_model(*model);
  model->columns = 6;
  model->neighbours = 1;
  Eigen::Map<Mat6> A(model->A.data());
  A.setZero();
  A.diagonal() << Vec3::Constant(1.0 / mass), Vec3::Constant(6.0 / (mass * size * size));
  for (const double x : {-0.5, 0.5}) {
    for (const double z : {-0.5, 0.5}) {
      LocalContact& c = model->local_contact[as_size(model->local_contacts++)];
      c.a = 0;
      c.foot_a = size * Vec3(x, -0.5, z);
      c.foot_b = c.foot_a;
      c.friction = 0.5;
    }
  }
  return model;
}

// Whatever forces a tick begins with, contacts take energy and never give it: what stopped a body in one tick is a
// guess for the next that would throw it.
TEST(LocalDynamics, LastForcesAddNoEnergy) {
  const double mass = 0.04, size = 0.04, dt = 0.001;
  const auto model = make_cube_on_ground(mass, size);
  World empty = make_empty();
  const JointFrames joints(empty);
  for (const double guess : {0.0, 0.1, 10.0, 1000.0}) {
    for (const double speed : {-1.0, 0.0, 0.2}) {
      for (LocalContact& c : model->local_contact) c.force = Vec3(guess, 0.3 * guess, -0.2 * guess);
      LocalDynamics local(joints);
      local.take(*model, dt, LocalDynamics::Overlap::kMoved);
      Vec6 u;
      u << 0.1, speed, 0.0, 0.0, 1.0, 2.0;
      const Pose pose;
      local.start({&pose, 1}, {&u, 1});
      const auto energy = [&](const Vec6& v) {
        return 0.5 * mass * v.head<3>().squaredNorm() + mass * size * size / 12.0 * v.tail<3>().squaredNorm();
      };
      const double before = energy(u);
      for (int sweep = 0; sweep < 3; ++sweep) {
        EXPECT_LE(energy(u + dt * local.acceleration(0)), before * (1.0 + 1e-12)) << guess << " N, sweep " << sweep;
        local.sweep();
      }
    }
  }
}

// Friction with a body beyond the neighbours has its limit and no more: it takes a body to the speed at which that one
// goes, by limit/m, and leaves it there. A force that is kept would drive it on.
TEST(LocalDynamics, FrictionWithABodyBeyondStopsAndDoesNotDrive) {
  const double mass = 0.04, limit = 2.0, dt = 0.001, drift = 0.1;
  const auto model = make_cube_on_ground(mass, 0.04);
  model->local_contacts = 1;
  LocalContact& c = model->local_contact[0];
  c.foot_a.setZero();
  c.drift = Vec3(drift, 0.0, 0.0);
  c.limit = limit;
  Vec3 t1, t2;
  make_tangents(c.normal, t1, t2);
  c.force = Vec3(0.0, -limit * t1.x(), -limit * t2.x());
  World empty = make_empty();
  const JointFrames joints(empty);
  LocalDynamics local(joints);
  local.take(*model, dt, LocalDynamics::Overlap::kMoved);
  Vec6 u = Vec6::Zero();
  u.x() = 0.5;
  for (int i = 1; i <= 30; ++i) {
    const Pose pose;
    local.start({&pose, 1}, {&u, 1});
    for (int sweep = 0; sweep < 5; ++sweep) local.sweep();
    u += dt * local.acceleration(0);
    EXPECT_NEAR(u.x(), std::max(drift, 0.5 - limit / mass * dt * i), 1e-9) << i;
  }
  EXPECT_LT(u.tail<5>().norm(), 1e-9);
}

/// A lever of 0.2 m that a hinge with dry friction holds to the world at its left end; a ball presses on its right.
struct Lever {
  static constexpr double kLength = 0.2, kFriction = 0.1, kMass = 0.1;
  Rig rig;
  explicit Lever(double upper = Joint::kInfinity, double max_drive = kFriction)
      : rig(make_lever(upper, max_drive), make_ball(0.005), Vec3(0.4 * kLength, 0.02, 0.0), 0.05) {}

  static World make_lever(double upper, double max_drive) {
    World world = make_empty(Vec3::Zero());
    RigidBody& lever = add_box(world, {.size = Vec3(kLength, 0.02, 0.02), .mass = kMass});
    const Quat about_z(Eigen::AngleAxisd(-0.5 * M_PI, Vec3::UnitY()));  // the joint's x is the world's z
    Joint hinge = make_joint(Joint::Kind::kHinge, &lever, nullptr, {Vec3(-0.5 * kLength, 0.0, 0.0), about_z});
    hinge.body_a = 0;
    hinge.max_drive = max_drive;
    hinge.upper = upper;
    hinge.lower = -upper;
    world.add(hinge);
    return world;
  }
  /// Of the fast loop's lever from the hinge [m].
  double hinge_error() const {
    const Feedback::Body* f = rig.neighbour(0);
    if (!f) return 0.0;
    return (f->pose.position + f->pose.rotation * Vec3(-0.5 * kLength, 0.0, 0.0) - Vec3(-0.5 * kLength, 0.0, 0.0))
        .norm();
  }
  double angle() const {
    const Feedback::Body* f = rig.neighbour(0);
    const Vec3 along = f ? f->pose.rotation * Vec3::UnitX() : Vec3(Vec3::UnitX());
    return std::atan2(along.y(), along.x());
  }
};

// The hinge gives way in the tick in which the push exceeds its friction, not when the slow loop has seen it: below,
// the lever stands; above, the force felt is friction over arm, and on the way what the lever's inertia (m/3 at its
// end) makes of being met at 20 mm/s. The arm is 0.18 m and shrinks with the cosine of the way.
TEST(Accelerance, HingeWithDryFrictionGivesWayInTheFastLoop) {
  Lever lever;
  Rig& rig = lever.rig;
  const double slips_at = Lever::kFriction / 0.18;
  const double bump = 0.02 * std::sqrt(1000.0 * Lever::kMass / 3.0) * Lever::kLength / 0.18;
  double most_before = 0.0, peak = 0.0, apart = 0.0;
  rig.go(Vec3(0.0, -0.02, 0.0), 0.5, [&] {
    const double force = rig.last.wrench.force.y();
    if (peak < 0.9 * slips_at) most_before = std::max(most_before, std::abs(lever.angle()));
    peak = std::max(peak, force);
    apart = std::max(apart, lever.hinge_error());
  });
  EXPECT_LT(most_before, 1e-6);
  EXPECT_NEAR(rig.last.wrench.force.y(), slips_at, 0.05 * slips_at);
  EXPECT_LT(peak, slips_at + bump);
  EXPECT_LT(lever.angle(), -0.02);  // 5 mm beyond touching, at 0.18 m
  EXPECT_LT(apart, 1e-6);
}

TEST(Accelerance, HingeHoldsAtItsLimitAndItsPoint) {
  Lever lever(0.1, 0.0);
  Rig& rig = lever.rig;
  double apart = 0.0, farthest = 0.0;
  const auto watch = [&] {
    apart = std::max(apart, lever.hinge_error());
    farthest = std::max(farthest, std::abs(lever.angle()));
  };
  rig.go(Vec3(0.0, -0.1, 0.0), 0.3, watch);
  rig.run(0.2, {}, watch);
  EXPECT_GT(rig.last.wrench.force.y(), 1.0);  // pressed against the limit
  EXPECT_NEAR(lever.angle(), -0.1, 2e-3);
  EXPECT_LT(farthest, 0.11);
  EXPECT_LT(apart, 1e-6);
}

}  // namespace
}  // namespace palpate::accelerance
