#pragma once

#include <vector>

#include "palpate/haptics/device.h"

namespace palpate {

/// A recorded hand, played back. At a sample's own time the sample is returned bit for bit, so a lockstep run on its
/// own recording repeats exactly; between samples position and velocity are linear, rotation is a slerp, buttons are
/// those of the sample before. Before the first and after the last sample the hand stands still there.
/// Read by binary search: a tick costs O(log samples).
class ReplayDevice final : public Device {
 public:
  /// Samples in order of strictly increasing time, one at least, all finite. Throws InputError.
  explicit ReplayDevice(std::vector<DeviceState> samples);

  const DeviceInfo& info() const noexcept override { return info_; }
  DeviceState read(double time) noexcept override;
  void write(const SafeWrench&) noexcept override {}

  double duration() const noexcept { return samples_.back().time; }  ///< [s]

 private:
  std::vector<DeviceState> samples_;
  DeviceInfo info_;
};

}  // namespace palpate
