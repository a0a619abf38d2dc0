#pragma once

namespace palpate::testing {

/// What the calling thread did inside the innermost RealtimeGuard that a fast loop must not do.
struct Violations {
  long allocations = 0;  ///< malloc, calloc, realloc, aligned_alloc, posix_memalign, free of non-null
  long locks = 0;        ///< pthread mutex, rwlock, condition variable, spinlock
  long io = 0;           ///< read, write, open, close, fwrite, printf family, nanosleep, poll
  long total() const noexcept { return allocations + locks + io; }
};

/// Counts, per thread, the forbidden calls made while it lives, by interposing them. Other threads are not counted,
/// so a slow loop may allocate beside the guarded fast loop. Under a sanitizer, which owns malloc, nothing is counted
/// and `available()` is false.
class RealtimeGuard {
 public:
  RealtimeGuard() noexcept;
  ~RealtimeGuard();
  RealtimeGuard(const RealtimeGuard&) = delete;
  RealtimeGuard& operator=(const RealtimeGuard&) = delete;

  Violations violations() const noexcept;
  static bool available() noexcept;
};

}  // namespace palpate::testing
