#pragma once

#include <optional>
#include <string>
#include <vector>

#include "palpate/experiments/experiment.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/methods/hand_driven.h"

// What the experiments after Otaduy & Gross 2007 share.
namespace palpate::otaduy {

/// The truth of a scene and its hand, and other methods with the same hand.
class Rig {
 public:
  Rig(Scene scene, const ExperimentOptions& options);

  const Scene& scene() const noexcept { return scene_; }
  World& world() noexcept { return world_; }
  const RunData& truth() const noexcept { return truth_; }

  /// `change` may alter settings of the method and rates. The hand is that of the truth.
  RunData run(const std::string& name, const std::string& method, double slow_rate,
              const std::function<void(Scene&)>& change = {});
  /// `double_coupling` with the second coupling, of a few, whose force is nearest to the truth's.
  RunData run_best_double(double slow_rate);
  /// `direct` with the hand where the others have it, at the end of the slow step; if that is nearer to the truth than
  /// with the hand where it is, else so.
  RunData run_best_direct(double slow_rate);
  /// How far the truth is from itself with half the tick, over the same hand [%]: where this is not small, nothing can
  /// be measured against it. Runs when it is first asked for, and is known from then on.
  double measure_truth();
  /// A method with a hand of its own, which the force moves.
  RunData run_closed(const std::string& name, const std::string& method, const Scene& scene);
  bool stopped() const noexcept { return options_.stop && options_.stop->load(); }

  LoopWatch* watch = nullptr;  ///< sees the loops of the runs that follow from inside

 private:
  SceneRunOptions options_for(const std::string& name, const std::string& method) const;

  Scene scene_;
  const ExperimentOptions& options_;
  World world_;
  RunData truth_;
  std::optional<double> truth_error_;
};

/// The paper's form of `jacobian`: equality, no friction, its own visual tool.
void choose_paper_form(Scene& scene);
/// Contacts that keep place and normal until the next model, as the paper has them: its experiments are about those.
Scene with_held_contacts(Scene scene);
/// The paper's form with its model low-passed over a slow period ("it is convenient to filter the parameters").
void choose_filtered_form(Scene& scene);
/// A slow loop of `rate` [Hz] whose models are one period late.
void set_slow_rate(Scene& scene, double rate);

/// A component of the force on the hand over [from, to) [s].
std::vector<double> force_of(const RunData& run, int axis, double from, double to);
/// RMS above 20 Hz of a component over [from, to) [N]: what the issue and the paper's figure call oscillation.
double compute_oscillation(const RunData& run, int axis, double from, double to);

/// The most energy that the hand was ever given, beyond what it gave [J].
double compute_energy_peak(const RunData& run);
/// RMS difference of the torques that two runs of the same hand asked for, of the truth's RMS torque [%].
double compare_torques(const RunData& run, const RunData& truth);

/// A component of the force of several runs; the first is the truth.
Plot make_component_plot(const std::string& title, const std::vector<const RunData*>& runs, int axis);
/// Error, oscillation and jumps of runs against the truth.
Table make_error_table(const std::string& title, const RunData& truth, const std::vector<RunData>& runs, int lateral,
                       double from, double to);

}  // namespace palpate::otaduy
