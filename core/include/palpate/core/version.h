#pragma once

namespace palpate {

/// Palpate's version, as in CMakeLists.txt; recordings carry it.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace palpate
