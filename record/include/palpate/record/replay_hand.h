#pragma once

#include <memory>
#include <string>
#include <vector>

#include "palpate/haptics/device.h"
#include "palpate/runtime/run_rows.h"

namespace palpate {

/// What the device did in a run.
std::vector<DeviceState> device_track(const std::vector<TickRow>& ticks);

/// A device that plays back the hand of a recording file. Throws InputError if the file cannot be replayed.
std::unique_ptr<Device> make_replay_device(const std::string& file);

}  // namespace palpate
