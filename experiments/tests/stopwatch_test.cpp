#include "../src/stopwatch.h"

#include <gtest/gtest.h>

#include <thread>

namespace palpate::stopwatch_test {
namespace {

/// Works until the processor has spent `seconds` on it.
void work_for(double seconds) {
  const std::int64_t end = read_clocks().processor + static_cast<std::int64_t>(1e9 * seconds);
  while (read_clocks().processor < end) {
  }
}

// Who sleeps is waited for and costs nothing: the wall clock goes on, the processor's stands still. It may be
// disturbed for a moment, hence half.
TEST(Stopwatch, SleepIsWallClockAndNotWork) {
  BothTimes times;
  const ClockReading start = read_clocks();
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  times.add(start);
  EXPECT_GE(read_time(times.wall, TimeOf::kMax), 0.040);
  EXPECT_LT(read_time(times.processor, TimeOf::kMax), 0.020);
}

// What is worked on takes at least as long by the clock on the wall.
TEST(Stopwatch, WorkIsBoth) {
  BothTimes times;
  const ClockReading start = read_clocks();
  work_for(0.020);
  times.add(start);
  EXPECT_GE(read_time(times.processor, TimeOf::kMax), 0.020);
  EXPECT_GE(read_time(times.wall, TimeOf::kMax), 0.999 * read_time(times.processor, TimeOf::kMax));
}

// Of 1,000 times of 1 to 1,000 µs. A histogram's bins are a few percent wide.
TEST(Stopwatch, MeanPercentilesAndMaxAreThoseOfTheTimes) {
  Histogram times;
  for (int i = 1; i <= 1000; ++i) times.add(1000 * i);
  EXPECT_NEAR(read_time(times, TimeOf::kMean), 500.5e-6, 1e-9);
  EXPECT_NEAR(read_time(times, TimeOf::kP99), 990e-6, 0.05 * 990e-6);
  EXPECT_NEAR(read_time(times, TimeOf::kP999), 999e-6, 0.05 * 999e-6);
  EXPECT_EQ(read_time(times, TimeOf::kMax), 1000e-6);
  EXPECT_TRUE(std::isnan(read_time({}, TimeOf::kMean)));
}

TEST(Stopwatch, ClaimsComeInPairsThatAreOfTheMachine) {
  BothTimes times;
  times.processor.add(2'000'000);
  times.wall.add(5'000'000);
  std::vector<MeasuredClaim> claims;
  add_time_claims("step", "fast", times, TimeOf::kMax, 0.003, claims);
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].name, "step, processor time");
  EXPECT_EQ(claims[1].name, "step, wall clock");
  EXPECT_TRUE(claims[0].holds());
  EXPECT_FALSE(claims[1].holds());
  for (const MeasuredClaim& c : claims) EXPECT_TRUE(c.timed) << c.name;
  // Of a period of 10 ms they are shares.
  add_time_claims("step", "fast", times, TimeOf::kMax, 30.0, claims, 0.010);
  EXPECT_NEAR(claims[2].measured, 20.0, 1e-9);
  EXPECT_NEAR(claims[3].measured, 50.0, 1e-9);
  EXPECT_EQ(claims[3].unit, "%");
}

TEST(Stopwatch, PlotHasBothClocksOverTheRunsTime) {
  const Plot plot = make_times_plot("steps", {{0.1, 0.001, 0.002}, {0.2, 0.003, 0.004}});
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].x, (std::vector{0.1, 0.2}));
  EXPECT_EQ(plot.series[0].y, (std::vector{0.001, 0.003}));
  EXPECT_EQ(plot.series[1].y, (std::vector{0.002, 0.004}));
  EXPECT_EQ(plot.y_unit, "s");
}

}  // namespace
}  // namespace palpate::stopwatch_test
