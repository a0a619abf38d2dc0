#include <algorithm>
#include <cmath>

#include "json_value.h"
#include "palpate/core/error.h"
#include "scene_fields.h"

namespace palpate {
namespace {

std::string show_value(const JsonValue& value) {
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

class Reader final : public Fields {
 public:
  /// `absent`: the object is not in the file, and nothing of it is missed.
  Reader(const JsonValue& value, const std::string& file, std::string path, bool absent = false)
      : value_(value), file_(file), path_(std::move(path)), absent_(absent) {}

  void number(const Field& field, double& value, double standard, const Range& range) override {
    const JsonValue* v = find(field, JsonValue::Type::kNumber);
    value = v ? checked(*v, field, range) : standard;
  }

  void integer(const Field& field, int& value, int standard, const Range& range) override {
    value = standard;
    const JsonValue* v = find(field, JsonValue::Type::kNumber);
    if (!v) return;
    const double x = checked(*v, field, range);
    if (x != std::floor(x) || std::abs(x) > 2e9) fail(*v, field.name, "must be a whole number");
    value = static_cast<int>(x);
  }

  void boolean(const Field& field, bool& value, bool standard) override {
    const JsonValue* v = find(field, JsonValue::Type::kBoolean);
    value = v ? v->boolean : standard;
  }

  void text(const Field& field, std::string& value, std::string_view standard) override {
    const JsonValue* v = find(field, JsonValue::Type::kText);
    value = v ? v->text : std::string(standard);
  }

  void vector(const Field& field, Vec3& value, const Vec3& standard) override {
    const JsonValue* v = find(field, JsonValue::Type::kList);
    value = standard;
    if (!v) return;
    if (v->items.size() != 3)
      fail_input("{}: has {} items; must be three numbers [x, y, z]", at(*v, field.name), v->items.size());
    for (int i = 0; i < 3; ++i) {
      const JsonValue& item = v->items[as_size(i)];
      if (item.type != JsonValue::Type::kNumber) fail(item, fmt::format("{}[{}]", field.name, i), "must be a number");
      value[i] = item.number;
    }
  }

  void word(const Field& field, std::string& value, std::string_view standard,
            const std::vector<std::string_view>& allowed) override {
    value = standard;
    const JsonValue* v = find(field, JsonValue::Type::kText);
    if (!v) return;
    if (std::find(allowed.begin(), allowed.end(), v->text) == allowed.end())
      fail(*v, field.name, describe_allowed(v->text, allowed));
    value = v->text;
  }

  void optional_number(const Field& field, std::optional<double>& value, const Range& range) override {
    value.reset();
    if (const JsonValue* v = find(field, JsonValue::Type::kNumber)) value = checked(*v, field, range);
  }

  void number_or_auto(const Field& field, double& value, bool& is_auto, double standard, const Range& range) override {
    const JsonValue* given = value_.find(field.name);
    is_auto = given && given->type == JsonValue::Type::kText;
    if (!is_auto) return number(field, value, standard, range);
    known_.push_back(field.name);
    if (given->text != "auto")
      fail(*given, field.name, fmt::format("{}, or \"auto\"", describe_allowed(range, field.unit)));
    value = standard;
  }

  void object(const Field& field, const std::function<void(Fields&)>& visit) override {
    static const JsonValue nothing{.type = JsonValue::Type::kObject};
    const JsonValue* v = find(field, JsonValue::Type::kObject);
    Reader reader(v ? *v : nothing, file_, join(field.name), !v);
    reader.read(visit);
  }

  void items(const Field& field, const ListSize& size, std::size_t,
             const std::function<void(Fields&, std::size_t)>& visit) override {
    const JsonValue* v = find(field, JsonValue::Type::kList);
    if (!v) return;
    const std::size_t count = v->items.size();
    if (count < size.min && count == 0) fail_input("{} is empty; give at least one", at(*v, field.name));
    if (count < size.min) fail_input("{}: has {} items; at least {}", at(*v, field.name), count, size.min);
    if (count > size.max) fail_input("{}: has {} items; at most {}", at(*v, field.name), count, size.max);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string name = fmt::format("{}[{}]", field.name, i);
      if (v->items[i].type != JsonValue::Type::kObject) fail(v->items[i], name, "must be an object");
      Reader(v->items[i], file_, join(name)).read([&](Fields& f) { visit(f, i); });
    }
  }

  void optional_object(const Field& field, bool, const std::function<void(Fields&)>& visit) override {
    if (const JsonValue* v = find(field, JsonValue::Type::kObject)) Reader(*v, file_, join(field.name)).read(visit);
  }

  void kind(const std::vector<FieldKind>& kinds) override {
    std::vector<std::string_view> names;
    std::string type;
    for (const FieldKind& k : kinds) {
      names.push_back(k.name);
      if (absent_ && k.chosen) type = k.name;
    }
    if (!absent_) word({.name = "type", .doc = "", .required = true}, type, "", names);
    for (const FieldKind& k : kinds) {
      if (k.name == type) k.visit(*this);
    }
  }

  bool choose_form(std::string_view list, const std::vector<std::string_view>& others, bool) override {
    const bool listed = value_.find(list) != nullptr;
    for (const std::string_view other : others) {
      const JsonValue* both = listed ? value_.find(other) : nullptr;
      if (both) fail_input("{}: stands beside \"{}\"; give one of the two", at(*both, other), list);
    }
    return listed;
  }

  void require(bool good, std::string_view what) override {
    if (!good) fail_input("{}: {}", at(value_, {}), what);
  }

  void mark(SourcePlace& place) override {
    if (!absent_) place.text = at(value_, {});
  }

  void read(const std::function<void(Fields&)>& visit) {
    visit(*this);
    refuse_unknown();
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
    fail_input("{} = {}: {}", at(value, name), show_value(value), what);
  }

  const JsonValue* find(const Field& field, JsonValue::Type type) {
    known_.push_back(field.name);
    const JsonValue* v = value_.find(field.name);
    if (!v) {
      if (field.required && !absent_) {
        fail_input("{}: key \"{}\" is missing{}{}{}", at(value_, {}), field.name, field.doc.empty() ? "" : ": ",
                   field.doc, find_misspelt(field.name));
      }
      return nullptr;
    }
    if (v->type != type) fail(*v, field.name, fmt::format("must be {}", type_name(type)));
    return v;
  }

  double checked(const JsonValue& v, const Field& field, const Range& range) const {
    if (!range.contains(v.number)) fail(v, field.name, describe_allowed(range, field.unit));
    return v.number;
  }

  /// A key that nobody has asked for yet and that looks like the one that is missing.
  std::string find_misspelt(std::string_view name) const {
    std::vector<std::string_view> others;
    for (const auto& [key, value] : value_.members) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) others.push_back(key);
    }
    std::string_view near = nearest_word(name, others);
    // "body" for "bodies".
    const auto begins_alike = [&](std::string_view key) {
      return key.size() >= 3 && key.substr(0, 3) == name.substr(0, 3);
    };
    if (const auto like = std::find_if(others.begin(), others.end(), begins_alike);
        near.empty() && like != others.end())
      near = *like;
    return near.empty() ? std::string() : fmt::format(". Is it {}?", quote_for_message(near));
  }

  void refuse_unknown() const {
    for (const auto& [name, value] : value_.members) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      fail_input("{}: unknown key {}{}{} Known here: {}", at(value, {}), quote_for_message(name),
                 suggest_word(name, known_), suggest_word(name, known_).empty() ? "." : "", join_words(known_));
    }
  }

  const JsonValue& value_;
  const std::string& file_;
  const std::string path_;
  const bool absent_;
  std::vector<std::string_view> known_;  // views of literals in the describing functions
};

}  // namespace

void read_fields(const JsonValue& root, const std::string& file, const std::function<void(Fields&)>& visit) {
  if (root.type != JsonValue::Type::kObject)
    fail_input("{}:{}: must be an object {{…}}, is {}", file, root.line, type_name(root.type));
  Reader(root, file, "").read(visit);
}

}  // namespace palpate
