#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/haptics/device.h"
#include "palpate/runtime/run_rows.h"

namespace palpate {

/// What the device did in a run.
std::vector<DeviceState> device_track(const std::vector<TickRow>& ticks);

/// A device that plays back a hand of a recording file: that of the tool called `tool`, or, if that is empty, of the
/// only tool or the one at `place` (see find_track()). Throws InputError if the file cannot be replayed.
std::unique_ptr<Device> make_replay_device(const std::string& file, std::string_view tool = {}, std::size_t place = 0);

}  // namespace palpate
