#include "palpate/geometry/impact.h"

#include <gtest/gtest.h>

#include "brute_force.h"
#include "palpate/geometry/closest_features.h"

namespace palpate::impact_test {
namespace {

using reference::random_vector;
using reference::Real;

MovingVertex random_vertex(std::mt19937_64& random, double speed) {
  return {random_vector(random), speed * random_vector(random)};
}

// Distance of two features at time t.
double distance_at(const MovingVertex& p, const std::array<MovingVertex, 3>& q, double t) {
  const auto x = [&](const MovingVertex& v) { return Vec3(v.start + t * v.motion); };
  const TriangleMesh mesh{{x(q[0]), x(q[1]), x(q[2])}, {{0, 1, 2}}};
  return static_cast<double>(reference::distance(mesh, 0, x(p)));
}

double distance_at(const std::array<MovingVertex, 2>& p, const std::array<MovingVertex, 2>& q, double t) {
  const auto x = [&](const MovingVertex& v) { return Vec3(v.start + t * v.motion); };
  const SegmentPair c = closest_of_segments(x(p[0]), x(p[1]), x(q[0]), x(q[1]));
  return (x(p[0]) + c.s * (x(p[1]) - x(p[0])) - x(q[0]) - c.t * (x(q[1]) - x(q[0]))).norm();
}

/// Against sampling in time: between two samples the distance changes by at most half an interval's motion, so what
/// sampling finds below `thickness` must be found, and not later; and what is found must come within thickness and
/// tolerance, as finely as sampling can tell.
template <typename A, typename B>
void check_against_sampling(const A& a, const B& b, double speed, int& hits, int& misses) {
  constexpr int kSamples = 400;
  for (const double thickness : {0.0, 0.05}) {
    const double tolerance = 0.01;
    Impact impact;
    const bool hit = find_impact(a, b, {thickness, tolerance}, impact);
    double least = 1e9, first = 2.0;
    for (int i = 0; i <= kSamples; ++i) {
      const double t = static_cast<double>(i) / kSamples, d = distance_at(a, b, t);
      least = std::min(least, d);
      if (d <= thickness + 1e-12 && first > 1.0) first = t;
    }
    const double blur = speed / kSamples;
    for (const double distance : {0.01, 0.1, 0.5}) {
      const double apart = find_apart(a, b, distance);
      if (apart > 0.0) {
        EXPECT_GT(least, distance - 1e-12);
        EXPECT_GT(distance_at(a, b, 0.0), apart - 1e-12);
        EXPECT_GT(apart, distance);
      }
    }
    if (least <= thickness) {
      EXPECT_TRUE(hit);
    }
    if (hit) {
      EXPECT_LE(least, thickness + tolerance + blur);
      EXPECT_LE(impact.time, first);
      EXPECT_LE(distance_at(a, b, impact.time), thickness + tolerance + 1e-12);
      if (impact.time > 0.0) {
        EXPECT_GE(distance_at(a, b, impact.time), thickness + 0.5 * tolerance - 1e-12);
      }
      EXPECT_NEAR(distance_at(a, b, impact.time), impact.distance, 1e-12);
      EXPECT_NEAR(impact.weights_a.sum(), 1.0, 1e-15);
      EXPECT_NEAR(impact.weights_b.sum(), 1.0, 1e-15);
    }
    ++(hit ? hits : misses);
  }
}

TEST(Impact, VertexAndFaceNeverMissedAndNeverInvented) {
  std::mt19937_64 random(1);
  int hits = 0, misses = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const MovingVertex p = random_vertex(random, 1.0);
    const std::array<MovingVertex, 3> q = {random_vertex(random, 1.0), random_vertex(random, 1.0),
                                           random_vertex(random, 1.0)};
    check_against_sampling(p, q, 2.0 * std::sqrt(3.0), hits, misses);
  }
  EXPECT_GT(hits, 300);
  EXPECT_GT(misses, 500);
}

TEST(Impact, EdgesNeverMissedAndNeverInvented) {
  std::mt19937_64 random(2);
  int hits = 0, misses = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::array<MovingVertex, 2> p = {random_vertex(random, 1.0), random_vertex(random, 1.0)};
    const std::array<MovingVertex, 2> q = {random_vertex(random, 1.0), random_vertex(random, 1.0)};
    check_against_sampling(p, q, 2.0 * std::sqrt(3.0), hits, misses);
  }
  EXPECT_GT(hits, 500);
  EXPECT_GT(misses, 500);
}

TEST(Impact, FastVertexMeetsTheFaceFromItsSideAtItsTime) {
  const std::array<MovingVertex, 3> face = {
      {{Vec3(-1, 0, -1), Vec3::Zero()}, {Vec3(0, 0, 1), Vec3::Zero()}, {Vec3(1, 0, -1), Vec3::Zero()}}};
  for (const double side : {1.0, -1.0}) {
    // Both also move along together, fast: it changes nothing.
    const Vec3 common(5.0, 70.0, -3.0);
    std::array<MovingVertex, 3> moving = face;
    for (MovingVertex& v : moving) v.motion = common;
    Impact impact;
    const MovingVertex p{Vec3(0.1, 0.25 * side, -0.2), common + Vec3(0.0, -side, 0.0)};
    ASSERT_TRUE(find_impact(p, moving, {0.0, 1e-6}, impact));
    EXPECT_NEAR(impact.time, 0.25, 1e-6);
    EXPECT_NEAR((impact.normal - side * Vec3::UnitY()).norm(), 0.0, 1e-9);
  }
}

TEST(Impact, DegenerateAndNotFiniteFeaturesEnd) {
  Impact impact;
  const MovingVertex o{Vec3::Zero(), Vec3::Zero()}, p{Vec3(1, 0, 0), Vec3(-2, 0, 0)};
  EXPECT_TRUE(find_impact(p, {o, o, o}, {0.0, 1e-3}, impact));
  EXPECT_NEAR(impact.time, 0.5, 1e-3);
  EXPECT_TRUE(find_impact({p, p}, {o, o}, {0.1, 1e-3}, impact));
  EXPECT_NEAR(impact.time, 0.45, 1e-3);
  EXPECT_FALSE(find_impact(o, {p, p, MovingVertex{Vec3(NAN, 0, 0), Vec3::Zero()}}, {0.0, 1e-3}, impact));
  EXPECT_FALSE(find_impact(o, {p, p, MovingVertex{Vec3(1, 0, 0), Vec3(0, INFINITY, 0)}}, {0.0, 1e-3}, impact));
}

}  // namespace
}  // namespace palpate::impact_test
