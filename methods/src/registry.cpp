#include "palpate/methods/registry.h"

#include <array>
#include <vector>

#include "direct/direct.h"
#include "halfspace/halfspace.h"
#include "palpate/core/error.h"
#include "reference/reference.h"

namespace palpate {
namespace {

constexpr std::array kMethods = {
    MethodInfo{"reference", "the whole world at the fast rate: the truth", &make_reference},
    MethodInfo{"direct", "the whole world at the slow rate, its force held between steps", &make_direct},
    MethodInfo{"halfspace", "the closest contact as one half-space, updated at the slow rate (SCM)", &make_halfspace},
};

}  // namespace

std::span<const MethodInfo> registered_methods() noexcept {
  return kMethods;
}

const MethodInfo& find_method(std::string_view name) {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : kMethods) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  const std::string_view near = nearest_word(name, names);
  fail_input("no method {}; methods: {}{}", quote_for_message(name), join_words(names),
             near.empty() ? std::string() : fmt::format(". Did you mean \"{}\"?", near));
}

}  // namespace palpate
