#include "palpate/methods/hand_driven.h"

#include <gtest/gtest.h>

namespace palpate::hand_driven_test {
namespace {

struct Count {
  MessageHeader header;
  int value;
};
struct Other {
  MessageHeader header;
};

/// The fast half tells how often it ticked, the slow half sends twice what it heard.
class CountingFast final : public TypedFastHalf<Other, Count> {
 public:
  TickResult tick(const DeviceState&, const Other&, Count& feedback) noexcept override {
    feedback.value = ++ticks_;
    TickResult out;
    out.contacts = ticks_;
    return out;
  }

 private:
  int ticks_ = 0;
};
class CountingSlow final : public TypedSlowHalf<Other, Count> {
 public:
  StepWish begin(const Count& feedback, Other&, StepReport& report) override {
    report.iterations = 2 * feedback.value;
    return {};
  }
  void finish(bool, Other&, StepReport&) override {}
};

Method make_counting() {
  return {layout_of<Other>(), layout_of<Count>(), std::make_unique<CountingSlow>(), std::make_unique<CountingFast>()};
}

TEST(HandDriven, StepsHearTheLastTickByTheTypeOfItsMessage) {
  HandDriven driven(make_counting());
  for (int step = 1; step <= 3; ++step) {
    for (int i = 0; i < 5; ++i) driven.tick({});
    EXPECT_EQ(driven.step().iterations, 10 * step);
    ASSERT_TRUE(driven.feedback().as<Count>());
    EXPECT_EQ(driven.feedback().as<Count>()->value, 5 * step);
    EXPECT_FALSE(driven.feedback().as<Other>());
    EXPECT_FALSE(driven.model().as<Count>());
  }
}

TEST(HandDriven, ModelsArriveInOrderWhenDelivered) {
  HandDriven driven(make_counting());
  StepReport report;
  driven.begin_step(report);
  driven.begin_step(report);
  EXPECT_EQ(driven.model().header().sequence, 0u);
  EXPECT_EQ(driven.under_way(), 2);
  driven.deliver();
  EXPECT_EQ(driven.model().header().sequence, 1u);
  driven.deliver();
  EXPECT_EQ(driven.model().header().sequence, 2u);
  EXPECT_EQ(driven.under_way(), 0);
}

TEST(HandDriven, MessagesOfAnotherMethodAreRefused) {
  Method method = make_counting();
  Other model{};
  Count feedback{};
  Other wrong{};
  EXPECT_NO_THROW(tick_with(method, DeviceState{}, model, feedback));
  EXPECT_THROW(tick_with(method, DeviceState{}, model, wrong), std::logic_error);
}

}  // namespace
}  // namespace palpate::hand_driven_test
