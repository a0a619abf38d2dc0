#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "palpate/record/report.h"

namespace palpate {

inline double sine_surface(double x) {
  return 0.005 * std::sin(2 * std::numbers::pi * x / 0.025);
}

/// A made-up run: a hand that sweeps 1 mm below a sine surface at 1 kHz while the force is held for `hold` ticks and
/// trembles with `noise` [N].
inline RunData make_sample_run(const std::string& name, int ticks, int hold, double noise) {
  std::mt19937 random(static_cast<unsigned>(hold));
  std::normal_distribution<double> normal;
  RunData run;
  run.name = name;
  double energy = 0.0;
  Vec3 force = Vec3::Zero();
  for (int i = 0; i < ticks; ++i) {
    TickRow row;
    row.time = 1e-3 * i;
    const double x = 0.02 * row.time;
    row.device.position = {x, sine_surface(x) - 0.001, 0.0};
    row.tool.position = {x, sine_surface(x) + 2e-4 * noise * normal(random), 0.0};
    const double slope = std::cos(2 * std::numbers::pi * x / 0.025) * 1.2566;
    if (i % hold == 0) force = Vec3(-slope, 1.0, 0.0).normalized() * (1.0 + 0.2 * std::sin(9.0 * row.time));
    row.sent.force = force + noise * 0.05 * Vec3(normal(random), normal(random), 0.0);
    energy += row.sent.force.x() * 2e-5 - 1e-5 * (1.0 - noise);
    row.energy = energy;
    row.model_age = hold > 1 ? 1e-3 * (i % hold + hold) : 0.0;
    run.ticks.push_back(row);
    run.tick_times.add(static_cast<std::int64_t>(20000.0 * hold / 4 * std::exp(0.3 * normal(random))));
  }
  for (int i = 0; i < ticks / 20; ++i)
    run.step_times.add(static_cast<std::int64_t>(8e6 * std::exp(0.2 * normal(random))));
  return run;
}

/// Three methods and the reference, with everything that a report can hold.
inline Report make_sample_report(const std::string& scene_name, int ticks) {
  const RunData reference = make_sample_run("reference", ticks, 1, 0.0);
  const std::vector<RunData> runs = {make_sample_run("limited", ticks, 4, 0.3),
                                     make_sample_run("halfspace", ticks, 20, 1.0),
                                     make_sample_run("reduced", ticks, 2, 0.1)};
  const SignedDistance distance = [](const Vec3& p) { return p.y() - sine_surface(p.x()); };
  std::vector<NamedMetrics> metrics = {{reference.name, compute_metrics(reference, nullptr, distance), true}};
  for (const RunData& run : runs) metrics.push_back({run.name, compute_metrics(run, &reference, distance), false});
  RunPlotOptions options;
  options.reference = &reference;
  for (int i = 0; i <= 400; ++i) options.surface.emplace_back(0.00025 * i, sine_surface(0.00025 * i), 0.0);

  Report report;
  report.title = "Comparison on " + scene_name;
  report.subtitle = "Fast loop 1 kHz, slow loop 50 Hz, one period late";
  report.paragraphs = {"The same recorded hand moved the tool through each method, in virtual time."};
  report.claims = {{"Proxy stays on the surface", "within 0.1 mm", "0.06 mm", "≤ 0.1 mm", true},
                   {"Tick fits in the period", "mean 0.09 ms, max 0.41 ms", "max 1.4 ms", "≤ 1 ms", false}};
  report.tables = make_metrics_tables(metrics);
  report.plots = make_run_plots(runs, options);
  return report;
}

}  // namespace palpate
