#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "palpate/core/histogram.h"
#include "palpate/core/range.h"
#include "palpate/haptics/input_guard.h"
#include "palpate/haptics/passivity.h"
#include "palpate/haptics/safety.h"
#include "palpate/methods/method.h"
#include "palpate/runtime/run_rows.h"

namespace palpate {

class Fields;
class TickSource;

/// How long and at which rates the two loops run. Times in seconds.
struct RunSettings {
  double dt = 0.001;          ///< fast period
  double slow_period = 0.02;  ///< ΔT; need not be a multiple of dt
  /// Real time: ΔT is to be what the machine holds, and whoever runs the loops chooses it; slow_period is then that of
  /// virtual time. The loops themselves do not look at it.
  bool auto_period = false;
  double latency = 0.02;  ///< lockstep: what a slow step begun at t computes arrives at t + latency
  /// Added to the way of every model to the fast loop, in both runtimes: what a farther or slower computer would do.
  double extra_latency = 0.0;
  double seconds = 5.0;     ///< length of the run
  double stall_from = 0.0;  ///< lockstep: no slow step begins in [stall_from, stall_until), to show the watchdog
  double stall_until = 0.0;
  bool operator==(const RunSettings&) const = default;
};

/// The settings of the two loops' rates, with their meaning, unit and range: what scene files and checks go by.
void describe_rates(Fields& fields, RunSettings& settings);
inline constexpr Range kRunSeconds{0.0, 1e6, true};

/// Throws InputError that names the field, its value and what is allowed.
void validate(const RunSettings& settings);

/// What stands between one hand and the method that it feels. Every tool has its own.
struct HandGuards {
  InputGuardSettings input{};
  SafetySettings safety{};
  std::optional<PassivitySettings> passivity{};  ///< set: the controller acts; else energy is only observed
  bool operator==(const HandGuards&) const = default;
};

/// Throws InputError that names the field, its value and what is allowed.
void validate(const HandGuards& guards);

/// The most tools that a run can have, each in a hand of its own.
inline constexpr std::size_t kMaxTools = 4;
/// What a tool is called that is alone and has no other name.
inline constexpr std::string_view kOnlyTool = "tool";

/// Receives what a run records. Never called from the fast thread of the realtime runtime.
class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void add(const TickRow& row) = 0;
  virtual void add(const StepRow& row) = 0;
};

/// What one hand of a run met.
struct HandSummary {
  InputCounters input;  ///< samples of its device that were not taken
  SafetyCounters safety;
  double energy = 0.0;      ///< given to the hand by the end [J]
  double energy_max = 0.0;  ///< the most that had been given at any time [J]; 0 for a passive run
};

/// What a run was, in numbers.
struct RunSummary {
  std::uint64_t ticks = 0;
  std::uint64_t driven_ticks = 0;  ///< realtime: of the ticks, those that a device's own thread called
  std::uint64_t steps = 0;
  double seconds = 0.0;   ///< simulated (lockstep) or passed (realtime)
  Histogram tick_times;   ///< computing time of a tick: the processor's (lockstep) or by the clock (realtime)
  Histogram step_times;   ///< computing time of a slow step
  Histogram tick_delays;  ///< realtime: how late a tick began
  Histogram step_delays;  ///< realtime: how late a slow step began
  /// Realtime: ticks of the grid that were skipped, because the one before took too long.
  std::uint64_t tick_misses = 0;
  std::uint64_t step_misses = 0;   ///< realtime: the same of slow steps
  std::uint64_t lost_rows = 0;     ///< realtime: rows that the recorder was too slow for
  std::vector<HandSummary> hands;  ///< one for each tool
  bool stopped = false;            ///< ended early by a stop request
  std::vector<std::string> notes;  ///< which real-time permissions were not given, which form a method has …

  /// The hand of a run of one tool.
  const HandSummary& hand() const { return hands.at(0); }
};

/// Ways to watch and end a run; all optional.
struct RunControl {
  const std::atomic<bool>* stop = nullptr;       ///< set from any thread or a signal handler: end soon, cleanly
  std::function<void(double seconds)> progress;  ///< called now and then, never from the fast thread of realtime
  double progress_period = 0.05;                 ///< lockstep: so much simulated time between two calls [s]
};

