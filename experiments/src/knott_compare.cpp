#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "knott_scenes.h"
#include "palpate/methods/baseline_settings.h"
#include "palpate/methods/limited_settings.h"
#include "palpate/methods/model_view.h"
#include "stopwatch.h"
#include "wanted_metrics.h"

// `limited` beside `halfspace` and the truth, on one scene.
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

/// Among soft bodies slow steps report the contacts of the world, not those of the set.
Table make_performance_table(const KnottFigures& f, const Stopwatch& watch, bool soft) {
  Table table;
  table.title = "Performance of limited beside the paper's (section 5.2, soft statue, 2.53 GHz Xeon)";
  table.columns = {"processor time", "wall clock", "paper"};
  const auto add = [&](const char* name, const std::string& measured, const char* paper) {
    table.rows.push_back({name, {{measured}, {"–"}, {paper}}});
  };
  if (!soft) add("constraints in the set", fmt::format("{} to {}", f.constraints_min, f.constraints_max), "50 to 100");
  add("iterations of a tick, mean", fmt::format("{:.1f}", f.iterations_mean), "–");
  add("iterations of a tick, max", fmt::format("{}", f.iterations_max), "below 30");
  add("ticks of 30 iterations or more", fmt::format("{}", f.unsettled), "none");
  add("residual of all other ticks, max", format_quantity(f.residual_max, "m"), "1e-11");
  const auto add_time = [&](const char* name, const BothTimes& times, TimeOf which, const char* paper) {
    table.rows.push_back({name,
                          {{format_quantity(read_time(times.processor, which), "s")},
                           {format_quantity(read_time(times.wall, which), "s")},
                           {paper}}});
  };
  add_time("tick, mean", watch.ticks, TimeOf::kMean, "0.09 ms");
  add_time("tick, p99.9", watch.ticks, TimeOf::kP999, "–");
  add_time("tick, max", watch.ticks, TimeOf::kMax, "0.41 ms");
  add_time("slow step, mean", watch.steps, TimeOf::kMean, "15.2 ms");
  add_time("slow step, max", watch.steps, TimeOf::kMax, "32.3 ms");
  table.note =
      "In lockstep. Processor time: what is spent on this, of a slow step's two threads the longer. Wall clock: with "
      "what else the machine did meanwhile. An iteration selects constraints and solves for their forces exactly.";
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

/// What stands for the paper's two models: as it has them, and with what Palpate adds to either.
struct Form {
  const char* name;
  const char* method;
  bool ahead;  ///< looks ahead and blends
};
constexpr std::array<Form, 4> kForms = {{{"halfspace", "halfspace", false},
                                         {"halfspace, ahead and blended", "halfspace", true},
                                         {"limited, as in the paper", "limited", false},
                                         {"limited", "limited", true}}};
enum FormIndex : std::size_t { kHalfspace, kHalfspaceAhead, kLimitedPaper, kLimited };

/// Times a run and counts the constraints of its models.
class CountingWatch final : public Stopwatch {
 public:
  void after_step(const StepRow& row, std::span<const ToolMessages> tools) override {
    Stopwatch::after_step(row, tools);
    if (!tools[0].slow) return;
    view_->clear();
    tools[0].slow->show_bytes(tools[0].model.bytes(), *view_);
    sum_ += static_cast<double>(view_->count);
    ++models_;
  }
  /// Mean over the models, in which no more than ModelView::kMaxFaces are counted.
  double mean_constraints() const { return models_ > 0 ? sum_ / models_ : kNotAvailable; }

 private:
  std::unique_ptr<ModelView> view_ = std::make_unique<ModelView>();
  double sum_ = 0.0;
  int models_ = 0;
};

/// A form's run, and what is known of it.
struct FormResult {
  KnottFigures figures;
  double force_error = kNotAvailable;  ///< of what it asked for, of the truth's RMS [%]
  CountingWatch watch;
};

/// The claims that every pair of the two models is asked.
class Claims {
 public:
  Claims(const std::string& part, std::vector<MeasuredClaim>& out)
      : before_(part.empty() ? "" : part + ": "), out_(out) {}

  void at_most(const std::string& name, const std::string& paper, double measured, double limit,
               const char* unit = "") {
    out_.push_back({before_ + name, paper, measured, limit, MeasuredClaim::Relation::kAtMost, unit});
  }
  void at_least(const std::string& name, const std::string& paper, double measured, double limit,
                const char* unit = "") {
    out_.push_back({before_ + name, paper, measured, limit, MeasuredClaim::Relation::kAtLeast, unit});
  }
  void times(const std::string& name, const std::string& paper, const BothTimes& times, TimeOf which, double limit) {
    add_time_claims(before_ + name, paper, times, which, limit, out_);
  }

  void add_pair(const std::string& which, const FormResult& limited, const FormResult& halfspace, double jump_ratio) {
    const KnottFigures &l = limited.figures, &h = halfspace.figures;
    at_most(which + "largest force jump of limited, of halfspace's", "\"smoother\"; \"jumps and hard kinks\"",
            l.jump / h.jump, jump_ratio);
    at_most(which + "mean error of the force's direction, of halfspace's", "\"smoother with respect to … direction\"",
            l.direction_mean / h.direction_mean, 1.0);
    at_most(which + "mean distance of the proxy from the truth's, of halfspace's",
            "\"the proxy trajectory follows the … shape\"", l.path_mean / h.path_mean, 1.0);
    at_most(which + "force error of limited against the truth, limit: halfspace's",
            "\"a high simulation quality is also guaranteed\"", limited.force_error, halfspace.force_error, "%");
  }

  void add_performance(const FormResult& limited) {
    const KnottFigures& f = limited.figures;
    at_most("iterations of a tick, most", "\"converged … within less than 30 iterations\"",
            static_cast<double>(f.iterations_max), 29.0);
    at_most("residual of a tick, largest", "\"error threshold of 0.1·10⁻¹⁰\"",
            f.unsettled ? std::numeric_limits<double>::infinity() : f.residual_max, 1e-11, "m");
    at_least("constraints in the set, mean", "\"usually ranged between 50 and 100\"", limited.watch.mean_constraints(),
             50.0);
    const Stopwatch& w = limited.watch;
    times("tick, mean", "0.09 ms; asked: 5 % of the period", w.ticks, TimeOf::kMean, 50e-6);
    times("tick, p99.9", "max 0.41 ms; asked: 25 % of the period", w.ticks, TimeOf::kP999, 250e-6);
    times("slow step, mean", "15.2 ms; asked: 33 ms", w.steps, TimeOf::kMean, 0.033);
    times("slow step, max", "32.3 ms; asked: 33 ms", w.steps, TimeOf::kMax, 0.033);
  }

 private:
  const std::string before_;
  std::vector<MeasuredClaim>& out_;
};

Comparison run_forms(const Scene& scene, World& world, const ExperimentOptions& options,
                     std::array<FormResult, kForms.size()>& results) {
  Comparison out;
  const auto run = [&](const Scene& with, const char* method, const char* name, LoopWatch* watch) {
    SceneRunOptions once;
    once.method = method;
    once.watch = watch;
    once.control.stop = options.stop;
    if (options.progress) once.control.progress = [&](double t) { options.progress(name, t / scene.run.seconds); };
    SceneRun result = run_scene(with, world, once);
    result.data.name = name;
    out.stopped = out.stopped || result.summary.stopped;
    return result;
  };
  out.reference = run(scene, "reference", "reference", nullptr);
  const SignedDistance distance = make_surface_distance(world);
  add_metrics(out.reference, nullptr, distance, out.metrics);
  for (std::size_t i = 0; i < kForms.size() && !out.stopped; ++i) {
    Scene with = scene;
    auto& halfspace = with.methods.get<HalfspaceSettings>("halfspace");
    auto& limited = with.methods.get<LimitedSettings>("limited");
    halfspace.look_ahead = halfspace.blend = limited.look_ahead = limited.blend = kForms[i].ahead;
    out.runs.push_back(run(with, kForms[i].method, kForms[i].name, &results[i].watch));
    add_metrics(out.runs.back(), &out.reference, distance, out.metrics);
  }
  return out;
}

}  // namespace

