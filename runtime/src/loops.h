#pragma once

#include <memory>
#include <vector>

#include "palpate/core/latest_value.h"
#include "palpate/methods/slow_step.h"
#include "palpate/runtime/run.h"

namespace palpate {

/// Stamps a message's header. The runtime owns time and sequence, methods the rest.
void stamp(std::byte* message, double time, std::uint64_t sequence) noexcept;
const MessageHeader& header_of(const std::byte* message) noexcept;

/// One tool in the fast loop: device → input guard → method → passivity → safety → device. Fast thread only; real-time.
class ToolLoop {
 public:
  ToolLoop(double dt, const ToolParts& parts);
  /// With another method, and all else of the loop that there was.
  ToolLoop(const ToolLoop& before, FastHalf& method) noexcept;

  /// First half of a tick: what the hand does. Of all tools before the second half of any.
  void begin_tick(double time) noexcept;
  /// Second half: what it feels. `model` is the newest model; `feedback` is filled for the slow loop, unless the device
  /// has not said anything sound yet: then the method does not run, no force is sent and `feedback` is left alone.
  TickRow finish_tick(double time, const std::byte* model, std::byte* feedback) noexcept;

  /// A tick after the end: the last force is taken out of the hand as if the model had gone stale.
  void fade_out(double time) noexcept;

  /// The last tick filled its `feedback`.
  bool has_feedback() const noexcept { return guard_.ready(); }
  /// Its device stands still between two runs.
  bool waits() const noexcept { return waits_; }
  HandSummary summary() const noexcept { return {guard_.counters(), safety_.counters(), energy(), energy_max_}; }

 private:
  double energy() const noexcept { return passivity_.observer().energy(); }

  FastHalf* method_;
  Device& device_;
  const bool has_slow_half_, waits_;
  InputGuard guard_;
  PassivityController passivity_;
  SafetyStage safety_;
  const double dt_;
  DeviceState state_;
  Wrench last_;  // sent
  double energy_max_ = 0.0;
  std::uint64_t sequence_ = 0;
};

/// The bytes of one message for each tool.
using MessageBytes = std::vector<std::vector<std::byte>>;
MessageBytes copy_messages(std::span<const std::byte* const> messages, const RunParts& parts,
                           MessageLayout Method::*layout);
void restore_messages(const MessageBytes& bytes, std::span<std::byte* const> messages);

/// The state of both loops between two ticks.
struct LoopMemory {
  /// Models of a slow step on their way in virtual time.
  struct Delivery {
    std::int64_t tick;
    MessageBytes models;
  };
  std::vector<ToolLoop> fast;
  std::vector<std::uint64_t> models_sent;
  std::int64_t next_tick = 0;
  std::int64_t next_step = 0;
  MessageBytes models, feedbacks;  ///< the newest
  std::vector<Delivery> under_way;
  bool other_methods = false;  ///< the next run's are new, and there are no messages
};

/// What the run goes on from; null if it begins.
const LoopMemory* find_memory(const RunParts& parts) noexcept;

/// The fast loop of all tools, the same code in both runtimes.
std::vector<ToolLoop> make_tool_loops(const RunSettings& settings, const RunParts& parts);

/// What the methods have to tell their users, each once.
std::vector<std::string> list_notes(const RunParts& parts);

/// One slow step for all tools, the same code in both runtimes. Slow thread only.
class SlowLoop {
 public:
  SlowLoop(const RunSettings& settings, const RunParts& parts);
  /// False: no method has a slow half, and there is nothing to do.
  bool is_needed() const noexcept { return needed_; }
  StepRow step(double time, std::span<const std::byte* const> feedbacks, std::span<std::byte* const> models);
  const std::vector<std::uint64_t>& models_sent() const noexcept { return sequences_; }

 private:
  const std::vector<SlowHalf*> halves_;
  LoopWatch* watch_;
  bool needed_ = false;
  SlowStep step_;
  std::vector<std::uint64_t> sequences_;
  struct Layouts {
    MessageLayout feedback, model;
  };
  std::vector<Layouts> layouts_;
  std::vector<ToolMessages> messages_;
};

/// The slow step with which methods begin that were made anew before that tick: the first that finds what the fast loop
/// says in it. One that knew nothing would take the hand to be at rest.
std::int64_t first_step_after(std::int64_t tick, const RunSettings& settings) noexcept;

/// Takes the measured times out of a row: lockstep files must not depend on the machine's mood.
void forget_times(StepRow& row) noexcept;

/// Fills the memory of the run, if it has one.
void remember(const RunParts& parts, const RunSettings& settings, LoopMemory memory);

}  // namespace palpate
