#pragma once

#include <cstddef>

namespace palpate {

/// What a page receives, each kind by itself: of a kind that came twice it gets the newer.
enum Channel : std::size_t { kGeometry, kState, kSurface, kFrame, kDevices };

}  // namespace palpate
