#include <array>
#include <cmath>
#include <deque>
#include <utility>
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

/// One message for each tool.
class Messages {
 public:
  Messages(const RunParts& parts, MessageLayout Method::*layout) {
    for (const ToolParts& tool : parts.tools) buffers_.emplace_back(tool.method.*layout);
    for (Buffer& b : buffers_) pointers_.push_back(b.data());
  }
  std::span<std::byte* const> write() const noexcept { return pointers_; }
  std::span<const std::byte* const> read() const noexcept { return {pointers_.data(), pointers_.size()}; }

 private:
  std::vector<Buffer> buffers_;
  std::vector<std::byte*> pointers_;
};

/// Models on their way to the fast loop.
struct Delivery {
  std::int64_t tick;  ///< they arrive before this one
  Messages models;
};

/// The first tick at or after `time`: a slow step begins, or a model arrives, between two ticks.
std::int64_t tick_at(double time, double dt) noexcept {
  return static_cast<std::int64_t>(std::ceil(time / dt - 1e-9));
}

}  // namespace

RunSummary run_lockstep(const RunSettings& settings, RunParts parts, const RunControl& control) {
  check_parts(settings, parts);
  RunSummary summary;
  summary.notes = list_notes(parts);
  std::vector<ToolLoop> fast = make_tool_loops(settings, parts);
  SlowLoop slow(settings, parts);
  Messages models(parts, &Method::model), feedbacks(parts, &Method::feedback);
  std::deque<Delivery> under_way;
  std::vector<Messages> spare;  // models that arrived and were followed by others
  const auto take_spare = [&] {
    if (spare.empty()) return Messages(parts, &Method::model);
    Messages taken = std::move(spare.back());
    spare.pop_back();
    return taken;
  };
  std::int64_t first = 0, next_step = 0;
  if (const LoopMemory* before = find_memory(parts)) {
    first = before->next_tick;
    next_step = before->other_methods ? first_step_after(first, settings) : before->next_step;
    restore_messages(before->models, models.write());
    restore_messages(before->feedbacks, feedbacks.write());
    for (const LoopMemory::Delivery& delivery : before->under_way) {
      under_way.push_back({delivery.tick, Messages(parts, &Method::model)});
      restore_messages(delivery.models, under_way.back().models.write());
    }
  }
  const std::int64_t end = first + tick_at(settings.seconds, settings.dt);
  const std::int64_t progress_every = std::max<std::int64_t>(1, tick_at(control.progress_period, settings.dt));
  std::int64_t i = first;

  for (; i < end; ++i) {
    if (control.stop && control.stop->load(std::memory_order_relaxed)) {
      summary.stopped = true;
      break;
    }
    const double time = static_cast<double>(i) * settings.dt;
    if (slow.is_needed() && i == tick_at(static_cast<double>(next_step) * settings.slow_period, settings.dt)) {
      ++next_step;
      if (!(time >= settings.stall_from && time < settings.stall_until)) {
        Delivery delivery{tick_at(time + settings.latency + settings.extra_latency, settings.dt), take_spare()};
        const std::int64_t began = work_ns();
        StepRow row = slow.step(time, feedbacks.read(), delivery.models.write());
        summary.step_times.add(work_ns() - began);
        ++summary.steps;
        under_way.push_back(std::move(delivery));
        forget_times(row);
        if (parts.sink) parts.sink->add(row);
      }
    }
    while (!under_way.empty() && under_way.front().tick <= i) {
      spare.push_back(std::exchange(models, std::move(under_way.front().models)));
      under_way.pop_front();
    }
    std::array<TickRow, kMaxTools> rows;
    if (parts.watch) parts.watch->before_tick();
    const std::int64_t start = processor_ns();
    for (ToolLoop& tool : fast) tool.begin_tick(time);
    for (std::size_t k = 0; k < fast.size(); ++k)
      rows[k] = fast[k].finish_tick(time, models.read()[k], feedbacks.write()[k]);
    summary.tick_times.add(processor_ns() - start);
    ++summary.ticks;
    if (parts.watch) parts.watch->after_tick({rows.data(), fast.size()});
    for (std::size_t k = 0; k < fast.size(); ++k) {
      rows[k].tool_number = static_cast<std::uint32_t>(k);
      if (parts.sink) parts.sink->add(rows[k]);
    }
    if (control.progress && (i - first) % progress_every == 0)
      control.progress(static_cast<double>(i - first) * settings.dt);
  }
  if (parts.memory) {
    LoopMemory memory{fast,
                      slow.models_sent(),
                      i,
                      next_step,
                      copy_messages(models.read(), parts, &Method::model),
                      copy_messages(feedbacks.read(), parts, &Method::feedback),
                      {}};
    for (const Delivery& delivery : under_way)
      memory.under_way.push_back({delivery.tick, copy_messages(delivery.models.read(), parts, &Method::model)});
    remember(parts, settings, std::move(memory));
  }
  summary.seconds = static_cast<double>(summary.ticks) * settings.dt;
  for (const ToolLoop& tool : fast) summary.hands.push_back(tool.summary());
  return summary;
}

}  // namespace palpate
