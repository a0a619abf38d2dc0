#pragma once

#include <optional>
#include <string>
#include <utility>

#include "page_request.h"
#include "recorder.h"

namespace palpate {

/// What a page asks for that needs the loops to stop first.
struct Wish {
  bool restart = false;  ///< of the world
  bool live = false;
  bool opened = false;  ///< a file has become ready
  std::optional<std::string> scene, method, film, repeat;
  std::optional<std::pair<std::string, double>> slider;
  bool any() const noexcept { return restart || live || opened || scene || method || film || repeat || slider; }
};

/// Puts the wish in the place of `wish` if the request is one. False: there is no such thing. Names are compared with
/// lists (of scenes `own` too, which are not built in): one from a page is never a path.
bool note_wish(const PageRequest& request, const std::vector<std::string>& own, const Recorder& recorder, Wish& wish);

}  // namespace palpate
