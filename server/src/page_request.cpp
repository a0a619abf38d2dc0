#include "page_request.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace palpate {
namespace page_request {

using Json = nlohmann::json;
using Kind = PageRequest::Kind;

struct Form {
  std::string_view type;
  Kind kind;
  std::string_view needs;  ///< n: name, v: value, o: on, p: pose, t: tool, m: mesh
};
constexpr std::array kForms = {
    Form{"hold", Kind::kHold, "pt"},    Form{"let_go", Kind::kLetGo, "t"},  Form{"pause", Kind::kPause, ""},
    Form{"resume", Kind::kResume, ""},  Form{"step", Kind::kStep, ""},      Form{"reset", Kind::kReset, ""},
    Form{"speed", Kind::kSpeed, "v"},   Form{"method", Kind::kMethod, "n"}, Form{"scene", Kind::kScene, "n"},
    Form{"set", Kind::kSet, "nv"},      Form{"record", Kind::kRecord, "o"}, Form{"play", Kind::kPlay, "n"},
    Form{"repeat", Kind::kRepeat, "n"}, Form{"seek", Kind::kSeek, "v"},     Form{"live", Kind::kLive, ""},
    Form{"stress", Kind::kStress, "o"}, Form{"device", Kind::kDevice, "o"}, Form{"ask", Kind::kAsk, "t"},
    Form{"give", Kind::kGive, "t"},     Form{"keep", Kind::kKeep, "t"},     Form{"make", Kind::kMake, "m"},
};

/// Finite, and no further than anything that is held could be.
bool read_numbers(const Json& m, const char* key, std::size_t count, double* out) {
  const auto at = m.find(key);
  if (at == m.end() || !at->is_array() || at->size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(*at)[i].is_number()) return false;
    out[i] = (*at)[i].get<double>();
    if (!(std::abs(out[i]) <= 100.0)) return false;
  }
  return true;
}

bool read_pose(const Json& m, PageRequest& out) {
  double p[3], q[4] = {1.0, 0.0, 0.0, 0.0};
  if (!read_numbers(m, "position", 3, p)) return false;
  if (m.contains("rotation") && !read_numbers(m, "rotation", 4, q)) return false;
  const Quat rotation(q[0], q[1], q[2], q[3]);
  if (!(rotation.norm() > 0.1)) return false;
  out.pose = {Vec3(p[0], p[1], p[2]), rotation.normalized()};
  const auto grip = m.find("grip");
  if (grip == m.end()) return true;
  if (!grip->is_number()) return false;
  out.grip = grip->get<double>();
  return *out.grip >= 0.0 && *out.grip <= 1.0;
}

/// Whether the scene has so many is the viewer's business.
bool read_tool(const Json& m, PageRequest& out) {
  const auto tool = m.find("tool");
  if (tool == m.end()) return true;
  if (!tool->is_number_unsigned()) return false;
  out.tool = tool->get<std::size_t>();
  return true;
}

/// Whether that can be made of the mesh is the desk's business.
bool read_mesh_choice(const Json& m, MeshChoice& out) {
  const auto flag = [&](const char* key, bool& to) {
    const auto at = m.find(key);
    if (at == m.end() || !at->is_boolean()) return false;
    to = at->get<bool>();
    return true;
  };
  const auto number = [&](const char* key, double& to) {
    const auto at = m.find(key);
    if (at == m.end() || !at->is_number()) return false;
    to = at->get<double>();
    return std::isfinite(to);
  };
  return flag("soft", out.soft) && flag("z_up", out.z_up) && flag("repair", out.repair) && number("scale", out.scale) &&
         number("cell", out.cell);
}

bool read_part(const Json& m, char part, PageRequest& out) {
  const auto find = [&](const char* key) -> const Json& {
    static const Json none;
    const auto at = m.find(key);
    return at == m.end() ? none : *at;
  };
  switch (part) {
    case 'n':
      if (!find("name").is_string()) return false;
      out.name = find("name").get<std::string>();
      return true;
    case 'v':
      if (!find("value").is_number()) return false;
      out.value = find("value").get<double>();
      return std::isfinite(out.value);
    case 'o':
      if (!find("on").is_boolean()) return false;
      out.on = find("on").get<bool>();
      return true;
    case 't':
      return read_tool(m, out);
    case 'm':
      return read_mesh_choice(m, out.mesh);
    default:
      return read_pose(m, out);
  }
}

}  // namespace page_request

std::optional<PageRequest> parse_request(std::string_view text) {
  using namespace page_request;
  const Json m = Json::parse(text, nullptr, false);
  if (!m.is_object() || !m.contains("type") || !m["type"].is_string()) return std::nullopt;
  const auto& type = m["type"].get_ref<const std::string&>();
  for (const Form& form : kForms) {
    if (form.type != type) continue;
    PageRequest out;
    out.kind = form.kind;
    for (const char part : form.needs) {
      if (!read_part(m, part, out)) return std::nullopt;
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace palpate
