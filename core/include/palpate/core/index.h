#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace palpate {

/// Whole numbers in any form: what files hold as double may count things too.
template <typename T>
concept Countable = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// An index, a count or the number of an enumerator as containers take it.
///
/// Indices are `int` (`std::int32_t` in messages and files), so that −1 can say "none" and differences are what they
/// look like; the standard containers want `std::size_t`. It must not be negative.
template <Countable T>
constexpr std::size_t as_size(T index) noexcept {
  if constexpr (std::is_signed_v<T>) assert(index >= 0);
  return static_cast<std::size_t>(index);
}

}  // namespace palpate
