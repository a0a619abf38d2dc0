#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "palpate/devices/driver.h"
#include "palpate/scene/device.h"
#include "palpate/scene/scene.h"

namespace palpate {

/// A real device that has been opened to be the hand of one tool, in one scene after the other.
///
/// Thread: the caller's; the devices that it makes are the fast loop's.
class RealHand {
 public:
  /// Opens `NAME` or `NAME:WHERE`. Throws InputError that says what is missing.
  explicit RealHand(const std::string& name_and_where);

  /// The device as it lies in a scene, for the hand of that tool; what the tool's `device` says of it counts. Warns
  /// where it is not up to the tool's coupling, once. One at a time, which this outlives. Throws InputError.
  std::unique_ptr<Device> make_device(const Scene& scene, std::size_t tool);

  const DeviceInfo& info() const noexcept { return driver_->info(); }
  DriverDevice& driver() noexcept { return *driver_; }
  const DriverDevice& driver() const noexcept { return *driver_; }
  /// What people stop it by, and where they see what it does.
  DeviceDesk& desk() noexcept { return desk_; }
  /// How the device lay in the scene for which it was made last.
  const DeviceMappingSettings& mapping() const noexcept { return mapping_; }
  /// Samples a second since it was opened, or until it was closed.
  double sample_rate() const noexcept;
  std::uint32_t losses() const noexcept;  ///< how often it was lost since it was opened
  /// Closes the device; its round trips may be read then.
  void close();

 private:
  void warn(const std::string& text);

  std::unique_ptr<DriverDevice> driver_;
  DeviceDesk desk_;
  DeviceMappingSettings mapping_;
  std::vector<std::string> warned_;  ///< what was said already
  std::int64_t opened_ns_;
  std::int64_t closed_ns_ = 0;  ///< 0: open
};

/// The thread of the only device among `hands` (null: none), if its vendor has one that can drive the fast loop; else
/// null: two vendors' threads cannot drive one loop.
TickSource* find_tick_source(std::span<const std::unique_ptr<RealHand>> hands) noexcept;

}  // namespace palpate
