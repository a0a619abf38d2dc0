#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace palpate {

/// A tick that somebody else's thread calls: what a runtime gives to a device whose vendor has the fast thread.
struct TickHook {
  void (*call)(void* context) noexcept = nullptr;  ///< one tick: read(), compute, write(); real-time
  void* context = nullptr;
};

/// Something that has a fast thread of its own and calls a tick in it, between reading its device and writing to it. A
/// force then reaches the device within the same period.
///
/// Use: who runs a scene asks its device for the source (DriverDevice::tick_source()) and gives it to the realtime
/// runtime (RealtimeSettings::ticks), which calls drive() with its own tick, and release() at the run's end. A source
/// that falls silent (a lost device) is the runtime's to notice: it ticks by its own thread until it is called again.
///
/// Threads: drive() and release() by the owner, in turns; run_tick() by the source's thread alone.
class TickSource {
 public:
  /// From the next period on.
  void drive(const TickHook& hook) noexcept {
    hook_ = hook;
    driven_.store(true, std::memory_order_release);
  }
  /// Returns when no tick is under way and none will come. Waits for one tick at most.
  void release() noexcept {
    driven_.store(false, std::memory_order_seq_cst);
    while (in_tick_.load(std::memory_order_seq_cst)) std::this_thread::yield();
  }
  /// Ticks called so far.
  std::uint64_t ticks() const noexcept { return ticks_.load(std::memory_order_relaxed); }

  /// By the source's thread, once a period. Wait-free but for the tick itself.
  void run_tick() noexcept {
    in_tick_.store(true, std::memory_order_seq_cst);
    if (driven_.load(std::memory_order_seq_cst)) {
      hook_.call(hook_.context);
      ticks_.fetch_add(1, std::memory_order_relaxed);
    }
    in_tick_.store(false, std::memory_order_seq_cst);
  }

 private:
  TickHook hook_;
  std::atomic<bool> driven_{false};
  std::atomic<bool> in_tick_{false};
  std::atomic<std::uint64_t> ticks_{0};
};

}  // namespace palpate
