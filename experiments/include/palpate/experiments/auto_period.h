#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "palpate/core/histogram.h"
#include "palpate/experiments/advise.h"
#include "palpate/runtime/run.h"
#include "palpate/scene/scene.h"

/// "slow_period": "auto" in real time (decision 29): the slow loop as fast as the machine holds, which is measured
/// before the run and looked at while it runs.
namespace palpate {

/// The rates that "auto" takes [Hz], a quarter apart: a change is worth a new method only if it can be felt.
inline constexpr std::array<double, 21> kAutoRates = {1000, 800, 630, 500, 400,  315, 250, 200,  160,  125, 100,
                                                      80,   63,  50,  40,  31.5, 25,  20,  16.0, 12.5, 10};

/// The shortest period of the ladder in which steps of `step_time` [s] take at most kLoad of the time, and which is no
/// shorter than dt; its longest if there is none.
double find_rung(double step_time, double dt) noexcept;

/// Puts a period that this machine holds in the place of an "auto", from a short trial in virtual time; true if there
/// was one. How old a model may be becomes six periods where the scene allows less, so that the loop can be slowed down
/// by half without a force that fades. Throws InputError.
bool settle_period(Scene& scene, const AdviceOptions& options = {});

/// Decides on another period by how long steps take. Thread: that of the steps.
///
/// It looks at the 99th percentile of two seconds at a time (at least 20 steps). A slower rung is wanted after one such
/// time that asks for it, a faster one after three, the slowest of what they ask for.
class PeriodKeeper {
 public:
  /// `longest` bounds what is asked for [s].
  PeriodKeeper(double period, double dt, double longest) noexcept;
  void add(double step_time) noexcept;
  /// The period that should be [s]; the one that is, unless something speaks against it.
  double wanted() const noexcept { return wanted_; }
  double period() const noexcept { return period_; }

  static constexpr double kWindow = 2.0;  ///< [s]
  static constexpr std::uint64_t kLeastSteps = 20;
  static constexpr int kCalmWindows = 3;

 private:
  double period_, dt_, longest_;
  double wanted_;
  Histogram times_;
  double elapsed_ = 0.0;  ///< in this window [s]
  double slowest_ = 0.0;  ///< asked for in the calm windows so far [s]
  int calm_ = 0;
};

/// Watches a run for the moment to change the period: another one is wanted, and for a tenth of a second no hand has
/// felt more than kLightTouch, whether it moves or not. Then it asks the run to stop, and whoever runs it goes on with
/// methods that renew_methods() made. There is no force that could be missed, but for a touch that begins in the slow
/// period before the new methods' first model.
///
/// Each call in its loop's thread, real-time in the fast one, as LoopWatch says; the rest between two runs.
class PeriodWatch final : public LoopWatch {
 public:
  /// `next` gets all calls too, and may be null. `stop` is what ended the run before, and may be null.
  PeriodWatch(const Scene& scene, LoopWatch* next, const std::atomic<bool>* stop);

  /// For RunControl: a change is due, or the outer stop was asked for.
  const std::atomic<bool>& stop() const noexcept { return stop_; }
  /// Why the run ended: a change is due.
  bool wants_change() const noexcept { return change_.load(std::memory_order_relaxed); }
  double wanted() const noexcept { return keeper_.wanted(); }
  /// Of the last tick, one for each tool.
  std::span<const TickRow> last_rows() const noexcept { return {last_.data(), tools_}; }
  /// Before a run that goes on: as it was, or with another period [s].
  void resume() noexcept;
  void go_on(double period) noexcept;

  void before_tick() noexcept override;
  void after_tick(std::span<const TickRow> rows) noexcept override;
  void before_step() override;
  void after_step(const StepRow& row, std::span<const ToolMessages> tools) override;

  static constexpr double kFreeTime = 0.1;  ///< without touch before a change [s]

 private:
  const double dt_, longest_;
  PeriodKeeper keeper_;
  LoopWatch* next_;
  const std::atomic<bool>* outer_;
  std::atomic<bool> other_{false};   // slow thread: another period is wanted
  std::atomic<bool> change_{false};  // fast thread: … and it can be now
  std::atomic<bool> stop_{false};
  int free_ticks_ = 0;                   // fast thread
  std::array<TickRow, kMaxTools> last_;  // fast thread
  std::size_t tools_ = 0;                // fast thread
};

/// Methods of the scene's present periods on a world that goes on as it is, its tools where the last tick had them; one
/// row for each. The memory goes on without the old methods' messages. Throws InputError, and leaves the world as it
/// was.
std::vector<Method> renew_methods(const Scene& scene, const std::string& name, World& world,
                                  std::span<const TickRow> last, RunMemory& memory);

}  // namespace palpate
