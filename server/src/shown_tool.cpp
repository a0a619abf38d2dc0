#include "shown_tool.h"

#include <nlohmann/json.hpp>

namespace palpate {
namespace shown_tool {

std::string_view name_of(const ToolSettings& tool) noexcept {
  if (tool.is<HeldPoint>()) return "point";
  return tool.is<HeldFingers>() ? "fingers" : "body";
}

}  // namespace shown_tool

std::vector<ShownTool> make_shown_tools(const Scene& scene, const std::string& method) {
  std::vector<ShownTool> out;
  for (std::size_t i = 0; i < scene.tools.size(); ++i) {
    const HeldTool& held = scene.tools[i];
    const ToolSettings tool = make_tool_settings(scene, i);
    out.push_back({held.name, std::string(shown_tool::name_of(tool)), tool.radius(), held.tool.coupling.stiffness,
                   method.empty() ? held.method : method});
  }
  return out;
}

nlohmann::ordered_json make_json(const std::vector<ShownTool>& tools) {
  auto out = nlohmann::ordered_json::array();
  for (const ShownTool& t : tools) {
    out.push_back({{"name", t.name},
                   {"kind", t.kind},
                   {"radius", t.radius},
                   {"coupling_stiffness", t.coupling_stiffness},
                   {"method", t.method}});
  }
  return out;
}

}  // namespace palpate
