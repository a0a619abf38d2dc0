# Compiles scenes/*.json into the scene layer, so that an installed program finds them.
set(default_scene organ)
file(GLOB scene_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenes/*.json)
list(REMOVE_ITEM scene_files ${PROJECT_SOURCE_DIR}/scenes/${default_scene}.json)
list(PREPEND scene_files ${PROJECT_SOURCE_DIR}/scenes/${default_scene}.json)
set(declarations "")
set(entries "")
foreach(file ${scene_files})
  cmake_path(GET file STEM name)
  string(MAKE_C_IDENTIFIER "scene_${name}" symbol)
  palpate_embed(palpate_scene ${file} ${symbol})
  string(APPEND declarations "extern const std::string_view ${symbol};\n")
  string(APPEND entries "      {\"${name}\", embedded::${symbol}},\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/scene/builtin_list.cpp @ONLY CONTENT
"#include \"builtin_list.h\"

namespace palpate {
namespace embedded {
@declarations@}  // namespace embedded

std::span<const BuiltinScene> builtin_list() noexcept {
  static const BuiltinScene list[] = {
@entries@  };
  return list;
}

}  // namespace palpate
")
target_sources(palpate_scene PRIVATE ${PROJECT_BINARY_DIR}/generated/scene/builtin_list.cpp)
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/scene/builtin_list.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
