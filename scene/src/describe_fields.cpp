#include <cmath>
#include <nlohmann/json.hpp>

#include "fields.h"

namespace palpate {
namespace {

using Json = nlohmann::ordered_json;

class Describer final : public Fields {
 public:
  void number(const Field& field, double& value, const Range& range) override {
    Json& j = add(field, "number");
    describe(range, j);
    if (!field.required && std::isfinite(value)) j["default"] = value;
  }

  void integer(const Field& field, int& value, const Range& range) override {
    Json& j = add(field, "integer");
    describe(range, j);
    if (!field.required) j["default"] = value;
  }

  void boolean(const Field& field, bool& value) override {
    Json& j = add(field, "boolean");
    if (!field.required) j["default"] = value;
  }

  void text(const Field& field, std::string& value) override {
    Json& j = add(field, "string");
    if (!field.required && !value.empty()) j["default"] = value;
  }

  void vector(const Field& field, Vec3& value) override {
    Json& j = add(field, "array");
    j["items"] = {{"type", "number"}};
    j["minItems"] = 3;
    j["maxItems"] = 3;
    if (!field.required) j["default"] = {value.x(), value.y(), value.z()};
  }

  void choice(const Field& field, std::string& value, const std::vector<std::string_view>& allowed) override {
    Json& j = add(field, "string");
    j["enum"] = allowed;
    if (!field.required && !value.empty()) j["default"] = value;
  }

  void object(const Field& field, const std::function<void(Fields&)>& visit) override {
    add(field, "object").update(of(visit));
  }

  void list(const Field& field, std::size_t max_items, const std::function<void(Fields&)>& visit) override {
    Json& j = add(field, "array");
    j["items"] = of(visit);
    j["maxItems"] = max_items;
  }

  void kind(const std::vector<Kind>& kinds) override {
    for (const Kind& k : kinds) {
      Describer inner;
      inner.properties_["type"] = {{"const", k.name}, {"description", k.doc}};
      inner.required_.push_back("type");
      k.visit(inner);
      kinds_.push_back(std::move(inner));
    }
  }

  std::string place() const override { return {}; }

  static Json of(const std::function<void(Fields&)>& visit) {
    Describer inner;
    visit(inner);
    return inner.schema();
  }

 private:
  Json& add(const Field& field, std::string_view type) {
    Json& j = properties_[std::string(field.name)];
    j["type"] = type;
    j["description"] = std::string(field.doc) + (field.unit.empty() ? "" : " [" + std::string(field.unit) + "]");
    if (field.required) required_.push_back(field.name);
    return j;
  }

  static void describe(const Range& range, Json& j) {
    if (std::isfinite(range.min)) j[range.above_min ? "exclusiveMinimum" : "minimum"] = range.min;
    if (std::isfinite(range.max)) j["maximum"] = range.max;
  }

  // Keys common to all kinds are repeated in each, because a closed object must list all its keys in one place.
  Json schema() const {
    if (kinds_.empty()) return closed(properties_, required_);
    Json j;
    j["type"] = "object";
    for (const Describer& k : kinds_) {
      Json properties = k.properties_;
      properties.update(properties_);
      Json required = k.required_;
      for (const auto& name : required_) required.push_back(name);
      j["oneOf"].push_back(closed(properties, required));
    }
    return j;
  }

  static Json closed(const Json& properties, const Json& required) {
    Json j;
    j["type"] = "object";
    j["properties"] = properties;
    if (!required.empty()) j["required"] = required;
    j["additionalProperties"] = false;
    return j;
  }

  Json properties_ = Json::object();
  Json required_ = Json::array();
  std::vector<Describer> kinds_;
};

}  // namespace

std::string describe_fields(std::string_view title, const std::function<void(Fields&)>& visit) {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = title;
  schema.update(Describer::of(visit));
  schema["properties"]["$schema"] = {{"type", "string"}, {"description", "where an editor finds this schema"}};
  return schema.dump(2) + "\n";
}

}  // namespace palpate
