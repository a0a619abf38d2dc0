#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/experiments/scene_run.h"
#include "palpate/haptics/coupling.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

/// RMS of the force about its mean over the last second [N]: zero for a wall that has settled.
double compute_unrest(const RunData& run) {
  const std::size_t n = std::min<std::size_t>(1000, run.ticks.size());
  Vec3 mean = Vec3::Zero();
  for (std::size_t i = run.ticks.size() - n; i < run.ticks.size(); ++i) mean += run.ticks[i].sent.force;
  mean /= static_cast<double>(n);
  double sum = 0.0;
  for (std::size_t i = run.ticks.size() - n; i < run.ticks.size(); ++i) {
    sum += (run.ticks[i].sent.force - mean).squaredNorm();
  }
  return std::sqrt(sum / static_cast<double>(n));
}

/// The most that the hand was ever given, beyond what it gave [J].
double peak_energy(const RunData& run) {
  double most = 0.0;
  for (const TickRow& row : run.ticks) most = std::max(most, row.energy);
  return most;
}

Plot make_force_plot(const RunData& run, const std::string& title) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "force on the hand";
  plot.y_unit = "N";
  Series series;
  series.name = run.name;
  for (const TickRow& row : run.ticks) {
    series.x.push_back(row.time);
    series.y.push_back(row.sent.force.y());
  }
  plot.series.push_back(std::move(series));
  return plot;
}

Plot make_energy_plot(const std::vector<RunData>& runs) {
  Plot plot;
  plot.title = "Energy given to the hand: what the observer sees";
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "energy";
  plot.y_unit = "J";
  plot.note = "Positive: the wall has given more than it took, which no real wall does.";
  for (const RunData& run : runs) {
    Series series;
    series.name = run.name;
    for (const TickRow& row : run.ticks) {
      series.x.push_back(row.time);
      series.y.push_back(row.energy);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace

// A spring of stiffness K, sampled at period T, on a device of damping b is passive below K = 2 b / T (Colgate &
// Schenkel 1997). The hand adds damping, so just above the limit nothing happens; far above it the loop oscillates,
// the observer sees the energy, and the time-domain controller (Hannaford & Ryu 2002) takes it out.
ExperimentResult run_wall_passivity(const ExperimentOptions& options) {
  Scene scene = load_builtin_scene("wall");
  World world = make_world(scene);
  const double limit =
      max_passive_stiffness(make_device(scene)->info().damping, scene.first().tool.coupling.damping, scene.run.dt);

  struct Case {
    std::string name;
    double stiffness;
    bool control;
  };
  const std::vector<Case> cases = {
      {fmt::format("{:.0f} N/m, half the passive limit", 0.5 * limit), 0.5 * limit, false},
      {fmt::format("{:.0f} N/m, ten times the limit", 10.0 * limit), 10.0 * limit, false},
      {fmt::format("{:.0f} N/m with passivity control", 10.0 * limit), 10.0 * limit, true}};
  std::vector<RunData> runs;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    scene.first().tool.coupling.stiffness = cases[i].stiffness;
    scene.first().guards.passivity.reset();
    if (cases[i].control) scene.first().guards.passivity.emplace();
    SceneRunOptions once;
    once.control.stop = options.stop;
    runs.push_back(run_scene(scene, world, once).data);
    runs.back().name = cases[i].name;
    if (options.progress) options.progress(cases[i].name, 1.0);
  }

  ExperimentResult out;
  using Relation = MeasuredClaim::Relation;
  const double settled = compute_unrest(runs[0]), shaking = compute_unrest(runs[1]), calmed = compute_unrest(runs[2]);
  out.claims = {
      {"below the limit the wall settles (force RMS about its mean, last second)", "passive for K < 2b/T", settled,
       0.01, Relation::kAtMost, "N"},
      {"below the limit: most energy ever given to the hand", "passive", peak_energy(runs[0]), 1e-4, Relation::kAtMost,
       "J"},
      {"far above the limit it oscillates", "not passive", shaking, 1.0, Relation::kAtLeast, "N"},
      {"the observer sees the energy", "E > 0 shows activity (Hannaford & Ryu 2002)", peak_energy(runs[1]), 0.1,
       Relation::kAtLeast, "J"},
      {"the controller calms it (oscillation left)", "the controller dissipates what was generated", calmed / shaking,
       0.2, Relation::kAtMost, ""},
      {"the controller keeps the energy given down (of what was given without it)", "E stays near 0",
       peak_energy(runs[2]) / peak_energy(runs[1]), 0.05, Relation::kAtMost, ""},
  };
  out.report.title = "A virtual wall and the passive stiffness";
  out.report.paragraphs = {
      fmt::format("Device damping b = {} N·s/m and tick T = {} ms give a passive limit of 2b/T = {:.0f} N/m. The same "
                  "simulated hand "
                  "touches the wall three times.",
                  make_device(scene)->info().damping, 1e3 * scene.run.dt, limit)};
  out.report.plots = {make_force_plot(runs[0], "1. Below the limit: settles"),
                      make_force_plot(runs[1], "2. Far above the limit: oscillates"),
                      make_force_plot(runs[2], "3. The same wall with the controller: calmed"), make_energy_plot(runs)};
  return out;
}

}  // namespace palpate
