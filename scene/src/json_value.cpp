#include "json_value.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"

namespace palpate {
namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr int kNumberOverflow = 406;  // the library's number for it

/// A number as it stood in the file, without the library's words around it, and not all of a very long one.
std::string quote_number(std::string_view token) {
  const std::size_t begin = std::min(token.find_first_of("-0123456789"), token.size());
  const std::string_view number = token.substr(begin, token.find_first_not_of("+-0123456789.eE", begin) - begin);
  return number.size() <= 24 ? std::string(number) : fmt::format("{}…", number.substr(0, 24));
}

/// Feeds the parser and remembers how far it has read: the library tells no positions for what it accepts.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** furthest;

  reference operator*() const noexcept { return *at; }
  CountingIterator& operator++() noexcept {
    *furthest = ++at;
    return *this;
  }
  bool operator==(const CountingIterator& o) const noexcept { return at == o.at; }
  bool operator!=(const CountingIterator& o) const noexcept { return at != o.at; }
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const std::string& file) : text_(text), file_(file), counted_(text.data()) {
    furthest_ = text.data();
  }

  const char** furthest() noexcept { return &furthest_; }
  JsonValue take() { return std::move(root_); }

  bool null() override { return add(JsonValue::Type::kNull), true; }
  bool boolean(bool value) override { return add(JsonValue::Type::kBoolean).boolean = value, true; }
  bool number_integer(number_integer_t value) override { return add_number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add_number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add_number(value); }
  bool string(string_t& value) override { return add(JsonValue::Type::kText).text = std::move(value), true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Type::kObject); }
  bool start_array(std::size_t) override { return open(JsonValue::Type::kList); }
  bool end_object() override { return stack_.pop_back(), true; }
  bool end_array() override { return stack_.pop_back(), true; }

  bool key(string_t& name) override {
    if (stack_.back()->find(name)) fail_input("{}:{}: key {} is given twice", file_, line(), quote_for_message(name));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception& error) override {
    if (error.id == kNumberOverflow) {
      fail_input("{}:{}: {} = {}: too large a number; at most {:.1e}", file_, line(), path(), quote_number(token),
                 std::numeric_limits<double>::max());
    }
    std::string what = error.what();
    // The library's own prefix and position say less than ours.
    if (const auto at = what.find(": "); at != std::string::npos) what = what.substr(at + 2);
    fail_input("{}:{}: not JSON near {}: {}", file_, line(), quote_for_message(token, 24),
               quote_for_message(what, 160));
  }

 private:
  // The parser has read one character past a number, at most to the end of its line; all else ends where it ends.
  int line() noexcept {
    const char* last = furthest_ > text_.data() ? furthest_ - 1 : furthest_;
    if (last > counted_) {
      line_ += static_cast<int>(std::count(counted_, last, '\n'));
      counted_ = last;
    }
    return line_;
  }

  /// Of the value that is being read: `bodies[0].friction`.
  std::string path() const {
    std::string out;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      const JsonValue& parent = *stack_[i];
      const bool last = i + 1 == stack_.size();
      if (parent.type == JsonValue::Type::kObject)
        out += fmt::format("{}{}", out.empty() ? "" : ".", last ? key_ : parent.members.back().first);
      else
        out += fmt::format("[{}]", last ? parent.items.size() : parent.items.size() - 1);
    }
    return out.empty() ? "the scene" : out;
  }

  JsonValue& add(JsonValue::Type type) {
    JsonValue* value = &root_;
    if (!stack_.empty()) {
      JsonValue& parent = *stack_.back();
      if (parent.type == JsonValue::Type::kObject) {
        value = &parent.members.emplace_back(std::move(key_), JsonValue{}).second;
      } else {
        value = &parent.items.emplace_back();
      }
    }
    value->type = type;
    value->line = line();
    return *value;
  }

  bool add_number(double number) { return add(JsonValue::Type::kNumber).number = number, true; }

  bool open(JsonValue::Type type) {
    JsonValue& value = add(type);
    if (stack_.size() >= kMaxDepth) fail_input("{}:{}: nested deeper than {} levels", file_, line(), kMaxDepth);
    stack_.push_back(&value);  // stays valid: a parent grows only after its child is closed
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  const char* furthest_;
  const char* counted_;
  int line_ = 1;
  JsonValue root_;
  std::vector<JsonValue*> stack_;
  std::string key_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string_view type_name(JsonValue::Type type) noexcept {
  switch (type) {
    case JsonValue::Type::kNull:
      return "null";
    case JsonValue::Type::kBoolean:
      return "true or false";
    case JsonValue::Type::kNumber:
      return "a number";
    case JsonValue::Type::kText:
      return "a text";
    case JsonValue::Type::kList:
      return "a list";
    case JsonValue::Type::kObject:
      return "an object";
  }
  return "?";
}

JsonValue parse_json(std::string_view text, const std::string& file) {
  TreeBuilder builder(text, file);
  const CountingIterator begin{text.data(), builder.furthest()};
  const CountingIterator end{text.data() + text.size(), builder.furthest()};
  nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json, true, true);
  return builder.take();
}

}  // namespace palpate
