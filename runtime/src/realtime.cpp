#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <thread>

#include "loops.h"
#include "palpate/core/clock.h"
#include "palpate/core/error.h"
#include "palpate/haptics/tick_source.h"
#include "palpate/runtime/delay_line.h"
#include "palpate/runtime/row_ring.h"
#include "tick_duty.h"

namespace palpate {
namespace {

/// Enough for two seconds of ticks of one tool at 4 kHz while the disk sleeps.
constexpr std::size_t kTickRows = 8192;
constexpr std::size_t kStepRows = 1024;

/// Points in time at start + i · period.
class Grid {
 public:
  Grid(std::int64_t start_ns, double period) noexcept : start_(start_ns), period_(period * 1e9) {}
  std::int64_t deadline(std::int64_t i) const noexcept {
    return start_ + static_cast<std::int64_t>(static_cast<double>(i) * period_);
  }
  /// The first i after `i` whose deadline is not yet past; the ones between are missed.
  std::int64_t next(std::int64_t i, std::int64_t now_ns) const noexcept {
    if (now_ns <= deadline(i + 1)) return i + 1;
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(now_ns - start_) / period_));
  }

 private:
  std::int64_t start_;
  double period_;
};

std::optional<std::string> want_priority(std::thread& thread, int priority) {
  if (priority <= 0) return std::nullopt;
  const sched_param parameter{priority};
  const int error = pthread_setschedparam(thread.native_handle(), SCHED_FIFO, &parameter);
  if (error == 0) return std::nullopt;
  return fmt::format("no real-time priority for the fast loop ({}): ticks may come late; see docs/realtime.md",
                     std::strerror(error));
}

std::optional<std::string> want_core(std::thread& thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  const int error = pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
  if (error == 0) return std::nullopt;
  return fmt::format("the fast loop is not pinned to core {} ({})", core, std::strerror(error));
}

std::optional<std::string> want_locked_memory() {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return std::nullopt;
  return fmt::format("memory is not locked ({}): a tick may meet a page fault; see docs/realtime.md",
                     std::strerror(errno));
}

/// Models on their way to the fast loop: the newest at once, or each after `extra_latency`. Wait-free on both sides.
class ModelWay {
 public:
  ModelWay(const MessageLayout& layout, const RunSettings& settings)
      : latest_(layout.size, layout.alignment), extra_ns_(static_cast<std::int64_t>(1e9 * settings.extra_latency)) {
    // Steps do not begin sooner than one period after the other, but one that was late may be followed by one in time.
    const double under_way = std::ceil(settings.extra_latency / settings.slow_period) + 2.0;
    if (extra_ns_ > 0) delayed_.emplace(layout.size, layout.alignment, as_size(under_way));
  }

  /// Before the first refresh(): a model that has arrived already.
  void start_with(const std::vector<std::byte>& model) noexcept {
    std::copy(model.begin(), model.end(), write_slot());
    delayed_ ? void(delayed_->publish(0)) : latest_.publish();
  }
  std::byte* write_slot() noexcept { return delayed_ ? delayed_->write_slot() : latest_.write_slot(); }
  void publish() noexcept { delayed_ ? void(delayed_->publish(monotonic_ns() + extra_ns_)) : latest_.publish(); }
  void refresh(std::int64_t now_ns) noexcept { delayed_ ? delayed_->refresh(now_ns) : void(latest_.refresh()); }
  const std::byte* read_slot() const noexcept { return delayed_ ? delayed_->read_slot() : latest_.read_slot(); }

 private:
  LatestBytes latest_;
  std::optional<DelayLine> delayed_;
  const std::int64_t extra_ns_;
};

/// The two ways of one tool's messages.
struct ToolWays {
  ToolWays(const Method& method, const RunSettings& settings)
      : model(method.model, settings), feedback(method.feedback.size, method.feedback.alignment) {}
  ModelWay model;
  LatestBytes feedback;
};

class RealtimeRun {
 public:
  RealtimeRun(const RunSettings& settings, RunParts& parts, const RunControl& control)
      : settings_(settings),
        parts_(parts),
        control_(control),
        fast_(make_tool_loops(settings, parts)),
        slow_(settings, parts) {
    for (const ToolParts& tool : parts.tools) {
      ways_.push_back(std::make_unique<ToolWays>(tool.method, settings));
      fade_time_ = std::max(fade_time_, tool.guards.safety.fade_time);
    }
    summary_.hands.resize(parts.tools.size());
    summary_.notes = list_notes(parts);
  }

