#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "palpate/experiments/scene_run.h"

namespace palpate {

/// A run that does not depend on others but for one.
struct RunJob {
  std::string name{};
  std::function<void(World& world, const RunControl& control)> run{};
  double seconds = 1.0;  ///< that it simulates, for its share of the progress
  int after = -1;        ///< the job that must have been done; −1: none
};

/// Does all jobs, `threads` at a time, each thread on a world of its own. The order in which they begin is that of the
/// list as far as `after` permits. An exception of one ends all and goes on to the caller; so does a stop, without one.
/// Thread: `progress` is called from any of them, one at a time.
void run_jobs(const Scene& scene, const std::vector<RunJob>& jobs, int threads, const std::atomic<bool>* stop,
              const std::function<void(std::string_view what, double share)>& progress);

}  // namespace palpate
