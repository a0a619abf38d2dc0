#include <algorithm>
#include <cmath>

#include "palpate/record/report.h"

namespace palpate {
namespace {

/// Widens [low, high] (indices into `values`) to hold values[i].
void widen(const std::vector<double>& values, std::size_t i, std::size_t& low, std::size_t& high) {
  if (values[i] < values[low]) low = i;
  if (values[i] > values[high]) high = i;
}

/// The points of [begin, end) to keep, in order, perhaps some twice: the extremes, and one gap if there is any.
std::vector<std::size_t> choose(const Series& series, PlotKind kind, std::size_t begin, std::size_t end) {
  std::vector<std::size_t> kept;
  std::size_t x_low = end, x_high = end, y_low = end, y_high = end;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) {
      if (kept.empty()) kept.push_back(i);
      continue;
    }
    if (y_low == end) x_low = x_high = y_low = y_high = i;
    widen(series.x, i, x_low, x_high);
    widen(series.y, i, y_low, y_high);
  }
  if (y_low != end) kept.insert(kept.end(), {y_low, y_high});
  if (y_low != end && kind == PlotKind::kPath) kept.insert(kept.end(), {x_low, x_high});
  std::ranges::sort(kept);
  return kept;
}

}  // namespace

Series decimate(const Series& series, PlotKind kind, std::size_t limit) {
  const std::size_t n = std::min(series.x.size(), series.y.size());
  const std::size_t points_to_a_bucket = kind == PlotKind::kPath ? 5 : 3;
  const std::size_t buckets = limit > 2 ? std::max<std::size_t>(1, (limit - 2) / points_to_a_bucket) : 1;
  Series out{series.name, {}, {}, series.style};
  std::size_t next = 0;
  const auto keep = [&](std::size_t i) {
    if (i < next) return;
    out.x.push_back(series.x[i]);
    out.y.push_back(series.y[i]);
    next = i + 1;
  };
  if (n <= limit) {
    for (std::size_t i = 0; i < n; ++i) keep(i);
    return out;
  }
  keep(0);
  for (std::size_t b = 0; b < buckets; ++b) {
    for (const std::size_t i : choose(series, kind, b * n / buckets, (b + 1) * n / buckets)) keep(i);
  }
  keep(n - 1);
  return out;
}

}  // namespace palpate
