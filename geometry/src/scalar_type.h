#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "palpate/core/index.h"

namespace palpate {

/// Types of numbers in binary mesh files.
enum class ScalarType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kInt64, kUint64, kFloat32, kFloat64 };

inline std::size_t size_of(ScalarType type) noexcept {
  constexpr std::array<std::size_t, 10> kSizes = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return kSizes[as_size(type)];
}

template <typename T>
T load_as(const char* bytes, bool big_endian) noexcept {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), bytes, sizeof(T));
  if (big_endian) std::reverse(raw.begin(), raw.end());
  T value;
  std::memcpy(&value, raw.data(), sizeof(T));
  return value;
}

/// The number that starts at `bytes`. 64-bit integers beyond 2^53 are rounded; as indices they are out of range anyway.
inline double load_scalar(ScalarType type, const char* bytes, bool big_endian) noexcept {
  switch (type) {
    case ScalarType::kInt8:
      return load_as<std::int8_t>(bytes, big_endian);
    case ScalarType::kUint8:
      return load_as<std::uint8_t>(bytes, big_endian);
    case ScalarType::kInt16:
      return load_as<std::int16_t>(bytes, big_endian);
    case ScalarType::kUint16:
      return load_as<std::uint16_t>(bytes, big_endian);
    case ScalarType::kInt32:
      return load_as<std::int32_t>(bytes, big_endian);
    case ScalarType::kUint32:
      return load_as<std::uint32_t>(bytes, big_endian);
    case ScalarType::kInt64:
      return static_cast<double>(load_as<std::int64_t>(bytes, big_endian));
    case ScalarType::kUint64:
      return static_cast<double>(load_as<std::uint64_t>(bytes, big_endian));
    case ScalarType::kFloat32:
      return load_as<float>(bytes, big_endian);
    case ScalarType::kFloat64:
      return load_as<double>(bytes, big_endian);
  }
  return 0.0;
}

}  // namespace palpate
