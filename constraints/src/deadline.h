#pragma once

#include <chrono>

namespace palpate {

/// A moment on the monotonic clock after which work stops; never, if made of no time.
class Deadline {
 public:
  explicit Deadline(double seconds) noexcept
      : set_(seconds > 0.0),
        at_(set_ ? Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))
                 : Clock::time_point{}) {}
  bool passed() const noexcept { return set_ && Clock::now() >= at_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool set_;
  Clock::time_point at_;
};

}  // namespace palpate
