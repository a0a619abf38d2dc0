#pragma once

#include <memory>

#include "palpate/haptics/device.h"
#include "palpate/haptics/hand_path.h"

namespace palpate {

/// A hand that does what its path says, whatever force it meets: infinitely stiff. Position and velocity are exact.
/// The same input for every method, so what experiments compare.
class ScriptedDevice final : public Device {
 public:
  explicit ScriptedDevice(std::unique_ptr<HandPath> path);

  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override;
  void write(const SafeWrench&) noexcept override {}

 private:
  std::unique_ptr<HandPath> path_;
  DeviceInfo info_;
};

}  // namespace palpate