void add_knott_comparison(const std::string& part, const Scene& scene, World& world, const KnottLimits& limits,
                          const ExperimentOptions& options, ExperimentResult& out) {
  std::array<FormResult, kForms.size()> results;
  const Comparison comparison = run_forms(scene, world, options, results);
  if (comparison.stopped) return;
  if (!part.empty()) out.report.views.push_back(part);
  const RunData& truth = comparison.reference.data;
  std::vector<std::pair<std::string, KnottFigures>> rows = {
      {"reference", compute_figures(truth, truth, limits.settle)}};
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    const RunData& run = comparison.runs[i].data;
    results[i].figures = compute_figures(run, truth, limits.settle);
    results[i].force_error = compute_wanted_metrics(run, &truth).force_error_relative;
    rows.emplace_back(kForms[i].name, results[i].figures);
  }
  Claims claims(part, out.claims);
  if (!limits.soft) {
    // The truth's own proxy is off the surface too while it falls onto it, at the start and behind cliffs.
    const auto off = [&](std::size_t form) {
      return comparison.metrics[form + 1].metrics.proxy_distance_max - comparison.metrics[0].metrics.proxy_distance_max;
    };
    claims.at_most("limited's proxy stays on the surface (largest distance, beyond the truth's)",
                   "\"a proxy trajectory that always stays on the surface\"", off(kLimited), 1e-5, "m");
    claims.at_least("halfspace's leaves it", "\"regularly moves away from the surface\"", off(kHalfspace), 1e-4, "m");
  }
  claims.add_pair("", results[kLimited], results[kHalfspace], limits.jump_ratio);
  claims.add_pair("both as in the paper: ", results[kLimitedPaper], results[kHalfspace], limits.jump_ratio);
  claims.add_pair("both ahead and blended: ", results[kLimited], results[kHalfspaceAhead], limits.jump_ratio);
  claims.at_most("force error of limited against the truth", "\"a high simulation quality is also guaranteed\"",
                 results[kLimited].force_error, limits.soft ? 10.0 : 1.0, "%");
  claims.at_most("as in the paper: force error of limited against the truth",
                 "\"a high simulation quality is also guaranteed\"", results[kLimitedPaper].force_error,
                 limits.soft ? 10.0 : 1.0, "%");
  if (limits.performance) claims.add_performance(results[kLimited]);

  const std::size_t first_table = out.report.tables.size(), first_plot = out.report.plots.size();
  const std::vector<Vec3> surface = trace_surface(world, truth.ticks);
  const double middle = 0.5 * scene.run.seconds;
  for (const std::size_t i : {kHalfspace, kLimited})
    out.report.plots.push_back(make_outtake(comparison.runs[i].data, surface, middle - 0.25, middle + 0.25));
  add_comparison(out.report, world, comparison, part);
  out.report.tables.push_back(make_quality_table(rows));
  out.report.tables.push_back(make_performance_table(results[kLimited].figures, results[kLimited].watch, limits.soft));
  if (limits.time_series) {
    const Stopwatch& w = results[kLimited].watch;
    out.report.plots.push_back(make_times_plot("Computing time of a tick (the paper's Fig. 10)", w.tick_samples));
    out.report.plots.push_back(make_times_plot("Computing time of a slow step (the paper's Fig. 10)", w.step_samples));
  }
  for (std::size_t i = first_table; i < out.report.tables.size(); ++i) out.report.tables[i].view = part;
  for (std::size_t i = first_plot; i < out.report.plots.size(); ++i) out.report.plots[i].view = part;
}

}  // namespace palpate
