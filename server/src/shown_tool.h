#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "palpate/scene/scene.h"

namespace palpate {

/// What a page is told about a tool, apart from where it is.
struct ShownTool {
  std::string name;
  std::string kind;                 ///< as far as a page draws them differently: "point", "fingers" or "body"
  double radius = 0.0;              ///< [m]
  double coupling_stiffness = 0.0;  ///< [N/m]
  std::string method;
};

/// The tools of a scene, all run with that method, or each with its own if that is empty. Throws InputError.
std::vector<ShownTool> make_shown_tools(const Scene& scene, const std::string& method);

nlohmann::ordered_json make_json(const std::vector<ShownTool>& tools);

/// The method that all tools share; empty if they do not. `tools` are a scene's or a recording's.
template <typename Tools>
std::string find_common_method(const Tools& tools) {
  for (const auto& tool : tools) {
    if (tool.method != tools.front().method) return {};
  }
  return tools.front().method;
}

}  // namespace palpate
