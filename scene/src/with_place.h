#pragma once

#include <string_view>

#include "palpate/core/error.h"
#include "palpate/core/fields.h"

namespace palpate {

/// What `make` returns. What goes wrong in it is said with the place that asked for it, unless a part of that has said
/// its own place already.
template <typename Make>
auto with_place(const SourcePlace& place, Make make) {
  if (place.text.empty()) return make();
  try {
    return make();
  } catch (const InputError& error) {
    const std::string_view what = error.what(), whole = place.text;
    const std::string_view file = whole.substr(0, whole.find(':'));
    if (what.starts_with(file) && what.substr(file.size()).starts_with(':')) throw;
    fail_input("{}: {}", whole, what);
  }
}

}  // namespace palpate
