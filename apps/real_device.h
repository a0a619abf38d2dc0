#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "palpate/devices/driver.h"
#include "palpate/devices/mapping.h"

namespace palpate {

/// A real device on the command line: `--device NAME[:WHERE]` and how it lies in the scene.
struct RealDeviceOptions {
  std::string name;  ///< empty: none
  double scale = 1.0;
  std::vector<double> offset;  ///< x, y, z; empty: the hand begins where the scene's own hand does
  int clutch_button = -1;
  double drift = 0.0;
};

void add_device_options(CLI::App& command, RealDeviceOptions& options);

/// A real device in a scene, and what it did.
class RealDevice {
 public:
  /// `start`: where the scene's hand begins; `stiffness`: of its tool's coupling [N/m]; `dt`: tick period [s]. Warns if
  /// the device is not up to it. Throws InputError that says what is missing.
  RealDevice(const RealDeviceOptions& options, const Pose& start, double stiffness, double dt);

  Device& device() noexcept { return *mapped_; }
  /// Closes the device. One line about rate, round trips and losses.
  std::string close();

 private:
  DriverDevice* driver_ = nullptr;
  std::unique_ptr<MappedDevice> mapped_;
  std::int64_t opened_ns_ = 0;
  std::string name_;
};

/// Percentiles of a histogram of durations, in microseconds, as text.
std::string round_trip_text(const Histogram& h);

}  // namespace palpate
