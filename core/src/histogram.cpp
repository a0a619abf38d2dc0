#include "palpate/core/histogram.h"

#include <algorithm>
#include <cmath>

namespace palpate {

void Histogram::add(std::int64_t ns) noexcept {
  const double clipped = static_cast<double>(std::max<std::int64_t>(ns, 1));
  const int i = static_cast<int>(std::log2(clipped) * 32.0);
  ++bins_[as_size(std::clamp(i, 0, kBins - 1))];
  ++count_;
  sum_ += ns;
  max_ = std::max(max_, ns);
}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::bin_edge_ns(int i) noexcept {
  return std::exp2(i / 32.0);
}

double Histogram::compute_percentile_ns(double p) const noexcept {
  if (count_ == 0) return 0.0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(std::clamp(p, 0.0, 1.0) * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (int i = 0; i < kBins; ++i) {
    seen += bins_[as_size(i)];
    if (seen >= std::max<std::uint64_t>(rank, 1)) {
      return std::min(bin_edge_ns(i + 1), static_cast<double>(max_));
    }
  }
  return static_cast<double>(max_);
}

}  // namespace palpate
