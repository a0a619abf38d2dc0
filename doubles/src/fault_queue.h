#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "palpate/doubles/double_hand.h"

namespace palpate {

/// Faults that wait for a double to suffer them. Any thread; it locks, which no double minds.
class FaultQueue {
 public:
  struct Item {
    Fault fault;
    double seconds;  ///< of a delay
  };
  void inject(Fault fault, double seconds) {
    const std::lock_guard lock(mutex_);
    items_.push_back({fault, seconds});
  }
  /// The next one, which counts as done.
  std::optional<Item> next() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    const Item item = items_.front();
    items_.pop_front();
    ++done_;
    return item;
  }
  std::uint64_t done() const noexcept { return done_; }

 private:
  std::mutex mutex_;
  std::deque<Item> items_;
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace palpate
