#include "../src/knott_grounds.h"

#include <gtest/gtest.h>

#include <set>

namespace palpate::knott_grounds_test {
namespace {

TEST(KnottGrounds, NumbersAreTheSameOnEveryMachineAndWithinTheirRange) {
  Random a(7), b(7), other(8);
  double sum = 0.0;
  for (int i = 0; i < 10000; ++i) {
    const double x = a.uniform(-1.0, 3.0);
    EXPECT_EQ(x, b.uniform(-1.0, 3.0));
    ASSERT_GE(x, -1.0);
    ASSERT_LT(x, 3.0);
    sum += x;
  }
  EXPECT_NE(a.uniform(0.0, 1.0), other.uniform(0.0, 1.0));
  // The mean of n numbers of that width has a standard deviation of 4 / √(12 n) = 0.0115.
  EXPECT_NEAR(sum / 10000.0, 1.0, 0.05);
}

// The paths are straight between their points, so what holds there holds everywhere.
TEST(KnottGrounds, RandomHandBeginsOutsideAndIsNeverFasterThanHalfAMetreASecond) {
  const BoundingBox box{Vec3(-0.04, -0.01, -0.03), Vec3(0.04, 0.02, 0.03)};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const SceneKeyframePath path = make_random_walk(box, 60.0, random);
    ASSERT_GT(path.keyframes.size(), 50u);
    EXPECT_GT(path.keyframes.front().position.y(), box.upper.y());
    EXPECT_GE(path.keyframes.back().time, 60.0);
    int inside = 0;
    for (std::size_t i = 1; i < path.keyframes.size(); ++i) {
      const SceneKeyframe &from = path.keyframes[i - 1], &to = path.keyframes[i];
      ASSERT_GT(to.time, from.time);
      EXPECT_LE((to.position - from.position).norm(), 0.5 * (to.time - from.time) * (1.0 + 1e-9)) << seed;
      inside +=
          (to.position.array() > box.lower.array()).all() && (to.position.array() < box.upper.array()).all() ? 1 : 0;
    }
    EXPECT_GT(inside, 10) << "it goes in, too";
  }
}

TEST(KnottGrounds, TenStaticKindsTakeTurnsAndNoTwoAreAlike) {
  Random random(1);
  std::set<std::string> names;
  for (int i = 0; i < 20; ++i) {
    const Ground ground = make_static_ground(i, random);
    names.insert(ground.name);
    EXPECT_TRUE((ground.box.upper.array() > ground.box.lower.array()).all()) << ground.name;
    EXPECT_TRUE(make_world(ground.scene, ground.extras).is_static()) << ground.name;
  }
  EXPECT_GE(names.size(), 10u);
}

TEST(KnottGrounds, MovingOnesMove) {
  Random random(1);
  std::set<std::string> names;
  for (int i = 0; i < 7; ++i) {
    const Ground ground = make_moving_ground(i, random);
    names.insert(ground.name);
    EXPECT_FALSE(make_world(ground.scene, ground.extras).is_static()) << ground.name;
  }
  EXPECT_EQ(names.size(), 7u);
}

}  // namespace
}  // namespace palpate::knott_grounds_test
