#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace palpate {

/// A queue of bounded size from one writer thread to one reader thread, both wait-free. A full queue refuses: the
/// fast loop counts what it could not hand on and never waits for a disk.
template <typename T>
class RowRing {
 public:
  explicit RowRing(std::size_t capacity) : rows_(capacity + 1) {}

  /// Writer: false if full.
  bool push(const T& row) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    const std::size_t next = head + 1 == rows_.size() ? 0 : head + 1;
    if (next == tail_.load(std::memory_order_acquire)) return false;
    rows_[head] = row;
    head_.store(next, std::memory_order_release);
    return true;
  }

  /// Reader: false if empty.
  bool pop(T& row) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return false;
    row = rows_[tail];
    tail_.store(tail + 1 == rows_.size() ? 0 : tail + 1, std::memory_order_release);
    return true;
  }

 private:
  std::vector<T> rows_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace palpate
