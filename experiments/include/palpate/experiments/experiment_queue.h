#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "palpate/experiments/experiment.h"

namespace palpate {

/// Which of some experiments begins next, for one thread on each core.
///
/// Those that take long first, but each has what it wants of the machine: one that measures times begins when nothing
/// runs that would disturb it, and nothing that would begins meanwhile. While a quiet one has a core for itself, the
/// others do those of one core.
///
/// Threads: any, at any time. take() blocks.
class ExperimentQueue {
 public:
  explicit ExperimentQueue(std::vector<const Experiment*> chosen);

  /// The place among the chosen of one that may begin now; nothing if none may, as yet or any more.
  std::optional<std::size_t> try_take();
  /// The same, once there is one; nothing if all have begun, or after end().
  std::optional<std::size_t> take();
  void finish(std::size_t place);  ///< of one that was taken
  void end();                      ///< no more are given out

 private:
  enum class State : std::uint8_t { kWaiting, kRunning, kOver };
  std::optional<std::size_t> choose();
  bool may_begin(const Experiment& experiment) const;
  template <typename Predicate>
  bool any(State state, const Predicate& predicate) const;

  const std::vector<const Experiment*> chosen_;
  std::vector<std::size_t> order_;  ///< those that take long first
  std::mutex mutex_;                // of all below
  std::condition_variable changed_;
  std::vector<State> states_;
  bool ended_ = false;
};

}  // namespace palpate
