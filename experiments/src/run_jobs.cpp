#include "run_jobs.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace palpate {
namespace {

class JobRunner {
 public:
  JobRunner(const Scene& scene, const std::vector<RunJob>& jobs, const std::atomic<bool>* stop,
            const std::function<void(std::string_view, double)>& progress)
      : scene_(scene), jobs_(jobs), stop_(stop), progress_(progress), states_(jobs.size()), shares_(jobs.size(), 0.0) {
    for (const RunJob& job : jobs) all_seconds_ += job.seconds;
  }

  void run(int threads) {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : others) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  enum class State : std::uint8_t { kWaiting, kRunning, kDone };

  void work() {
    try {
      std::optional<World> world;
      while (const std::optional<std::size_t> i = take()) {
        if (!world) world.emplace(make_world(scene_));
        RunControl control;
        control.stop = stop_;
        control.progress = [this, i = *i](double t) { show(i, t / jobs_[i].seconds); };
        jobs_[*i].run(*world, control);
        finish(*i);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  bool is_over() const { return failure_ || (stop_ && stop_->load(std::memory_order_relaxed)); }

  /// The next job that may begin, once there is one; none: there will be no more.
  std::optional<std::size_t> take() {
    std::unique_lock lock(mutex_);
    while (!is_over()) {
      bool waiting = false;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (states_[i] != State::kWaiting) continue;
        waiting = true;
        if (jobs_[i].after >= 0 && states_[as_size(jobs_[i].after)] != State::kDone) continue;
        states_[i] = State::kRunning;
        return i;
      }
      if (!waiting) break;
      changed_.wait(lock);
    }
    changed_.notify_all();
    return std::nullopt;
  }

  void finish(std::size_t i) {
    const std::lock_guard lock(mutex_);
    states_[i] = State::kDone;
    shares_[i] = 1.0;
    changed_.notify_all();
  }

  void show(std::size_t i, double share) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    shares_[i] = std::min(share, 1.0);
    double done = 0.0;
    for (std::size_t k = 0; k < jobs_.size(); ++k) done += shares_[k] * jobs_[k].seconds;
    progress_(jobs_[i].name, done / all_seconds_);
  }

  const Scene& scene_;
  const std::vector<RunJob>& jobs_;
  const std::atomic<bool>* stop_;
  const std::function<void(std::string_view, double)>& progress_;
  double all_seconds_ = 0.0;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::vector<State> states_;
  std::vector<double> shares_;
  std::exception_ptr failure_;
};

}  // namespace

void run_jobs(const Scene& scene, const std::vector<RunJob>& jobs, int threads, const std::atomic<bool>* stop,
              const std::function<void(std::string_view what, double share)>& progress) {
  JobRunner(scene, jobs, stop, progress).run(std::clamp(threads, 1, 64));
}

}  // namespace palpate
