#include "palpate/haptics/hand_path.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "all_paths.h"
#include "palpate/core/error.h"

namespace palpate::hand_path_test {
namespace {

using testing::all_paths;
using testing::NamedPath;

TEST(HandPath, VelocityIsTheDerivativeOfPose_ForEveryKind) {
  // Central difference over ±1 µs: truncation h²/6 of a third derivative below 1e4 m/s³ is 2e-9, rounding of 0.2 m is
  // 4e-17/1e-6 = 4e-11; in rotation rounding of a unit quaternion gives 2e-10.
  constexpr double kStep = 1e-6;
  constexpr double kTolerance = 5e-9;
  for (const NamedPath& p : all_paths()) {
    SCOPED_TRACE(p.name);
    // Steps of an irrational number of milliseconds: no sample falls on a corner.
    for (double t = 0.0137; t < 8.0; t += std::numbers::pi * 1e-3) {
      const HandSample a = p.path->at(t - kStep);
      const HandSample b = p.path->at(t + kStep);
      const HandSample s = p.path->at(t);
      const Vec3 linear = (b.pose.position - a.pose.position) / (2.0 * kStep);
      const Vec3 angular = rotation_vector(b.pose.rotation * a.pose.rotation.conjugate()) / (2.0 * kStep);
      ASSERT_LT((linear - s.velocity.linear).norm(), kTolerance) << t;
      ASSERT_LT((angular - s.velocity.angular).norm(), kTolerance) << t;
      ASSERT_NEAR((b.grip - a.grip) / (2.0 * kStep), s.grip_rate, kTolerance) << t;
    }
  }
}

TEST(HandPath, NeverJumps_ExceptVelocityAtLinearCorners) {
  constexpr double kStep = 1e-4;
  for (const NamedPath& p : all_paths()) {
    SCOPED_TRACE(p.name);
    for (int i = 0; i < 80000; ++i) {
      const HandSample a = p.path->at(i * kStep);
      const HandSample b = p.path->at((i + 1) * kStep);
      // All these paths stay below 1 m/s and, where smooth, 50 m/s².
      ASSERT_LT((b.pose.position - a.pose.position).norm(), 1.0 * kStep) << i;
      if (p.smooth) {
        ASSERT_LT((b.velocity.linear - a.velocity.linear).norm(), 50.0 * kStep) << i;
      }
    }
  }
}

TEST(HandPath, BeforeTheStartAndAfterTheEnd_StandsStill) {
  for (const NamedPath& p : all_paths()) {
    SCOPED_TRACE(p.name);
    const Vec3 start = p.path->at(0.0).pose.position;
    for (const double t : {-1.0, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_LT((p.path->at(t).pose.position - start).norm(), 1e-15);
      EXPECT_EQ(p.path->at(t).velocity.linear, Vec3(0.0, 0.0, 0.0));
    }
    if (p.name == "tremor" || !std::isfinite(p.path->duration())) continue;
    const double end = p.path->duration();
    EXPECT_EQ(p.path->at(end + 1.0).velocity.linear, Vec3(0.0, 0.0, 0.0));
    EXPECT_LT((p.path->at(end + 1.0).pose.position - p.path->at(end).pose.position).norm(), 1e-15);
  }
}

TEST(KeyframePath, MeetsItsKeyframesAndNeverOvershoots) {
  for (const PathInterpolation kind : {PathInterpolation::kSmooth, PathInterpolation::kLinear}) {
    KeyframePathSettings s;
    s.times = {0.0, 0.2, 0.9, 1.0};
    s.positions = {Vec3(0, 0, 0), Vec3(0.01, 0.02, 0), Vec3(0.011, 0.02, 0), Vec3(0.05, 0.0, 0)};
    s.interpolation = kind;
    const KeyframePathSettings keys = s;
    const auto path = make_path(std::move(s));
    for (std::size_t i = 0; i < keys.times.size(); ++i) {
      EXPECT_LT((path->at(keys.times[i]).pose.position - keys.positions[i]).norm(), 1e-15);
    }
    double last = 0.0;
    for (double t = 0.0; t < 1.0; t += 1e-3) {
      const Vec3 p = path->at(t).pose.position;
      EXPECT_GE(p.x(), last - 1e-16);  // x rises throughout
      EXPECT_LE(p.y(), 0.02 + 1e-16);
      last = p.x();
    }
  }
}

TEST(KeyframePath, LinearTurnHasConstantAngularVelocity) {
  KeyframePathSettings s;
  s.times = {0.0, 2.0};
  s.positions = {Vec3::Zero(), Vec3::Zero()};
  s.rotations = {Quat::Identity(), rotation_from_vector(Vec3(0.0, 1.0, 0.0))};
  s.interpolation = PathInterpolation::kLinear;
  const auto path = make_path(std::move(s));
  EXPECT_LT((path->at(0.3).velocity.angular - Vec3(0.0, 0.5, 0.0)).norm(), 1e-15);
  EXPECT_LT((rotation_vector(path->at(1.5).pose.rotation) - Vec3(0.0, 0.75, 0.0)).norm(), 1e-15);
}

TEST(SinePath, IsTheFormulaOfItsSettings) {
  SinePathSettings s;
  s.start = Vec3(0.1, 0.0, 0.0);
  s.velocity = Vec3(0.0, 0.01, 0.0);
  s.amplitude = Vec3(0.0, 0.0, 0.005);
  s.frequency = 3.0;
  s.phase = 0.4;
  const auto path = make_path(s);
  for (double t = 0.0; t < 2.0; t += 0.0173) {
    const Vec3 expected = s.start + t * s.velocity + std::sin(2.0 * std::numbers::pi * 3.0 * t + 0.4) * s.amplitude;
    EXPECT_LT((path->at(t).pose.position - expected).norm(), 1e-15);
  }
}

TEST(PressAndSlidePath, SlidesAtItsSpeedAtItsDepthAndComesBack) {
  PressAndSlidePathSettings s;
  s.strokes = 2;
  s.slide_direction = Vec3(1.0, -3.0, 0.0);  // only its part across the pressing direction counts
  const auto path = make_path(s);
  const double stroke = s.slide_distance / s.slide_speed + s.slide_ramp;
  const double slides_at = s.approach_time + s.hold_time;
  const HandSample middle = path->at(slides_at + 0.5 * stroke);
  EXPECT_NEAR(middle.pose.position.x(), 0.5 * s.slide_distance, 1e-15);
  EXPECT_NEAR(middle.pose.position.y(), -s.depth, 1e-15);
  EXPECT_NEAR(middle.velocity.linear.x(), s.slide_speed, 1e-15);
  EXPECT_NEAR(path->at(slides_at + stroke).pose.position.x(), s.slide_distance, 1e-15);
  EXPECT_NEAR(path->at(slides_at + 1.5 * stroke).velocity.linear.x(), -s.slide_speed, 1e-15);
  EXPECT_LT((path->at(path->duration()).pose.position - s.start).norm(), 1e-15);
  EXPECT_NEAR(path->duration(), slides_at + 2.0 * stroke + s.hold_time + s.retract_time, 1e-12);
}

TEST(TapPath, ReachesItsDepthOnceAPeriod) {
  TapPathSettings s;
  s.count = 3;
  const auto path = make_path(s);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(path->at((i + 0.5) * s.period).pose.position.y(), -s.depth, 1e-15);
    EXPECT_NEAR(path->at(i * s.period).pose.position.y(), 0.0, 1e-15);
  }
  EXPECT_EQ(path->at(3.5 * s.period).pose.position.y(), 0.0);
}

TEST(CirclePath, KeepsItsRadiusAndTurnsRightHanded) {
  CirclePathSettings s;
  s.axis = Vec3(0.0, 0.0, 2.0);
  s.turns = 2.0;
  const auto path = make_path(s);
  const double speed = 2.0 * std::numbers::pi * s.frequency * s.radius;
  for (double t = 0.0; t < path->duration(); t += 0.01) {
    const HandSample h = path->at(t);
    EXPECT_NEAR(h.pose.position.norm(), s.radius, 1e-15);
    EXPECT_GE(h.pose.position.cross(h.velocity.linear).z(), 0.0);
    if (t > s.lead_in && t < path->duration() - s.lead_in) {
      EXPECT_NEAR(h.velocity.linear.norm(), speed, 1e-14);
    }
  }
  // Two whole turns: ends where it began.
  EXPECT_LT((path->at(path->duration()).pose.position - path->at(0.0).pose.position).norm(), 1e-15);
}

TEST(TremorPath, HasTheRmsAskedForAndRepeatsWithItsSeed) {
  KeyframePathSettings still;
  still.times = {0.0};
  still.positions = {Vec3::Zero()};
  TremorPathSettings s;
  s.rms = 2e-4;
  const auto a = make_path(s, make_path(still));
  const auto b = make_path(s, make_path(still));
  s.seed = 2;
  const auto c = make_path(s, make_path(still));
  double sum = 0.0;
  constexpr int kSamples = 200000;
  for (int i = 0; i < kSamples; ++i) sum += a->at(i * 1e-3).pose.position.squaredNorm();
  // Sines of different frequency are orthogonal over a long time; over 200 s two neighbours 0.05 Hz apart leave
  // a few per cent at worst.
  EXPECT_NEAR(std::sqrt(sum / kSamples), 2e-4, 0.03 * 2e-4);
  EXPECT_EQ(a->at(1.234).pose.position, b->at(1.234).pose.position);
  EXPECT_NE(a->at(1.234).pose.position, c->at(1.234).pose.position);
}

TEST(SequencePath, PlaysEachPartInItsOwnTime) {
  TapPathSettings tap;
  tap.count = 1;
  CirclePathSettings circle;
  std::vector<std::unique_ptr<HandPath>> parts;
  parts.push_back(make_path(tap));
  parts.push_back(make_path(circle));
  SequencePathSettings s;
  s.blend_time = 0.25;
  const auto path = make_path(s, std::move(parts));
  EXPECT_EQ(path->at(0.2).pose.position, make_path(tap)->at(0.2).pose.position);
  EXPECT_EQ(path->at(0.75 + 1.5).pose.position, make_path(circle)->at(1.5).pose.position);
  EXPECT_EQ(path->duration(), std::numeric_limits<double>::infinity());
}

TEST(HandPath, BadSettings_AreRefusedByName) {
  const auto message = [](auto make) {
    try {
      make();
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  KeyframePathSettings keys;
  keys.times = {0.0, 1.0, 1.0};
  keys.positions = {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  EXPECT_NE(message([&] { make_path(keys); }).find("keyframes.times[2] = 1"), std::string::npos);
  keys.times = {0.0};
  EXPECT_NE(message([&] { make_path(keys); }).find("keyframes.positions has 3"), std::string::npos);
  SinePathSettings sine;
  sine.frequency = -2.0;
  EXPECT_NE(message([&] { make_path(sine); }).find("sine.frequency = -2"), std::string::npos);
  PressAndSlidePathSettings press;
  press.slide_direction = press.direction;
  EXPECT_NE(message([&] { make_path(press); }).find("press_and_slide.slide_direction"), std::string::npos);
  CirclePathSettings circle;
  circle.axis.setZero();
  EXPECT_NE(message([&] { make_path(circle); }).find("circle.axis"), std::string::npos);
  std::vector<std::unique_ptr<HandPath>> parts;
  parts.push_back(make_path(TapPathSettings{}));
  parts.push_back(make_path(TapPathSettings{}));
  EXPECT_NE(message([&] { make_path(SequencePathSettings{}, std::move(parts)); }).find("sequence.parts[0]"),
            std::string::npos);
}

}  // namespace
}  // namespace palpate::hand_path_test
