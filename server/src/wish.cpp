#include "wish.h"

#include <algorithm>

#include "catalogue.h"
#include "palpate/methods/registry.h"
#include "scene_settings.h"

namespace palpate {

bool note_wish(const PageRequest& r, const std::vector<std::string>& own, const Recorder& recorder, Wish& wish) {
  using Kind = PageRequest::Kind;
  const auto find = [&](const auto& all) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == r.name; });
  };
  Wish out;
  if (r.kind == Kind::kReset) {
    out.restart = true;
  } else if (r.kind == Kind::kLive) {
    out.live = true;
  } else if (r.kind == Kind::kMethod) {
    const auto& all = registered_methods();
    if (!r.name.empty() && find(all) == all.end()) return false;
    out.method = r.name;
  } else if (r.kind == Kind::kScene) {
    if (std::find(own.begin(), own.end(), r.name) == own.end() && !is_builtin(r.name)) return false;
    out.scene = r.name;
  } else if (r.kind == Kind::kSet) {
    const auto all = scene_sliders();
    const auto slider = find(all);
    if (slider == all.end() || !(r.value >= slider->min && r.value <= slider->max)) return false;
    out.slider = {r.name, r.value};
  } else if (r.kind == Kind::kPlay) {
    if (!recorder.find_film(r.name)) return false;
    out.film = r.name;
  } else if (r.kind == Kind::kRepeat) {
    if (find(recorder.made()) == recorder.made().end()) return false;
    out.repeat = r.name;
  } else {
    return true;
  }
  wish = out;
  return true;
}

}  // namespace palpate
