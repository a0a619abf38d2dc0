#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace palpate {

/// A JSON value that knows the line it stands on, so that an error can name it.
struct JsonValue {
  enum class Type { kNull, kBoolean, kNumber, kText, kList, kObject };
  Type type = Type::kNull;
  int line = 0;  ///< from 1
  bool boolean = false;
  double number = 0.0;
  std::string text{};
  std::vector<JsonValue> items{};                            ///< of a list
  std::vector<std::pair<std::string, JsonValue>> members{};  ///< of an object, in the file's order

  const JsonValue* find(std::string_view key) const noexcept;
};

/// `a number`, `an object`, … for messages.
std::string_view type_name(JsonValue::Type type) noexcept;

/// Reads JSON with // and /* */ comments. Throws InputError `file:line: …` on bad syntax, keys given twice, and
/// nesting deeper than 32.
JsonValue parse_json(std::string_view text, const std::string& file);

}  // namespace palpate
