#pragma once

#include <cmath>
#include <limits>

// Floats that bound a double from below and above. Conversion errs by half a unit in the last place, 2^-24 relative,
// and a result below the smallest normal number by less than that number; stepping twice as far is cheaper than
// nextafter and as safe.
namespace palpate {

inline float float_margin(float f) noexcept {
  return std::abs(f) * 0x1p-23f + std::numeric_limits<float>::min();
}

inline float float_below(double x) noexcept {
  const float f = static_cast<float>(x);
  return f - float_margin(f);
}

inline float float_above(double x) noexcept {
  const float f = static_cast<float>(x);
  return f + float_margin(f);
}

}  // namespace palpate
