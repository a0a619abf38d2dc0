#include "bricks.h"
#include "palpate/core/error.h"

// Bodies that are left out, and steps that are only tried.
namespace palpate::absent_test {
namespace {

using namespace testing;

World make_two_bricks(int& lower, int& upper) {
  World world;
  add_plane(world, 0.5);
  BrickOptions o;
  o.pose.position = Vec3(0.0, 0.05, 0.0);
  lower = add_brick(world, o);
  o.pose.position = Vec3(0.0, 0.15, 0.0);
  upper = add_brick(world, o);
  world.prepare();
  return world;
}

TEST(Absent, BodyThatIsLeftOutNeitherMovesNorBears) {
  int lower = 0, upper = 0;
  World world = make_two_bricks(lower, upper);
  world.set_absent(lower, true);
  run(world, 0.5, 0.01);
  EXPECT_EQ(position_of(world, lower), Vec3(0.0, 0.05, 0.0));
  EXPECT_NEAR(position_of(world, upper).y(), 0.05, 1e-4);  // fell through it to the floor
}

TEST(Absent, ResetLetsAllInAgain) {
  int lower = 0, upper = 0;
  World world = make_two_bricks(lower, upper);
  world.set_absent(lower, true);
  run(world, 0.3, 0.01);
  world.reset();
  run(world, 0.5, 0.01);
  EXPECT_NEAR(position_of(world, upper).y(), 0.15, 1e-4);
}

TEST(Absent, WhatAJointHoldsCannotBeLeftOut) {
  World world;
  BrickOptions o;
  const int brick = add_brick(world, o);
  Joint j = make_joint(Joint::Kind::kBall, world.bodies()[static_cast<std::size_t>(brick)].body.get(), nullptr,
                       {Vec3::Zero(), Quat::Identity()});
  j.body_a = brick;
  world.add(j);
  world.prepare();
  EXPECT_THROW(world.set_absent(brick, true), InputError);
  EXPECT_THROW(world.set_absent(7, true), InputError);
}

// A tried step with contacts kept is the step that detection would have given, where the same features touch: two
// bricks at rest bear the same. And it is only tried: the bricks stay.
TEST(KeptContacts, BearWhatFoundOnesBear) {
  int lower = 0, upper = 0;
  World world = make_two_bricks(lower, upper);
  const double h = 0.02;
  run(world, 0.2, h);
  const Vec3 before = position_of(world, upper);
  const auto borne = [&] {
    world.assemble_rows();
    EXPECT_TRUE(world.assemble_compliance());
    world.solve();
    world.compute_changes();
    double sum = 0.0;
    for (std::size_t i = 0; i < world.contacts().size(); ++i) {
      if (world.contacts()[i].body_a == upper || world.contacts()[i].body_b == upper)
        sum += world.contact_forces()[i].x();
    }
    return sum;
  };
  ASSERT_TRUE(world.compute_free_motion({&h, 1}));
  world.keep_contacts();
  const double kept = borne();
  EXPECT_LT(world.change(upper)[0].norm(), 1e-5);
  world.find_contacts();
  EXPECT_NEAR(kept, borne(), 1e-4 * kept);
  EXPECT_NEAR(kept, rigid(world, upper).mass() * kGravity, 1e-3 * kept);
  EXPECT_EQ(position_of(world, upper), before);
}

// The gap of a kept contact goes with its feet: lifted by 3 mm, it is 3 mm wider.
TEST(KeptContacts, GapsFollowTheBodies) {
  World world;
  add_plane(world, 0.5);
  BrickOptions o;
  o.pose.position = Vec3(0.0, 0.05, 0.0);
  o.velocity.linear = Vec3(0.0, 0.3, 0.0);
  const int brick = add_brick(world, o);
  world.prepare();
  const double h = 0.01;
  StepReport report;
  ASSERT_TRUE(world.step(h, report));
  std::vector<double> gaps;
  for (const Contact& c : world.contacts()) gaps.push_back(c.gap);
  ASSERT_FALSE(gaps.empty());
  const double lifted = position_of(world, brick).y() - 0.05;
  EXPECT_GT(lifted, 1e-3);
  world.keep_contacts();
  for (std::size_t i = 0; i < gaps.size(); ++i) EXPECT_NEAR(world.contacts()[i].gap, gaps[i] + lifted, 1e-12);
}

}  // namespace
}  // namespace palpate::absent_test
