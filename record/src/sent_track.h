#pragma once

#include <algorithm>
#include <vector>

#include "palpate/runtime/run_rows.h"

namespace palpate {

/// The wrench that a run sends at any time: linear between ticks. Times must be asked for in increasing order; the rows
/// must outlive the track.
class SentTrack {
 public:
  explicit SentTrack(const std::vector<TickRow>& ticks) : ticks_(ticks) {}

  /// False outside the run.
  bool at(double time, Wrench& wrench) {
    if (ticks_.empty() || !(time >= ticks_.front().time && time <= ticks_.back().time)) return false;
    while (i_ + 1 < ticks_.size() && ticks_[i_ + 1].time <= time) ++i_;
    const TickRow& a = ticks_[i_];
    const TickRow& b = ticks_[std::min(i_ + 1, ticks_.size() - 1)];
    const double w = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0.0;
    wrench.force = a.sent.force + w * (b.sent.force - a.sent.force);
    wrench.torque = a.sent.torque + w * (b.sent.torque - a.sent.torque);
    return true;
  }

 private:
  const std::vector<TickRow>& ticks_;
  std::size_t i_ = 0;
};

}  // namespace palpate
