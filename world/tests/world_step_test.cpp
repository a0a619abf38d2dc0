#include "bricks.h"
#include "palpate/bodies/beam_chain.h"
#include "palpate/bodies/corotational_tets.h"
#include "palpate/testing/realtime_guard.h"

// The step as a whole, in a world of every kind of body.
namespace palpate {
namespace {

using namespace testing;

/// A soft block on a floor, cubes on it, and a wire tied to the uppermost cube.
World make_mixed_world() {
  World world;
  add_plane(world, 0.5);
  const Material material{.young_modulus = 5e4, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 2.0};
  TetMesh mesh = make_tet_block(Vec3(0.16, 0.06, 0.16), {4, 2, 4});
  for (Vec3& v : mesh.vertices) v.y() += 0.0301;
  ContactShape shape;
  shape.kind = ContactShape::Kind::kSurface;
  shape.friction = 0.5;
  world.add({"soft", std::make_unique<CorotationalTets>(mesh, std::span(&material, 1)), shape});
  int top = -1;
  for (int i = 0; i < 3; ++i) {
    BrickOptions o;
    o.size = Vec3::Constant(0.05);
    o.pose.position = Vec3(0.002 * i, 0.0855 + 0.0502 * i, 0.001 * i);
    top = add_brick(world, o);
  }
  BeamChainSettings chain;
  std::vector<Vec3> points;
  const Vec3 knot = position_of(world, top) + Vec3(0.0, 0.025, 0.0);
  for (int i = 0; i <= 6; ++i) points.push_back(knot + Vec3(0.02 * i, 0.0, 0.0));
  chain.rest = make_chain_poses(points);
  chain.section = make_round_section(0.001, 0.3);
  chain.material = {.young_modulus = 1e8, .poisson_ratio = 0.3, .density = 1000.0, .mass_damping = 2.0};
  shape.kind = ContactShape::Kind::kChain;
  const int wire = world.add({"wire", std::make_unique<BeamChain>(chain), shape});
  const auto body = [&](int i) { return world.bodies()[static_cast<std::size_t>(i)].body.get(); };
  Joint j = make_joint(Joint::Kind::kBall, body(wire), body(top), {knot, Quat::Identity()});
  j.body_a = wire;
  j.body_b = top;
  world.add(std::move(j));
  world.prepare();
  return world;
}

TEST(MixedWorld, ComesToRestAndTheFloorCarriesAll) {
  World world = make_mixed_world();
  run(world, 4.0, 0.01);
  const double weight =
      kGravity * (1000.0 * 0.16 * 0.06 * 0.16 + 3.0 * 1000.0 * std::pow(0.05, 3) + 1000.0 * M_PI * 1e-6 * 0.12);
  double borne = 0.0;
  for (int i = 0; i < 50; ++i) {
    run(world, 0.01, 0.01);
    borne -= contact_force_on(world, 0).y() / 50.0;
  }
  EXPECT_NEAR(borne, weight, 0.01 * weight);
  EXPECT_LT(world.compute_energy().kinetic, 1e-4);
}

TEST(MixedWorld, TwoOfThemGiveTheSameBits) {
  World one = make_mixed_world(), two = make_mixed_world();
  run(one, 0.5, 0.01);
  run(two, 0.5, 0.01);
  WorldState a, b;
  one.save_state(a);
  two.save_state(b);
  EXPECT_EQ(a.bodies, b.bodies);
  EXPECT_EQ(a.joint_forces, b.joint_forces);
}

TEST(MixedWorld, StepsAllocateNothingOnceTheyHaveBeenAsLarge) {
  if (!RealtimeGuard::available()) GTEST_SKIP() << "the sanitizer owns malloc: nothing is counted";
  World world = make_mixed_world();
  WorldState state;
  world.save_state(state);
  run(world, 1.0, 0.01);
  world.restore_state(state);
  const RealtimeGuard guard;
  for (int i = 0; i < 50; ++i) {
    StepReport report;
    world.step(0.01, report);
  }
  EXPECT_EQ(guard.violations().allocations, 0);
}

}  // namespace
}  // namespace palpate
