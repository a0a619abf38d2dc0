#include <algorithm>
#include <nlohmann/json.hpp>

#include "json_value.h"
#include "palpate/core/error.h"
#include "palpate/devices/driver.h"
#include "palpate/scene/device.h"
#include "scene_fields.h"

namespace palpate {

void describe(Fields& f, SceneDevice& d) {
  std::vector<std::string_view> names;
  for (const Driver& driver : drivers()) names.push_back(driver.name);
  f.text({.name = "name", .doc = "kind of device, as `palpate devices` lists them; none: the command line's"}, d.name,
         "");
  f.require(d.name.find(':') == std::string::npos,
            fmt::format("name = {}: where a device is found is said on the command line, --device NAME:WHERE",
                        quote_for_message(d.name)));
  f.require(d.name.empty() || std::find(names.begin(), names.end(), d.name) != names.end(),
            fmt::format("name = {}: {}", quote_for_message(d.name), describe_allowed(d.name, names)));
  f.choice(
      {.name = "anchor", .doc = "what `offset` counts from: where the scene's own hand begins, or the scene's origin"},
      d.anchor, DeviceAnchor::kHand, {{"hand", DeviceAnchor::kHand}, {"origin", DeviceAnchor::kOrigin}});
  describe(f, d.mapping);
}

void set_key(SceneDevice& device, std::string_view key, std::string_view value, const std::string& place) {
  using Json = nlohmann::ordered_json;
  Json text = Json::parse(write_fields([&](Fields& f) { describe(f, device); }));
  const bool several = value.find(',') != std::string_view::npos;
  Json given = Json::parse(several ? fmt::format("[{}]", value) : std::string(value), nullptr, false);
  text[std::string(key)] = given.is_discarded() ? Json(value) : std::move(given);
  SceneDevice changed;
  read_fields(parse_json(text.dump(), place), place, [&](Fields& f) { describe(f, changed); });
  device = changed;
}

}  // namespace palpate
