#pragma once

#include <span>
#include <string_view>

#include "palpate/scene/scene.h"

namespace palpate {

/// A scene that comes with the program: scenes/NAME.json, compiled in.
struct BuiltinScene {
  std::string_view name;
  std::string_view text;
};

/// All of them; the first is the default.
std::span<const BuiltinScene> builtin_scenes() noexcept;

/// The built-in scene of that name. Throws InputError that lists the names.
Scene load_builtin_scene(std::string_view name);

/// What a user means by SCENE: a file if there is one of that name, else the built-in scene of that name.
Scene find_scene(const std::string& file_or_name);

}  // namespace palpate
