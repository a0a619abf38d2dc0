#include "palpate/record/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include "palpate/haptics/safety.h"

namespace palpate::metrics_test {
namespace {

constexpr double kPi = std::numbers::pi;

/// `n` ticks 1 ms apart that send force(t).
RunData make_run(int n, const std::function<Vec3(double)>& force) {
  RunData run;
  for (int i = 0; i < n; ++i) {
    TickRow row;
    row.time = 1e-3 * i;
    row.sent.force = force(row.time);
    run.ticks.push_back(row);
  }
  return run;
}

Vec3 wave(double t) {
  return {2.0 * std::sin(2 * kPi * t), 0.5, -t};
}

TEST(ForceError, IsZeroAgainstItself) {
  RunData run = make_run(500, wave);
  EXPECT_TRUE(std::isnan(compute_metrics(run, &run).torque_error_rms));  // a device without torque
  run.ticks[7].sent.torque = Vec3(0, 0.1, 0);
  const Metrics m = compute_metrics(run, &run);
  EXPECT_EQ(m.force_error_rms, 0.0);
  EXPECT_EQ(m.force_error_max, 0.0);
  EXPECT_EQ(m.force_error_relative, 0.0);
  EXPECT_EQ(m.torque_error_rms, 0.0);
}

TEST(ForceError, OfAConstantOffsetIsItsLengthInEveryNorm) {
  const Vec3 offset(0.3, 0.0, -0.4);
  const RunData reference = make_run(500, [](double) { return Vec3(0, 2, 0); });
  const RunData run = make_run(500, [&](double) { return Vec3(Vec3(0, 2, 0) + offset); });
  const Metrics m = compute_metrics(run, &reference);
  EXPECT_NEAR(m.force_error_rms, 0.5, 1e-14);
  EXPECT_NEAR(m.force_error_max, 0.5, 1e-14);
  EXPECT_NEAR(m.force_error_relative, 25.0, 1e-12);
}

TEST(ForceError, OfASineIsItsAmplitudeOverRootTwo) {
  const RunData zero = make_run(1000, [](double) { return Vec3(Vec3::Zero()); });
  const RunData run = make_run(1000, [](double t) { return Vec3(0, 3.0 * std::sin(2 * kPi * 5.0 * t), 0); });
  const Metrics m = compute_metrics(run, &zero);
  EXPECT_NEAR(m.force_error_rms, 3.0 / std::sqrt(2.0), 1e-12);  // five whole periods
  EXPECT_NEAR(m.force_error_max, 3.0, 1e-12);                   // a sample falls on the crest, t = 50 ms
  EXPECT_TRUE(std::isnan(m.force_error_relative));              // relative to nothing
}

TEST(ForceError, ReferenceAtAnotherRateIsInterpolated) {
  const auto line = [](double t) { return Vec3(4.0 * t, -t, 0.1); };  // linear: interpolation is exact
  RunData coarse;
  for (const TickRow& row : make_run(401, line).ticks) {
    if (std::lround(row.time * 1e3) % 20 == 0) coarse.ticks.push_back(row);
  }
  const RunData run = make_run(500, line);  // goes on past the reference: those ticks do not count
  EXPECT_LT(compute_metrics(run, &coarse).force_error_max, 1e-14);
  RunData elsewhere = coarse;
  for (TickRow& row : elsewhere.ticks) row.time += 100.0;
  EXPECT_TRUE(std::isnan(compute_metrics(run, &elsewhere).force_error_rms));
}

TEST(ForceJump, IsTheStepNotTheTrend) {
  const RunData run = make_run(200, [](double t) { return Vec3(t, t < 0.1 ? 0.0 : 0.6, t < 0.1 ? 0.0 : -0.8); });
  const Metrics m = compute_metrics(run, nullptr);
  EXPECT_NEAR(m.force_jump_max, std::hypot(1.0, 1e-3), 1e-12);
  EXPECT_NEAR(m.force_peak, std::hypot(1.0, 0.199), 1e-12);
}

TEST(RmsAbove, SeparatesTwoTonesExactlyWhereTheyAreCosinesOfTheTransform) {
  constexpr int n = 1024;
  const double dt = 1e-3;
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i) {
    values[i] = 5.0 + 2.0 * std::cos(kPi * (i + 0.5) * 60 / n) + 0.7 * std::cos(kPi * (i + 0.5) * 500 / n);
  }
  // Tones at 60 and 500 half-cycles in 1.024 s: 29.3 Hz and 244 Hz.
  EXPECT_NEAR(compute_rms_above(values, dt, 100.0), 0.7 / std::sqrt(2.0), 1e-13);
  EXPECT_NEAR(compute_rms_above(values, dt, 20.0), std::sqrt((4.0 + 0.49) / 2.0), 1e-13);
  EXPECT_NEAR(compute_rms_above(values, dt, 400.0), 0.0, 1e-13);
}

TEST(RmsAbove, KeepsAllEnergyButTheMean) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  std::vector<double> values(2048);
  double mean = 0.0;
  for (double& v : values) mean += (v = normal(random)) / 2048.0;
  double variance = 0.0;
  for (const double v : values) variance += (v - mean) * (v - mean) / 2048.0;
  // Parseval; 2048 sums of O(1) terms, rounding well below 2048 ulp.
  EXPECT_NEAR(compute_rms_above(values, 1e-3, 0.0), std::sqrt(variance), 2048 * 2.3e-16);
}

