#include "palpate/methods/registry.h"

#include <algorithm>
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
#include "palpate/methods/accelerance_settings.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/methods/compliance_settings.h"
#include "palpate/methods/interpolation_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/methods/limited_settings.h"
#include "palpate/methods/reduced_settings.h"
#include "point_world.h"
#include "reduced/reduced.h"
#include "reference/reference.h"
#include "world_tool.h"

namespace palpate {
namespace {

/// Palpate's own methods: one entry each.
std::deque<MethodInfo> make_own_methods() {
  return {
      {"reference", "the whole world at the fast rate: the truth", &make_reference, &refuse_world},
      {"reduced", "a small world that lives in the fast loop, with soft bodies reduced to what the hand can feel",
       &make_reduced, &refuse_reduced, SettingsChoice::own<ReducedSettings>("how large bodies are done")},
      {"direct", "the whole world at the slow rate, its force held between steps", &make_direct, &refuse_world,
       SettingsChoice::own<DirectSettings>("the last force, held")},
      {"halfspace", "the closest contact as one half-space, updated at the slow rate (SCM)", &make_halfspace,
       &refuse_halfspace, SettingsChoice::own<HalfspaceSettings>("the classic contact model")},
      {"limited", "geometrically limited constraints in convex sets, with trust regions (Knott & Kuhlen 2015)",
       &make_limited, &PointWorld::refuse, SettingsChoice::own<LimitedSettings>("Knott & Kuhlen 2015")},
      {"compliance",
       "a stiff tool at the fast rate, all else at the slow, one contact problem at both (Dervaux et al. 2013)",
       &make_compliance, &refuse_compliance, SettingsChoice::own<ComplianceSettings>("Dervaux et al. 2013")},
      {"jacobian", "a rigid tool that meets the world through a linear contact model (Otaduy & Gross 2007)",
       &make_jacobian, &refuse_jacobian, SettingsChoice::own<JacobianSettings>("Otaduy & Gross 2007")},
      {"double_coupling", "a tool in each loop and a second virtual coupling between them", &make_double_coupling,
       &refuse_double_coupling, SettingsChoice::own<DoubleCouplingSettings>("the baseline of Otaduy & Gross 2007")},
      {"interpolation", "soft bodies in large deformation, felt between two states (Zhuang & Canny 2000)",
       &make_interpolation, &refuse_interpolation, SettingsChoice::own<InterpolationSettings>("Zhuang & Canny 2000")},
      {"accelerance",
       "rigid bodies near the pointer move at the fast rate by their accelerance (Susa, Sato & Hasegawa 2011)",
       &make_accelerance, &refuse_accelerance,
       SettingsChoice::own<AcceleranceSettings>("Susa, Sato & Hasegawa 2011; also its baseline, impulse")},
      {"impulse", "bodies at the slow rate, pushed by the impulse of the last period", &make_impulse,
       &refuse_accelerance, SettingsChoice::shared_with("accelerance")},
  };
}

std::deque<MethodInfo>& all_methods() {
  static std::deque<MethodInfo> methods = make_own_methods();
  return methods;
}

const MethodInfo* find_registered(std::string_view name) {
  const auto& all = all_methods();
  const auto found = std::find_if(all.begin(), all.end(), [&](const MethodInfo& m) { return m.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_word(std::string_view name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// Whether the body that the world has in the hand is what the settings say that the hand holds; methods take their
/// word for it.
bool holds_what_it_says(const ToolInWorld& where) {
  if (where.body() < 0) return true;
  const WorldBody& held = where.world.bodies()[as_size(where.body())];
  const int blocks = held.body ? held.body->block_count() : 0;
  const bool chain = held.shape.is<ContactShape::Chain>();
  if (where.tool.is<HeldPoint>()) return blocks == 1;
  if (where.tool.is<HeldRigid>()) return blocks == 2 && !chain;
  if (where.tool.is<HeldChain>()) return chain;
  return where.tool.is<HeldSoft>() && blocks > 2 && !chain;
}

}  // namespace

MethodInfo::MethodInfo(std::string name_, std::string description_, Make make_function, Refuse refuse_function,
                       SettingsChoice settings)
    : name(std::move(name_)),
      description(std::move(description_)),
      make_(make_function),
      refuse_(refuse_function),
      settings_(std::move(settings)) {
  if (settings_.standard_) settings_.name_ = name;
}

std::string MethodInfo::refuse(const ToolInWorld& where) const {
  if (!holds_what_it_says(where)) return "the world's tool is not of the kind that the hand is said to hold";
  return refuse_(where);
}

const std::deque<MethodInfo>& registered_methods() {
  return all_methods();
}

const MethodInfo& find_method(std::string_view name) {
  if (const MethodInfo* found = find_registered(name)) return *found;
  std::vector<std::string_view> names;
  for (const MethodInfo& method : all_methods()) names.push_back(method.name);
  fail_input("no method {}; methods: {}{}", quote_for_message(name), join_words(names), suggest_word(name, names));
}

void register_method(MethodInfo method) {
  const std::string name = quote_for_message(method.name);
  if (!is_word(method.name))
    fail_input("a method cannot be called {}: allowed are small letters, digits and underscores", name);
  if (find_registered(method.name)) fail_input("there is a method {} already", name);
  if (!method.make_ || !method.refuse_)
    fail_input("method {} has no function that makes it, or none that refuses", name);
  const std::string& settings = method.settings_name();
  if (!settings.empty() && settings != method.name) {
    const MethodInfo* owner = find_registered(settings);
    if (!owner || !owner->own_settings())
      fail_input("method {} cannot share the settings of {}: no method has settings of that name", name,
                 quote_for_message(settings));
  }
  all_methods().push_back(std::move(method));
}

Method make_method(const MethodInfo& info, const MethodContext& context) {
  if (const std::string reason = info.refuse(context.where()); !reason.empty())
    fail_input("method {} cannot be used here: {}", info.name, reason);
  if (!(context.dt > 0.0) || !(context.slow_period >= context.dt))
    fail_input("method {}: periods of {} s and {} s; the fast one must be above 0, the slow one no shorter", info.name,
               context.dt, context.slow_period);
  if (!info.settings_name().empty()) {
    AnySettings settings = context.settings.find(info.settings_name());
    check_fields(info.settings_name(), [&](Fields& f) { settings.visit(f); });
  }
  Method made = info.make_(context);
  made.name = info.name;
  made.world = &context.world;
  made.dt = context.dt;
  made.slow_period = context.slow_period;
  return made;
}

Method make_method(std::string_view name, const MethodContext& context) {
  return make_method(find_method(name), context);
}

}  // namespace palpate
