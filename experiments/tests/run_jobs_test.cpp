#include "../src/run_jobs.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>

#include "palpate/scene/builtin.h"

namespace palpate::run_jobs_test {
namespace {

/// What happened to jobs that do nothing but say so.
struct Log {
  std::mutex mutex;
  std::vector<std::string> begun, done;
  std::set<const World*> worlds;

  RunJob make(const std::string& name, int after = -1, double seconds = 1.0) {
    return {name,
            [this, name](World& world, const RunControl& control) {
              {
                const std::scoped_lock lock(mutex);
                begun.push_back(name);
                worlds.insert(&world);
              }
              if (control.progress) control.progress(0.5);
              const std::scoped_lock lock(mutex);
              done.push_back(name);
            },
            seconds, after};
  }
  std::ptrdiff_t place(const std::vector<std::string>& list, const std::string& name) const {
    return std::ranges::find(list, name) - list.begin();
  }
};

class RunJobs : public ::testing::TestWithParam<int> {
 protected:
  const Scene scene_ = load_builtin_scene("wall");
  Log log_;
};

TEST_P(RunJobs, EachIsDoneOnceAndOnNoMoreWorldsThanThreads) {
  std::vector<RunJob> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(log_.make(std::to_string(i)));
  run_jobs(scene_, jobs, GetParam(), nullptr, {});
  EXPECT_EQ(log_.done.size(), 20u);
  EXPECT_EQ(std::set(log_.done.begin(), log_.done.end()).size(), 20u);
  EXPECT_LE(log_.worlds.size(), static_cast<std::size_t>(GetParam()));
}

TEST_P(RunJobs, OneThatWaitsForAnotherBeginsWhenThatIsDone) {
  std::vector<RunJob> jobs = {log_.make("last", 2), log_.make("free"), log_.make("second", 3), log_.make("first")};
  run_jobs(scene_, jobs, GetParam(), nullptr, {});
  ASSERT_EQ(log_.done.size(), 4u);
  EXPECT_LT(log_.place(log_.done, "first"), log_.place(log_.done, "second"));
  EXPECT_LT(log_.place(log_.done, "second"), log_.place(log_.done, "last"));
}

TEST_P(RunJobs, ExceptionOfOneEndsAllAndReachesTheCaller) {
  std::vector<RunJob> jobs = {log_.make("a")};
  jobs.push_back({"bad", [](World&, const RunControl&) { throw std::runtime_error("broken"); }, 1.0, 0});
  for (int i = 0; i < 5; ++i) jobs.push_back(log_.make("after", 1));
  try {
    run_jobs(scene_, jobs, GetParam(), nullptr, {});
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "broken");
  }
  EXPECT_EQ(log_.done, std::vector<std::string>{"a"}) << "what waits for a job that failed is never begun";
}

TEST_P(RunJobs, StopEndsThemWithoutAnException) {
  std::atomic<bool> stop{false};
  std::vector<RunJob> jobs = {{"stops", [&](World&, const RunControl&) { stop = true; }, 1.0, -1}};
  for (int i = 0; i < 5; ++i) jobs.push_back(log_.make("after", 0));
  run_jobs(scene_, jobs, GetParam(), &stop, {});
  EXPECT_TRUE(log_.done.empty());
}

// A job counts by the seconds that it simulates: half of a job of 3 s is a third of the way for jobs of 3 s and 1.5 s.
TEST_P(RunJobs, ProgressIsTheShareOfAllSeconds) {
  std::vector<double> shares;
  std::vector<RunJob> jobs = {
      {"long", [](World&, const RunControl& control) { control.progress(1.5); }, 3.0, -1},
      {"short", [](World&, const RunControl& control) { control.progress(9.0); }, 1.5, 0},
  };
  run_jobs(scene_, jobs, GetParam(), nullptr, [&](std::string_view, double share) { shares.push_back(share); });
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_NEAR(shares[0], 1.0 / 3.0, 1e-12);
  EXPECT_NEAR(shares[1], 1.0, 1e-12) << "and never more than all";
}

INSTANTIATE_TEST_SUITE_P(Threads, RunJobs, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace palpate::run_jobs_test
