#include "reduced_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wanted_metrics.h"

namespace palpate::reduced_runs {

Cell make_cell(const RunData& run, const RunData& truth) {
  const Metrics metrics = compute_wanted_metrics(run, &truth);
  return {metrics.force_error_relative, metrics.force_jump_max, otaduy::compute_energy_peak(run)};
}

double find_best_other(const Cells& cells) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [method, cell] : cells) {
    if (method != "reduced") best = std::min(best, cell.error);
  }
  return best;
}

double choose_limit(double error, double wanted, otaduy::Rig& rig) {
  return error <= wanted ? wanted : std::max(wanted, 2.0 * rig.measure_truth());
}

TableCell make_map_cell(double error, bool best) {
  if (std::isnan(error)) return {"–"};
  const double heat = std::log(std::max(error, 1e-3) / kPerceived) / std::log(100.0 / kPerceived);
  return {error < 9.95 ? fmt::format("{:.1f} %", error) : fmt::format("{:.3g} %", error), best, std::max(0.0, heat)};
}

Plot make_error_plot(std::string title) {
  Plot plot;
  plot.title = std::move(title);
  plot.kind = PlotKind::kLines;
  plot.x_label = "Slow rate";
  plot.x_unit = "Hz";
  plot.y_label = "Force error";
  plot.y_unit = "%";
  plot.half_width = true;
  return plot;
}

void add_noticeable(Plot& plot, const std::vector<double>& rates) {
  plot.series.push_back(
      {"what a hand can just notice", rates, std::vector<double>(rates.size(), kPerceived), SeriesStyle::kLimit});
}

}  // namespace palpate::reduced_runs
