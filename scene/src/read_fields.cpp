#include <algorithm>
#include <cmath>

#include "fields.h"
#include "json_value.h"
#include "palpate/core/error.h"

namespace palpate {
namespace {

std::string show(const JsonValue& value) {
  switch (value.type) {
    case JsonValue::Type::kNumber:
      return fmt::format("{}", value.number);
    case JsonValue::Type::kBoolean:
      return value.boolean ? "true" : "false";
    case JsonValue::Type::kText:
      return quote_for_message(value.text);
    default:
      return std::string(type_name(value.type));
  }
}

std::string show(const Range& range) {
  const bool low = std::isfinite(range.min), high = std::isfinite(range.max);
  if (low && high) return fmt::format("{}{} to {}", range.above_min ? "above " : "", range.min, range.max);
  if (low) return fmt::format("{} {}", range.above_min ? "above" : "at least", range.min);
  if (high) return fmt::format("at most {}", range.max);
  return "any number";
}

bool within(double x, const Range& range) noexcept {
  return std::isfinite(x) && (range.above_min ? x > range.min : x >= range.min) && x <= range.max;
}

class Reader final : public Fields {
 public:
  Reader(const JsonValue& value, const std::string& file, std::string path)
      : value_(value), file_(file), path_(std::move(path)) {}

  void number(const Field& field, double& value, const Range& range) override {
    if (const JsonValue* v = find(field, JsonValue::Type::kNumber)) value = checked(*v, field, range);
  }

  void integer(const Field& field, int& value, const Range& range) override {
    const JsonValue* v = find(field, JsonValue::Type::kNumber);
    if (!v) return;
    const double x = checked(*v, field, range);
    if (x != std::floor(x) || std::abs(x) > 2e9) fail(*v, field.name, "must be a whole number");
    value = static_cast<int>(x);
  }

  void boolean(const Field& field, bool& value) override {
    if (const JsonValue* v = find(field, JsonValue::Type::kBoolean)) value = v->boolean;
  }

  void text(const Field& field, std::string& value) override {
    if (const JsonValue* v = find(field, JsonValue::Type::kText)) value = v->text;
  }

  void vector(const Field& field, Vec3& value) override {
    const JsonValue* v = find(field, JsonValue::Type::kList);
    if (!v) return;
    if (v->items.size() != 3)
      fail_input("{}: has {} items; must be three numbers [x, y, z]", at(*v, field.name), v->items.size());
    for (int i = 0; i < 3; ++i) {
      const JsonValue& item = v->items[static_cast<std::size_t>(i)];
      const std::string name = fmt::format("{}[{}]", field.name, i);
      if (item.type != JsonValue::Type::kNumber) fail(item, name, "must be a number");
      value[i] = checked(item, Field{name, ""}, kAnyNumber);
    }
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string_view>& allowed) override {
    const JsonValue* v = find(field, JsonValue::Type::kText);
    if (!v) return;
    if (std::find(allowed.begin(), allowed.end(), v->text) == allowed.end()) {
      fail(*v, field.name, fmt::format("must be one of: {}{}", join_words(allowed), suggestion(v->text, allowed)));
    }
    value = v->text;
  }

  void object(const Field& field, const std::function<void(Fields&)>& visit) override {
    if (const JsonValue* v = find(field, JsonValue::Type::kObject)) read(*v, join(field.name), visit);
  }

  void list(const Field& field, std::size_t max_items, const std::function<void(Fields&)>& visit) override {
    const JsonValue* v = find(field, JsonValue::Type::kList);
    if (!v) return;
    if (v->items.size() > max_items)
      fail_input("{}: has {} items; at most {}", at(*v, field.name), v->items.size(), max_items);
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      const std::string name = fmt::format("{}[{}]", field.name, i);
      if (v->items[i].type != JsonValue::Type::kObject) fail(v->items[i], name, "must be an object");
      read(v->items[i], join(name), visit);
    }
  }

  void kind(const std::vector<Kind>& kinds) override {
    std::vector<std::string_view> names;
    for (const Kind& k : kinds) names.push_back(k.name);
    std::string type;
    choice({.name = "type", .doc = "", .required = true}, type, names);
    for (const Kind& k : kinds) {
      if (k.name == type) k.visit(*this);
    }
  }

  std::string place() const override { return at(value_, {}); }

  void read(const JsonValue& value, const std::string& path, const std::function<void(Fields&)>& visit) {
    Reader reader(value, file_, path);
    visit(reader);
    reader.refuse_unknown();
  }

 private:
  std::string join(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }

  std::string at(const JsonValue& value, std::string_view name) const {
    const std::string path = name.empty() ? path_ : join(name);
    return fmt::format("{}:{}: {}", file_, value.line, path.empty() ? "the scene" : path);
  }

  [[noreturn]] void fail(const JsonValue& value, std::string_view name, std::string_view what) const {
    fail_input("{} = {}: {}", at(value, name), show(value), what);
  }

  const JsonValue* find(const Field& field, JsonValue::Type type) {
    known_.push_back(field.name);
    const JsonValue* v = value_.find(field.name);
    if (!v) {
      if (field.required) {
        fail_input("{}: key \"{}\" is missing{}{}", at(value_, {}), field.name, field.doc.empty() ? "" : ": ",
                   field.doc);
      }
      return nullptr;
    }
    if (v->type != type) fail(*v, field.name, fmt::format("must be {}", type_name(type)));
    return v;
  }

  double checked(const JsonValue& v, const Field& field, const Range& range) const {
    if (!within(v.number, range)) {
      fail(v, field.name, fmt::format("must be {}{}{}", show(range), field.unit.empty() ? "" : " ", field.unit));
    }
    return v.number;
  }

  static std::string suggestion(std::string_view word, const std::vector<std::string_view>& known) {
    const std::string_view near = nearest_word(word, known);
    return near.empty() ? std::string() : fmt::format(". Did you mean \"{}\"?", near);
  }

  void refuse_unknown() const {
    for (const auto& [name, value] : value_.members) {
      if (name == "$schema" && path_.empty()) continue;  // editors put it there
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      fail_input("{}: unknown key {}{}; known here: {}", at(value, {}), quote_for_message(name),
                 suggestion(name, known_), join_words(known_));
    }
  }

  const JsonValue& value_;
  const std::string& file_;
  const std::string path_;
  std::vector<std::string_view> known_;  // views of literals in the visiting functions
};

}  // namespace

void read_fields(const JsonValue& root, const std::string& file, const std::function<void(Fields&)>& visit) {
  if (root.type != JsonValue::Type::kObject)
    fail_input("{}:{}: must be an object {{…}}, is {}", file, root.line, type_name(root.type));
  Reader(root, file, "").read(root, "", visit);
}

}  // namespace palpate
