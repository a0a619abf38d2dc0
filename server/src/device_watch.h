#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "palpate/devices/round_trips.h"
#include "palpate/scene/real_hand.h"

namespace palpate {

/// The real devices among a viewer's hands: one for each of the first tools, null where there is none. The viewer keeps
/// them while scenes come and go. Thread: the viewer's.
class DeviceWatch {
 public:
  /// What it watches outlives it. Throws nothing.
  explicit DeviceWatch(std::span<const std::unique_ptr<RealHand>> hands);

  /// The device of that tool; null: the scene's own hand has it.
  RealHand* find(std::size_t tool) const noexcept { return tool < hands_.size() ? hands_[tool].get() : nullptr; }
  bool any() const noexcept;
  TickSource* tick_source() const noexcept { return find_tick_source(hands_); }

  /// A scene with what the first one said of the devices, where it says nothing itself.
  Scene with_devices(Scene scene, const Scene& first) const;

  void stop(DeviceDesk::Reason why) noexcept;
  void resume(DeviceDesk::Reason why) noexcept;

  /// What pages show of the devices, as JSON: web/src/device_panel.ts reads it. `now`: of any clock [s].
  std::string make_message(double now);

 private:
  using Counts = std::array<std::uint64_t, RoundTripBins::kCount>;
  /// Counters as they were a while ago.
  struct Past {
    double time;
    std::uint64_t samples;
    Counts round_trips;
  };
  struct Watched {
    std::deque<Past> past;  ///< oldest first
    DeviceReading reading{};
    Vec3 reached_min = Vec3::Constant(-0.05), reached_max = Vec3::Constant(0.05);  ///< so far, at least so far [m]
  };

  std::span<const std::unique_ptr<RealHand>> hands_;
  std::vector<Watched> watched_;
};

}  // namespace palpate
