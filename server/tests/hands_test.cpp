#include "../src/hands.h"

#include <gtest/gtest.h>

namespace palpate::hands_test {
namespace {

/// Stands still, each at a place of its own, 0.1 m times its number along x.
class StillHand final : public Device {
 public:
  explicit StillHand(std::size_t number) : x_(0.1 * static_cast<double>(number)) {}
  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override {
    DeviceState s;
    s.time = time;
    s.pose.position = Vec3(x_, 0.0, 0.0);
    return s;
  }
  void write(const SafeWrench&) noexcept override {}

 private:
  DeviceInfo info_;
  double x_;
};

std::unique_ptr<Device> make_still(std::size_t tool) {
  return std::make_unique<StillHand>(tool);
}

// Whoever takes a tool moves that one; the others are exactly where the scene has them.
TEST(Hands, TakingOneToolLeavesTheOthersToTheScene) {
  for (const std::size_t taken : {0u, 1u, 2u}) {
    Hands hands(3, make_still);
    const Pose target{Vec3(0.0, 0.02, 0.0), Quat::Identity()};
    for (std::size_t i = 0; i < 3; ++i) hands[i].read(0.0);
    ASSERT_TRUE(hands.hold(taken, target, {}));
    EXPECT_TRUE(hands.any_held());
    for (int tick = 1; tick <= 2000; ++tick) {
      for (std::size_t i = 0; i < 3; ++i) {
        const Vec3 p = hands[i].read(1e-3 * tick).pose.position;
        if (i != taken) {
          EXPECT_EQ(p, Vec3(0.1 * static_cast<double>(i), 0.0, 0.0));
        } else if (tick == 2000) {
          // At the longest lead for 0.3 s at most, then the spring for more than 1.5 s: e^(−35·1.5) is less than 1e-22.
          EXPECT_LT((p - target.position).norm(), 1e-9);
        }
      }
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(hands.is_held(i), i == taken);
    ASSERT_TRUE(hands.let_go(taken));
    EXPECT_FALSE(hands.any_held());
  }
}

TEST(Hands, RefuseAToolThatIsNotThere) {
  Hands hands(2, make_still);
  for (const std::size_t wrong : {std::size_t{2}, kMaxTools, ~std::size_t{0}}) {
    EXPECT_FALSE(hands.hold(wrong, {}, {}));
    EXPECT_FALSE(hands.let_go(wrong));
  }
  EXPECT_FALSE(hands.any_held());
}

TEST(Hands, AllAreLetGoAtOnce) {
  Hands hands(2, make_still);
  hands.hold(0, {}, {});
  hands.hold(1, {}, {});
  hands.let_go_all();
  EXPECT_FALSE(hands.any_held());
}

}  // namespace
}  // namespace palpate::hands_test
