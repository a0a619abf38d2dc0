#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace palpate {

/// Counts round trips in a few bins that people can read off a small picture, while they are being counted.
///
/// Threads: add() by one, wait-free; the counts by any, each of them exact at its own moment.
class RoundTripBins {
 public:
  /// Upper edges of all bins but the last, which is open [µs].
  static constexpr std::array<int, 11> kEdgesUs{20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000};
  static constexpr std::size_t kCount = kEdgesUs.size() + 1;

  void add(std::int64_t ns) noexcept {
    std::size_t bin = 0;
    while (bin < kEdgesUs.size() && ns >= std::int64_t{1000} * kEdgesUs[bin]) ++bin;
    bins_[bin].fetch_add(1, std::memory_order_relaxed);
  }
  std::array<std::uint64_t, kCount> counts() const noexcept {
    std::array<std::uint64_t, kCount> out{};
    for (std::size_t i = 0; i < kCount; ++i) out[i] = bins_[i].load(std::memory_order_relaxed);
    return out;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kCount> bins_{};
};

}  // namespace palpate
