#pragma once

namespace palpate {

/// Palpate's version, here and nowhere else: CMakeLists.txt reads it from this line. Recordings carry it.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace palpate
