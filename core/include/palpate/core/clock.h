#pragma once

#include <cstdint>

namespace palpate {

/// Nanoseconds of the monotonic clock. Wait-free on Linux (vDSO): allowed in a tick.
std::int64_t monotonic_ns() noexcept;

/// Nanoseconds that the processor has spent on the calling thread: what others do on the machine does not count.
std::int64_t processor_ns() noexcept;

/// Sleeps until the monotonic clock reads `deadline_ns`; returns at once if that is past. Any thread.
void sleep_until_ns(std::int64_t deadline_ns) noexcept;

}  // namespace palpate
