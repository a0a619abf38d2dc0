#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/devices/driver_device.h"

namespace palpate {

/// Where a driver looks, and how patient it is.
struct DriverOptions {
  /// An address (`127.0.0.1:10001`), a library's path or a socket's path, as the driver's description says; empty: the
  /// usual place.
  std::string where;
  DriverDeviceSettings device;
};

/// One thing that must be so for a device to work, and whether it is.
struct ProbeStep {
  bool good = false;
  std::string what;    ///< one line, without a full stop
  std::string advice;  ///< what to do or to type, if it is not good
};

/// A device that is there.
struct FoundDevice {
  std::string which;  ///< what to add to the driver's WHERE so that it is this one (`#1`, `/049D`); empty: nothing
  DeviceInfo info;
};

/// What was found when looking for a kind of device, without moving it.
struct DriverProbe {
  /// In the order in which they depend on each other; ends at the first that is not good.
  std::vector<ProbeStep> steps;
  std::string found;                 ///< the library's path, the service's address; empty: nothing
  std::string version;               ///< of library, service or firmware, where one is told
  std::vector<FoundDevice> devices;  ///< as the library or service counts them

  bool usable() const noexcept { return !steps.empty() && steps.back().good; }
};

/// A kind of device: one line of the table.
struct Driver {
  std::string_view name;                               ///< as the command line calls it
  std::string_view description;                        ///< one line
  std::string_view where;                              ///< what DriverOptions::where means here
  DriverProbe (*probe)(const DriverOptions& options);  ///< at most half a second
  std::unique_ptr<DriverProtocol> (*make)(
      const DriverOptions& options);  ///< connects to nothing yet; may throw InputError
};

/// All kinds, in the order in which `palpate devices` lists them.
std::span<const Driver> drivers() noexcept;

/// Throws InputError that names those that there are.
const Driver& find_driver(std::string_view name);

/// Opens `NAME` or `NAME:WHERE`. Throws InputError that says what is missing and what to do.
std::unique_ptr<DriverDevice> open_device(std::string_view name_and_where, const DriverDeviceSettings& settings = {});

/// A device's part of `NAME:WHERE`, split.
struct DeviceName {
  std::string name;
  std::string where;
};
DeviceName split_device_name(std::string_view name_and_where);

}  // namespace palpate
