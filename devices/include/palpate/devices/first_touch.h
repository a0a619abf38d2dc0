#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "palpate/core/histogram.h"
#include "palpate/haptics/device.h"

namespace palpate {

/// A first touch: a floor below the hand, weak first.
struct FirstTouchSettings {
  double free_seconds = 3.0;      ///< without any force: is the hand seen as it moves?
  double floor_seconds = 6.0;     ///< each of the floors
  double depth = 0.02;            ///< the floor is so far below where the hand was at the end of the free time [m]
  double weak_stiffness = 100.0;  ///< [N/m]
  double weak_force = 1.0;        ///< no more than this [N]
  double firm_stiffness = 500.0;  ///< [N/m]; or half of what the device's maker allows
  double firm_force = 3.0;        ///< [N]
};

/// What was seen and felt in one of the stages.
struct FirstTouchStage {
  std::string name;
  std::uint64_t ticks = 0;
  std::uint64_t lost_ticks = 0;     ///< without a sound sample
  std::uint64_t touching = 0;       ///< ticks in which the floor pushed
  double peak_force = 0.0;          ///< [N]
  double energy = 0.0;              ///< given to the hand [J]
  Vec3 reached_min = Vec3::Zero();  ///< where the hand was [m]
  Vec3 reached_max = Vec3::Zero();
  Histogram delays;  ///< how late ticks began
};

/// Runs a fast loop of its own at 1 kHz in the calling thread: device, input guard, floor, passivity, safety, device.
/// `say` is told what to do next, between the stages; `stop` ends it early, with the force faded out. Returns the
/// stages that were run.
std::vector<FirstTouchStage> run_first_touch(Device& device, const FirstTouchSettings& settings,
                                             const std::function<void(const std::string&)>& say,
                                             const std::atomic<bool>& stop);

}  // namespace palpate
