#include "palpate/record/replay_hand.h"

#include "palpate/haptics/replay.h"
#include "palpate/record/recording.h"

namespace palpate {

std::vector<DeviceState> device_track(const std::vector<TickRow>& ticks) {
  std::vector<DeviceState> track;
  track.reserve(ticks.size());
  for (const TickRow& row : ticks) {
    track.push_back({row.time, row.device, row.device_velocity, row.buttons, row.grip, row.grip_rate});
  }
  return track;
}

std::unique_ptr<Device> make_replay_device(const std::string& file, std::string_view tool, std::size_t place) {
  const Recording recording = read_recording(file);
  const RecordedTrack& track = find_track(recording, file, tool, place);
  check_replayable(track, recording.tracks.size() == 1 ? file : file + ": " + track.name);
  return std::make_unique<ReplayDevice>(device_track(track.ticks));
}

}  // namespace palpate