/// One tool of a run: its method, the device in whose hand it is, and what stands between them.
struct ToolParts {
  Method& method;
  Device& device;
  HandGuards guards{};
  /// The device is a model, and stands still while no run reads it: at the end of a realtime run no force need be taken
  /// out of a hand, and one that goes on later does so with the force there was.
  bool waits = false;
};

struct LoopMemory;

/// What a run leaves for one that goes on with the same methods and devices, after a pause say: time, guards, passivity
/// and safety, and all messages between the loops. In virtual time the two are one run that never ended, bit for bit.
/// After a real time run a hand that does not wait (ToolParts) has had its force faded, and gets it back by the ramp.
/// Empty before the first run. Counters of the hands go on too.
struct RunMemory {
  double time = 0.0;                    ///< where the next run goes on [s]
  std::shared_ptr<LoopMemory> loops{};  ///< of it all

  /// The next run has other methods of the same tools, for another slow period say: time, guards, passivity and safety
  /// go on, and the messages of the old ones are forgotten. Until its first model a method gives no force, so that this
  /// is for hands that touch nothing.
  void forget_methods();
};

/// The messages of one tool in a slow step.
struct ToolMessages {
  const SlowHalf* slow = nullptr;  ///< null: its method has none, and no messages
  MessageView feedback;            ///< what the step began with
  MessageView model;               ///< what it made
};

/// Watches the loops from inside, each call in the loop's own thread: for pictures and measurements.
class LoopWatch {
 public:
  virtual ~LoopWatch() = default;
  // Real-time like a tick: they never allocate, lock, throw, wait or loop unboundedly.
  virtual void before_tick() noexcept {}
  virtual void after_tick(std::span<const TickRow> /*rows*/) noexcept {}  ///< one for each tool
  // In the slow thread.
  virtual void before_step() {}
  virtual void after_step(const StepRow& /*row*/, std::span<const ToolMessages> /*tools*/) {}
};

/// What the loops work on. Everything outlives the run. Tools are in one world; their slow halves share its steps.
struct RunParts {
  std::vector<ToolParts> tools;  ///< 1 to kMaxTools
  RunSink* sink = nullptr;
  LoopWatch* watch = nullptr;
  RunMemory* memory = nullptr;  ///< read and written

  RunParts(std::vector<ToolParts> all, RunSink* to = nullptr) : tools(std::move(all)), sink(to) {}
  /// One tool.
  RunParts(Method& method, Device& device, RunSink* to = nullptr, HandGuards guards = {})
      : RunParts({{method, device, guards}}, to) {}
};

/// Throws InputError, with the reason, where methods cannot share a world, are not in the same one, or were made for
/// other rates than the run's.
void check_parts(const RunSettings& settings, const RunParts& parts);

/// Runs in virtual time and in the calling thread: the same input gives the same bits. Rows carry no measured times,
/// the summary does. With a memory, `seconds` are those of this part of the run.
RunSummary run_lockstep(const RunSettings& settings, RunParts parts, const RunControl& control = {});

/// Wishes for the realtime threads; each is granted where the system permits, and a note says where not.
struct RealtimeSettings {
  /// SCHED_FIFO priority of the fast thread, 1 to 99; 0 leaves it as it is. The slow thread stays ordinary, because it
  /// may overrun.
  int priority = 80;
  bool lock_memory = true;  ///< mlockall, so that no tick meets a page fault
  bool pin = true;          ///< the fast thread alone on the last core, if there are two or more
  /// Set: the fast loop ticks in this device's thread, whenever that calls (no sooner than 0.7 dt after the last tick),
  /// so that a force goes out in the period it was computed in. The fast thread watches, and ticks itself while it does
  /// not: the device is then lost, and the simulation goes on. It outlives the run.
  TickSource* ticks = nullptr;
};

/// Runs in real time, in two threads on an absolute grid of the monotonic clock, and in the calling thread, which feeds
/// the sink. Throws InputError as check_parts() does; returns when the run is over.
RunSummary run_realtime(const RunSettings& settings, const RealtimeSettings& realtime, RunParts parts,
                        const RunControl& control = {});

}  // namespace palpate
