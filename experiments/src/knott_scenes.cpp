#include "knott_scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "palpate/scene/builtin.h"

namespace palpate {
namespace {

/// What the metrics of `compare` do not have.
struct KnottFigures {
  double jump = 0.0;            ///< largest change of the wanted force in a tick after the start-up [N]
  double direction_mean = 0.0;  ///< angle between the force and the truth's, where that is above 0.2 N [deg]
  double direction_max = 0.0;
  double path_mean = 0.0;  ///< distance of the proxy from the truth's [m]
  double path_max = 0.0;
  double iterations_mean = 0.0;
  int iterations_max = 0;
  double residual_max = 0.0;                     ///< of the ticks with fewer than the most iterations [m]
  int unsettled = 0;                             ///< ticks of 30 iterations or more
  int constraints_min = 0, constraints_max = 0;  ///< in the set, over the slow steps after the start-up
};

KnottFigures compute_figures(const RunData& run, const RunData& truth, double settle) {
  KnottFigures out;
  double angles = 0.0, paths = 0.0, iterations = 0.0;
  int angle_count = 0, count = 0;
  for (std::size_t i = 1; i < run.ticks.size() && i < truth.ticks.size(); ++i) {
    const TickRow& row = run.ticks[i];
    if (row.time < settle) continue;
    const Vec3& f = row.wanted.force;
    const Vec3& t = truth.ticks[i].wanted.force;
    out.jump = std::max(out.jump, (f - run.ticks[i - 1].wanted.force).norm());
    const double off = (row.tool.position - truth.ticks[i].tool.position).norm();
    paths += off;
    out.path_max = std::max(out.path_max, off);
    iterations += row.iterations;
    out.iterations_max = std::max(out.iterations_max, row.iterations);
    out.unsettled += row.iterations >= 30 ? 1 : 0;
    if (row.iterations < 30) out.residual_max = std::max(out.residual_max, row.residual);
    ++count;
    if (t.norm() > 0.2 && f.norm() > 1e-6) {
      const double angle = std::acos(std::clamp(f.dot(t) / (f.norm() * t.norm()), -1.0, 1.0)) * 180.0 / M_PI;
      angles += angle;
      out.direction_max = std::max(out.direction_max, angle);
      ++angle_count;
    }
  }
  out.direction_mean = angles / std::max(1, angle_count);
  out.path_mean = paths / std::max(1, count);
  out.iterations_mean = iterations / std::max(1, count);
  out.constraints_min = std::numeric_limits<int>::max();
  for (const StepRow& step : run.steps) {
    if (step.time < settle) continue;
    out.constraints_min = std::min(out.constraints_min, step.contacts);
    out.constraints_max = std::max(out.constraints_max, step.contacts);
  }
  return out;
}

std::string format_angle(double degrees) {
  return fmt::format("{:.2f}°", degrees);
}

Table make_quality_table(const std::vector<std::pair<std::string, KnottFigures>>& rows) {
  Table table;
  table.title = "Proxy and direction against the truth";
  table.columns = {"largest force jump", "direction off, mean", "direction off, max", "proxy off the truth's, mean",
                   "proxy off the truth's, max"};
  for (const auto& [name, f] : rows) {
    table.rows.push_back({name,
                          {{format_quantity(f.jump, "N")},
                           {format_angle(f.direction_mean)},
                           {format_angle(f.direction_max)},
                           {format_quantity(f.path_mean, "m")},
                           {format_quantity(f.path_max, "m")}},
                          name == "reference"});
  }
  table.note = "Of the force that the method asked for, before the safety stage; the start-up is left out.";
  return table;
}

Table make_performance_table(const KnottFigures& f, const SceneRun& run) {
  const Histogram& tick = run.summary.tick_times;
  const Histogram& step = run.summary.step_times;
  Table table;
  table.title = "Performance of limited beside the paper's (section 5.2, soft statue, 2.53 GHz Xeon)";
  table.columns = {"measured", "paper"};
  const auto add = [&](const char* name, std::string measured, const char* paper) {
    table.rows.push_back({name, {{std::move(measured)}, {paper}}});
  };
  add("constraints in the set", fmt::format("{} to {}", f.constraints_min, f.constraints_max), "50 to 100");
  add("iterations of a tick, mean", fmt::format("{:.1f}", f.iterations_mean), "–");
  add("iterations of a tick, max", fmt::format("{}", f.iterations_max), "below 30");
  add("ticks of 30 iterations or more", fmt::format("{}", f.unsettled), "none");
  add("residual of all other ticks, max", format_quantity(f.residual_max, "m"), "1e-11");
  add("tick, mean", format_quantity(1e-9 * tick.mean_ns(), "s"), "0.09 ms");
  add("tick, p99.9", format_quantity(1e-9 * tick.compute_percentile_ns(0.999), "s"), "–");
  add("tick, max", format_quantity(1e-9 * static_cast<double>(tick.max_ns()), "s"), "0.41 ms");
  add("slow step, mean", format_quantity(1e-9 * step.mean_ns(), "s"), "15.2 ms");
  add("slow step, max", format_quantity(1e-9 * static_cast<double>(step.max_ns()), "s"), "32.3 ms");
  table.note =
      "In lockstep; of a slow step's two threads the longer counts. An iteration selects constraints and solves for "
      "their forces exactly.";
  return table;
}

/// Fig. 5: hand and proxy of an outtake, joined by their coupling, and the proxy's force.
Plot make_outtake(const RunData& run, const std::vector<Vec3>& surface, double from, double to) {
  Plot plot;
  plot.title = fmt::format("{}: device, proxy, and the coupling between them", run.name);
  plot.kind = PlotKind::kPath;
  plot.x_label = "x";
  plot.y_label = "y";
  plot.x_unit = plot.y_unit = "m";
  plot.half_width = true;
  Series hand{.name = "device", .x = {}, .y = {}, .style = SeriesStyle::kDevice};
  Series proxy{.name = "proxy", .x = {}, .y = {}};
  Series coupling{.name = "coupling", .x = {}, .y = {}};
  Series touched{.name = "surface", .x = {}, .y = {}, .style = SeriesStyle::kSurface};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < run.ticks.size(); ++i) {
    const TickRow& row = run.ticks[i];
    if (row.time < from || row.time > to) continue;
    hand.x.push_back(row.device.position.x());
    hand.y.push_back(row.device.position.y());
    proxy.x.push_back(row.tool.position.x());
    proxy.y.push_back(row.tool.position.y());
    low = std::min({low, hand.x.back(), proxy.x.back()});
    high = std::max({high, hand.x.back(), proxy.x.back()});
    if (i % 8 != 0) continue;
    for (const Vec3& p : {row.device.position, row.tool.position}) {
      coupling.x.push_back(p.x());
      coupling.y.push_back(p.y());
    }
    coupling.x.push_back(row.tool.position.x());
    coupling.y.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  for (const Vec3& p : surface) {
    if (p.x() < low || p.x() > high) continue;
    touched.x.push_back(p.x());
    touched.y.push_back(p.y());
  }
  if (!touched.x.empty()) plot.series.push_back(std::move(touched));
  plot.series.push_back(std::move(hand));
  plot.series.push_back(std::move(proxy));
  plot.series.push_back(std::move(coupling));
  return plot;
}

void add_performance_claims(const KnottFigures& f, const SceneRun& run, std::vector<MeasuredClaim>& claims) {
  using Relation = MeasuredClaim::Relation;
  const Histogram& tick = run.summary.tick_times;
  claims.push_back({"iterations of a tick, most", "\"converged … within less than 30 iterations\"",
                    static_cast<double>(f.iterations_max), 29.0, Relation::kAtMost, ""});
  claims.push_back({"residual of a tick, largest", "\"error threshold of 0.1·10⁻¹⁰\"",
                    f.unsettled ? std::numeric_limits<double>::infinity() : f.residual_max, 1e-11, Relation::kAtMost,
                    "m"});
  claims.push_back(
      {"tick, mean", "0.09 ms; asked: 5 % of the period", 1e-9 * tick.mean_ns(), 50e-6, Relation::kAtMost, "s", true});
  claims.push_back({"tick, p99.9", "max 0.41 ms; asked: 25 % of the period", 1e-9 * tick.compute_percentile_ns(0.999),
                    250e-6, Relation::kAtMost, "s", true});
  claims.push_back({"slow step, mean", "15.2 ms; asked: 33 ms", 1e-9 * run.summary.step_times.mean_ns(), 0.033,
                    Relation::kAtMost, "s", true});
  claims.push_back({"slow step, max", "32.3 ms; asked: 33 ms",
                    1e-9 * static_cast<double>(run.summary.step_times.max_ns()), 0.033, Relation::kAtMost, "s", true});
}

}  // namespace

Scene make_knott_scene(const std::string& name, const std::string& description, double seconds) {
  Scene scene = load_builtin_scene("sine-static");
  scene.name = name;
  scene.description = description;
  scene.first().method = "limited";
  scene.bodies.clear();
  scene.run.seconds = seconds;
  scene.world.gravity = Vec3::Zero();  // the paper's bodies rest as they were modelled
  return scene;
}

void add_sweep(Scene& scene, const TriangleTree& mesh, const SweepSettings& sweep) {
  constexpr double kSpacing = 0.0005;
  const BoundingBox box = compute_bounding_box(mesh.mesh().vertices);
  std::vector<double> x, y;
  for (double at = sweep.from; at <= sweep.to; at += kSpacing) {
    SegmentHit hit;
    const Vec3 top(at, box.upper.y() + 0.01, sweep.z), bottom(at, box.lower.y() - 0.01, sweep.z);
    const bool met = mesh.find_first_hit(top, bottom, hit);
    x.push_back(at);
    // Over a hole the hand stays at the height it has.
    y.push_back(met ? top.y() + hit.t * (bottom.y() - top.y()) : (y.empty() ? 0.0 : y.back()));
  }
  const int half = static_cast<int>(std::lround(sweep.smoothing / kSpacing));
  const auto smooth = [&](int i) {
    double sum = 0.0;
    for (int k = -half; k <= half; ++k) sum += y[as_size(std::clamp(i + k, 0, static_cast<int>(y.size()) - 1))];
    return sum / (2 * half + 1);
  };
  SceneKeyframePath path;
  const auto add = [&](double time, const Vec3& position) {
    path.keyframes.push_back({.time = time, .position = position});
  };
  const double ramp = 0.25;
  add(0.0, Vec3(x.front(), smooth(0) + sweep.above, sweep.z));
  double time = ramp;
  for (int i = 0; i < static_cast<int>(x.size()); i += 4) {
    add(time, Vec3(x[as_size(i)], smooth(i) - sweep.depth, sweep.z));
    // At even speed along the path, not along x: a cliff would be taken at any speed.
    const int next = std::min(i + 4, static_cast<int>(x.size()) - 1);
    const double way = std::hypot(x[as_size(next)] - x[as_size(i)], smooth(next) - smooth(i));
    time += std::max(way, 1e-6) / sweep.speed;
  }
  add(time + ramp, path.keyframes.back().position + Vec3(0.0, sweep.depth + sweep.above, 0.0));
  scene.run.seconds = std::ceil(1e3 * (time + ramp)) * 1e-3;
  scene.first().hand.kind = SceneScriptedHand{.path = std::move(path)};
}

KnottMesh load_or_make(const std::string& file, double scale, const SceneShape& own, const ExperimentOptions& options) {
  KnottMesh out;
  out.shape = own;
  if (!options.quick && find_data(file)) {
    out.file = file;
    out.shape.kind = MeshShape{.file = "data:" + file, .scale = scale};
  } else if (!options.quick) {
    out.notes.push_back(describe_stand_in(file, kind_name(own)));
  }
  out.mesh = make_surface(out.shape, "");
  return out;
}

KnottMesh load_statue(const ExperimentOptions& options) {
  return load_or_make("fertility_10k.off", 0.001, {.kind = FigureShape{.size = 0.145, .resolution = 40}}, options);
}

ExperimentResult compare_knott(const Scene& scene, World& world, const KnottLimits& limits,
                               const ExperimentOptions& options) {
  CompareOptions compare;
  compare.methods = {"halfspace", "limited"};
  compare.progress = options.progress;
  compare.stop = options.stop;
  const Comparison comparison = compare_methods(scene, world, compare);
  ExperimentResult out;
  out.report = make_comparison_report(scene, world, comparison);
  if (comparison.stopped || comparison.runs.size() < 2) return out;
  const RunData& truth = comparison.reference.data;
  const KnottFigures reference = compute_figures(truth, truth, limits.settle);
  const KnottFigures halfspace = compute_figures(comparison.runs[0].data, truth, limits.settle);
  const KnottFigures limited = compute_figures(comparison.runs[1].data, truth, limits.settle);
  using Relation = MeasuredClaim::Relation;
  if (limits.proxy_on_surface) {
    const Metrics& h = comparison.metrics[1].metrics;
    const Metrics& l = comparison.metrics[2].metrics;
    // The truth's own proxy is off the surface too while it falls onto it, at the start and behind cliffs.
    const double truth_distance = comparison.metrics[0].metrics.proxy_distance_max;
    out.claims.push_back({"limited's proxy stays on the surface (largest distance, beyond the truth's)",
                          "\"a proxy trajectory that always stays on the surface\"",
                          l.proxy_distance_max - truth_distance, 1e-5, Relation::kAtMost, "m"});
    out.claims.push_back({"halfspace's leaves it", "\"regularly moves away from the surface\"",
                          h.proxy_distance_max - truth_distance, 1e-4, Relation::kAtLeast, "m"});
  }
  out.claims.push_back({"largest force jump of limited, of halfspace's", "\"smoother\"; \"jumps and hard kinks\"",
                        limited.jump / halfspace.jump, limits.jump_ratio, Relation::kAtMost, ""});
  out.claims.push_back({"mean error of the force's direction, of halfspace's",
                        "\"smoother with respect to … direction\"", limited.direction_mean / halfspace.direction_mean,
                        1.0, Relation::kAtMost, ""});
  out.claims.push_back({"mean distance of the proxy from the truth's, of halfspace's",
                        "\"the proxy trajectory follows the … shape\"", limited.path_mean / halfspace.path_mean, 1.0,
                        Relation::kAtMost, ""});
  if (limits.performance) add_performance_claims(limited, comparison.runs[1], out.claims);
  out.report.tables.push_back(
      make_quality_table({{"reference", reference}, {"halfspace", halfspace}, {"limited", limited}}));
  out.report.tables.push_back(make_performance_table(limited, comparison.runs[1]));
  const std::vector<Vec3> surface = trace_surface(world, truth.ticks);
  const double middle = 0.5 * scene.run.seconds;
  std::vector<Plot> outtakes;
  for (const SceneRun& run : comparison.runs)
    outtakes.push_back(make_outtake(run.data, surface, middle - 0.25, middle + 0.25));
  out.report.plots.insert(out.report.plots.begin(), outtakes.begin(), outtakes.end());
  return out;
}

}  // namespace palpate
