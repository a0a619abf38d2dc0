#pragma once

#include <array>
#include <cstdint>

#include "palpate/core/math.h"
#include "palpate/methods/tool.h"
#include "palpate/world/step_report.h"

namespace palpate {

/// One fast tick as it is recorded. Plain data, filled in the fast thread, handed on through a ring.
struct TickRow {
  std::uint32_t tool_number = 0;  ///< of the run's tools: whose tick it is
  double time = 0.0;              ///< start of the tick since the start of the run [s]
  Pose device;                    ///< of the handle
  Twist device_velocity;          ///< of the handle
  Pose tool;                      ///< of the proxy or tool after the tick
  Wrench wanted;                  ///< what the method asked for
  Wrench sent;                    ///< what left the safety stage
  double model_age = 0.0;         ///< now less the time of the state that the model describes [s]; 0 without a model
  /// Computing time of the tick [s]; not measured in lockstep files, see docs/recording.md.
  double tick_time = kNotMeasured;
  double residual = 0.0;        ///< of the contact solve [m]
  double energy = 0.0;          ///< given to the hand so far, positive means the engine was active [J]
  std::int32_t iterations = 0;  ///< of the contact solve
  std::int32_t contacts = 0;    ///< active contacts
  std::uint32_t events = 0;     ///< bits of SafetyEvent that fired in this tick
  std::uint32_t buttons = 0;
  double grip = 0.0;       ///< of the hand, 0 open, 1 closed
  double grip_rate = 0.0;  ///< [1/s]
  /// Of a hand with fingers: what each feels, before the safety stage [N]. Shown, not recorded.
  FingerForces finger_forces;
};

/// One slow step as it is recorded.
struct StepRow : StepReport {
  double time = 0.0;                ///< start of the step since the start of the run [s]
  double step_time = kNotMeasured;  ///< computing time, whole [s]
};

}  // namespace palpate
