#include "otaduy_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "palpate/haptics/replay.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/record/replay_hand.h"

namespace palpate::otaduy {

Rig::Rig(Scene scene, const ExperimentOptions& options)
    : scene_(std::move(scene)), options_(options), world_(make_world(scene_)) {
  truth_ = run_scene(scene_, world_, options_for("reference", "reference")).data;
}

SceneRunOptions Rig::options_for(const std::string& name, const std::string& method) const {
  SceneRunOptions once;
  once.method = method;
  once.control.stop = options_.stop;
  if (options_.progress) {
    once.control.progress = [this, name](double t) { options_.progress(name, t / scene_.run.seconds); };
  }
  return once;
}

RunData Rig::run(const std::string& name, const std::string& method, double slow_rate,
                 const std::function<void(Scene&)>& change) {
  Scene scene = scene_;
  set_slow_rate(scene, slow_rate);
  if (change) change(scene);
  ReplayDevice replay(device_track(truth_.ticks));
  RunData out = run_scene(scene, world_, options_for(name, method), {&replay}).data;
  out.name = name;
  return out;
}

RunData Rig::run_closed(const std::string& name, const std::string& method, const Scene& scene) {
  World world = make_world(scene);
  RunData out = run_scene(scene, world, options_for(name, method)).data;
  out.name = name;
  return out;
}

void choose_paper_form(Scene& scene) {
  scene.methods.get<JacobianSettings>("jacobian").form = JacobianSettings::Form::kEquality;
  scene.methods.get<JacobianSettings>("jacobian").track = false;
}

void set_slow_rate(Scene& scene, double rate) {
  scene.run.slow_period = scene.run.latency = 1.0 / rate;
  scene.first().guards.safety.stale_after = 3.0 / rate;
}

std::vector<double> force_of(const RunData& run, int axis, double from, double to) {
  std::vector<double> out;
  for (const TickRow& row : run.ticks) {
    if (row.time >= from && row.time < to) out.push_back(row.wanted.force[axis]);
  }
  return out;
}

double compute_oscillation(const RunData& run, int axis, double from, double to) {
  return run.ticks.size() < 2
             ? kNotAvailable
             : compute_rms_above(force_of(run, axis, from, to), run.ticks[1].time - run.ticks[0].time, 20.0);
}

Plot make_component_plot(const std::string& title, const std::vector<const RunData*>& runs, int axis) {
  Plot plot;
  plot.title = title;
  plot.x_label = "time";
  plot.x_unit = "s";
  plot.y_label = "force on the hand";
  plot.y_unit = "N";
  for (const RunData* run : runs) {
    Series series;
    series.name = run->name;
    if (run == runs.front()) series.style = SeriesStyle::kReference;
    for (const TickRow& row : run->ticks) {
      series.x.push_back(row.time);
      series.y.push_back(row.wanted.force[axis]);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

namespace {

/// RMS difference of the torques that two runs of the same hand asked for [N·m]. Not of those sent: devices without
/// torque get none.
double compare_torques(const RunData& run, const RunData& truth) {
  const std::size_t n = std::min(run.ticks.size(), truth.ticks.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += (run.ticks[i].wanted.torque - truth.ticks[i].wanted.torque).squaredNorm();
  return n > 0 ? std::sqrt(sum / static_cast<double>(n)) : kNotAvailable;
}

}  // namespace

Table make_error_table(const std::string& title, const RunData& truth, const std::vector<RunData>& runs, int lateral,
                       double from, double to) {
  Table table;
  table.title = title;
  table.columns = {"force error", "relative", "torque error", "sideways above 20 Hz", "largest jump"};
  const auto add = [&](const RunData& run, bool is_truth) {
    const Metrics m = compute_metrics(run, is_truth ? nullptr : &truth);
    table.rows.push_back({run.name,
                          {{format_quantity(m.force_error_rms, "N")},
                           {format_quantity(m.force_error_relative, "%")},
                           {format_quantity(is_truth ? kNotAvailable : compare_torques(run, truth), "N·m")},
                           {format_quantity(compute_oscillation(run, lateral, from, to), "N")},
                           {format_quantity(m.force_jump_max, "N")}},
                          is_truth});
  };
  add(truth, true);
  for (const RunData& run : runs) add(run, false);
  table.note = fmt::format("Sideways: RMS above 20 Hz from {} s to {} s.", from, to);
  return table;
}

}  // namespace palpate::otaduy
