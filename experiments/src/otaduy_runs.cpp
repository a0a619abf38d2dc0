#include "otaduy_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "palpate/haptics/replay.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/methods/jacobian_settings.h"
#include "palpate/record/replay_hand.h"
#include "wanted_metrics.h"

namespace palpate::otaduy {

Rig::Rig(Scene scene, const ExperimentOptions& options)
    : scene_(std::move(scene)), options_(options), world_(make_world(scene_)) {
  truth_ = run_scene(scene_, world_, options_for("reference", "reference")).data;
}

SceneRunOptions Rig::options_for(const std::string& name, const std::string& method) const {
  SceneRunOptions once;
  once.method = method;
  once.control.stop = options_.stop;
  once.watch = watch;
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

double Rig::measure_truth() {
  if (truth_error_) return *truth_error_;
  const RunData half = run("reference, half the tick", "reference", 1.0 / scene_.run.slow_period,
                           [](Scene& scene) { scene.run.dt *= 0.5; });
  RunData same;  // at the ticks of the first
  for (std::size_t i = 0; i < half.ticks.size(); i += 2) same.ticks.push_back(half.ticks[i]);
  truth_error_ = compute_wanted_metrics(same, &truth_).force_error_relative;
  return *truth_error_;
}

RunData Rig::run_closed(const std::string& name, const std::string& method, const Scene& scene) {
  World world = make_world(scene);
  RunData out = run_scene(scene, world, options_for(name, method)).data;
  out.name = name;
  return out;
}

RunData Rig::run_best_double(double slow_rate) {
  RunData best;
  double least = std::numeric_limits<double>::infinity();
  for (const double stiffness : {0.25, 1.0, 4.0}) {
    for (const double damping : {1.0, 4.0}) {
      if (options_.quick && (stiffness != 1.0 || damping != 1.0)) continue;
      RunData run = this->run(fmt::format("double_coupling (k × {:g}, b × {:g})", stiffness, damping),
                              "double_coupling", slow_rate, [&](Scene& scene) {
                                auto& s = scene.methods.get<DoubleCouplingSettings>("double_coupling");
                                s.stiffness = stiffness;
                                s.damping = damping;
                              });
      const double error = compute_wanted_metrics(run, &truth_).force_error_rms;
      if (!(error < least) && !best.ticks.empty()) continue;
      least = error;
      best = std::move(run);
    }
  }
  return best;
}

RunData Rig::run_best_direct(double slow_rate) {
  RunData as_is = run("direct", "direct", slow_rate);
  RunData ahead = run("direct, hand predicted", "direct", slow_rate,
                      [](Scene& scene) { scene.methods.get<DirectSettings>("direct").predict = true; });
  const bool better =
      compute_wanted_metrics(ahead, &truth_).force_error_rms < compute_wanted_metrics(as_is, &truth_).force_error_rms;
  return better ? ahead : as_is;
}

void choose_filtered_form(Scene& scene) {
  choose_paper_form(scene);
  scene.methods.get<JacobianSettings>("jacobian").filter_time = scene.run.slow_period;
}

void choose_paper_form(Scene& scene) {
  scene.methods.get<JacobianSettings>("jacobian").form = JacobianSettings::Form::kEquality;
  scene.methods.get<JacobianSettings>("jacobian").track = false;
}

Scene with_held_contacts(Scene scene) {
  scene.methods.get<JacobianSettings>("jacobian").contacts = JacobianSettings::Contacts::kHeld;
  return scene;
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

double compute_energy_peak(const RunData& run) {
  double peak = run.ticks.empty() ? kNotAvailable : 0.0;
  for (const TickRow& row : run.ticks) peak = std::max(peak, row.energy);
  return peak;
}

/// Not of those sent: devices without torque get none.
double compare_torques(const RunData& run, const RunData& truth) {
  double sum = 0.0, size = 0.0;
  for (std::size_t i = 0; i < std::min(run.ticks.size(), truth.ticks.size()); ++i) {
    sum += (run.ticks[i].wanted.torque - truth.ticks[i].wanted.torque).squaredNorm();
    size += truth.ticks[i].wanted.torque.squaredNorm();
  }
  return size > 0.0 ? 100.0 * std::sqrt(sum / size) : kNotAvailable;
}

Table make_error_table(const std::string& title, const RunData& truth, const std::vector<RunData>& runs, int lateral,
                       double from, double to) {
  Table table;
  table.title = title;
  table.columns = {"force error", "relative", "torque error", "sideways above 20 Hz", "largest jump"};
  const auto add = [&](const RunData& run, bool is_truth) {
    const Metrics m = compute_wanted_metrics(run, is_truth ? nullptr : &truth);
    table.rows.push_back({run.name,
                          {{format_quantity(m.force_error_rms, "N")},
                           {format_quantity(m.force_error_relative, "%")},
                           {format_quantity(is_truth ? kNotAvailable : compare_torques(run, truth), "%")},
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
