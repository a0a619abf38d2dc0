#include "palpate/devices/first_touch.h"

#include <gtest/gtest.h>

#include "palpate/devices/doctor.h"
#include "palpate/haptics/simulated.h"

namespace palpate::first_touch_test {
namespace {

/// A hand that goes down by 4 cm and up again, 2.5 times a second.
std::unique_ptr<SimulatedDevice> dipping_hand() {
  SinePathSettings path;
  path.amplitude = Vec3(0.0, 0.04, 0.0);
  path.frequency = 2.5;
  return std::make_unique<SimulatedDevice>(simulated_device_preset("touch"), make_path(path));
}

TEST(FirstTouch, IsFreeThenWeakThenFirmAndStaysWithinItsForces) {
  const auto hand = dipping_hand();
  FirstTouchSettings settings;
  settings.free_seconds = 0.4;
  settings.floor_seconds = 1.2;
  settings.depth = 0.005;
  std::vector<std::string> said;
  const std::atomic<bool> stop{false};
  const auto stages = run_first_touch(
      *hand, settings, [&](const std::string& text) { said.push_back(text); }, stop);
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(said.size(), 3u);
  EXPECT_EQ(stages[0].peak_force, 0.0);
  EXPECT_EQ(stages[0].touching, 0u);
  EXPECT_GT(stages[1].touching, 0u);
  EXPECT_GT(stages[1].peak_force, 0.0);
  EXPECT_LE(stages[1].peak_force, settings.weak_force);
  EXPECT_GT(stages[2].peak_force, stages[1].peak_force);
  EXPECT_LE(stages[2].peak_force, settings.firm_force);
  EXPECT_GT((stages[0].reached_max - stages[0].reached_min).y(), 0.02);
}

TEST(FirstTouch, StopsWhenTold) {
  const auto hand = dipping_hand();
  const std::atomic<bool> stop{true};
  const auto stages = run_first_touch(
      *hand, {}, [](const std::string&) {}, stop);
  EXPECT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].peak_force, 0.0);
}

TEST(Doctor, EveryCheckOfTheComputerSaysWhatItIsAndWhatToDo) {
  const std::vector<ProbeStep> steps = check_computer();
  EXPECT_GE(steps.size(), 5u);
  for (const ProbeStep& step : steps) {
    EXPECT_FALSE(step.what.empty());
    EXPECT_FALSE(step.advice.empty()) << step.what;
  }
}

}  // namespace
}  // namespace palpate::first_touch_test
