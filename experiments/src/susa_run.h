#pragma once

#include <functional>
#include <string>
#include <vector>

#include "palpate/experiments/experiment.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/accelerance_feedback.h"
#include "stopwatch.h"

// What the experiments after Susa, Sato & Hasegawa 2011 share.
namespace palpate::susa {

/// A built-in scene with another slow rate, its model one period late.
Scene load_at(const std::string& name, double slow_period);

/// One slow step as it was: with its times, which recordings of lockstep runs leave out.
struct TimedStep {
  StepReport report;
  Stopwatch::Sample sample;
  double stage(Stage stage) const;  ///< its share of the processor time [s]
};

/// A run and what it cost.
struct TimedRun {
  SceneRun run;
  std::vector<TimedStep> steps;
  BothTimes ticks;
  std::vector<Stopwatch::Sample> tick_samples;
  /// Mean processor time of a slow step, or of a tick of a method without one, over its period.
  double duty = 0.0;
  double worst_duty = 0.0;          ///< of the 95th percentile
  double wall_duty = 0.0;           ///< the mean by the wall clock
  double stage(Stage stage) const;  ///< mean processor time [s]
};

/// A slow step that has been made.
struct SeenStep {
  World& world;
  const StepReport& report;
  /// What the step began with; null if the method does not move bodies in its fast loop.
  const accelerance::Feedback* fast;
};
using AfterStep = std::function<void(const SeenStep& step)>;

/// In lockstep, with the scene's own hand. `name` is that of the data.
TimedRun run_timed(const Scene& scene, World& world, const std::string& method, const std::string& name,
                   const ExperimentOptions& options, const AfterStep& after = {});

/// A curve of one value of a run's ticks.
Series make_series(const RunData& run, const std::function<double(const TickRow&)>& value,
                   SeriesStyle style = SeriesStyle::kMethod);

/// Adds up the kinetic and gravitational energy of rigid bodies but the tool at the moments at which slow steps begin,
/// each where it really is then: of those that the fast loop moves, where that has them; and of the springs between
/// them and the pointers, which are balls.
class EnergyAtSteps {
 public:
  EnergyAtSteps(const World& world, double stiffness);
  /// Of the moment at which this step began [J].
  double add(const SeenStep& step);

 private:
  void read(const World& world);
  const double stiffness_;
  std::vector<double> energies_;  ///< of each body, at the end of the last step
};

}  // namespace palpate::susa
