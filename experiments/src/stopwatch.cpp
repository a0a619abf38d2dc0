#include "stopwatch.h"

#include <fmt/format.h>

#include "palpate/core/clock.h"
#include "palpate/core/second_thread.h"

namespace palpate {
namespace {

Stopwatch::Sample make_sample(double time, const ClockReading& start, const ClockReading& end) {
  return {time, 1e-9 * static_cast<double>(end.processor - start.processor),
          1e-9 * static_cast<double>(end.wall - start.wall)};
}

void add_between(const ClockReading& start, const ClockReading& end, BothTimes& times) noexcept {
  times.processor.add(end.processor - start.processor);
  times.wall.add(end.wall - start.wall);
}

}  // namespace

ClockReading read_clocks() noexcept {
  return {work_ns(), monotonic_ns()};
}

void BothTimes::add(const ClockReading& start) noexcept {
  add_between(start, read_clocks(), *this);
}

void Stopwatch::before_tick() noexcept {
  tick_start_ = read_clocks();
}

// In lockstep a tick may allocate beside its work.
void Stopwatch::after_tick(std::span<const TickRow> rows) noexcept {
  const ClockReading end = read_clocks();
  add_between(tick_start_, end, ticks);
  tick_samples.push_back(make_sample(rows[0].time, tick_start_, end));
}

void Stopwatch::before_step() {
  step_start_ = read_clocks();
}

void Stopwatch::after_step(const StepRow& row, std::span<const ToolMessages>) {
  const ClockReading end = read_clocks();
  add_between(step_start_, end, steps);
  step_samples.push_back(make_sample(row.time, step_start_, end));
}

double read_time(const Histogram& times, TimeOf which) {
  if (times.count() == 0) return kNotAvailable;
  switch (which) {
    case TimeOf::kMean:
      return 1e-9 * times.mean_ns();
    case TimeOf::kP99:
      return 1e-9 * times.compute_percentile_ns(0.99);
    case TimeOf::kP999:
      return 1e-9 * times.compute_percentile_ns(0.999);
    case TimeOf::kMax:
      break;
  }
  return 1e-9 * static_cast<double>(times.max_ns());
}

void add_time_claims(const std::string& name, const std::string& paper, const BothTimes& times, TimeOf which,
                     double limit, std::vector<MeasuredClaim>& claims, double period) {
  const auto add = [&](const char* clock, const Histogram& by) {
    const double time = read_time(by, which);
    claims.push_back({name + ", " + clock, paper, period > 0.0 ? 100.0 * time / period : time, limit,
                      MeasuredClaim::Relation::kAtMost, period > 0.0 ? "%" : "s", true});
  };
  add("processor time", times.processor);
  add("wall clock", times.wall);
}

std::string format_times(const BothTimes& times, TimeOf which) {
  return fmt::format("{} / {}", format_quantity(read_time(times.processor, which), "s"),
                     format_quantity(read_time(times.wall, which), "s"));
}

Plot make_times_plot(const std::string& title, const std::vector<Stopwatch::Sample>& samples) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.y_label = "computing time";
  plot.x_unit = plot.y_unit = "s";
  plot.series = {{"processor time", {}, {}}, {"wall clock", {}, {}}};
  for (const Stopwatch::Sample& s : samples) {
    plot.series[0].x.push_back(s.time);
    plot.series[0].y.push_back(s.processor);
    plot.series[1].x.push_back(s.time);
    plot.series[1].y.push_back(s.wall);
  }
  return plot;
}

}  // namespace palpate
