#include <gtest/gtest.h>

#include "palpate/bodies/rigid_body.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/hand_driven.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/registry.h"

// Method `jacobian` with held contacts among rigid bodies that lie loose: in the fast loop they go on by their inertia,
// and contacts among them are solved anew in every tick.
namespace palpate::jacobian_neighbours_test {
namespace {

constexpr double kTick = 0.001;

struct Pushed {
  std::vector<double> force;  ///< of each tick, against the hand's way [N]
  double deepest = 0.0;       ///< overlap that a slow step found [m]
};

/// A ball goes at 0.1 m/s into two columns of two wooden cubes of 40 mm, one behind the other, where the lower cube
/// meets the upper one; slow loop at 100 Hz, its models a period late.
Pushed push_a_pile(const char* name, double seconds) {
  World world;
  ContactShape shape;
  shape.friction = 0.4;
  shape.kind = ContactShape::Plane{};
  world.add({"table", nullptr, shape});
  const Vec3 size = Vec3::Constant(0.04);
  shape.kind = ContactShape::Box{.size = size};
  RigidBodySettings cube;
  cube.surface = make_box(size, 1);
  cube.mass = compute_mass_properties(cube.surface, 600.0);
  for (int column = 0; column < 2; ++column) {
    for (int layer = 0; layer < 2; ++layer) {
      cube.pose.position = Vec3(0.041 * column, 0.02 + 0.04 * layer, 0.0);
      world.add({"cube", std::make_unique<RigidBody>(cube), shape});
    }
  }
  ToolSettings tool;
  tool.kind = HeldRigid{.mass = 0.05, .surface = make_sphere(0.02, 3)};
  tool.coupling = {.stiffness = 400.0, .damping = 1.0, .rotational_stiffness = 0.5, .rotational_damping = 1e-3};
  DeviceState hand;
  hand.pose.position = Vec3(-0.045, 0.05, 0.0);
  hand.velocity.linear.x() = 0.1;
  add_tool(world, tool, hand.pose);
  world.prepare();
  const bool truth = std::string_view(name) == "reference";
  MethodSettings settings;
  settings.get<JacobianSettings>("jacobian").contacts =
      JacobianSettings::Contacts::kHeld;  // whose bodies are looked at
  HandDriven method(make_method(name, {world, tool, kTick, truth ? kTick : 0.01, hand, settings}));
  Pushed out;
  for (int i = 0; i < static_cast<int>(seconds / kTick); ++i) {
    hand.time = kTick * i;
    hand.pose.position.x() += kTick * hand.velocity.linear.x();
    if (!truth && i % 10 == 0) {
      StepReport report;
      method.begin_step(report, hand.time);
      if (i > 0) method.deliver();
      out.deepest = std::max(out.deepest, report.penetration);
    }
    out.force.push_back(-method.tick(hand).wrench.force.x());
  }
  return out;
}

double compute_error(const std::vector<double>& force, const std::vector<double>& truth) {
  double error = 0.0, size = 0.0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    error += (force[i] - truth[i]) * (force[i] - truth[i]);
    size += truth[i] * truth[i];
  }
  return std::sqrt(error / size);
}

// A method that knows how bodies answer is nearer to the truth than one that holds the last force, and its tool does
// not enter what it pushes: at most the way that the hand goes in a slow period.
TEST(JacobianNeighbours, APileIsPushedNearerToTheTruthThanByTheLastForceHeld) {
  const double seconds = 0.6;
  const Pushed truth = push_a_pile("reference", seconds);
  const Pushed direct = push_a_pile("direct", seconds);
  const Pushed own = push_a_pile("jacobian", seconds);
  EXPECT_GT(*std::max_element(truth.force.begin(), truth.force.end()), 0.3);
  EXPECT_LT(compute_error(own.force, truth.force), compute_error(direct.force, truth.force));
  EXPECT_LT(own.deepest, 0.001);
}

}  // namespace
}  // namespace palpate::jacobian_neighbours_test
