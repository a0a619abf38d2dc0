#include "palpate/methods/registry.h"

#include <array>
#include <vector>

#include "accelerance/accelerance.h"
#include "compliance/compliance.h"
#include "direct/direct.h"
#include "double_coupling/double_coupling.h"
#include "halfspace/halfspace.h"
#include "interpolation/interpolation.h"
#include "jacobian/jacobian.h"
#include "limited/limited.h"
#include "palpate/core/error.h"
#include "point_world.h"
#include "reference/reference.h"
#include "world_tool.h"

namespace palpate {
namespace {

constexpr std::array kMethods = {
    MethodInfo{"reference", "the whole world at the fast rate: the truth", &make_reference, &refuse_world},
    MethodInfo{"direct", "the whole world at the slow rate, its force held between steps", &make_direct, &refuse_world},
    MethodInfo{"halfspace", "the closest contact as one half-space, updated at the slow rate (SCM)", &make_halfspace,
               &PointWorld::refuse},
    MethodInfo{"limited", "geometrically limited constraints in convex sets, with trust regions (Knott & Kuhlen 2015)",
               &make_limited, &PointWorld::refuse},
    MethodInfo{"compliance",
               "a stiff tool at the fast rate, all else at the slow, one contact problem at both (Dervaux et al. 2013)",
               &make_compliance, &refuse_compliance},
    MethodInfo{"jacobian", "a rigid tool that meets the world through a linear contact model (Otaduy & Gross 2007)",
               &make_jacobian, &refuse_jacobian},
    MethodInfo{"double_coupling", "a tool in each loop and a second virtual coupling between them",
               &make_double_coupling, &refuse_double_coupling},
    MethodInfo{"interpolation", "soft bodies in large deformation, felt between two states (Zhuang & Canny 2000)",
               &make_interpolation, &refuse_interpolation},
    MethodInfo{"accelerance",
               "rigid bodies near the pointer move at the fast rate by their accelerance (Susa, Sato & Hasegawa 2011)",
               &make_accelerance, &refuse_accelerance},
    MethodInfo{"impulse", "bodies at the slow rate, pushed by the impulse of the last period", &make_impulse,
               &refuse_accelerance},
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
