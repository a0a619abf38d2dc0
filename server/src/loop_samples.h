#pragma once

#include <array>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "palpate/runtime/run.h"
#include "palpate/runtime/run_rows.h"

namespace palpate {

/// A tick and a step as pages plot them; web/src/frame.ts reads these bytes.
struct TickSample {
  float time, force[3], torque[3], tick_us, events;
};
struct StepSample {
  float time, total_ms, stages_ms[kStageCount];
};

TickSample make_sample(const TickRow& row, double time) noexcept;
StepSample make_sample(const StepRow& row, double time) noexcept;

/// The ticks and steps of the last seconds, for plots and percentiles. One thread.
class LoopSamples {
 public:
  static constexpr std::size_t kTicks = 2000, kSteps = 100;

  void add(const TickSample& sample, std::size_t tool);
  void add(const StepSample& sample);
  void clear();

  /// The newest `count` at most, oldest first.
  std::vector<TickSample> newest_ticks(std::size_t count, std::size_t tool) const;
  std::vector<StepSample> newest_steps(std::size_t count) const;

  /// Rate, percentiles and load of both loops, whose periods are these [s]. A tick is timed as a whole, so that those
  /// of the first tool tell all.
  nlohmann::ordered_json make_json(double dt, double slow_period) const;

 private:
  std::array<std::deque<TickSample>, kMaxTools> ticks_;
  std::deque<StepSample> steps_;
};

}  // namespace palpate
