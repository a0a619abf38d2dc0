#pragma once

#include <any>
#include <concepts>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "palpate/core/fields.h"

namespace palpate {

/// What a method's settings must be able to do: be made with standard values, be copied and compared, and be visited by
/// `describe(Fields&, T&)`, which names every setting with its meaning, unit, standard value and range.
template <typename T>
concept DescribedSettings = std::default_initializable<T> && std::copyable<T> && std::equality_comparable<T> &&
    requires(Fields& fields, T& settings) {
  describe(fields, settings);
};

/// The settings of one method, for those who do not know their type: they can be copied, compared and described.
class AnySettings {
 public:
  template <DescribedSettings T>
  explicit AnySettings(T settings)
      : value_(std::move(settings)),
        describe_([](Fields& f, std::any& value) { describe(f, *std::any_cast<T>(&value)); }),
        equal_([](const std::any& a, const std::any& b) { return *std::any_cast<T>(&a) == *std::any_cast<T>(&b); }) {}

  /// Visits every setting.
  void visit(Fields& fields) { describe_(fields, value_); }

  /// The settings themselves. Throws std::logic_error if they are of another type.
  template <typename T>
  T& as() {
    return cast<T>(std::any_cast<T>(&value_));
  }
  template <typename T>
  const T& as() const {
    return cast<const T>(std::any_cast<T>(&value_));
  }

  /// Settings of two types are never equal.
  friend bool operator==(const AnySettings& a, const AnySettings& b) {
    return a.value_.type() == b.value_.type() && a.equal_(a.value_, b.value_);
  }

 private:
  template <typename T>
  static T& cast(T* settings) {
    if (!settings) throw std::logic_error("a method's settings were asked for as another type than it registered");
    return *settings;
  }

  std::any value_;
  void (*describe_)(Fields&, std::any&);
  bool (*equal_)(const std::any&, const std::any&);
};

/// What users may choose about each method: one settings object for each registered method that has any, found by the
/// name it is registered under; a scene's "methods". What nobody has touched has its standard values.
///
/// `scene.methods.get<JacobianSettings>("jacobian").blend = 0.5;`
class MethodSettings {
 public:
  /// The settings called `name`, to be changed. The reference stays valid as long as this object does. Throws
  /// InputError if no registered method has settings of that name, std::logic_error if they are not of type T.
  template <DescribedSettings T>
  T& get(std::string_view name) {
    return find(name).template as<T>();
  }
  /// The same, to be read.
  template <DescribedSettings T>
  const T& get(std::string_view name) const {
    return find(name).template as<T>();
  }

  /// The same without their type.
  AnySettings& find(std::string_view name);
  const AnySettings& find(std::string_view name) const;

  /// True if every registered method is told the same by both.
  bool operator==(const MethodSettings& other) const;

 private:
  std::map<std::string, AnySettings, std::less<>> touched_;
};

/// Visits an object for each registered method that has settings, in the order of registration.
void describe(Fields& fields, MethodSettings& settings);

}  // namespace palpate
