#include "json_layout.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace palpate {
namespace {

/// Longest line of what is put on one.
constexpr std::size_t kLineLength = 110;

std::string show_flat(const JsonText& json) {
  if (json.type == JsonText::Type::kPlain) return json.text;
  const bool object = json.type == JsonText::Type::kObject;
  if (json.members.empty()) return object ? "{}" : "[]";
  std::string out = object ? "{ " : "[";
  for (std::size_t i = 0; i < json.members.size(); ++i) {
    if (i > 0) out += ", ";
    if (object) out += show_text(json.members[i].first) + ": ";
    out += show_flat(json.members[i].second);
  }
  return out + (object ? " }" : "]");
}

/// `column`: where it begins, `indent`: of the line that it begins on. The outermost object is never put on one line.
void lay_out_at(const JsonText& json, std::size_t indent, std::size_t column, std::string& out) {
  const std::string flat = show_flat(json);
  if (json.type == JsonText::Type::kPlain || json.members.empty() ||
      (column > 0 && column + flat.size() <= kLineLength)) {
    out += flat;
    return;
  }
  const bool object = json.type == JsonText::Type::kObject;
  out += object ? "{\n" : "[\n";
  for (std::size_t i = 0; i < json.members.size(); ++i) {
    const std::string name = object ? show_text(json.members[i].first) + ": " : std::string();
    out += std::string(indent + 2, ' ') + name;
    lay_out_at(json.members[i].second, indent + 2, indent + 3 + name.size(), out);  // a comma may follow
    out += i + 1 < json.members.size() ? ",\n" : "\n";
  }
  out += std::string(indent, ' ') + (object ? "}" : "]");
}

}  // namespace

std::string show_number(double x) {
  // −0 needs its point: without it readers see a whole number, which has no sign.
  return x == 0.0 && std::signbit(x) ? "-0.0" : fmt::format("{}", x);
}

std::string show_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string lay_out(const JsonText& json) {
  std::string out;
  lay_out_at(json, 0, 0, out);
  return out + "\n";
}

}  // namespace palpate
