#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace palpate {

/// Hands messages of a fixed size from one writer thread to one reader thread, each no sooner than its due time.
///
/// A ring of slots: the reader's, then those on their way, then the writer's. Only the writer moves `written_`, only
/// the reader `read_`. Both sides are wait-free: no retry, no copy. Where the reader has stood still for so long that
/// the ring is full, the newest message is lost.
class DelayLine {
 public:
  /// Room for `capacity` messages on their way. Slots start as zeros; `alignment` is a power of two.
  DelayLine(std::size_t size, std::size_t alignment, std::size_t capacity);

  /// Writer: the slot to fill. Its content is whatever was there: fill it whole.
  std::byte* write_slot() noexcept { return slot(written_.load(std::memory_order_relaxed)); }
  /// Writer: sends the slot, to be seen from `due_ns` on; write_slot() is then another one. False: lost, and
  /// write_slot() is the same.
  bool publish(std::int64_t due_ns) noexcept {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    if (at + 1 - read_.load(std::memory_order_acquire) >= slots_) return false;
    due_[at % slots_] = due_ns;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }

  /// Reader: takes the newest message that is due, if there is one. At most `capacity` looks.
  void refresh(std::int64_t now_ns) noexcept {
    const std::uint64_t end = written_.load(std::memory_order_acquire);
    std::uint64_t at = read_.load(std::memory_order_relaxed);
    while (at + 1 < end && due_[(at + 1) % slots_] <= now_ns) ++at;
    read_.store(at, std::memory_order_release);
  }
  /// Reader: the message taken last, valid until the next refresh(); zeros before the first.
  const std::byte* read_slot() const noexcept { return slot(read_.load(std::memory_order_relaxed)); }

 private:
  struct Deleter {
    std::size_t alignment;
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t(alignment)); }
  };
  static constexpr std::size_t kCacheLine = 64;

  std::byte* slot(std::uint64_t i) const noexcept { return memory_.get() + (i % slots_) * stride_; }

  std::size_t slots_;
  std::size_t stride_;
  std::unique_ptr<std::byte[], Deleter> memory_;
  std::vector<std::int64_t> due_;
  alignas(kCacheLine) std::atomic<std::uint64_t> written_{1};  ///< the writer's slot
  alignas(kCacheLine) std::atomic<std::uint64_t> read_{0};     ///< the reader's
};

}  // namespace palpate