  RunSummary run(const RealtimeSettings& realtime) {
    const bool locked = realtime.lock_memory && !note(want_locked_memory());
    if (const LoopMemory* before = find_memory(parts_)) go_on_from(*before);
    const auto passed = static_cast<std::int64_t>(1e9 * static_cast<double>(first_tick_) * settings_.dt);
    const std::int64_t start = monotonic_ns() + 20'000'000 - passed;  // time for the threads to be there
    if (slow_.is_needed()) slow_thread_ = std::thread([this, start] { run_slow(start); });
    if (realtime.ticks) duty_.emplace(settings_.dt, start + passed);
    fast_thread_ = std::thread([this, start, source = realtime.ticks] {
      const std::int64_t next = source ? run_driven(start, *source) : run_fast(start);
      finish(start, next);
    });
    note(want_priority(fast_thread_, realtime.priority));
    const unsigned cores = std::thread::hardware_concurrency();
    if (realtime.pin && cores > 1) note(want_core(fast_thread_, static_cast<int>(cores) - 1));
    feed_sink();
    fast_thread_.join();
    if (slow_thread_.joinable()) slow_thread_.join();
    drain();
    if (parts_.memory) keep_memory();
    if (locked) munlockall();
    if (failure_) std::rethrow_exception(failure_);
    if (sink_failure_) std::rethrow_exception(sink_failure_);
    if (duty_)
      note(fmt::format("the device's own thread called {} of {} ticks", summary_.driven_ticks, summary_.ticks));
    summary_.lost_rows += lost_steps_;
    summary_.seconds = static_cast<double>(end_ns_ - start - passed) * 1e-9;
    return std::move(summary_);
  }

