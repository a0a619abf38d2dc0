#include <gtest/gtest.h>

#include <random>

#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/core/histogram.h"
#include "palpate/core/math.h"
#include "palpate/core/second_thread.h"

namespace palpate::core_test {
namespace {

TEST(RotationVector, InvertsRotationFromVectorAtEveryScale) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const double scale : {1e-12, 1e-7, 1e-3, 1.0, 1.7}) {
    for (int i = 0; i < 100; ++i) {
      const Vec3 r = scale * Vec3(uniform(random), uniform(random), uniform(random));
      // Two roundings of a unit quaternion, magnified by at most π/2 by the arc tangent.
      EXPECT_LT((rotation_vector(rotation_from_vector(r)) - r).norm(), 1e-15 + 8e-16 * r.norm());
    }
  }
}

TEST(RotationVector, TakesTheShorterWayRound) {
  const Quat q = rotation_from_vector(Vec3(0, 0, 3.0));
  const Quat same(-q.w(), -q.x(), -q.y(), -q.z());
  EXPECT_LT((rotation_vector(same) - Vec3(0, 0, 3.0)).norm(), 1e-14);
}

TEST(MakeTangents, CompletesARightHandedFrame) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 n = Vec3(normal(random), normal(random), normal(random)).normalized();
    Vec3 t1, t2;
    make_tangents(n, t1, t2);
    Mat3 frame;
    frame << n, t1, t2;
    EXPECT_LT((frame.transpose() * frame - Mat3::Identity()).norm(), 1e-12);
    EXPECT_NEAR(frame.determinant(), 1.0, 1e-12);
  }
}

TEST(Histogram, PercentilesOfAUniformSampleAreKnownToABin) {
  Histogram h;
  for (int i = 1; i <= 100000; ++i) h.add(i);
  EXPECT_EQ(h.count(), 100000u);
  EXPECT_EQ(h.max_ns(), 100000);
  EXPECT_DOUBLE_EQ(h.mean_ns(), 50000.5);
  for (const double p : {0.01, 0.5, 0.9, 0.99}) {
    EXPECT_NEAR(h.compute_percentile_ns(p) / (p * 100000), 1.0, 0.022);  // bin width 2^(1/32)
  }
  EXPECT_DOUBLE_EQ(h.compute_percentile_ns(1.0), 100000.0);
}

TEST(Histogram, MergeEqualsAddingEverythingToOne) {
  Histogram a, b, both;
  for (int i = 1; i < 500; ++i) {
    (i % 3 ? a : b).add(i * i);
    both.add(i * i);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.max_ns(), both.max_ns());
  for (const double p : {0.1, 0.5, 0.95}) EXPECT_EQ(a.compute_percentile_ns(p), both.compute_percentile_ns(p));
}

TEST(NearestWord, FindsTyposAndRefusesStrangers) {
  const std::vector<std::string_view> known = {"stiffness", "damping", "mass"};
  EXPECT_EQ(nearest_word("stifness", known), "stiffness");
  EXPECT_EQ(nearest_word("Mass", known), "mass");
  EXPECT_EQ(nearest_word("temperature", known), "");
}

TEST(QuoteForMessage, ShowsControlCharactersAndCutsLongText) {
  EXPECT_EQ(quote_for_message(std::string("a\0b", 3)), "\"a\\x00b\"");
  EXPECT_EQ(quote_for_message("abcdef", 3), "\"abc…\"");
}

TEST(SecondThread, DoesEachTaskOnce_AndItsOwnerSeesWhatItWrote) {
  SecondThread second;
  long sum = 0;  // not atomic: start() and wait() order what both threads do
  for (long i = 1; i <= 1000; ++i) {
    second.start([](void* context) noexcept { *static_cast<long*>(context) += 1; }, &sum);
    second.wait();
    ASSERT_EQ(sum, i);
  }
}

/// Until the processor has spent so much on this thread.
void work_for(std::int64_t ns) noexcept {
  for (const std::int64_t start = processor_ns(); processor_ns() - start < ns;) {
  }
}

// Of two that work at once the longer counts, and sleep does not. Ten milliseconds either way are what a scheduler's
// clock and a busy machine may add.
TEST(SecondThread, WorkIsThatOfTheLongerOfTheTwo) {
  SecondThread second;
  constexpr std::int64_t kMs = 1'000'000;
  for (const auto& [own, sleep] : {std::pair{0, 0}, {0, 60}, {30, 0}, {60, 0}}) {
    const std::int64_t start = work_ns();
    second.start([](void*) noexcept { work_for(30 * kMs); }, nullptr);
    work_for(own * kMs);
    sleep_until_ns(monotonic_ns() + sleep * kMs);
    second.wait();
    const double work = 1e-6 * static_cast<double>(work_ns() - start);
    EXPECT_GE(work, std::max(30, own) - 0.1) << own << " ms of work, " << sleep << " of sleep";
    EXPECT_LE(work, std::max(30, own) + 10.0) << own << " ms of work, " << sleep << " of sleep";
  }
}

}  // namespace
}  // namespace palpate::core_test
