#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "json_layout.h"
#include "scene_fields.h"

namespace palpate {
namespace {

bool same_bits(double a, double b) noexcept {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

class Writer final : public Fields {
 public:
  void number(const Field& field, double& value, double standard, const Range&) override {
    if (is_written(field, same_bits(value, standard))) add(field, show_number(value));
  }

  void integer(const Field& field, int& value, int standard, const Range&) override {
    if (is_written(field, value == standard)) add(field, fmt::format("{}", value));
  }

  void boolean(const Field& field, bool& value, bool standard) override {
    if (is_written(field, value == standard)) add(field, value ? "true" : "false");
  }

  void text(const Field& field, std::string& value, std::string_view standard) override {
    if (is_written(field, value == standard)) add(field, show_text(value));
  }

  void vector(const Field& field, Vec3& value, const Vec3& standard) override {
    const bool same =
        same_bits(value.x(), standard.x()) && same_bits(value.y(), standard.y()) && same_bits(value.z(), standard.z());
    if (!is_written(field, same)) return;
    JsonText list{.type = JsonText::Type::kList};
    for (const double x : value) list.members.push_back({{}, {.text = show_number(x)}});
    add(field, std::move(list));
  }

  void word(const Field& field, std::string& value, std::string_view standard,
            const std::vector<std::string_view>&) override {
    if (is_written(field, value == standard)) add(field, show_text(value));
  }

  void optional_number(const Field& field, std::optional<double>& value, const Range&) override {
    if (value) add(field, show_number(*value));
  }

  void number_or_auto(const Field& field, double& value, bool& is_auto, double standard, const Range& range) override {
    is_auto ? add(field, show_text("auto")) : number(field, value, standard, range);
  }

  void object(const Field& field, const std::function<void(Fields&)>& visit) override {
    JsonText inner = write(visit);
    if (field.required || !inner.members.empty()) add(field, std::move(inner));
  }

  void items(const Field& field, const ListSize&, std::size_t count,
             const std::function<void(Fields&, std::size_t)>& visit) override {
    if (count == 0 && !field.required) return;
    JsonText list{.type = JsonText::Type::kList};
    for (std::size_t i = 0; i < count; ++i) list.members.push_back({{}, write([&](Fields& f) { visit(f, i); })});
    add(field, std::move(list));
  }

  void optional_object(const Field& field, bool present, const std::function<void(Fields&)>& visit) override {
    if (present) add(field, write(visit));
  }

  void kind(const std::vector<FieldKind>& kinds) override {
    for (const FieldKind& k : kinds) {
      if (!k.chosen) continue;
      add({.name = "type", .doc = ""}, show_text(k.name));
      k.visit(*this);
      return;
    }
  }

  bool choose_form(std::string_view, const std::vector<std::string_view>&, bool listed) override { return listed; }
  void require(bool, std::string_view) override {}
  void mark(SourcePlace&) override {}

  static JsonText write(const std::function<void(Fields&)>& visit) {
    Writer inner;
    visit(inner);
    return std::move(inner.out_);
  }

 private:
  static bool is_written(const Field& field, bool is_standard) noexcept {
    return field.required || field.always || !is_standard;
  }
  void add(const Field& field, std::string plain) { add(field, JsonText{.text = std::move(plain)}); }
  void add(const Field& field, JsonText value) { out_.members.emplace_back(field.name, std::move(value)); }

  JsonText out_{.type = JsonText::Type::kObject};
};

/// Finds names of files, and changes nothing else.
class FileFinder final : public Fields {
 public:
  explicit FileFinder(const std::function<void(std::string&)>& change) : change_(change) {}
  void number(const Field&, double&, double, const Range&) override {}
  void integer(const Field&, int&, int, const Range&) override {}
  void boolean(const Field&, bool&, bool) override {}
  void text(const Field& field, std::string& value, std::string_view) override {
    if (field.file && !value.empty()) change_(value);
  }
  void vector(const Field&, Vec3&, const Vec3&) override {}
  void word(const Field&, std::string&, std::string_view, const std::vector<std::string_view>&) override {}
  void optional_number(const Field&, std::optional<double>&, const Range&) override {}
  void number_or_auto(const Field&, double&, bool&, double, const Range&) override {}
  void object(const Field&, const std::function<void(Fields&)>& visit) override { visit(*this); }
  void items(const Field&, const ListSize&, std::size_t count,
             const std::function<void(Fields&, std::size_t)>& visit) override {
    for (std::size_t i = 0; i < count; ++i) visit(*this, i);
  }
  void optional_object(const Field&, bool present, const std::function<void(Fields&)>& visit) override {
    if (present) visit(*this);
  }
  void kind(const std::vector<FieldKind>& kinds) override {
    for (const FieldKind& k : kinds) {
      if (k.chosen) return k.visit(*this);
    }
  }
  bool choose_form(std::string_view, const std::vector<std::string_view>&, bool listed) override { return listed; }
  void require(bool, std::string_view) override {}
  void mark(SourcePlace&) override {}

 private:
  const std::function<void(std::string&)>& change_;
};

}  // namespace

std::string write_fields(const std::function<void(Fields&)>& visit) {
  return lay_out(Writer::write(visit));
}

void change_files(const std::function<void(Fields&)>& visit, const std::function<void(std::string&)>& change) {
  FileFinder finder(change);
  visit(finder);
}

}  // namespace palpate
