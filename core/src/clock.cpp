#include "palpate/core/clock.h"

#include <cerrno>
#include <ctime>

namespace palpate {

std::int64_t monotonic_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void sleep_until_ns(std::int64_t deadline_ns) noexcept {
  const timespec t{deadline_ns / 1'000'000'000, deadline_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

}  // namespace palpate
