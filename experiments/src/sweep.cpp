#include "palpate/experiments/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "palpate/core/error.h"
#include "palpate/core/version.h"

namespace palpate {
namespace {

Scene with_stiffness(Scene scene, double stiffness) {
  bool soft = false;
  for (SceneBody& body : scene.bodies) {
    auto* kind = std::get_if<SceneSoft>(&body.kind);
    if (!kind) continue;
    kind->material.young_modulus = stiffness;
    soft = true;
  }
  if (!soft) fail_input("--stiffness: nothing in {} is soft", scene.name);
  return scene;
}

/// One setting that is gone through, or the scene's own.
std::vector<double> values_or_none(const std::vector<double>& values) {
  return values.empty() ? std::vector<double>{kNotAvailable} : values;
}

/// "E = 10 kPa, µ = 0.3"; empty if neither was gone through.
std::string describe_row(const SweepPoint& p) {
  std::vector<std::string> parts;
  if (!std::isnan(p.stiffness)) parts.push_back("E = " + format_quantity(p.stiffness, "Pa"));
  if (!std::isnan(p.friction)) parts.push_back(fmt::format("µ = {:.3g}", p.friction));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_rate(const SweepPoint& p) {
  return std::isnan(p.rate) ? "the scene's rate" : fmt::format("{:.4g} Hz", p.rate);
}

/// What the values are errors of: a method, and the tool where there are several.
std::string key_of(const NamedMetrics& m) {
  return m.tool.empty() ? m.name : fmt::format("{}, {}", m.name, m.tool);
}

template <typename T>
std::vector<T> unique_in_order(const std::vector<SweepPoint>& points, T (*of)(const SweepPoint&)) {
  std::vector<T> out;
  for (const SweepPoint& p : points) {
    if (std::ranges::find(out, of(p)) == out.end()) out.push_back(of(p));
  }
  return out;
}

const Metrics* find(const SweepPoint& point, const std::string& key) {
  for (const NamedMetrics& m : point.metrics) {
    if (!m.truth && key_of(m) == key) return &m.metrics;
  }
  return nullptr;
}

/// Coloured by the logarithm of the error, from what a hand does not notice to as much as the force itself.
double heat_of(double percent) {
  return std::log(std::max(percent, 1e-3) / (100.0 * kNoticeable)) / std::log(1.0 / kNoticeable);
}

Table make_map(const Sweep& sweep, const std::string& key) {
  const std::vector<std::string> columns = unique_in_order(sweep.points, &describe_rate);
  const std::vector<std::string> rows = unique_in_order(sweep.points, &describe_row);
  Table table;
  table.title = key;
  table.columns = columns;
  table.narrow = true;
  for (const std::string& row : rows) table.rows.push_back({row, std::vector<TableCell>(columns.size(), {"–"})});
  for (const SweepPoint& p : sweep.points) {
    const Metrics* m = find(p, key);
    if (!m) continue;
    const auto row = as_size(std::ranges::find(rows, describe_row(p)) - rows.begin());
    const auto column = as_size(std::ranges::find(columns, describe_rate(p)) - columns.begin());
    const double error = m->force_error_relative;
    table.rows[row].cells[column] = {std::isnan(error) ? format_quantity(m->force_error_rms, "N")
                                                       : fmt::format("{:.{}f} %", error, error < 9.95 ? 1 : 0),
                                     false, std::isnan(error) ? error : std::max(0.0, heat_of(error))};
  }
  return table;
}

/// Every method against the rate, or against the stiffness where only that was gone through.
std::vector<Plot> make_lines(const Sweep& sweep, const std::vector<std::string>& keys) {
  const bool by_rate = unique_in_order(sweep.points, &describe_rate).size() > 1;
  std::map<std::string, Plot> plots;
  std::vector<std::string> order;
  for (const SweepPoint& p : sweep.points) {
    const double x = by_rate ? p.rate : p.stiffness;
    if (std::isnan(x)) continue;
    std::string title = by_rate ? describe_row(p) : std::isnan(p.friction) ? "" : fmt::format("µ = {:.3g}", p.friction);
    if (title.empty()) title = by_rate ? "Error against the slow rate" : "Error against the stiffness";
    if (!plots.contains(title)) {
      order.push_back(title);
      Plot& plot = plots[title];
      plot.title = title;
      plot.kind = PlotKind::kLines;
      plot.x_label = by_rate ? "Slow rate" : "Young's modulus";
      plot.x_unit = by_rate ? "Hz" : "Pa";
      plot.y_label = "Force error";
      plot.y_unit = "%";
      plot.half_width = true;
      for (const std::string& key : keys) plot.series.push_back({key, {}, {}});
    }
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const Metrics* m = find(p, keys[k]);
      plots[title].series[k].x.push_back(x);
      plots[title].series[k].y.push_back(m ? m->force_error_relative : kNotAvailable);
    }
  }
  std::vector<Plot> out;
  for (const std::string& title : order) out.push_back(std::move(plots[title]));
  return out;
}

}  // namespace

Sweep sweep_scene(const Scene& scene, const SweepOptions& options) {
  Sweep out;
  SceneCompareOptions compare;
  compare.methods = options.methods;
  compare.without = options.without;
  compare.truth_error = false;
  compare.threads = options.threads;
  compare.stop = options.stop;
  out.hand = options.hand.value_or(fitting_hand(scene));
  compare.hand = out.hand;
  const std::vector<double> frictions = values_or_none(options.friction), moduli = values_or_none(options.stiffness),
                            rates = values_or_none(options.rates);
  const double all = static_cast<double>(frictions.size() * moduli.size() * rates.size());
  for (const double friction : frictions) {
    for (const double modulus : moduli) {
      Scene base = std::isnan(modulus) ? scene : with_stiffness(scene, modulus);
      for (SceneBody& body : base.bodies) body.friction = std::isnan(friction) ? body.friction : friction;
      std::optional<SceneRun> truth;
      for (const double rate : rates) {
        if (out.stopped) return out;
        Scene variant = base;
        if (!std::isnan(rate)) set_slow_period(variant, 1.0 / rate);
        validate(variant);
        SweepPoint point{rate, modulus, friction, {}};
        if (options.progress)
          compare.progress = [&](std::string_view method, double share) {
            const std::string what = fmt::format("{} {} {}", method, describe_rate(point), describe_row(point));
            options.progress(what, (static_cast<double>(out.points.size()) + share) / all);
          };
        compare.reference = truth ? &*truth : nullptr;
        SceneComparison done = compare_scene(variant, compare);
        out.stopped = done.stopped;
        out.skipped = done.leading().skipped;
        point.metrics = done.leading().metrics;
        truth = std::move(done.hands.front().comparison.reference);
        out.points.push_back(std::move(point));
      }
    }
  }
  return out;
}

Report make_report(const Scene& scene, const Sweep& sweep) {
  Report report;
  report.title = fmt::format("{}: methods over rates and materials", scene.name);
  // Without the scene's own slow rate: the tables have those of the runs.
  report.subtitle = fmt::format("{} hand, {} s, fast {:.4g} Hz, Palpate {}", describe_hands(scene), scene.run.seconds,
                                1.0 / scene.run.dt, kVersion);
  if (!scene.description.empty()) report.paragraphs.push_back(scene.description);
  report.paragraphs.push_back(fmt::format(
      "Relative force error against the truth, {}. A cell is pale where the error is below the {:.0f} % that a "
      "hand can just notice, and full where it is as large as the force itself.",
      kComparedHandNames[static_cast<std::size_t>(sweep.hand)], 100.0 * kNoticeable));
  report.paragraphs.emplace_back(explain(sweep.hand));
  for (const SkippedMethod& s : sweep.skipped)
    report.paragraphs.push_back(fmt::format("Left out: {} ({}).", s.name, s.reason));
  std::vector<std::string> keys;
  for (const SweepPoint& p : sweep.points) {
    for (const NamedMetrics& m : p.metrics) {
      if (!m.truth && std::ranges::find(keys, key_of(m)) == keys.end()) keys.push_back(key_of(m));
    }
  }
  for (const std::string& key : keys) report.tables.push_back(make_map(sweep, key));
  report.plots = make_lines(sweep, keys);
  return report;
}

std::string make_json(const Scene& scene, const Sweep& sweep) {
  using Json = nlohmann::ordered_json;
  Json points = Json::array(), skipped = Json::array(), units;
  for (const SweepPoint& p : sweep.points) {
    const Json metrics = Json::parse(make_metrics_json(p.metrics));
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    points.push_back({{"rate", number(p.rate)},
                      {"stiffness", number(p.stiffness)},
                      {"friction", number(p.friction)},
                      {"runs", metrics["runs"]}});
    units = metrics["units"];
  }
  for (const SkippedMethod& s : sweep.skipped) skipped.push_back({{"name", s.name}, {"reason", s.reason}});
  const Json out = {{"scene", scene.name},
                    {"hand", kComparedHandKeys[static_cast<std::size_t>(sweep.hand)]},
                    {"points", std::move(points)},
                    {"units", std::move(units)},
                    {"skipped", std::move(skipped)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace palpate