TEST(RmsAbove, LeaksNoMoreThanTheCornersAtTheEnds) {
  // 7 Hz, amplitude 3 N, any number of ticks, begun at full slope: the worst of smooth hand motions.
  const double omega = 2 * kPi * 7.0, amplitude = 3.0, cutoff = 100.0;
  for (const int n : {700, 1024, 1500, 4999}) {
    std::vector<double> values(as_size(n));
    for (int i = 0; i < n; ++i) values[i] = amplitude * std::sin(omega * 1e-3 * i);
    const double D0 = amplitude * omega;
    const double D1 = amplitude * omega * std::abs(std::cos(omega * 1e-3 * n));
    const double bound = std::sqrt((D0 + D1) * (D0 + D1) / (12 * std::pow(kPi, 4) * std::pow(cutoff, 3) * 1e-3 * n));
    EXPECT_LT(compute_rms_above(values, 1e-3, cutoff), bound);
    EXPECT_LT(bound, 0.01 * amplitude);  // and that is little
  }
}

TEST(RmsAbove, SeesNoWrapAroundFromLastToFirstSample) {
  std::vector<double> ramp(1000);
  for (int i = 0; i < 1000; ++i) ramp[i] = 1e-3 * i;
  // A periodic transform would see a jump of 1, with an RMS of sqrt(1/(2 π² · 100 Hz · 1 s)) = 0.022 above 100 Hz.
  EXPECT_LT(compute_rms_above(ramp, 1e-3, 100.0), 1e-4);
}

