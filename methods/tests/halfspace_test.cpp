#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "palpate/bodies/particle.h"
#include "palpate/geometry/shapes.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/methods/limited_settings.h"
#include "point_rig.h"

// Looking ahead and blending, which `limited` has and `halfspace` may be given.
namespace palpate::halfspace_test {
namespace {

/// The largest change of the force in a tick and the last force of a hand that strokes a ball and rests.
struct Stroke {
  double jump = 0.0;
  Vec3 end = Vec3::Zero();
};
Stroke stroke_ball(const char* name, const MethodSettings& settings, int subdivisions = 80) {
  World world;
  world.add({"ball", TriangleTree(make_sphere(0.04, subdivisions)), 0.0});
  const auto hand_at = [](double t) {
    const double angle = 0.8 * std::min(t, 1.0) - 0.4;
    return Vec3(0.038 * std::sin(angle), 0.038 * std::cos(angle), 0.0);
  };
  const Vec3 above = Vec3(0.0, 0.004, 0.0);
  Loops loops(world, name, {}, at(hand_at(0.0) + above), 33, settings);
  Stroke out;
  Vec3 last = Vec3::Zero();
  for (int i = 0; i < 1400; ++i) {
    const double t = 0.001 * i - 0.1, down = std::clamp(10.0 * t, 0.0, 1.0);
    const Vec3 hand = hand_at(std::max(t, 0.0)) + (1.0 - down) * above;
    const Vec3 velocity = t > 0.0 && t < 1.0 ? Vec3((hand_at(t + 1e-3) - hand_at(t)) / 1e-3) : Vec3(0.0, 0.0, 0.0);
    const TickResult r = loops.tick(hand, velocity);
    if (t > 0.3) out.jump = std::max(out.jump, (r.wrench.force - last).norm());
    last = out.end = r.wrench.force;
  }
  return out;
}

// What it is told to do beyond the classic model smooths its way, and is gone where nothing moves.
TEST(Halfspace, BlendingSmoothsAndEndsInTheSameForce) {
  MethodSettings settings;
  const Stroke plain = stroke_ball("halfspace", settings);
  settings.get<HalfspaceSettings>("halfspace").blend = true;
  const Stroke blended = stroke_ball("halfspace", settings);
  EXPECT_LT(blended.jump, 0.5 * plain.jump);
  // Faces of 0.016 rad lie up to 1.3 µm inside the ball, of 2 mm: below a thousandth.
  const double exact = 0.002 * ToolSettings{}.coupling.stiffness;
  EXPECT_NEAR(plain.end.norm(), exact, 1e-3 * exact);
  EXPECT_NEAR(blended.end.norm(), exact, 1e-3 * exact);
}

// The plane of where the hand will be touches the ball there: a hand that is past the last plane's foot is nearer to
// it.
TEST(Halfspace, LookingAheadIsNearerOnAWayThatGoesOn) {
  MethodSettings settings;
  const Stroke plain = stroke_ball("halfspace", settings);
  settings.get<HalfspaceSettings>("halfspace").look_ahead = true;
  EXPECT_LT(stroke_ball("halfspace", settings).jump, 0.7 * plain.jump);
}

// A patch that holds all triangles that a hand can meet gives the same force wherever its middle is.
TEST(Limited, WithoutLookingAheadAndBlendingAStaticMeshIsTheSame) {
  MethodSettings settings;
  const Stroke ours = stroke_ball("limited", settings, 20);
  settings.get<LimitedSettings>("limited").look_ahead = false;
  settings.get<LimitedSettings>("limited").blend = false;
  const Stroke paper = stroke_ball("limited", settings, 20);
  EXPECT_NEAR(paper.jump, ours.jump, 1e-6);
  EXPECT_LT((paper.end - ours.end).norm(), 1e-6);
}

// Whether something moves far away is no matter of a hand that begins inside of what stays. (`halfspace` knows of
// nothing before its first model and follows the hand until then.)
TEST(Limited, AStartInsideAStaticBodyIsOutsideItFromTheFirstTickInWorldsThatMoveToo) {
  for (const bool moves : {false, true}) {
    World world;
    world.add(StaticSurface{"ball", TriangleTree(make_sphere(0.08, 20)), 0.0});
    const Vec3 start(0.0, 0.033, 0.0);
    const ToolSettings tool;
    if (moves) {
      world.add(WorldBody{"far", std::make_unique<Particle>(0.1, Vec3(2.0, 0.0, 0.0)), {}});
      add_tool(world, tool, {start, Quat::Identity()});
      world.prepare();
    }
    Loops loops(world, "limited", tool, at(start), 20);
    double nearest = 1.0;
    for (int i = 0; i < 200; ++i) nearest = std::min(nearest, loops.tick(start).tool.position.norm());
    // The middles of faces with edges of up to 5.5 mm lie up to 0.06 mm inside the ball.
    EXPECT_GT(nearest, 0.08 - 1e-4) << (moves ? "something moves" : "nothing moves");
    EXPECT_EQ(loops.violations, 0);
  }
}

}  // namespace
}  // namespace palpate::halfspace_test
