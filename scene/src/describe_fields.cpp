#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "json_layout.h"
#include "scene_fields.h"

namespace palpate {
namespace {

using SchemaJson = nlohmann::ordered_json;

JsonText make_text(const SchemaJson& json) {
  JsonText out;
  if (json.is_structured()) {
    out.type = json.is_object() ? JsonText::Type::kObject : JsonText::Type::kList;
    for (const auto& [name, member] : json.items())
      out.members.emplace_back(json.is_object() ? name : std::string(), make_text(member));
  } else {
    out.text = json.is_number_float() ? show_number(json.get<double>()) : json.dump();
  }
  return out;
}

class Describer final : public Fields {
 public:
  explicit Describer(SchemaJson& defs) : defs_(&defs) {}

  void number(const Field& field, double&, double standard, const Range& range) override {
    SchemaJson& j = add(field, "number");
    describe_bounds(range, j);
    if (!field.required && std::isfinite(standard)) j["default"] = standard;
  }

  void integer(const Field& field, int&, int standard, const Range& range) override {
    SchemaJson& j = add(field, "integer");
    if (std::isfinite(range.min)) j["minimum"] = static_cast<std::int64_t>(range.min);
    if (std::isfinite(range.max)) j["maximum"] = static_cast<std::int64_t>(range.max);
    if (!field.required) j["default"] = standard;
  }

  void boolean(const Field& field, bool&, bool standard) override {
    SchemaJson& j = add(field, "boolean");
    if (!field.required) j["default"] = standard;
  }

  void text(const Field& field, std::string&, std::string_view standard) override {
    SchemaJson& j = add(field, "string");
    if (!field.required && !standard.empty()) j["default"] = standard;
  }

  void vector(const Field& field, Vec3&, const Vec3& standard) override {
    add(field, "")["$ref"] = define("vector", [] {
      return SchemaJson{{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 3}, {"maxItems", 3}};
    });
    if (!field.required) properties_[std::string(field.name)]["default"] = {standard.x(), standard.y(), standard.z()};
  }

  void word(const Field& field, std::string&, std::string_view standard,
            const std::vector<std::string_view>& allowed) override {
    SchemaJson& j = add(field, "string");
    j["enum"] = allowed;
    if (!field.required && !standard.empty()) j["default"] = standard;
  }

  void optional_number(const Field& field, std::optional<double>&, const Range& range) override {
    describe_bounds(range, add(field, "number"));
  }

  void number_or_auto(const Field& field, double&, bool&, double standard, const Range& range) override {
    SchemaJson number = {{"type", "number"}};
    describe_bounds(range, number);
    SchemaJson& j = add(field, "");
    j["oneOf"] = SchemaJson::array({number, {{"const", "auto"}}});
    if (!field.required && std::isfinite(standard)) j["default"] = standard;
  }

  void object(const Field& field, const std::function<void(Fields&)>& visit) override {
    add(field, "").update(make_inner(field, visit));
  }

  void items(const Field& field, const ListSize& size, std::size_t count,
             const std::function<void(Fields&, std::size_t)>& visit) override {
    SchemaJson& j = add(field, "array");
    j["items"] = make_inner(field, [&](Fields& f) { visit(f, count); });
    if (size.min > 0) j["minItems"] = size.min;
    j["maxItems"] = size.max;
  }

  void optional_object(const Field& field, bool, const std::function<void(Fields&)>& visit) override {
    object(field, visit);
  }

  void kind(const std::vector<FieldKind>& kinds) override {
    for (const FieldKind& k : kinds) {
      Describer inner(*defs_);
      inner.name_ = k.name;
      inner.properties_["type"] = {{"const", k.name}, {"description", k.doc}};
      inner.required_.push_back("type");
      k.visit(inner);
      kinds_.push_back(std::move(inner));
    }
  }

  bool choose_form(std::string_view list, const std::vector<std::string_view>& others, bool listed) override {
    form_list_ = list;
    form_others_.assign(others.begin(), others.end());
    return listed;
  }

  void require(bool, std::string_view) override {}
  void mark(SourcePlace&) override {}

