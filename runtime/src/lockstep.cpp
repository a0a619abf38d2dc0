#include <cmath>
#include <deque>
#include <vector>

#include "loops.h"
#include "palpate/core/clock.h"
#include "palpate/core/second_thread.h"

namespace palpate {
namespace {

/// A message's memory, aligned for any message.
struct alignas(64) Line {
  std::byte bytes[64];
};
class Buffer {
 public:
  explicit Buffer(const MessageLayout& layout) : lines_((layout.size + sizeof(Line) - 1) / sizeof(Line), Line{}) {}
  std::byte* data() noexcept { return lines_.data()->bytes; }

 private:
  std::vector<Line> lines_;
};

/// A model on its way to the fast loop.
struct Delivery {
  std::int64_t tick;  ///< arrives before this one
  Buffer model;
};

/// The first tick at or after `time`: a slow step begins, or a model arrives, between two ticks.
std::int64_t tick_at(double time, double dt) noexcept {
  return static_cast<std::int64_t>(std::ceil(time / dt - 1e-9));
}

}  // namespace

RunSummary run_lockstep(const RunSettings& settings, RunParts parts, const RunControl& control) {
  validate(settings);
  RunSummary summary;
  FastLoop fast(settings, parts);
  std::optional<SlowLoop> slow;
  if (parts.method.slow) slow.emplace(parts);

  Buffer model(parts.method.model);
  Buffer feedback(parts.method.feedback);
  std::copy(parts.method.last_feedback.begin(), parts.method.last_feedback.end(), feedback.data());
  std::deque<Delivery> under_way;
  const std::int64_t ticks = tick_at(settings.seconds, settings.dt);
  const std::int64_t progress_every = std::max<std::int64_t>(1, tick_at(control.progress_period, settings.dt));
  std::int64_t next_step = 0;

  for (std::int64_t i = 0; i < ticks; ++i) {
    if (control.stop && control.stop->load(std::memory_order_relaxed)) {
      summary.stopped = true;
      break;
    }
    const double time = static_cast<double>(i) * settings.dt;
    if (slow && i == tick_at(static_cast<double>(next_step) * settings.slow_period, settings.dt)) {
      ++next_step;
      if (!(time >= settings.stall_from && time < settings.stall_until)) {
        Delivery delivery{tick_at(time + settings.latency + settings.extra_latency, settings.dt),
                          Buffer(parts.method.model)};
        const std::int64_t began = work_ns();
        StepRow row = slow->step(time, feedback.data(), delivery.model.data());
        summary.step_times.add(work_ns() - began);
        ++summary.steps;
        under_way.push_back(std::move(delivery));
        forget_times(row);
        if (parts.sink) parts.sink->add(row);
      }
    }
    while (!under_way.empty() && under_way.front().tick <= i) {
      model = std::move(under_way.front().model);
      under_way.pop_front();
    }
    const std::int64_t start = processor_ns();
    const TickRow row = fast.tick(time, model.data(), feedback.data());
    summary.tick_times.add(processor_ns() - start);
    ++summary.ticks;
    if (parts.sink) parts.sink->add(row);
    if (control.progress && i % progress_every == 0) control.progress(time);
  }
  if (summary.ticks > 0)
    parts.method.last_feedback.assign(feedback.data(), feedback.data() + parts.method.feedback.size);
  summary.seconds = static_cast<double>(summary.ticks) * settings.dt;
  summary.input = fast.input_counters();
  summary.safety = fast.safety_counters();
  summary.energy = fast.energy();
  return summary;
}

}  // namespace palpate
