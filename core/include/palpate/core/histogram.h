#pragma once

#include <array>
#include <cstdint>

#include "palpate/core/index.h"

namespace palpate {

/// Counts durations in logarithmic bins: 32 to each doubling, 1 ns to 2^40 ns (18 minutes), so a percentile is known
/// to 2.2 %. Maximum, count and sum are exact. One writer; add() is wait-free and allocates nothing.
class Histogram {
 public:
  void add(std::int64_t ns) noexcept;
  void merge(const Histogram& other) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  std::int64_t max_ns() const noexcept { return max_; }
  double mean_ns() const noexcept { return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0.0; }

  /// The duration below which a share `p` in [0, 1] of the samples lies; 0 when empty.
  double compute_percentile_ns(double p) const noexcept;

  static constexpr int kBins = 32 * 40;
  std::uint64_t bin(int i) const noexcept { return bins_[as_size(i)]; }
  /// Lower edge of bin i [ns].
  static double bin_edge_ns(int i) noexcept;

 private:
  std::array<std::uint64_t, kBins> bins_{};
  std::uint64_t count_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace palpate
