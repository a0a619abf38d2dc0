#pragma once

#include <span>

#include "palpate/server/web_server.h"

namespace palpate {

/// The page, as web/ was built.
std::span<const WebAsset> viewer_assets() noexcept;

}  // namespace palpate