TEST(ForceHigh, AddsTheThreeAxes) {
  const auto tone = [](double t) { return std::cos(2 * kPi * 250.0 * (t + 0.5e-3)); };
  const RunData one = make_run(1024, [&](double t) { return Vec3(tone(t), 0, 0); });
  const RunData all = make_run(1024, [&](double t) { return Vec3(tone(t), -tone(t), tone(t)); });
  EXPECT_NEAR(compute_metrics(one, nullptr).force_rms_high, 1.0 / std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(compute_metrics(all, nullptr).force_rms_high, std::sqrt(1.5), 1e-9);
}

TEST(ProxyDistance, CountsWhereTheDeviceIsInsideAndPenetrationEverywhere) {
  const SignedDistance plane = [](const Vec3& p) { return p.y(); };
  RunData run = make_run(4, [](double) { return Vec3(Vec3::Zero()); });
  run.ticks[0].device.position.y() = 0.010;  // free: the tool is off the surface and may be
  run.ticks[0].tool.position.y() = 0.010;
  run.ticks[1].device.position.y() = -0.001;
  run.ticks[1].tool.position.y() = 0.004;
  run.ticks[2].device.position.y() = -0.001;
  run.ticks[2].tool.position.y() = -0.002;
  run.ticks[3].device.position.y() = -0.001;
  run.ticks[3].tool.position.y() = 0.0;
  const Metrics m = compute_metrics(run, nullptr, plane);
  EXPECT_DOUBLE_EQ(m.proxy_distance_mean, 0.002);
  EXPECT_DOUBLE_EQ(m.proxy_distance_max, 0.004);
  EXPECT_DOUBLE_EQ(m.penetration_max, 0.002);
  EXPECT_DOUBLE_EQ(m.penetration_mean, 0.0005);
}

TEST(Metrics, WithoutASurfaceThereIsNoPenetrationButAnOverlapOfBodies) {
  RunData run = make_run(3, wave);
  EXPECT_TRUE(std::isnan(compute_metrics(run, nullptr).overlap_max));
  run.steps.resize(2);
  run.steps[1].penetration = 0.003;
  EXPECT_EQ(compute_metrics(run, nullptr).overlap_max, 0.003);
  EXPECT_TRUE(std::isnan(compute_metrics(run, nullptr).penetration_max));
}

TEST(Metrics, AForceThatComesInByARampIsNoSafetyEvent) {
  RunData run = make_run(10, wave);
  run.ticks[0].events = kRamping;
  run.ticks[1].events = kRamping | kClamped;
  const Metrics m = compute_metrics(run, nullptr);
  EXPECT_EQ(m.safety_events, 1.0);
  EXPECT_EQ(m.event_counts[3], 2u);
}

TEST(Metrics, CountEventsEnergyAgeAndTimes) {
  RunData run = make_run(10, wave);
  run.ticks[2].events = 0b101;
  run.ticks[3].events = 0b100;
  run.ticks[4].energy = 0.02;
  run.ticks[9].energy = -0.5;
  run.ticks[6].model_age = 0.04;
  run.deadline_misses = 7;
  for (int i = 1; i <= 100; ++i) run.tick_times.add(1000 * i);
  run.step_times.add(15'000'000);
  const Metrics m = compute_metrics(run, nullptr);
  EXPECT_EQ(m.safety_events, 2.0);
  EXPECT_EQ(m.event_counts[0], 1u);
  EXPECT_EQ(m.event_counts[2], 2u);
  EXPECT_EQ(m.energy_max, 0.02);
  EXPECT_EQ(m.energy_final, -0.5);
  EXPECT_EQ(m.model_age_max, 0.04);
  EXPECT_EQ(m.deadline_misses, 7.0);
  EXPECT_NEAR(m.tick_time_p50, 50e-6, 0.022 * 50e-6);  // bin width of Histogram
  EXPECT_NEAR(m.tick_time_p99, 99e-6, 0.022 * 99e-6);
  EXPECT_EQ(m.tick_time_max, 1e-9 * 100000);
  EXPECT_EQ(m.step_time_max, 1e-9 * 15e6);
}

TEST(Metrics, OfAnEmptyRunAreNotAvailable) {
  const RunData empty;
  for (const MetricValue& metric : list_metrics(compute_metrics(empty, &empty))) {
    EXPECT_TRUE(std::isnan(metric.value)) << metric.key;
  }
}

TEST(FormatQuantity, GivesThreeDigitsAndAPrefix) {
  EXPECT_EQ(format_quantity(0.00123, "m"), "1.23 mm");
  EXPECT_EQ(format_quantity(4.5e-5, "s"), "45.0 µs");
  EXPECT_EQ(format_quantity(-0.25, "J"), "-250 mJ");
  EXPECT_EQ(format_quantity(2.0, "N"), "2.00 N");
  EXPECT_EQ(format_quantity(0.99996, "N"), "1.00 N");
  EXPECT_EQ(format_quantity(1234.0, "N"), "1.23 kN");
  EXPECT_EQ(format_quantity(0.0, "N"), "0 N");
  EXPECT_EQ(format_quantity(12.345, "%"), "12.3 %");
  EXPECT_EQ(format_quantity(0.04, "%"), "0.0400 %");
  EXPECT_EQ(format_quantity(1234567.0, ""), "1234567");
  EXPECT_EQ(format_quantity(kNotAvailable, "N"), "–");
  EXPECT_EQ(format_quantity(3e-20, "m"), "3.00e-08 pm");
}

TEST(MetricsJson, HoldsEveryMetricOfTheListAndNullsForTheMissing) {
  RunData run = make_run(10, wave);
  run.ticks[1].events = 0b10;
  const auto json = nlohmann::json::parse(make_metrics_json({{"limited", compute_metrics(run, &run), false}}));
  const auto& metrics = json.at("runs").at(0).at("metrics");
  const auto list = list_metrics({});
  EXPECT_EQ(metrics.size(), list.size());
  EXPECT_EQ(metrics.at("force_error_rms"), 0.0);
  EXPECT_TRUE(metrics.at("tick_time_p50").is_null());
  EXPECT_EQ(json.at("runs").at(0).at("event_counts").at("clamped"), 1);
  EXPECT_EQ(json.at("units").at("force_peak"), "N");
}

}  // namespace
}  // namespace palpate::metrics_test
