#pragma once

#include <string>
#include <vector>

#include "palpate/core/histogram.h"
#include "palpate/experiments/experiment.h"
#include "palpate/runtime/run.h"

// What computing takes, by both clocks: what the processor spends, which hardly depends on what else the machine does,
// and what a clock on the wall shows, which a person waits for.
namespace palpate {

/// Both clocks at one moment, as the calling thread has them [ns].
struct ClockReading {
  std::int64_t processor = 0;  ///< of this thread's work; of two threads that share it the longer
  std::int64_t wall = 0;
};
ClockReading read_clocks() noexcept;

/// How long something took, each time that it was done.
struct BothTimes {
  Histogram processor, wall;

  /// One that began then and ends now.
  void add(const ClockReading& start) noexcept;
};

/// Times every tick and step of a lockstep run.
class Stopwatch : public LoopWatch {
 public:
  /// One tick or step [s].
  struct Sample {
    double time = 0.0;  ///< of the run
    double processor = 0.0, wall = 0.0;
  };
  BothTimes ticks, steps;
  std::vector<Sample> tick_samples, step_samples;

  void before_tick() noexcept override;
  void after_tick(std::span<const TickRow> rows) noexcept override;
  void before_step() override;
  void after_step(const StepRow& row, std::span<const ToolMessages> tools) override;

 protected:
  ClockReading tick_start_, step_start_;
};

/// Which of many times is claimed.
enum class TimeOf : std::uint8_t { kMean, kP99, kP999, kMax };

/// Two claims, one for each clock and named after it: `name`, processor time; `name`, wall clock. `unit` is "s", or "%"
/// for shares of `period` [s]; `limit` is in that unit.
void add_time_claims(const std::string& name, const std::string& paper, const BothTimes& times, TimeOf which,
                     double limit, std::vector<MeasuredClaim>& claims, double period = 0.0);
/// That time of a histogram [s]; not available if it is empty.
double read_time(const Histogram& times, TimeOf which);

/// That time by both clocks, for a cell below kBothClocks: "12.0 µs / 13.1 µs".
std::string format_times(const BothTimes& times, TimeOf which);
inline constexpr const char* kBothClocks = "processor time / wall clock";

/// Times against the run's time, by both clocks.
Plot make_times_plot(const std::string& title, const std::vector<Stopwatch::Sample>& samples);

}  // namespace palpate
