#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace palpate {

/// Whose turn it is to tick when a device's own thread drives the fast loop: that thread's as long as it calls, ours as
/// soon as it has fallen silent, and its again once it calls steadily. At most one of the two ticks at a time; what the
/// tick touches is handed over by begin and end.
///
/// Threads: begin_called() the source's, begin_own() the fast loop's own, end() whichever began. All wait-free: who
/// finds the other one at it leaves the tick out.
class TickDuty {
 public:
  /// Nothing for so long, or for ten periods if that is more, is silence [ns].
  static constexpr std::int64_t kSilence = 5'000'000;
  /// So many calls without a silence between them, and the source is trusted again.
  static constexpr std::uint64_t kSteadyCalls = 5;

  /// `start_ns`: before it nobody ticks.
  TickDuty(double dt, std::int64_t start_ns) noexcept
      : start_(start_ns),
        silence_(std::max(kSilence, static_cast<std::int64_t>(10e9 * dt))),
        least_(static_cast<std::int64_t>(0.7e9 * dt)),
        called_at_(start_ns),
        ticked_at_(start_ns - silence_) {}

  /// The source has called. True: it is to tick now. One that calls more often than the loop's period is not always.
  bool begin_called(std::int64_t now_ns) noexcept {
    called_at_.store(now_ns, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_relaxed);
    if (now_ns < start_ || own_.load(std::memory_order_relaxed)) return false;
    if (now_ns - ticked_at_.load(std::memory_order_relaxed) < least_) return false;
    return begin(now_ns);
  }

  /// Once a period. True: we are to tick ourselves.
  bool begin_own(std::int64_t now_ns) noexcept {
    const bool silent = now_ns - called_at_.load(std::memory_order_relaxed) > silence_;
    const std::uint64_t calls = calls_.load(std::memory_order_relaxed);
    if (silent) {
      calls_at_silence_ = calls;
      own_.store(true, std::memory_order_relaxed);
    } else if (calls - calls_at_silence_ >= kSteadyCalls) {
      own_.store(false, std::memory_order_relaxed);
    }
    return own_.load(std::memory_order_relaxed) && begin(now_ns);
  }

  void end() noexcept { busy_.store(false, std::memory_order_release); }

 private:
  bool begin(std::int64_t now_ns) noexcept {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    ticked_at_.store(now_ns, std::memory_order_relaxed);
    return true;
  }

  const std::int64_t start_, silence_, least_;
  std::atomic<std::int64_t> called_at_, ticked_at_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<bool> own_{false};
  std::atomic<bool> busy_{false};
  std::uint64_t calls_at_silence_ = 0;  ///< fast loop's own thread
};

}  // namespace palpate
