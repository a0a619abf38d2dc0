#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace palpate {

/// JSON on its way to a file.
struct JsonText {
  enum class Type : std::uint8_t { kPlain, kList, kObject };
  Type type = Type::kPlain;
  std::string text{};                                       ///< of a plain one, as it stands in the file
  std::vector<std::pair<std::string, JsonText>> members{};  ///< of an object, or of a list, whose items have no names
};

/// The fewest digits that are read as the same bits.
std::string show_number(double x);
/// With quotation marks.
std::string show_text(std::string_view text);

/// As people would write it: what fits on a line on one line, everything else one member a line.
std::string lay_out(const JsonText& json);

}  // namespace palpate
