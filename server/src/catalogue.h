#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "palpate/scene/scene.h"

namespace palpate {

/// Is there a built-in scene of that name?
bool is_builtin(const std::string& name);

/// What a page can choose while `scene` runs: built-in scenes, methods in the order of suggest_methods(), the
/// truth before them, each with what speaks for it or against it, each tool's own method, sliders with their values.
/// Changes only with the scene.
nlohmann::ordered_json make_catalogue(const Scene& scene, World& world);

}  // namespace palpate