  /// `def`: its kinds are called after the last word of it. "tap_path" is a kind of "path" and of "single_path".
  SchemaJson make_schema(std::string_view def) const {
    if (kinds_.empty()) {
      SchemaJson j = close(properties_, required_);
      if (!form_list_.empty()) describe_forms(j);
      return j;
    }
    SchemaJson j;
    for (const Describer& k : kinds_) {
      // A closed object must list all its keys in one place: those that all kinds have are repeated in each.
      SchemaJson properties = k.properties_;
      properties.update(properties_);
      SchemaJson required = k.required_;
      for (const auto& name : required_) required.push_back(name);
      const std::string name = fmt::format("{}_{}", k.name_, def.substr(def.rfind('_') + 1));
      j["oneOf"].push_back({{"$ref", define(name, [&] { return close(properties, required); })}});
    }
    return j;
  }

 private:
  SchemaJson& add(const Field& field, std::string_view type) {
    SchemaJson& j = properties_[std::string(field.name)];
    j["description"] = std::string(field.doc) + (field.unit.empty() ? "" : " [" + std::string(field.unit) + "]");
    if (!type.empty()) j["type"] = type;
    const bool by_form = field.name == form_list_ ||
                         std::find(form_others_.begin(), form_others_.end(), field.name) != form_others_.end();
    if (field.required && !by_form) required_.push_back(field.name);
    return j;
  }

  /// Either the last of the others is there and the list is not, or the list is there and none of the others.
  void describe_forms(SchemaJson& j) const {
    const auto has = [](const std::string& name) { return SchemaJson{{"required", SchemaJson::array({name})}}; };
    SchemaJson others = SchemaJson::array();
    for (const std::string& name : form_others_) others.push_back(has(name));
    SchemaJson one = has(form_others_.back()), other = has(form_list_);
    one["not"] = has(form_list_);
    other["not"]["anyOf"] = others;
    j["oneOf"] = SchemaJson::array({one, other});
  }

  SchemaJson make_inner(const Field& field, const std::function<void(Fields&)>& visit) const {
    const auto make = [&] {
      Describer inner(*defs_);
      visit(inner);
      return inner.make_schema(field.def);
    };
    if (field.def.empty()) return make();
    return {{"$ref", define(field.def, make)}};
  }

  /// Puts the definition under $defs, once, and returns how to refer to it. What is described in two ways cannot have
  /// one name.
  std::string define(std::string_view name, const std::function<SchemaJson()>& make) const {
    const std::string key(name);
    SchemaJson made = make();
    if (!defs_->contains(key))
      (*defs_)[key] = std::move(made);
    else if ((*defs_)[key] != made)
      throw std::logic_error("two definitions are called " + key);
    return "#/$defs/" + key;
  }

  static void describe_bounds(const Range& range, SchemaJson& j) {
    if (std::isfinite(range.min)) j[range.above_min ? "exclusiveMinimum" : "minimum"] = range.min;
    if (std::isfinite(range.max)) j["maximum"] = range.max;
  }

  static SchemaJson close(const SchemaJson& properties, const SchemaJson& required) {
    SchemaJson j;
    j["type"] = "object";
    j["properties"] = properties;
    if (!required.empty()) j["required"] = required;
    j["additionalProperties"] = false;
    return j;
  }

  SchemaJson* defs_;
  std::string name_;  ///< of a kind
  SchemaJson properties_ = SchemaJson::object();
  SchemaJson required_ = SchemaJson::array();
  std::vector<Describer> kinds_;
  std::string form_list_;  ///< of an object of two forms, as choose_form() was told
  std::vector<std::string> form_others_;
};

}  // namespace

std::string describe_fields(std::string_view title, const std::function<void(Fields&)>& visit) {
  SchemaJson defs = SchemaJson::object();
  Describer describer(defs);
  visit(describer);
  SchemaJson schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = title;
  schema.update(describer.make_schema(""));
  std::vector<std::string> names;
  for (const auto& [name, definition] : defs.items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) schema["$defs"][name] = defs[name];
  return lay_out(make_text(schema));
}

}  // namespace palpate
