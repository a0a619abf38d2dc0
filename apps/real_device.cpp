#include "real_device.h"

#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/core/log.h"

namespace palpate {

void add_device_options(CLI::App& command, RealDeviceOptions& options) {
  command.add_option("--device", options.name,
                     "a real device as the hand: NAME or NAME:WHERE, see `palpate devices`; default: the scene's hand");
  command.add_option("--device-scale", options.scale, "metres in the scene for one metre of the hand; default: 1")
      ->check(CLI::Range(0.01, 100.0));
  command
      .add_option("--device-offset", options.offset,
                  "x y z [m] of the device's origin in the scene; default: the hand begins where the scene's does")
      ->expected(3);
  command.add_option("--clutch-button", options.clutch_button, "while it is down the hand moves and the tool stays")
      ->check(CLI::Range(0, 31));
  command.add_option("--drift", options.drift, "0 to 0.5: brings the hand back to the middle of its workspace")
      ->check(CLI::Range(0.0, 0.5));
}

RealDevice::RealDevice(const RealDeviceOptions& options, const Pose& start, double stiffness, double dt) {
  std::unique_ptr<DriverDevice> driver = open_device(options.name);
  driver_ = driver.get();
  opened_ns_ = monotonic_ns();
  name_ = driver->info().name;
  DeviceMappingSettings mapping;
  mapping.scale = options.scale;
  mapping.clutch_button = options.clutch_button;
  mapping.drift = options.drift;
  mapping.offset = options.offset.size() == 3 ? Vec3(options.offset[0], options.offset[1], options.offset[2])
                                              : Vec3(start.position - options.scale * driver->read(0.0).pose.position);
  if (const auto warning = find_mapping_warning(mapping, driver->info(), stiffness)) log::warn("{}", *warning);
  mapped_ = std::make_unique<MappedDevice>(std::move(driver), mapping, dt);
}

std::string RealDevice::close() {
  const double seconds = 1e-9 * static_cast<double>(monotonic_ns() - opened_ns_);
  driver_->close();
  const std::uint32_t losses = driver_->connections() > 0 ? driver_->connections() - 1 : 0;
  return fmt::format("{}: {:.0f} samples a second, {}; lost {} times", name_,
                     static_cast<double>(driver_->samples()) / seconds, round_trip_text(driver_->round_trips()),
                     losses);
}

std::string round_trip_text(const Histogram& h) {
  if (h.count() == 0) return "no round trips measured";
  return fmt::format("round trip p50 {:.0f}, p99 {:.0f}, p99.9 {:.0f}, max {:.0f} us",
                     1e-3 * h.compute_percentile_ns(0.5), 1e-3 * h.compute_percentile_ns(0.99),
                     1e-3 * h.compute_percentile_ns(0.999), 1e-3 * static_cast<double>(h.max_ns()));
}

}  // namespace palpate
