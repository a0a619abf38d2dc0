#include <gtest/gtest.h>

#include <thread>

#include "benches.h"
#include "palpate/core/error.h"
#include "palpate/testing/by_the_clock.h"

// What every driver must do, each against its double. They run side by side: all of them mostly wait.
namespace palpate::all_drivers_test {
namespace {

using namespace testing;
using Grip = HaplyServiceSettings::Grip;

/// Runs every job in a thread of its own.
void run_together(const std::vector<std::function<void()>>& jobs) {
  std::vector<std::thread> threads;
  for (const auto& job : jobs) threads.emplace_back(job);
  for (std::thread& thread : threads) thread.join();
}

void expect_conforms(DriverBench& bench) {
  EXPECT_EQ(joined(find_nonconformities(bench)), "") << bench.name();
}

TEST(Drivers, ConformEachToItsDevice) {
  const auto haply = [](Grip grip) {
    return [grip] {
      HaplyServiceSettings s;
      s.grip = grip;
      HaplyBench bench(Flaw::kNone, s);
      expect_conforms(bench);
    };
  };
  const auto plain = []<typename Bench>(std::type_identity<Bench>) {
    return [] {
      Bench bench;
      expect_conforms(bench);
    };
  };
  testing::expect_by_the_clock([&] {
    run_together({haply(Grip::kWireless), haply(Grip::kWired), haply(Grip::kNone),
                  plain(std::type_identity<NetworkBench>{}), plain(std::type_identity<ForceDimensionBench>{}),
                  plain(std::type_identity<OpenHapticsBench>{}), plain(std::type_identity<SpaceMouseBench>{})});
  });
}

const std::vector<Flaw> kAllFlaws{
    Flaw::kMirroredX,     Flaw::kSwappedYZ,      Flaw::kMillimetres, Flaw::kMirroredTurn,   Flaw::kMirroredSpeed,
    Flaw::kMirroredForce, Flaw::kSwappedForceXY, Flaw::kHalfForce,   Flaw::kSwappedButtons, Flaw::kStrongerThanTold};

template <typename Bench>
void expect_every_flaw_is_found(const std::vector<Flaw>& flaws) {
  for (const Flaw flaw : flaws) {
    Bench bench(flaw);
    // A network hand in metres by a thousand is farther away than any hand: it is not even taken for one.
    try {
      EXPECT_FALSE(find_nonconformities(bench, HowFar::kUntilWrong).empty()) << bench.name() << static_cast<int>(flaw);
    } catch (const InputError&) {
      EXPECT_TRUE((std::is_same_v<Bench, NetworkBench>)&&flaw == Flaw::kMillimetres);
    }
  }
}

TEST(Drivers, EveryFlawOfADoubleIsFound) {
  std::vector<Flaw> without_speed = kAllFlaws;
  std::erase(without_speed, Flaw::kMirroredSpeed);  // that velocity is not taken from the library
  run_together({[] { expect_every_flaw_is_found<HaplyBench>(kAllFlaws); },
                [] { expect_every_flaw_is_found<NetworkBench>(kAllFlaws); },
                [&] { expect_every_flaw_is_found<ForceDimensionBench>(without_speed); },
                [] { expect_every_flaw_is_found<OpenHapticsBench>(kAllFlaws); },
                [] {
                  expect_every_flaw_is_found<SpaceMouseBench>(
                      {Flaw::kMirroredX, Flaw::kSwappedYZ, Flaw::kMirroredSpeed, Flaw::kSwappedButtons});
                }});
}

template <typename Bench>
void expect_faults_are_survived(unsigned seed) {
  Bench bench;
  const FaultResult result = run_faults(bench, 1000, seed);
  EXPECT_EQ(joined(result.wrong), "") << bench.name();
  EXPECT_EQ(result.faults, 1000);
  EXPECT_GT(result.connections, 50u) << bench.name();  // the faults did something
}

TEST(Drivers, AThousandFaultsNeitherCrashThemNorPushTheHandTooHardOrAfterALoss) {
  run_together({[] { expect_faults_are_survived<HaplyBench>(1); }, [] { expect_faults_are_survived<NetworkBench>(2); },
                [] { expect_faults_are_survived<ForceDimensionBench>(3); },
                [] { expect_faults_are_survived<OpenHapticsBench>(4); },
                [] { expect_faults_are_survived<SpaceMouseBench>(5); }});
}

}  // namespace
}  // namespace palpate::all_drivers_test
