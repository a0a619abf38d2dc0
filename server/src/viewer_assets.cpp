#include "viewer_assets.h"

namespace palpate {
namespace embedded {
extern const std::string_view viewer_html, viewer_js, viewer_css;
}

std::span<const WebAsset> viewer_assets() noexcept {
  static const WebAsset assets[] = {
      {"/index.html", "text/html; charset=utf-8", embedded::viewer_html},
      {"/app.js", "text/javascript; charset=utf-8", embedded::viewer_js},
      {"/app.css", "text/css; charset=utf-8", embedded::viewer_css},
  };
  return assets;
}

}  // namespace palpate
