#include <algorithm>

#include "bricks.h"
#include "palpate/core/error.h"

// Bodies that are left out, and steps that are only tried.
namespace palpate::step_test {
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

void run_without(World& world, int body, int steps) {
  StepReport report;
  for (int i = 0; i < steps; ++i) ASSERT_TRUE(run_step(world, {.h = 0.01, .absent = {&body, 1}}, report));
}

TEST(Absent, BodyThatIsLeftOutNeitherMovesNorBears) {
  int lower = 0, upper = 0;
  World world = make_two_bricks(lower, upper);
  run_without(world, lower, 50);
  EXPECT_EQ(position_of(world, lower), Vec3(0.0, 0.05, 0.0));
  EXPECT_NEAR(position_of(world, upper).y(), 0.05, 1e-4);  // fell through it to the floor
}

TEST(Absent, NextStepHasAllAgain) {
  int lower = 0, upper = 0;
  World world = make_two_bricks(lower, upper);
  run_without(world, lower, 1);
  world.reset();
  run(world, 0.5, 0.01);
  EXPECT_NEAR(position_of(world, upper).y(), 0.15, 1e-4);
}

TEST(Absent, WhatAJointHoldsCannotBeLeftOut) {
  World world;
  BrickOptions o;
  const int brick = add_brick(world, o);
  Joint j = make_joint(Joint::Kind::kBall, world.body(brick), nullptr, {Vec3::Zero(), Quat::Identity()});
  j.body_a = brick;
  world.add(j);
  world.prepare();
  const int wrong = 7;
  StepReport report;
  EXPECT_THROW(run_step(world, {.h = 0.01, .absent = {&brick, 1}}, report), InputError);
  EXPECT_THROW(run_step(world, {.h = 0.01, .absent = {&wrong, 1}}, report), InputError);
  EXPECT_THROW(run_step(world, {.h = 0.0}, report), InputError);
}

/// Sum of the normal forces that a brick has part in [N].
double borne_by(const SolvedStep& step, int body) {
  double sum = 0.0;
  for (std::size_t i = 0; i < step.contacts().size(); ++i) {
    if (step.contacts()[i].body_a == body || step.contacts()[i].body_b == body) sum += step.contact_forces()[i].x();
  }
  return sum;
}

// A tried step with contacts kept is the step that detection would have given, where the same features touch: two
// bricks at rest bear the same. And it is only tried: the bricks stay, and the next step does not know of it.
TEST(TriedStep, KeptContactsBearWhatFoundOnesBear) {
  int lower = 0, upper = 0;
  World world = make_two_bricks(lower, upper);
  run(world, 0.2, 0.02);
  WorldState before, after;
  world.save_state(before);
  TriedStep tried{.request = {.h = 0.02}, .keep = world.memory().contacts};
  const std::optional<SolvedStep> with_kept = try_step(world, tried);
  ASSERT_TRUE(with_kept);
  const double kept = borne_by(*with_kept, upper);
  EXPECT_LT(with_kept->change(upper)[0].norm(), 1e-5);
  tried.keep.reset();
  const std::optional<SolvedStep> with_found = try_step(world, tried);
  ASSERT_TRUE(with_found);
  EXPECT_NEAR(kept, borne_by(*with_found, upper), 1e-4 * kept);
  EXPECT_NEAR(kept, rigid(world, upper).mass() * kGravity, 1e-3 * kept);
  world.save_state(after);
  EXPECT_EQ(before.bodies, after.bodies);
  EXPECT_EQ(before.memory.joint_forces, after.memory.joint_forces);
  EXPECT_EQ(before.memory.contact_forces, after.memory.contact_forces);
}

// The gap of a kept contact goes with its feet: lifted by 3 mm, it is 3 mm wider.
TEST(TriedStep, GapsOfKeptContactsFollowTheBodies) {
  World world;
  add_plane(world, 0.5);
  BrickOptions o;
  o.pose.position = Vec3(0.0, 0.05, 0.0);
  o.velocity.linear = Vec3(0.0, 0.3, 0.0);
  const int brick = add_brick(world, o);
  world.prepare();
  StepReport report;
  ASSERT_TRUE(world.step(0.01, report));
  const std::vector<Contact> contacts = world.memory().contacts;
  ASSERT_FALSE(contacts.empty());
  const double lifted = position_of(world, brick).y() - 0.05;
  EXPECT_GT(lifted, 1e-3);
  const std::optional<SolvedStep> tried = try_step(world, {.request = {.h = 0.01}, .keep = contacts});
  ASSERT_TRUE(tried);
  ASSERT_EQ(tried->contacts().size(), contacts.size());
  for (std::size_t i = 0; i < contacts.size(); ++i)
    EXPECT_NEAR(tried->contacts()[i].gap, contacts[i].gap + lifted, 1e-12);
}

/// Notes the order in which a step is read.
class Order final : public StepReader {
 public:
  std::string seen;
  double tick = 0.0;
  void read_tick(const FreeTick& t, StepReport&) noexcept override {
    seen += 't';
    tick = t.h();
  }
  bool solve(const StepProblem&, std::vector<double>&) override {
    seen += 'p';
    return false;
  }
  void read_solved(const SolvedStep&, StepReport&) override { seen += 's'; }
  void read_advanced(const AdvancedStep&, StepReport&) override { seen += 'a'; }
};

// A brick that spins on the floor at 30 rad/s would turn by 0.6 rad in a step: it is done in six parts, of which a
// reader sees what belongs to the whole.
TEST(StepReader, SeesEachStageOfAWholeStepOnceThoughItIsDoneInParts) {
  World world;
  add_plane(world, 0.0);
  BrickOptions o;
  o.pose.position = Vec3(0.0, 0.05, 0.0);
  o.velocity.angular = Vec3(0.0, 30.0, 0.0);
  const int brick = add_brick(world, o);
  world.prepare();
  Order order;
  StepReport report;
  ASSERT_TRUE(run_step(world, {.h = 0.02, .tick = 0.001}, report, &order));
  std::string once = order.seen;
  std::erase(once, 'p');
  EXPECT_EQ(once, "tsa");
  EXPECT_EQ(std::count(order.seen.begin(), order.seen.end(), 'p'), 1 + 6);
  EXPECT_EQ(order.tick, 0.001);
  // In parts it has turned as far as its spin takes it.
  EXPECT_NEAR(rotation_vector(rigid(world, brick).centre_pose().rotation).norm(), 0.6, 0.01);
}

}  // namespace
}  // namespace palpate::step_test
