#include "palpate/haptics/device_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace palpate {

void add_devices(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "what is connected and usable");
  command->add_flag("--json", *json, "as JSON");
  command->footer("Example: palpate devices");
  command->callback([json, &action] {
    action = [json] {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const DeviceKind& kind : list_device_kinds()) {
        list.push_back({{"name", kind.name}, {"description", kind.description}});
        if (!*json) fmt::print("{:<10} {}\n", kind.name, kind.description);
      }
      if (*json) fmt::print("{}\n", nlohmann::ordered_json{{"devices", list}}.dump(2));
      return kDone;
    };
  });
}

}  // namespace palpate
