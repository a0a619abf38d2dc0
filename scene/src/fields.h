#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/core/math.h"

namespace palpate {

/// A key of an object in a scene file: what it is called, what it means, whether it must be there.
struct Field {
  std::string_view name;
  std::string_view doc;
  std::string_view unit = "";
  bool required = false;
};

/// What a number may be.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is not allowed
};
inline constexpr Range kAnyNumber{};
inline constexpr Range kPositive{0.0, std::numeric_limits<double>::infinity(), true};
inline constexpr Range kNotNegative{0.0};
inline constexpr Range kLength{0.0, 1e3, true};  ///< of a thing [m]

class Fields;

/// One of the kinds an object can be, chosen by its key "type".
struct Kind {
  std::string_view name;
  std::string_view doc;
  std::function<void(Fields&)> visit;
};

/// Visits the keys of one object. The scene format is written down once, as functions that visit settings with a
/// Fields: the reader fills the settings from a file, the schema writer describes them with the defaults found in them.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void number(const Field& field, double& value, const Range& range) = 0;
  virtual void integer(const Field& field, int& value, const Range& range) = 0;
  virtual void boolean(const Field& field, bool& value) = 0;
  virtual void text(const Field& field, std::string& value) = 0;
  virtual void vector(const Field& field, Vec3& value) = 0;
  virtual void choice(const Field& field, std::string& value, const std::vector<std::string_view>& allowed) = 0;
  /// Calls `visit` for the object, if it is there (always when describing).
  virtual void object(const Field& field, const std::function<void(Fields&)>& visit) = 0;
  /// Calls `visit` for each object of the list (once when describing).
  virtual void list(const Field& field, std::size_t max_items, const std::function<void(Fields&)>& visit) = 0;
  /// The object is one of several kinds, named by its key "type".
  virtual void kind(const std::vector<Kind>& kinds) = 0;
  /// `file:line: path`, to begin an error message about this object; empty when describing.
  virtual std::string place() const = 0;
};

struct JsonValue;

/// Reads `root` by calling `visit`; keys that nobody visited are errors. Throws InputError.
void read_fields(const JsonValue& root, const std::string& file, const std::function<void(Fields&)>& visit);

/// A JSON Schema (2020-12) of what `visit` visits.
std::string describe_fields(std::string_view title, const std::function<void(Fields&)>& visit);

}  // namespace palpate
