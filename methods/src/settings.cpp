#include "palpate/methods/settings.h"

#include "palpate/core/error.h"
#include "palpate/methods/registry.h"

namespace palpate {
namespace {

/// The standard values of the settings called `name`.
const AnySettings& find_standard(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : registered_methods()) {
    if (!method.own_settings()) continue;
    if (method.name == name) return *method.own_settings();
    names.push_back(method.name);
  }
  fail_input("no method has settings called {}; there are: {}{}", quote_for_message(name), join_words(names),
             suggest_word(name, names));
}

}  // namespace

AnySettings& MethodSettings::find(std::string_view name) {
  const auto touched = touched_.find(name);
  if (touched != touched_.end()) return touched->second;
  return touched_.emplace(name, find_standard(name)).first->second;
}

const AnySettings& MethodSettings::find(std::string_view name) const {
  const auto touched = touched_.find(name);
  return touched != touched_.end() ? touched->second : find_standard(name);
}

bool MethodSettings::operator==(const MethodSettings& other) const {
  for (const auto* one : {this, &other}) {
    for (const auto& [name, settings] : one->touched_) {
      if (!(find(name) == other.find(name))) return false;
    }
  }
  return true;
}

void describe(Fields& f, MethodSettings& settings) {
  for (const MethodInfo& method : registered_methods()) {
    if (!method.own_settings()) continue;
    const std::string def = method.name + "_method";
    f.object({.name = method.name, .doc = method.settings_doc(), .def = def},
             [&](Fields& o) { settings.find(method.name).visit(o); });
  }
}

}  // namespace palpate
