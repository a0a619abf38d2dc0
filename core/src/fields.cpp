#include "palpate/core/fields.h"

#include <algorithm>
#include <cmath>

#include "palpate/core/error.h"

namespace palpate {

std::string describe_range(const Range& range) {
  const bool low = std::isfinite(range.min), high = std::isfinite(range.max);
  if (low && range.min == range.max) return fmt::format("{}", range.min);
  if (low && high && range.above_min) return fmt::format("above {} and at most {}", range.min, range.max);
  if (low && high) return fmt::format("{} to {}", range.min, range.max);
  if (low) return fmt::format("{} {}", range.above_min ? "above" : "at least", range.min);
  if (high) return fmt::format("at most {}", range.max);
  return "a number";
}

std::string suggest_word(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest_word(word, known);
  return near.empty() ? std::string() : fmt::format(". Did you mean \"{}\"?", near);
}

std::string describe_allowed(const Range& range, std::string_view unit) {
  return fmt::format("must be {}{}{}", describe_range(range), unit.empty() ? "" : " ", unit);
}

std::string describe_allowed(std::string_view word, const std::vector<std::string_view>& allowed) {
  return fmt::format("must be one of: {}{}", join_words(allowed), suggest_word(word, allowed));
}

namespace {

class Checker final : public Fields {
 public:
  explicit Checker(std::string path) : path_(std::move(path)) {}

  void number(const Field& field, double& value, double, const Range& range) override { check(field, value, range); }
  void integer(const Field& field, int& value, int, const Range& range) override { check(field, value, range); }
  void boolean(const Field&, bool&, bool) override {}
  void text(const Field&, std::string&, std::string_view) override {}

  void vector(const Field& field, Vec3& value, const Vec3&) override {
    if (!value.allFinite())
      fail_input("{} = [{}, {}, {}]: must be three numbers", at(field), value.x(), value.y(), value.z());
  }

  void word(const Field& field, std::string& value, std::string_view,
            const std::vector<std::string_view>& allowed) override {
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      fail_input("{} = {}: {}", at(field), quote_for_message(value), describe_allowed(value, allowed));
  }

  void optional_number(const Field& field, std::optional<double>& value, const Range& range) override {
    if (value) check(field, *value, range);
  }

  void number_or_auto(const Field& field, double& value, bool&, double, const Range& range) override {
    check(field, value, range);
  }

  void object(const Field& field, const std::function<void(Fields&)>& visit) override {
    Checker inner(at(field));
    visit(inner);
  }

  void items(const Field& field, const ListSize& size, std::size_t count,
             const std::function<void(Fields&, std::size_t)>& visit) override {
    if (count > size.max) fail_input("{}: has {} items; at most {}", at(field), count, size.max);
    for (std::size_t i = 0; i < count; ++i) {
      Checker inner(fmt::format("{}[{}]", at(field), i));
      visit(inner, i);
    }
  }

  void optional_object(const Field& field, bool present, const std::function<void(Fields&)>& visit) override {
    if (present) object(field, visit);
  }

  void kind(const std::vector<FieldKind>& kinds) override {
    for (const FieldKind& k : kinds) {
      if (k.chosen) return k.visit(*this);
    }
  }

  bool choose_form(std::string_view, const std::vector<std::string_view>&, bool listed) override { return listed; }

  void require(bool good, std::string_view what) override {
    if (!good) fail_input("{}{}{}", path_, path_.empty() ? "" : path_.ends_with(':') ? " " : ": ", what);
  }

  void mark(SourcePlace&) override {}

 private:
  std::string at(const Field& field) const {
    if (path_.empty()) return std::string(field.name);
    return fmt::format("{}{}{}", path_, path_.ends_with(':') ? " " : ".", field.name);
  }

  void check(const Field& field, double value, const Range& range) const {
    if (!range.contains(value)) fail_input("{} = {}: {}", at(field), value, describe_allowed(range, field.unit));
  }

  const std::string path_;
};

}  // namespace

void check_fields(std::string_view owner, const std::function<void(Fields&)>& visit) {
  Checker checker(owner.empty() ? std::string() : fmt::format("{}:", owner));
  visit(checker);
}

}  // namespace palpate
