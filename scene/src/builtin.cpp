#include "palpate/scene/builtin.h"

#include <filesystem>

#include "builtin_list.h"
#include "palpate/core/error.h"

namespace palpate {

std::span<const BuiltinScene> builtin_scenes() noexcept {
  return builtin_list();
}

Scene load_builtin_scene(std::string_view name) {
  std::vector<std::string_view> names;
  for (const BuiltinScene& scene : builtin_scenes()) {
    if (scene.name == name) return parse_scene(std::string(scene.text), fmt::format("scenes/{}.json", name));
    names.push_back(scene.name);
  }
  const std::string_view near = nearest_word(name, names);
  fail_input("no scene file or built-in scene {}; built in: {}{}", quote_for_message(name), join_words(names),
             near.empty() ? std::string() : fmt::format(". Did you mean \"{}\"?", near));
}

Scene find_scene(const std::string& file_or_name) {
  std::error_code error;
  if (std::filesystem::exists(file_or_name, error)) return load_scene(file_or_name);
  const bool path = file_or_name.find('/') != std::string::npos || file_or_name.ends_with(".json");
  return path ? load_scene(file_or_name) : load_builtin_scene(file_or_name);
}

}  // namespace palpate
