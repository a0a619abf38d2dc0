#include "palpate/core/clock.h"

#include <cerrno>
#include <ctime>

namespace palpate {

namespace {

std::int64_t read_ns(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() noexcept {
  return read_ns(CLOCK_MONOTONIC);
}

std::int64_t processor_ns() noexcept {
  return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_until_ns(std::int64_t deadline_ns) noexcept {
  const timespec t{deadline_ns / 1'000'000'000, deadline_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

}  // namespace palpate
