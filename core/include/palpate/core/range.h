#pragma once

#include <limits>
#include <string>

namespace palpate {

/// What a number may be.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is not allowed

  constexpr bool contains(double x) const noexcept { return (above_min ? x > min : x >= min) && x <= max; }  // not NaN
};

inline constexpr Range kAnyNumber{};
inline constexpr Range kPositive{0.0, std::numeric_limits<double>::infinity(), true};
inline constexpr Range kNotNegative{0.0};

/// `0 to 10`, `above 0 and at most 10`, `above 0`, `at most 3`, `1`: what follows "must be" in a message.
std::string describe_range(const Range& range);

}  // namespace palpate
