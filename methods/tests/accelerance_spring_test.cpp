#include <cmath>

#include "../src/accelerance/spring_rows.h"
#include "accelerance_rig.h"

// Springs by which pointers press on bodies in the world's step.
namespace palpate::accelerance {
namespace {

/// A step of a world with one spring; keeps what it did.
class OneSpring final : public StepReader {
 public:
  OneSpring(World& world, const SpringContact& spring) : world_(world), rows_(world) { rows_.springs = {spring}; }

  bool step(double h) {
    const StepRows* rows = &rows_;
    StepReport report;
    const bool done = run_step(world_, {.h = h, .rows = {&rows, 1}, .elapsed = elapsed_}, report, this);
    elapsed_ += h;
    return done;
  }
  void read_advanced(const AdvancedStep& step, StepReport&) override {
    force = rows_.compute_force(step, 0);
    contacts = step.contacts().size();
  }
  /// Of the spring's other end, at the start of the next step [m].
  Vec3 place() const { return rows_.springs[0].place + elapsed_ * rows_.springs[0].velocity; }

  Vec3 force = Vec3::Zero();  ///< on the body in the last step [N]
  std::size_t contacts = 0;

 private:
  World& world_;
  SpringRows rows_;
  double elapsed_ = 0.0;
};

World make_floating(double mass) {
  World world = make_empty(Vec3::Zero());
  add_box(world, {.mass = mass});
  world.prepare();
  return world;
}

const RigidBody& box_of(const World& world) {
  return dynamic_cast<const RigidBody&>(*world.body(0));
}

/// On the left face of the brick, pressing along +x.
SpringContact make_spring(const World& world, double depth, double friction = 0.0) {
  SpringContact s;
  s.body = 0;
  s.foot = box_of(world).find_point(Vec3(-0.025, 0.0, 0.0));
  s.normal = Vec3::UnitX();
  s.place = Vec3(-0.025 + depth, 0.0, 0.0);
  s.stiffness = 1000.0;
  s.damping = 5.0;
  s.friction = friction;
  return s;
}

// x⁺ = x + h v⁺, m (v⁺ − v)/h = −k (x⁺ − w⁺) − b (v⁺ − ẇ), solved by hand; from nearly free to nearly rigid.
TEST(Spring, StepIsBackwardEulerAtAnyStiffness) {
  for (const double mass : {1e-4, 0.01, 100.0}) {
    World world = make_floating(mass);
    const double m = box_of(world).mass();
    SpringContact s = make_spring(world, 0.003);
    s.velocity = Vec3(0.2, 0.0, 0.0);
    OneSpring spring(world, s);
    for (const double h : {0.05, 0.01}) {
      const double v = box_of(world).velocities()[0].x();
      const double x = box_of(world).centre_pose().position.x() - 0.025 - spring.place().x();
      const double force = (-s.stiffness * (x + h * (v - 0.2)) - s.damping * (v - 0.2)) /
                           (1.0 + (s.stiffness * h * h + s.damping * h) / m);
      ASSERT_TRUE(spring.step(h));
      EXPECT_NEAR(spring.force.x(), std::max(0.0, force), 1e-8 * std::abs(force));
      EXPECT_NEAR(box_of(world).velocities()[0].x(), v + h * std::max(0.0, force) / m, 1e-9);
    }
  }
}

TEST(Spring, NeverPulls) {
  World world = make_floating(0.1);
  SpringContact s = make_spring(world, -0.002);
  s.velocity = Vec3(-0.5, 0.0, 0.0);
  OneSpring spring(world, s);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(spring.step(0.02));
  EXPECT_EQ(box_of(world).velocities()[0], Vec3(Vec3::Zero()));
}

// Sideways it holds as a spring does, up to μ times the push, which opposes the way that the body slides.
TEST(Spring, SidewaysForceEndsAtCoulombsLimit) {
  for (const double sideways : {2e-5, 1.0}) {
    World world = make_floating(1000.0);
    SpringContact s = make_spring(world, 0.001, 0.5);
    s.place.y() = sideways;
    OneSpring spring(world, s);
    ASSERT_TRUE(spring.step(1e-4));
    const Vec3& force = spring.force;
    EXPECT_NEAR(force.x(), 1.0, 1e-3);  // a ton does not move in 0.1 ms
    EXPECT_NEAR(force.y(), std::min(1000.0 * sideways, 0.5 * force.x()), 1e-4);
  }
}

// A brick on a table, pressed: the table bears weight and push, and contacts are found and counted as before.
TEST(Spring, ContactsBearThePush) {
  World world = make_empty();
  add_box(world, {.position = Vec3(0.0, 0.025, 0.0)});
  add_floor(world, 0.5);
  world.prepare();
  SpringContact s;
  s.body = 0;
  s.foot = box_of(world).find_point(Vec3(0.01, 0.05, 0.0));
  s.normal = -Vec3::UnitY();
  s.place = Vec3(0.01, 0.049, 0.0);
  s.stiffness = 5000.0;
  OneSpring spring(world, s);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(spring.step(0.02));
  EXPECT_EQ(spring.contacts, 4u);
  EXPECT_NEAR(spring.force.y(), -5.0, 1e-4);
  EXPECT_NEAR(world.compute_contact_force(0).y(), box_of(world).mass() * kGravity + 5.0, 1e-4);
}

}  // namespace
}  // namespace palpate::accelerance
