#include "palpate/experiments/experiment_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>

namespace palpate::experiment_queue_test {
namespace {

using Wants = Experiment::Wants;

Experiment make(double cost, Wants wants) {
  return {"one", "", nullptr, cost, wants};
}

std::vector<const Experiment*> pointers(const std::vector<Experiment>& experiments) {
  std::vector<const Experiment*> out;
  for (const Experiment& e : experiments) out.push_back(&e);
  return out;
}

TEST(ExperimentQueue, GivesLongOnesFirstAndThoseThatAQuietOneWaitsFor) {
  const std::vector all = {make(1.0, Wants::kCores), make(90.0, Wants::kOneCore), make(50.0, Wants::kQuiet),
                           make(9.0, Wants::kCores)};
  ExperimentQueue queue(pointers(all));
  EXPECT_EQ(queue.try_take(), 3u);
  EXPECT_EQ(queue.try_take(), 0u);
  EXPECT_EQ(queue.try_take(), 1u);  // the quiet one waits; what may run beside it does not
  EXPECT_EQ(queue.try_take(), std::nullopt);
  queue.finish(3);
  EXPECT_EQ(queue.try_take(), std::nullopt);
  queue.finish(0);
  EXPECT_EQ(queue.try_take(), 2u);
  queue.finish(2);
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(ExperimentQueue, AfterItsEndGivesNoneAndWakesThoseThatWait) {
  const std::vector all = {make(1.0, Wants::kCores), make(1.0, Wants::kQuiet)};
  ExperimentQueue queue(pointers(all));
  ASSERT_EQ(queue.take(), 0u);
  std::thread waiting([&] { EXPECT_EQ(queue.take(), std::nullopt); });
  queue.end();
  waiting.join();
}

// Whatever is chosen and however long each takes: all are done once, a quiet one never runs beside another or beside
// one that may have a second thread, and one that wants the machine runs alone.
TEST(ExperimentQueue, GivesEachWhatItWantsOfTheMachine) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Experiment> all;
    const auto count = 1 + random() % 12;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(make(static_cast<double>(random() % 5), static_cast<Wants>(random() % 4)));
    ExperimentQueue queue(pointers(all));
    std::mutex mutex;
    std::array<int, 4> running{};  // by what they want
    int done = 0;
    bool disturbed = false;
    const auto change = [&](Wants wants, int by) {
      const std::scoped_lock lock(mutex);
      running[static_cast<std::size_t>(wants)] += by;
      const auto& [cores, one, quiet, machine] = running;
      disturbed =
          disturbed || quiet > 1 || (quiet == 1 && cores > 0) || (machine > 0 && cores + one + quiet + machine > 1);
      done += by < 0 ? 1 : 0;
    };
    const auto work = [&] {
      while (const std::optional<std::size_t> i = queue.take()) {
        change(all[*i].wants, 1);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        change(all[*i].wants, -1);
        queue.finish(*i);
      }
    };
    std::vector<std::thread> workers;
    for (int t = 0; t < 3; ++t) workers.emplace_back(work);
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(done, static_cast<int>(count));
    EXPECT_FALSE(disturbed);
  }
}

}  // namespace
}  // namespace palpate::experiment_queue_test
