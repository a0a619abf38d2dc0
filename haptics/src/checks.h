#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "palpate/core/error.h"
#include "palpate/core/fields.h"
#include "palpate/core/math.h"

/// Set-up checks shared by the settings of this layer. Each throws InputError naming field, value and allowed range.
namespace palpate {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// `low ≤ value ≤ high`; NaN fails. `unit` may be empty.
inline void require_range(std::string_view field, double value, double low, double high, std::string_view unit) {
  if (value >= low && value <= high) return;
  fail_input("{} = {} {}: must be from {} to {}", field, value, unit, low, high);
}

/// `0 < value ≤ high`; NaN fails.
inline void require_positive(std::string_view field, double value, double high, std::string_view unit) {
  if (value > 0.0 && value <= high) return;
  fail_input("{} = {} {}: must be above 0 and at most {}", field, value, unit, high);
}

/// Within its range; NaN fails.
inline void require_in(std::string_view field, double value, const Range& range, std::string_view unit) {
  if (!range.contains(value)) fail_input("{} = {}: {}", field, value, describe_allowed(range, unit));
}

/// Settings with a description, named in messages as `name.field`.
template <typename Settings>
void check_member(std::string_view name, Settings settings) {
  check_fields("", [&](Fields& f) { f.object({.name = name, .doc = ""}, [&](Fields& o) { describe(o, settings); }); });
}

inline void require_finite(std::string_view field, const Vec3& value) {
  if (value.allFinite()) return;
  fail_input("{} = ({}, {}, {}): must be finite", field, value.x(), value.y(), value.z());
}

/// `value` at length one, or an error when it has no direction.
inline Vec3 require_direction(std::string_view field, const Vec3& value) {
  require_finite(field, value);
  const double length = value.stableNorm();
  if (!(length > 1e-12)) {
    fail_input("{} = ({}, {}, {}): must be longer than 1e-12", field, value.x(), value.y(), value.z());
  }
  return value / length;
}

/// `value` at length one, or an error when it is no rotation.
inline Quat require_rotation(std::string_view field, const Quat& value) {
  const double norm = value.norm();
  if (!(norm > 0.5 && norm < 2.0)) fail_input("{}: quaternion of length {}: must be of length 1", field, norm);
  return value.normalized();
}

}  // namespace palpate
