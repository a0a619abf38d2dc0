#pragma once

#include "palpate/runtime/latest_value.h"
#include "palpate/runtime/run.h"

namespace palpate {

/// Stamps a message's header. The runtime owns time and sequence, methods the rest.
void stamp(std::byte* message, double time, std::uint64_t sequence) noexcept;
const MessageHeader& header_of(const std::byte* message) noexcept;

/// One tick of the fast loop, the same code in both runtimes: device → input guard → method → passivity → safety →
/// device. Fast thread only; real-time.
class FastLoop {
 public:
  FastLoop(const RunSettings& settings, RunParts& parts);

  /// `model` is the newest model; `feedback` is filled for the slow loop, unless the device has not said anything
  /// sound yet: then the method does not run, no force is sent and `feedback` is left alone.
  TickRow tick(double time, const std::byte* model, std::byte* feedback) noexcept;

  /// A tick after the end: the last force is taken out of the hand as if the model had gone stale.
  void fade_out(double time) noexcept;

  /// The last tick filled its `feedback`.
  bool has_feedback() const noexcept { return guard_.ready(); }
  const InputCounters& input_counters() const noexcept { return guard_.counters(); }
  const SafetyCounters& safety_counters() const noexcept { return safety_.counters(); }
  double energy() const noexcept { return passivity_.observer().energy(); }

 private:
  FastHalf& method_;
  Device& device_;
  const bool has_slow_half_;
  InputGuard guard_;
  PassivityController passivity_;
  SafetyStage safety_;
  const double dt_;
  Wrench last_;  // sent
  std::uint64_t& sequence_;
};

/// One slow step, the same code in both runtimes. Slow thread only.
class SlowLoop {
 public:
  explicit SlowLoop(RunParts& parts) : method_(*parts.method.slow), sequence_(parts.method.models_sent) {}
  StepRow step(double time, const std::byte* feedback, std::byte* model);

 private:
  SlowHalf& method_;
  std::uint64_t& sequence_;
};

/// Takes the measured times out of a row: lockstep files must not depend on the machine's mood.
void forget_times(StepRow& row) noexcept;

}  // namespace palpate
