#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "palpate/core/error.h"
#include "palpate/record/report.h"
#include "sent_track.h"

namespace palpate {
namespace {

constexpr std::array<const char*, 3> kAxisNames = {"x", "y", "z"};

using TickValue = std::function<double(const TickRow&)>;

/// The runs to draw, the reference first so that the methods lie on top.
struct Runs {
  std::vector<std::pair<const RunData*, SeriesStyle>> all;

  Runs(const std::vector<RunData>& methods, const RunData* reference) {
    if (reference != nullptr) all.emplace_back(reference, SeriesStyle::kReference);
    for (const RunData& run : methods) all.emplace_back(&run, SeriesStyle::kMethod);
  }
};

Series make_series(const RunData& run, SeriesStyle style, const TickValue& value) {
  Series series{run.name, {}, {}, style};
  for (const TickRow& row : run.ticks) {
    series.x.push_back(row.time);
    series.y.push_back(value(row));
  }
  return series;
}

Plot make_time_plot(const Runs& runs, std::string title, std::string label, std::string unit, const TickValue& value) {
  Plot plot{std::move(title), PlotKind::kTime, "Time", "s", std::move(label), std::move(unit), {}, {}, false};
  for (const auto& [run, style] : runs.all) {
    if (!run->ticks.empty()) plot.series.push_back(make_series(*run, style, value));
  }
  return plot;
}

bool has_nonzero(const Plot& plot) {
  return std::ranges::any_of(plot.series, [](const Series& s) {
    return std::ranges::any_of(s.y, [](double y) { return std::isfinite(y) && y != 0.0; });
  });
}

void add_force_plots(const Runs& runs, std::vector<Plot>& plots) {
  plots.push_back(make_time_plot(runs, "Force on the hand", "Force", "N",
                                 [](const TickRow& row) { return row.sent.force.norm(); }));
  Vec3 peak = Vec3::Zero();
  for (const auto& [run, style] : runs.all) {
    for (const TickRow& row : run->ticks) peak = peak.cwiseMax(row.sent.force.cwiseAbs());
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (peak[axis] <= 0.01 * peak.maxCoeff()) continue;
    const std::string name = kAxisNames[as_size(axis)];
    plots.push_back(make_time_plot(runs, "Force, " + name + " component", "Force " + name, "N",
                                   [axis](const TickRow& row) { return row.sent.force[axis]; }));
    plots.back().half_width = true;
  }
}

/// |f − f_ref|, the reference interpolated to the run's times.
Series make_error_series(const RunData& run, const RunData& reference) {
  Series series{run.name, {}, {}, SeriesStyle::kMethod};
  SentTrack track(reference.ticks);
  for (const TickRow& row : run.ticks) {
    Wrench truth;
    if (!track.at(row.time, truth)) continue;
    series.x.push_back(row.time);
    series.y.push_back((row.sent.force - truth.force).norm());
  }
  return series;
}

/// What a hand can just notice of the truth's force.
Series make_noticeable_series(const RunData& reference) {
  Series series = make_series(reference, SeriesStyle::kLimit,
                              [](const TickRow& row) { return kNoticeable * row.sent.force.norm(); });
  series.name = fmt::format("noticed ({:.0f} %)", 100.0 * kNoticeable);
  return series;
}

Plot make_error_plot(const std::vector<RunData>& runs, const RunPlotOptions& options) {
  Plot plot{
      "Force error against " + options.reference->name, PlotKind::kTime, "Time", "s", "Error", "N", {}, {}, false};
  plot.series.push_back(make_noticeable_series(*options.reference));
  if (options.finer) {
    plot.series.push_back(make_error_series(*options.finer, *options.reference));
    plot.series.back().style = SeriesStyle::kReference;
    plot.series.back().name = "the truth's own error";
  }
  for (const RunData& run : runs) plot.series.push_back(make_error_series(run, *options.reference));
  plot.note = fmt::format(
      "A hand can just tell two forces apart that differ by {:.0f} %: above the dashed line the error can be felt.",
      100.0 * kNoticeable);
  if (options.finer)
    plot.note +=
        " The truth's own error is how much it changes with half the time step; below it nobody can be judged.";
  return plot;
}

Plot make_spectrum_plot(const Runs& runs) {
  Plot plot{"Spectrum of the force", PlotKind::kSpectrum, "Frequency", "Hz", "Density", "N/√Hz", {}, {}, false};
  for (const auto& [run, style] : runs.all) {
    if (run->ticks.size() < 2) continue;
    std::vector<Vec3> forces;
    for (const TickRow& row : run->ticks) forces.push_back(row.sent.force);
    const double dt = (run->ticks.back().time - run->ticks.front().time) / static_cast<double>(forces.size() - 1);
    Spectrum spectrum = compute_spectrum(forces, dt);
    // Eight decades below a newton is nothing, and only stretches the axis.
    for (double& density : spectrum.density) density = std::max(density, 1e-8);
    if (!spectrum.density.empty())
      plot.series.push_back({run->name, std::move(spectrum.frequency), std::move(spectrum.density), style});
  }
  plot.note = "What a method adds at the slow rate and its multiples is felt as a buzz.";
  return plot;
}

Plot make_path_plot(const Runs& runs, const std::vector<Vec3>& surface) {
  Vec3 low = Vec3::Constant(std::numeric_limits<double>::infinity());
  Vec3 high = -low;
  for (const auto& [run, style] : runs.all) {
    for (const TickRow& row : run->ticks) {
      low = low.cwiseMin(row.tool.position);
      high = high.cwiseMax(row.tool.position);
    }
  }
  const Vec3 extent = high - low;
  int dropped = 0;
  extent.minCoeff(&dropped);
  // Height is drawn upwards where it is one of the two.
  const int u = dropped == 0 ? 2 : 0;
  const int v = dropped == 1 ? 2 : 1;

  Plot plot{
      "Path of the proxy", PlotKind::kPath, kAxisNames[as_size(u)], "m", kAxisNames[as_size(v)], "m", {}, {}, false};
  const auto add = [&](Series series, const auto& points, auto position) {
    for (const auto& point : points) {
      series.x.push_back(position(point)[u]);
      series.y.push_back(position(point)[v]);
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  };
  add({"surface", {}, {}, SeriesStyle::kSurface}, surface, [](const Vec3& p) { return p; });
  const auto& tracks = runs.all;
  if (!tracks.empty()) {
    add({"device", {}, {}, SeriesStyle::kDevice}, tracks.front().first->ticks,
        [](const TickRow& row) { return row.device.position; });
  }
  for (const auto& [run, style] : tracks) {
    add({run->name, {}, {}, style}, run->ticks, [](const TickRow& row) { return row.tool.position; });
  }
  plot.note = "Equal scales on both axes.";
  return plot;
}

Plot make_tick_time_plot(const Runs& runs) {
  // Eight bins to a doubling: the histogram's own 32 are finer than a screen.
  constexpr int kMerge = 4;
  Plot plot{"Computing time of a tick", PlotKind::kHistogram, "Tick time", "s", "Ticks", "", {}, {}, false};
  for (const auto& [run, style] : runs.all) {
    const Histogram& times = run->tick_times;
    if (times.count() == 0) continue;
    int first = 0, last = Histogram::kBins - 1;
    while (first < last && times.bin(first) == 0) ++first;
    while (last > first && times.bin(last) == 0) --last;
    Series series{run->name, {}, {}, style};
    // An empty bin on either side closes the outline.
    const int begin = std::max(0, first / kMerge - 1) * kMerge;
    const int end = std::min(last + 2 * kMerge, Histogram::kBins);
    for (int bin = begin; bin + kMerge <= end; bin += kMerge) {
      std::uint64_t count = 0;
      for (int i = bin; i < bin + kMerge; ++i) count += times.bin(i);
      series.x.push_back(1e-9 * Histogram::bin_edge_ns(bin));
      series.y.push_back(static_cast<double>(count));
    }
    plot.series.push_back(std::move(series));
  }
  plot.note = "Both axes are logarithmic: the right-hand tail holds the late ticks.";
  return plot;
}

}  // namespace

std::vector<Plot> make_run_plots(const std::vector<RunData>& runs, const RunPlotOptions& options) {
  const Runs all(runs, options.reference);
  std::vector<Plot> plots;
  add_force_plots(all, plots);
  if (options.reference != nullptr && !options.reference->ticks.empty()) {
    plots.push_back(make_error_plot(runs, options));
  }
  plots.push_back(make_time_plot(all, "Torque on the hand", "Torque", "N·m",
                                 [](const TickRow& row) { return row.sent.torque.norm(); }));
  plots.push_back(make_path_plot(all, options.surface));
  plots.push_back(make_spectrum_plot(all));
  plots.push_back(
      make_time_plot(all, "Energy given to the hand", "Energy", "J", [](const TickRow& row) { return row.energy; }));
  plots.back().note = "Above zero the engine has given the hand more than it took: it was active.";
  plots.push_back(
      make_time_plot(all, "Age of the contact model", "Age", "s", [](const TickRow& row) { return row.model_age; }));
  std::erase_if(plots, [](const Plot& plot) { return plot.kind == PlotKind::kTime && !has_nonzero(plot); });
  plots.push_back(make_tick_time_plot(all));
  std::erase_if(plots, [](const Plot& plot) { return plot.series.empty(); });
  for (Plot& plot : plots) {
    if (plot.kind == PlotKind::kTime) plot.marks = options.marks;
  }
  return plots;
}

}  // namespace palpate
