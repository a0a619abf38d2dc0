#include "palpate/devices/driver.h"

#include "driver_table.h"
#include "palpate/core/error.h"

namespace palpate {

std::span<const Driver> drivers() noexcept {
  return kDriverTable;
}

const Driver& find_driver(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Driver& driver : drivers()) {
    if (driver.name == name) return driver;
    names.push_back(driver.name);
  }
  const std::string_view near = nearest_word(name, names);
  fail_input("device {}: must be one of {}{}", quote_for_message(name), join_words(names),
             near.empty() ? "" : fmt::format(". Did you mean \"{}\"?", near));
}

DeviceName split_device_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

std::unique_ptr<DriverDevice> open_device(std::string_view name_and_where, const DriverDeviceSettings& settings) {
  const auto [name, where] = split_device_name(name_and_where);
  const Driver& driver = find_driver(name);
  const DriverOptions options{where, settings};
  try {
    return std::make_unique<DriverDevice>(driver.make(options), settings);
  } catch (const InputError& e) {
    fail_input("{}: {}. `palpate doctor {}` explains step by step", name, e.what(), name);
  }
}

}  // namespace palpate
