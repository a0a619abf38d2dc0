#pragma once

#include <cstdint>
#include <memory>

namespace palpate {

/// A thread that does one task at a time beside its owner: the second of two factorisations, say.
///
/// Thread: start() and wait() in the owner's, in turns. They block and wake, so never in a tick; they allocate nothing.
class SecondThread {
 public:
  /// On a machine with one core, or where no thread can be had, there is none: start() then does the task itself.
  SecondThread();
  ~SecondThread();
  SecondThread(const SecondThread&) = delete;
  SecondThread& operator=(const SecondThread&) = delete;

  /// Begins task(context). Both must live until wait() returns.
  void start(void (*task)(void*) noexcept, void* context) noexcept;
  /// Until the task is done; what it wrote is then seen here.
  void wait() noexcept;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

/// Nanoseconds that the calling thread's work takes, SecondThreads' included: processor_ns(), and of each wait() what
/// the processor spent on the task beyond what it spent here meanwhile. What others do on the machine does not count.
std::int64_t work_ns() noexcept;

}  // namespace palpate
