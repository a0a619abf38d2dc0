#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "palpate/core/math.h"
#include "palpate/core/range.h"

// Settings that people write down are described once, by a function `describe(Fields&, Settings&)` that visits every
// one of them with its name, meaning, unit, standard value and range. What a Fields does with that differs: it reads a
// file, writes one, makes the schema of such files, or checks settings that a program has made.
namespace palpate {

/// One of the settings: what it is called, what it means, whether a file must give it.
struct Field {
  std::string_view name;
  std::string_view doc;
  std::string_view unit = "";
  bool required = false;
  bool always = false;        ///< written even where it has its standard value
  bool file = false;          ///< the text is the name of a file
  std::string_view def = "";  ///< of an object or of a list's items: its name among the schema's definitions
};

/// Where something was read, as `file:line: path`, to begin a message about it. Things that stood in different places
/// can be equal: a place does not count in comparisons. Empty where a program made the thing.
struct SourcePlace {
  std::string text;
  friend bool operator==(const SourcePlace&, const SourcePlace&) noexcept { return true; }
};

class Fields;

/// One of the kinds that an object can be, told by its key "type".
struct FieldKind {
  std::string_view name;
  std::string_view doc;
  bool chosen = false;                 ///< it is of this kind now
  std::function<void(Fields&)> visit;  ///< makes it of this kind and visits its settings
};

/// A value of an enumeration and what files call it.
template <typename E>
struct FieldChoice {
  std::string_view name;
  E value;
};

/// How many items a list may have.
struct ListSize {
  std::size_t min = 0;
  std::size_t max = 0;
};

/// Visits the settings of one object. `standard` is the value of a setting that a file does not give; it may depend on
/// settings visited before.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void number(const Field& field, double& value, double standard, const Range& range) = 0;
  virtual void integer(const Field& field, int& value, int standard, const Range& range) = 0;
  virtual void boolean(const Field& field, bool& value, bool standard) = 0;
  virtual void text(const Field& field, std::string& value, std::string_view standard) = 0;
  virtual void vector(const Field& field, Vec3& value, const Vec3& standard) = 0;
  /// One of a few words.
  virtual void word(const Field& field, std::string& value, std::string_view standard,
                    const std::vector<std::string_view>& allowed) = 0;
  /// A number that may be absent, which then means what the doc says.
  virtual void optional_number(const Field& field, std::optional<double>& value, const Range& range) = 0;
  /// A number, or the word "auto": then `is_auto` is true and the value is the standard one. Absent it is the standard.
  virtual void number_or_auto(const Field& field, double& value, bool& is_auto, double standard,
                              const Range& range) = 0;
  /// An object whose absence means that all its settings have their standard values.
  virtual void object(const Field& field, const std::function<void(Fields&)>& visit) = 0;
  /// `visit(f, i)` visits item i, and adds one if there are only i.
  virtual void items(const Field& field, const ListSize& size, std::size_t count,
                     const std::function<void(Fields&, std::size_t)>& visit) = 0;
  /// An object that may be absent. `visit` makes it if need be.
  virtual void optional_object(const Field& field, bool present, const std::function<void(Fields&)>& visit) = 0;
  /// The object is one of several kinds.
  virtual void kind(const std::vector<FieldKind>& kinds) = 0;
  /// The object has one of two forms: one with the key `list`, or one with the keys `others`, the last of which it then
  /// must have. Returns whether it is the first. A file tells by its keys, and having both is an error; where nothing
  /// is read, it is `listed`. To be called before any of these keys is visited.
  virtual bool choose_form(std::string_view list, const std::vector<std::string_view>& others, bool listed) = 0;
  /// What no single setting can tell. `what` completes `place: …`.
  virtual void require(bool good, std::string_view what) = 0;
  /// Keeps where this object stands, if it was read.
  virtual void mark(SourcePlace& place) = 0;

  // What the above makes of C++ types.

  /// `name(E)` is not defined for values that are not among the choices: none exist.
  template <typename E>
  void choice(const Field& field, E& value, E standard, std::initializer_list<FieldChoice<E>> choices) {
    std::vector<std::string_view> names;
    std::string name;
    std::string_view standard_name;
    for (const FieldChoice<E>& c : choices) {
      names.push_back(c.name);
      if (c.value == value) name = c.name;
      if (c.value == standard) standard_name = c.name;
    }
    word(field, name, standard_name, names);
    for (const FieldChoice<E>& c : choices) {
      if (c.name == name) value = c.value;
    }
  }

  /// `visit(Fields&, T&)` visits one item.
  template <typename T, typename Visit>
  void list(const Field& field, const ListSize& size, std::vector<T>& all, Visit visit) {
    items(field, size, all.size(), [&](Fields& f, std::size_t i) {
      if (i == all.size()) all.emplace_back();
      visit(f, all[i]);
    });
  }

  template <typename T, typename Visit>
  void optional(const Field& field, std::optional<T>& value, Visit visit) {
    optional_object(field, value.has_value(), [&](Fields& f) {
      if (!value) value.emplace();
      visit(f, *value);
    });
  }
};

/// A kind of a variant: the alternative T, visited by `visit(Fields&, T&)`.
template <typename T, typename... Ts, typename Visit>
FieldKind make_kind(std::string_view name, std::string_view doc, std::variant<Ts...>& value, Visit visit) {
  return {name, doc, std::holds_alternative<T>(value), [&value, visit](Fields& f) {
            if (!std::holds_alternative<T>(value)) value = T{};
            visit(f, std::get<T>(value));
          }};
}

/// Checks settings that a program made against their description. Throws InputError
/// `owner: path = value: must be …`, without its beginning if `owner` is empty.
void check_fields(std::string_view owner, const std::function<void(Fields&)>& visit);

/// The same of a settings struct, which is not changed.
template <typename Settings>
void check_settings(std::string_view owner, Settings settings) {
  check_fields(owner, [&](Fields& f) { describe(f, settings); });
}

// Pieces of messages that all who read or check fields share.

/// `. Did you mean "…"?`, or nothing if no word of `known` is near.
std::string suggest_word(std::string_view word, const std::vector<std::string_view>& known);
/// `must be 0 to 10 kg`
std::string describe_allowed(const Range& range, std::string_view unit);
/// `must be one of: a, b, c. Did you mean "a"?`
std::string describe_allowed(std::string_view word, const std::vector<std::string_view>& allowed);

}  // namespace palpate