 private:
  /// Before the threads begin.
  void go_on_from(const LoopMemory& before) {
    first_tick_ = before.next_tick;
    other_methods_ = before.other_methods;
    if (other_methods_) return;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      std::copy(before.feedbacks[i].begin(), before.feedbacks[i].end(), ways_[i]->feedback.write_slot());
      ways_[i]->feedback.publish();
      ways_[i]->model.start_with(before.models[i]);
    }
  }

  /// After they have ended.
  void keep_memory() {
    refresh_feedbacks();
    std::vector<const std::byte*> models;
    for (const auto& way : ways_) {
      way->model.refresh(std::numeric_limits<std::int64_t>::max());
      models.push_back(way->model.read_slot());
    }
    const double steps = static_cast<double>(end_tick_) * settings_.dt / settings_.slow_period;
    remember(parts_, settings_,
             {fast_,
              slow_.models_sent(),
              end_tick_,
              static_cast<std::int64_t>(std::ceil(steps - 1e-9)),
              copy_messages(models, parts_, &Method::model),
              copy_messages(feedbacks_, parts_, &Method::feedback),
              {}});
  }

  bool note(std::optional<std::string> text) {
    if (text) summary_.notes.push_back(std::move(*text));
    return text.has_value();
  }

  bool stop_wanted() const noexcept {
    return failed_.load(std::memory_order_relaxed) || (control_.stop && control_.stop->load(std::memory_order_relaxed));
  }

  /// The number after the last tick.
  std::int64_t end_of_ticks() const noexcept {
    return first_tick_ + static_cast<std::int64_t>(std::ceil(settings_.seconds / settings_.dt - 1e-9));
  }

  /// Ticks by the clock. Real-time from the first deadline on. Returns the next tick's place on the grid.
  std::int64_t run_fast(std::int64_t start) noexcept {
    const Grid grid(start, settings_.dt);
    const std::int64_t ticks = end_of_ticks();
    std::int64_t i = first_tick_;
    while (i < ticks && !stop_wanted()) {
      sleep_until_ns(grid.deadline(i));
      const std::int64_t ended = tick_and_count(static_cast<double>(i) * settings_.dt, grid.deadline(i));
      const std::int64_t next = grid.next(i, ended);
      summary_.tick_misses += static_cast<std::uint64_t>(std::min(next, ticks) - i - 1);  // none after the end
      i = next;
    }
    return i;
  }

  /// Lets the source tick, and ticks while it is silent. The same otherwise.
  std::int64_t run_driven(std::int64_t start, TickSource& source) noexcept {
    const Grid grid(start, settings_.dt);
    const std::int64_t ticks = end_of_ticks();
    start_ = start;
    due_ = grid.deadline(first_tick_);
    source.drive({&RealtimeRun::on_call, this});
    std::int64_t i = first_tick_;
    while (i < ticks && !stop_wanted()) {
      sleep_until_ns(grid.deadline(i));
      const std::int64_t now = monotonic_ns();
      if (duty_->begin_own(now)) {
        tick_at(now);
        duty_->end();
      }
      i = grid.next(i, monotonic_ns());
    }
    source.release();
    return grid.next(i - 1, monotonic_ns());  // after the source's last tick
  }

  static void on_call(void* self) noexcept {
    auto& run = *static_cast<RealtimeRun*>(self);
    const std::int64_t now = monotonic_ns();
    if (!run.duty_->begin_called(now)) return;
    run.tick_at(now);
    ++run.summary_.driven_ticks;
    run.duty_->end();
  }

  /// A tick that no grid has: its time is what the clock says. Late is what comes more than a period after the last.
  void tick_at(std::int64_t now) noexcept {
    const double late = static_cast<double>(now - due_) / (1e9 * settings_.dt);
    if (late > 0.5) summary_.tick_misses += static_cast<std::uint64_t>(late + 0.5);
    tick_and_count(1e-9 * static_cast<double>(now - start_), std::min(due_, now));
    due_ = now + static_cast<std::int64_t>(1e9 * settings_.dt);
  }

  /// After the last tick; `i` is the place of the next on the grid, if there were one.
  void finish(std::int64_t start, std::int64_t i) noexcept {
    const Grid grid(start, settings_.dt);
    const std::int64_t ticks = end_of_ticks();
    summary_.stopped = i < ticks;
    for (std::size_t k = 0; k < fast_.size(); ++k) summary_.hands[k] = fast_[k].summary();
    end_tick_ = std::min(i, ticks);
    end_ns_ = grid.deadline(end_tick_);
    done_.store(true, std::memory_order_release);
    if (std::all_of(fast_.begin(), fast_.end(), [](const ToolLoop& tool) { return tool.waits(); })) return;
    // The force leaves the hand as it came, not in one step. The run is over: this is neither recorded nor counted.
    const auto fade_ticks = static_cast<std::int64_t>(std::ceil(fade_time_ / settings_.dt)) + 1;
    for (const std::int64_t end = i + fade_ticks; i < end; ++i) {
      sleep_until_ns(grid.deadline(i));
      for (ToolLoop& tool : fast_) {
        if (!tool.waits()) tool.fade_out(static_cast<double>(i) * settings_.dt);
      }
    }
  }

  /// Real-time. Returns when it ended.
  std::int64_t tick_and_count(double time, std::int64_t due) noexcept {
    const std::int64_t began = monotonic_ns();
    if (parts_.watch) parts_.watch->before_tick();
    tick(time, due);
    const std::int64_t ended = monotonic_ns();
    summary_.tick_delays.add(began - due);
    summary_.tick_times.add(ended - began);
    ++summary_.ticks;
    for (std::size_t k = 0; k < fast_.size(); ++k) {
      rows_[k].tick_time = 1e-9 * static_cast<double>(ended - began);
      rows_[k].tool_number = static_cast<std::uint32_t>(k);
      if (!tick_rows_.push(rows_[k])) ++summary_.lost_rows;
    }
    if (parts_.watch) parts_.watch->after_tick({rows_.data(), fast_.size()});
    return ended;
  }

  void tick(double time, std::int64_t now_ns) noexcept {
    for (ToolLoop& tool : fast_) tool.begin_tick(time);
    for (std::size_t k = 0; k < fast_.size(); ++k) {
      ToolWays& way = *ways_[k];
      way.model.refresh(now_ns);
      rows_[k] = fast_[k].finish_tick(time, way.model.read_slot(), way.feedback.write_slot());
      if (fast_[k].has_feedback()) way.feedback.publish();
    }
  }

  /// Reader's side: the slow thread, or the caller's when it has ended.
  void refresh_feedbacks() {
    feedbacks_.clear();
    for (const auto& way : ways_) {
      way->feedback.refresh();
      feedbacks_.push_back(way->feedback.read_slot());
    }
  }

  void run_slow(std::int64_t start) noexcept {
    try {
      std::vector<std::byte*> models(ways_.size());
      const Grid grid(start, settings_.slow_period);
      auto i = static_cast<std::int64_t>(
          std::ceil(static_cast<double>(first_tick_) * settings_.dt / settings_.slow_period - 1e-9));
      if (other_methods_) i = first_step_after(first_tick_, settings_);
      while (!done_.load(std::memory_order_acquire)) {
        sleep_until_ns(grid.deadline(i));
        const std::int64_t began = monotonic_ns();
        refresh_feedbacks();
        for (std::size_t k = 0; k < ways_.size(); ++k) models[k] = ways_[k]->model.write_slot();
        // The step's own time is when it begins: what it sees is the state of now, not of the grid point it missed.
        const double time = 1e-9 * static_cast<double>(began - start);
        const StepRow row = slow_.step(time, feedbacks_, models);
        for (const auto& way : ways_) way->model.publish();
        summary_.step_delays.add(began - grid.deadline(i));
        summary_.step_times.add(static_cast<std::int64_t>(row.step_time * 1e9));
        ++summary_.steps;
        if (!step_rows_.push(row)) ++lost_steps_;
        const std::int64_t next = grid.next(i, monotonic_ns());
        summary_.step_misses += static_cast<std::uint64_t>(next - i - 1);
        i = next;
      }
    } catch (...) {
      failure_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  void feed_sink() {
    const std::int64_t start = monotonic_ns();
    while (!done_.load(std::memory_order_acquire)) {
      drain();
      if (control_.progress) control_.progress(1e-9 * static_cast<double>(monotonic_ns() - start));
      sleep_until_ns(monotonic_ns() + 10'000'000);
    }
  }

  // A sink that throws (a full disk, say) ends the run; its error goes on once the threads have ended.
  void drain() {
    if (sink_failure_) return;
    try {
      TickRow tick;
      while (tick_rows_.pop(tick)) {
        if (parts_.sink) parts_.sink->add(tick);
      }
      StepRow step;
      while (step_rows_.pop(step)) {
        if (parts_.sink) parts_.sink->add(step);
      }
    } catch (...) {
      sink_failure_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  const RunSettings& settings_;
  RunParts& parts_;
  const RunControl& control_;
  std::vector<ToolLoop> fast_;
  SlowLoop slow_;
  std::vector<std::unique_ptr<ToolWays>> ways_;
  std::vector<const std::byte*> feedbacks_;  // slow thread
  std::array<TickRow, kMaxTools> rows_;      // fast thread
  double fade_time_ = 0.0;
  std::optional<TickDuty> duty_;  // none: the fast thread ticks
  std::int64_t start_ = 0;        // with a duty
  std::int64_t due_ = 0;          // with a duty, who has it: when the next tick should come
  RowRing<TickRow> tick_rows_{kTickRows};
  RowRing<StepRow> step_rows_{kStepRows};
  std::thread fast_thread_;
  std::thread slow_thread_;
  std::atomic<bool> done_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;       // slow thread, read after it is joined
  std::exception_ptr sink_failure_;  // calling thread
  std::uint64_t lost_steps_ = 0;     // slow thread
  std::int64_t first_tick_ = 0;      // of the grid that goes on from the run before
  bool other_methods_ = false;       // it has new methods
  std::int64_t end_tick_ = 0;        // fast thread, read after it is joined
  std::int64_t end_ns_ = 0;
  RunSummary summary_;  // tick_* belong to the fast thread, step_* to the slow one, the rest to the caller's
};

}  // namespace

RunSummary run_realtime(const RunSettings& settings, const RealtimeSettings& realtime, RunParts parts,
                        const RunControl& control) {
  check_parts(settings, parts);
  return RealtimeRun(settings, parts, control).run(realtime);
}

}  // namespace palpate
