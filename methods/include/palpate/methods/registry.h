#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "palpate/methods/method.h"

namespace palpate {

/// Which settings a method has: its own, another method's, or none.
class SettingsChoice {
 public:
  /// The method can be told nothing.
  SettingsChoice() = default;

  /// The method has settings of type T, found by its own name. `doc` says in a few words what they are of.
  template <DescribedSettings T>
  static SettingsChoice own(std::string doc) {
    SettingsChoice out;
    out.standard_.emplace(T{});
    out.doc_ = std::move(doc);
    return out;
  }

  /// The method goes by the settings of `method`, which is registered before it.
  static SettingsChoice shared_with(std::string method) {
    SettingsChoice out;
    out.name_ = std::move(method);
    return out;
  }

 private:
  friend class MethodInfo;
  std::string name_;  ///< empty: the method's own, if it has any
  std::string doc_;
  std::optional<AnySettings> standard_;  ///< none: not its own
};

/// A method as users choose it and as its author registers it.
class MethodInfo {
 public:
  using Make = Method (*)(const MethodContext&);
  using Refuse = std::string (*)(const ToolInWorld&);

  /// `name`: of small letters, digits and underscores. `description`: one line. `refuse` says in plain words why the
  /// method cannot work on a world with a tool, and nothing if it can. `make` makes it, and is only called where
  /// `refuse` had nothing to say and the settings are within their ranges.
  MethodInfo(std::string name, std::string description, Make make, Refuse refuse, SettingsChoice settings = {});

  const std::string name;
  const std::string description;

  /// Why the method cannot work on that world with that tool, in plain words; empty if it can.
  std::string refuse(const ToolInWorld& where) const;

  /// The name that its settings are found by: its own, or that of the method it shares them with; empty if it has none.
  const std::string& settings_name() const noexcept { return settings_.name_; }
  /// What its settings are of, in a few words; empty unless they are its own.
  const std::string& settings_doc() const noexcept { return settings_.doc_; }
  /// Its own settings with their standard values; null if it has none, or another's.
  const AnySettings* own_settings() const noexcept { return settings_.standard_ ? &*settings_.standard_ : nullptr; }

 private:
  friend Method make_method(const MethodInfo& info, const MethodContext& context);
  friend void register_method(MethodInfo method);
  Make make_;
  Refuse refuse_;
  SettingsChoice settings_;
};

/// All methods in the order of registration, the truth first. References to them stay valid.
const std::deque<MethodInfo>& registered_methods();

/// Throws InputError that lists the known names and suggests the nearest.
const MethodInfo& find_method(std::string_view name);

/// Adds a method of one's own to those that scenes, commands and the viewer know.
///
/// Throws InputError if the name is taken or not a word, if a function is missing, or if the method shares settings
/// with one that has none.
/// Thread: the list is not guarded. Register from one thread, before the first scene is read and before any other
/// thread uses Palpate; from then on any thread may read the list.
void register_method(MethodInfo method);

/// Makes a method on a world. Throws InputError with the reason if the method refuses the world or the tool, and with
/// field, value and range if one of its settings is out of range. The world outlives the method.
Method make_method(const MethodInfo& info, const MethodContext& context);
/// The same by name.
Method make_method(std::string_view name, const MethodContext& context);

}  // namespace palpate
