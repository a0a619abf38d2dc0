#include "palpate/experiments/expected.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "palpate/core/error.h"

namespace palpate {
namespace embedded {
extern const std::string_view expected_claims;
}  // namespace embedded

namespace {

using Json = nlohmann::ordered_json;

const char* form_name(bool quick) noexcept {
  return quick ? "quick" : "full";
}

/// Something that stood in for a mesh makes another experiment of it.
std::string key_of(std::string_view experiment, const std::vector<std::string>& notes) {
  return fmt::format("{}{}", experiment, notes.empty() ? "" : ", stand-in");
}

}  // namespace

bool depends_on_machine(const MeasuredClaim& claim) noexcept {
  return claim.timed && !std::isnan(claim.measured);
}

std::string_view standing_name(Standing standing) noexcept {
  switch (standing) {
    case Standing::kAsExpected:
      return "as expected";
    case Standing::kWorse:
      return "worse";
    case Standing::kBetter:
      return "better";
    case Standing::kUnknown:
      break;
  }
  return "unknown";
}

bool ExpectedComparison::regressed(const std::vector<MeasuredClaim>& measured) const noexcept {
  if (!missing.empty()) return true;
  for (std::size_t i = 0; i < claims.size() && i < measured.size(); ++i) {
    if (depends_on_machine(measured[i])) continue;
    if (claims[i].standing == Standing::kWorse) return true;
    if (claims[i].standing == Standing::kUnknown && !measured[i].holds()) return true;
  }
  return false;
}

bool ExpectedComparison::changed(const std::vector<MeasuredClaim>& measured) const noexcept {
  if (!missing.empty()) return true;
  for (std::size_t i = 0; i < claims.size() && i < measured.size(); ++i) {
    if (!depends_on_machine(measured[i]) && claims[i].standing != Standing::kAsExpected) return true;
  }
  return false;
}

ExpectedClaims ExpectedClaims::load() {
  try {
    return parse(embedded::expected_claims);
  } catch (const InputError& error) {
    throw std::logic_error(error.what());
  }
}

ExpectedClaims ExpectedClaims::parse(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& error) {
    fail_input("expected claims: {}", error.what());
  }
  if (!json.is_object()) fail_input("expected claims: wanted an object with \"full\" and \"quick\"");
  ExpectedClaims out;
  for (const auto& [form, experiments] : json.items()) {
    if ((form != "full" && form != "quick") || !experiments.is_object())
      fail_input("expected claims: {}: wanted \"full\" and \"quick\", each an object of experiments",
                 quote_for_message(form));
    for (const auto& [name, entries] : experiments.items()) {
      if (!entries.is_object()) fail_input("expected claims: {}.{}: wanted an object of claims", form, name);
      auto& list = out.forms_[form][name];
      for (const auto& [claim, value] : entries.items()) {
        // Holding needs no reason; everything else does.
        const bool holds = value.is_boolean() && value.get<bool>();
        if (!holds && !value.is_string())
          fail_input("expected claims: {}.{}.{}: wanted true, or the reason why it does not hold as text; is {}", form,
                     name, quote_for_message(claim), value.dump());
        list.push_back({claim, {holds, holds ? std::string() : value.get<std::string>()}});
      }
    }
  }
  return out;
}

ExpectedComparison ExpectedClaims::compare(std::string_view experiment, const std::vector<MeasuredClaim>& claims,
                                           const std::vector<std::string>& notes, bool quick) const {
  ExpectedComparison out;
  out.claims.resize(claims.size());
  const auto form = forms_.find(form_name(quick));
  if (form == forms_.end()) return out;
  const auto found = form->second.find(key_of(experiment, notes));
  if (found == form->second.end()) return out;
  for (const auto& [name, expected] : found->second) {
    const auto at = std::ranges::find(claims, name, &MeasuredClaim::name);
    if (at == claims.end()) {
      out.missing.push_back(name);
      continue;
    }
    ExpectedComparison::Entry& entry = out.claims[as_size(at - claims.begin())];
    entry.reason = expected.reason;
    entry.standing = at->holds() == expected.holds ? Standing::kAsExpected
                     : at->holds()                 ? Standing::kBetter
                                                   : Standing::kWorse;
  }
  return out;
}

void ExpectedClaims::update(std::string_view experiment, const std::vector<MeasuredClaim>& claims,
                            const std::vector<std::string>& notes, bool quick) {
  auto& list = forms_[form_name(quick)][key_of(experiment, notes)];
  const auto before = list;
  list.clear();
  for (const MeasuredClaim& claim : claims) {
    const auto was = std::ranges::find(before, claim.name, [](const auto& entry) { return entry.first; });
    Expected now{claim.holds(), {}};
    // What depends on the machine is expected to hold unless somebody wrote down why it does not.
    if (depends_on_machine(claim) && !now.holds) now.holds = was == before.end() || was->second.holds;
    if (!now.holds)
      now.reason = was != before.end() && !was->second.holds ? was->second.reason : "reason not found yet";
    list.push_back({claim.name, now});
  }
}

std::string ExpectedClaims::text() const {
  Json json = Json::object();
  for (const auto& [form, experiments] : forms_) {
    Json& of_form = json[form] = Json::object();
    for (const auto& [name, claims] : experiments) {
      Json& of_experiment = of_form[name] = Json::object();
      for (const auto& [claim, expected] : claims)
        of_experiment[claim] = expected.holds ? Json(true) : Json(expected.reason);
    }
  }
  return json.dump(2) + "\n";
}

}  // namespace palpate
