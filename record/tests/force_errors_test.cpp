#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "palpate/core/math.h"
#include "palpate/record/metrics.h"

namespace palpate::force_errors_test {
namespace {

constexpr double kDt = 1e-3;

RunData make_run(std::size_t ticks, const std::function<Vec3(double)>& force) {
  RunData run;
  for (std::size_t i = 0; i < ticks; ++i) {
    TickRow row;
    row.time = kDt * static_cast<double>(i);
    row.sent.force = force(row.time);
    run.ticks.push_back(row);
  }
  return run;
}

/// Two presses of different length and direction with free motion between; smooth, so that it can be shifted.
Vec3 presses(double t) {
  const auto bump = [t](double centre, double width) { return std::exp(-std::pow((t - centre) / width, 2)); };
  return 2.0 * bump(0.6, 0.15) * Vec3(0.2, 1.0, 0.0) + 3.0 * bump(1.4, 0.2) * Vec3(-0.3, 1.0, 0.4);
}

Metrics compare(const std::function<Vec3(double)>& force) {
  const RunData truth = make_run(2000, presses);
  return compute_metrics(make_run(2000, force), &truth);
}

TEST(ForceErrors, AForceThatIsATenthTooLargeIsTenPercentOffInTheRightDirectionAndInTime) {
  const Metrics m = compare([](double t) { return Vec3(1.1 * presses(t)); });
  EXPECT_NEAR(m.force_error_relative, 10.0, 1e-9);
  EXPECT_NEAR(m.force_error_contact, 10.0, 1e-9);
  EXPECT_NEAR(m.direction_error, 0.0, 1e-5);  // of an angle by atan2 of rounding
  EXPECT_NEAR(m.force_delay, 0.0, 1e-9);
  EXPECT_EQ(m.noticeable_share, 100.0);
}

TEST(ForceErrors, WhatIsBelowSevenPercentIsNotNoticed) {
  EXPECT_EQ(compare([](double t) { return Vec3(1.069 * presses(t)); }).noticeable_share, 0.0);
  EXPECT_EQ(compare([](double t) { return Vec3(0.929 * presses(t)); }).noticeable_share, 100.0);
}

TEST(ForceErrors, ATurnedForceIsOffByItsAngleAndByTheChordOfIt) {
  for (const double degrees : {5.0, 30.0, 90.0}) {
    const double angle = degrees * std::numbers::pi / 180.0;
    // About an axis across all its directions the angle between force and truth is the angle of the turn.
    const Metrics m = compare([&](double t) {
      const Vec3 f = presses(t);
      return Vec3(Eigen::AngleAxisd(angle, f.unitOrthogonal()) * f);
    });
    EXPECT_NEAR(m.direction_error, degrees, 1e-6);
    EXPECT_NEAR(m.force_error_relative, 200.0 * std::sin(angle / 2.0), 1e-6);
  }
}

TEST(ForceErrors, ADelayedForceHasThatDelayAndAnEarlyOneANegativeOne) {
  for (const double delay : {0.007, 0.0, -0.012, 0.0334, 0.1}) {
    const Metrics m = compare([&](double t) { return Vec3(0.8 * presses(t - delay)); });
    // Whole ticks are exact but for the ends of the run; between them the parabola is good to a tenth of a tick.
    EXPECT_NEAR(m.force_delay, delay, 1e-4) << delay;
  }
}

TEST(ForceErrors, ForcesThatHaveNothingToDoWithEachOtherHaveNoDelay) {
  EXPECT_TRUE(std::isnan(compare([](double t) { return Vec3(0.0, 0.0, std::sin(300.0 * t)); }).force_delay));
  EXPECT_TRUE(std::isnan(compare([](double) { return Vec3(Vec3::UnitY()); }).force_delay));
}

TEST(ForceErrors, WhatAMethodFeelsOutsideTheContactOfTheTruthCountsOnlyInTheWhole) {
  const auto ghost = [](double t) { return Vec3(presses(t) + (t > 1.95 ? 1.0 : 0.0) * Vec3::UnitX()); };
  const Metrics m = compare(ghost);
  EXPECT_NEAR(m.force_error_contact, 0.0, 1e-9);
  EXPECT_GT(m.force_error_relative, 5.0);
}

TEST(ForceErrors, OfATouchTooLightForPercentAreInNewtons) {
  const double scale = 0.9 * kLightTouch / 3.4;  // the peak of `presses` is below 3.4 N
  const RunData truth = make_run(2000, [&](double t) { return Vec3(scale * presses(t)); });
  const Metrics m = compute_metrics(make_run(2000, presses), &truth);
  EXPECT_TRUE(std::isnan(m.force_error_relative));
  EXPECT_TRUE(std::isnan(m.force_error_contact));
  EXPECT_TRUE(std::isnan(m.noticeable_share));
  EXPECT_GT(m.force_error_rms, 0.5);
}

TEST(ForceErrors, TorqueIsRelativeToTheTorqueOfTheTruth) {
  RunData truth = make_run(1000, presses), run = truth;
  for (TickRow& row : truth.ticks) row.sent.torque = Vec3(0.0, 0.1, 0.0);
  for (TickRow& row : run.ticks) row.sent.torque = Vec3(0.0, 0.1, 0.03);
  const Metrics m = compute_metrics(run, &truth);
  EXPECT_NEAR(m.torque_error_rms, 0.03, 1e-12);
  EXPECT_NEAR(m.torque_error_relative, 30.0, 1e-9);
}

/// A hand that goes into a spring and out again.
RunData press_spring(double stiffness, const Vec3& out) {
  RunData run;
  for (int i = 0; i < 1000; ++i) {
    TickRow row;
    row.time = kDt * i;
    const double depth = 0.01 * std::sin(2.0 * std::numbers::pi * row.time);
    row.device.position = Vec3(0.3, -0.2, 0.1) - depth * out;
    row.sent.force = stiffness * std::max(0.0, depth) * out;
    run.ticks.push_back(row);
  }
  return run;
}

TEST(StiffnessFelt, OfASpringIsItsStiffnessInAnyDirection) {
  const Vec3 up = Vec3::UnitY(), slanted = Vec3(1.0, -2.0, 0.5).normalized();
  const RunData soft = press_spring(200.0, up), stiff = press_spring(900.0, slanted);
  EXPECT_NEAR(compute_metrics(soft, nullptr).stiffness_felt, 200.0, 1e-6);
  EXPECT_NEAR(compute_metrics(stiff, nullptr).stiffness_felt, 900.0, 1e-6);
  // Contact is where the truth says.
  EXPECT_NEAR(compute_metrics(soft, &soft).stiffness_felt, 200.0, 1e-6);
}

TEST(StiffnessFelt, IsNoneWhereTheForceDoesNotFollowTheHand) {
  RunData stroke = press_spring(200.0, Vec3::UnitY());
  for (TickRow& row : stroke.ticks) row.sent.force = Vec3(0.0, 1.0 + 0.1 * std::sin(70.0 * row.time), 0.0);
  EXPECT_TRUE(std::isnan(compute_metrics(stroke, nullptr).stiffness_felt));
}

TEST(Spectrum, HoldsTheVarianceAndShowsAToneWhereItIs) {
  constexpr double kTone = 125.0;  // Hz, on a bin of 1024 samples
  std::vector<Vec3> forces;
  double variance = 0.0;
  for (int i = 0; i < 4096; ++i) {
    const double value = std::sin(2.0 * std::numbers::pi * kTone * kDt * i);
    forces.emplace_back(0.6 * value, 5.0, 0.8 * value);
    variance += value * value / 4096.0;
  }
  const Spectrum s = compute_spectrum(forces, kDt);
  ASSERT_EQ(s.frequency.size(), 512u);
  EXPECT_DOUBLE_EQ(s.frequency.back(), 500.0);
  double sum = 0.0;
  std::size_t highest = 0;
  for (std::size_t k = 0; k < s.density.size(); ++k) {
    sum += s.density[k] * s.density[k] * s.frequency.front();
    if (s.density[k] > s.density[highest]) highest = k;
  }
  EXPECT_NEAR(sum, variance, 1e-6);
  EXPECT_DOUBLE_EQ(s.frequency[highest], kTone);
  EXPECT_TRUE(compute_spectrum({}, kDt).density.empty());
}

}  // namespace
}  // namespace palpate::force_errors_test
